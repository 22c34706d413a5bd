"""What can happen to a study. Its state is the fold of these events, and they are all that is stored about it."""

import secrets
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.live.certificate import NOTHING
from surefoot.live.session import Pull
from surefoot.problem import Problem
from surefoot.problem.checks import Floats

ASK, TELL, ADD = "ask", "tell", "add"
CANCEL, FAIL, EXPIRE, ABORT = "cancel", "fail", "expire", "abort"
FREEZE, RELEASE, ALARM = "freeze", "release", "alarm"

OPEN, TOLD, STALE, FAILED, CANCELLED, ABORTED = "open", "told", "stale", "failed", "cancelled", "aborted-unsafe"
STATES = (OPEN, TOLD, STALE, FAILED, CANCELLED, ABORTED)
# The state of a pull after the event that closes it.
CLOSES = {TELL: TOLD, ADD: TOLD, EXPIRE: STALE, FAIL: FAILED, CANCEL: CANCELLED, ABORT: ABORTED}

OPENING, CLOSING = 0, 1  # the steps of a pull: each happens once
READINGS = np.dtype("<f8")

Event = dict[str, Any]  # by the names of the columns, without the study


def now() -> int:
    """Microseconds since 1970, UTC, by this machine's clock: for people. Order comes from the sequence alone."""
    return time.time_ns() // 1_000


def new_writer() -> int:
    """A number by which whoever writes events is known again."""
    return secrets.randbits(63)


def packed(readings: list[float]) -> bytes:
    """The readings, one for each limit, as they are stored."""
    return np.array(readings, READINGS).tobytes()


def unpacked(content: bytes) -> Floats:
    """The readings that were stored."""
    return np.frombuffer(content, READINGS).astype(np.float64)


def asked(pull: Pull, number: int, worker: str | None, index_of: Mapping[str, int]) -> Event:
    """A pull was given out, for these reasons."""
    return {
        "kind": ASK, "number": number, "step": OPENING, "arm": pull.arm, "level": pull.level, "worker": worker,
        "phase": pull.phase, "margin": pull.margin, "gap": pull.gap,
        "leader": None if pull.leader is None else index_of[pull.leader],
        "challenger": None if pull.challenger is None else index_of[pull.challenger],
    }  # fmt: skip


def told(number: int, level: float, reward: float, readings: list[float]) -> Event:
    """The result of a pull came in."""
    return {
        "kind": TELL, "number": number, "step": CLOSING, "level": level, "reward": reward, "safety": packed(readings)
    }  # fmt: skip


def added(number: int, arm: int, level: float, reward: float, readings: list[float], reason: str | None) -> Event:
    """A result was taken over that nobody asked for here; the reason says where it is from."""
    return {
        "kind": ADD, "number": number, "step": OPENING, "arm": arm, "level": level, "reward": reward,
        "safety": packed(readings), "reason": reason,
    }  # fmt: skip


def closed(kind: str, number: int, reason: str, by: str | None = None) -> Event:
    """A pull was given up, for this reason."""
    return {"kind": kind, "number": number, "step": CLOSING, "reason": reason, "by": by}


def held(kind: str, reason: str, by: str, number: int | None = None) -> Event:
    """The study was frozen, released, or an alarm went off, over this pull if there is one."""
    return {"kind": kind, "number": number, "reason": reason, "by": by}


def as_pull(problem: Problem, event: Event) -> Pull:
    """The pull that an event gave out."""
    return Pull(
        number=event["number"],
        arm=event["arm"],
        name=problem.names[event["arm"]],
        level=event["level"],
        phase=event["phase"],
        margin=event["margin"],
        leader=arm_name(problem, event["leader"]),
        challenger=arm_name(problem, event["challenger"]),
        gap=event["gap"],
    )


def as_result(problem: Problem, event: Event) -> dict[str, Any]:
    """The result that an event brought, as people read it."""
    readings = unpacked(event["safety"]).tolist()
    safety = dict(zip((limit.name for limit in problem.safety), readings, strict=True))
    return {"reward": event["reward"], "safety": safety, "level": event["level"]}


def arm_name(problem: Problem, arm: int | None) -> str | None:
    """The name of the arm, or of the null pull."""
    return None if arm is None else NOTHING if arm < 0 else problem.names[arm]
