"""What can happen to a study. Its state follows from these events, and they are all that is stored about it."""

import secrets
import time
from typing import Any

from surefoot.core.types import NULL
from surefoot.live.certificate import NOTHING
from surefoot.live.dialled import set_to
from surefoot.live.ledger import ABORTED, CANCELLED, FAILED, RECALLED, STALE, TOLD, Holding, Told
from surefoot.live.pulls import Pull, arm_name
from surefoot.live.readings import packed, unpacked
from surefoot.problem import Problem

ASK, TELL, ADD = "ask", "tell", "add"
CANCEL, FAIL, EXPIRE, ABORT = "cancel", "fail", "expire", "abort"
FREEZE, RELEASE, ALARM = "freeze", "release", "alarm"
TABLE = "table"  # the results that follow are taken over together; the reason holds what was stated, as JSON
END = "end"  # the policy has stopped; the reason holds what it said, as JSON
HOLD, HOLD_ALL = "hold", "hold-all"  # a result is implausible; on the unsafe side nobody is given a pull
CONFIRM = "confirm"  # a result is taken in although it is implausible
CORRECT, VOID, RECALL = "correct", "void", "recall"
LATE = "late"  # a result came after its pull had been given up: it is kept, and does not count
KEY = "key"  # the step before it was taken under a key; the reason holds what was asked and answered, as JSON

# The state of a pull after the event that closes it.
CLOSES = {
    TELL: TOLD, CONFIRM: TOLD, ADD: TOLD, EXPIRE: STALE, FAIL: FAILED, CANCEL: CANCELLED, ABORT: ABORTED,
    RECALL: RECALLED,
}  # fmt: skip
TELLS = (TELL, CONFIRM)
HOLDS = (HOLD, HOLD_ALL)
IMPORTS = (TABLE, ADD)

OPENING, CLOSING = 0, 1  # the steps of a pull: each happens once

Event = dict[str, Any]  # by the names of the columns, without the study


def now() -> int:
    """Microseconds since 1970, UTC, by this machine's clock: for people. Order comes from the sequence alone."""
    return time.time_ns() // 1_000


def new_writer() -> int:
    """A number by which the events of one step are known again."""
    return secrets.randbits(63)


def asked(problem: Problem, pull: Pull, worker: str | None) -> Event:
    """A pull was given out, for these reasons."""
    return {
        "kind": ASK, "number": pull.number, "step": OPENING, "arm": pull.arm, "level": pull.level, "worker": worker,
        "phase": pull.phase, "margin": pull.margin, "gap": pull.gap,
        "leader": place_of(problem, pull.leader), "challenger": place_of(problem, pull.challenger),
    }  # fmt: skip


def told(number: int, result: Told, *, confirmed: bool, step: int | None = CLOSING) -> Event:
    """The result of a pull came in; without a step where one was told before, and held when its turn came."""
    return {"kind": CONFIRM if confirmed else TELL, "number": number, "step": step, **as_told(result)}


def implausible(number: int, holding: Holding) -> Event:
    """The result of a pull is held."""
    kind = HOLD_ALL if holding.unsafe else HOLD
    return {"kind": kind, "number": number, **as_told(holding.result), "reason": holding.surprises}


def corrected(number: int, result: Told, reason: str, by: str) -> Event:
    """The result of a pull is another than it was told."""
    return {"kind": CORRECT, "number": number, **as_told(result), "reason": reason, "by": by}


def voided(number: int, reason: str, by: str) -> Event:
    """The result of a pull does not count."""
    return {"kind": VOID, "number": number, "reason": reason, "by": by}


def late(number: int, result: Told) -> Event:
    """The result of a pull came after it had been given up."""
    return {"kind": LATE, "number": number, **as_told(result)}


def as_told(result: Told) -> Event:
    """A result by the names of its columns."""
    level, reward, readings = result
    return {"level": level, "reward": reward, "safety": readings}


def added(number: int, arm: int, level: float, reward: float, readings: list[float], reason: str | None) -> Event:
    """A result was taken over that nobody asked for here; the reason says where it is from."""
    return {
        "kind": ADD, "number": number, "step": OPENING, "arm": arm, "level": level, "reward": reward,
        "safety": packed(readings), "reason": reason,
    }  # fmt: skip


def table(statement: str) -> Event:
    """Results are taken over together: those in the events that follow, so many as the statement says."""
    return {"kind": TABLE, "reason": statement}


def closed(kind: str, number: int, reason: str, by: str | None = None, *, step: int | None = CLOSING) -> Event:
    """A pull was given up, for this reason; without a step where a result was told before, and held."""
    return {"kind": kind, "number": number, "step": step, "reason": reason, "by": by}


def held(kind: str, reason: str, by: str, number: int | None = None) -> Event:
    """The study was frozen, released, ended, or an alarm went off, over this pull if there is one."""
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
        leader=name_of(problem, event["leader"]),
        challenger=name_of(problem, event["challenger"]),
        gap=event["gap"],
        dial=problem.dial,
    )


def as_result(problem: Problem, event: Event) -> dict[str, Any]:
    """The result that an event brought, as people read it."""
    readings = unpacked(event["safety"]).tolist()
    safety = dict(zip((limit.name for limit in problem.safety), readings, strict=True))
    return {"reward": event["reward"], "safety": safety, "level": event["level"], **set_to(problem, event["level"])}


def place_of(problem: Problem, name: str | None) -> int | None:
    """The arm of this name, the null pull, or nobody."""
    return None if name is None else NULL if name == NOTHING else problem.index_of(name)


def name_of(problem: Problem, arm: int | None) -> str | None:
    """The name of the arm, of the null pull, or of nobody."""
    return None if arm is None else arm_name(problem, arm)
