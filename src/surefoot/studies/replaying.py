"""A stored history told again, compiled: the session that it leads to, and the decisions that were due on the way."""

from typing import NamedTuple

import numpy as np

from surefoot.core.replay import ASKED, BEGUN, FOLDED, Answers, Script
from surefoot.core.types import PULL, Indices, Matrix, Vector
from surefoot.live.session import Session
from surefoot.policies import Policy
from surefoot.problem import Problem


class Replayed(NamedTuple):
    """A session as it would stand had it lived through the script, and what it would have asked for."""

    session: Session
    answers: Answers  # a row for each pull of the script; status -1 where it was never asked for


def one_by_one(arms: Indices, asked: Vector, applied: Vector, observed: Matrix) -> Script:
    """The script of pulls that were each asked for, applied and told before the next: (P,) arrays, (P, n) readings
    as `signals_of` gives them."""
    count = len(arms)
    step, pull = np.full(2 * count + 1, BEGUN, np.int64), np.zeros(2 * count + 1, np.int64)
    step[1::2], step[2::2] = ASKED, FOLDED
    pull[1::2] = pull[2::2] = np.arange(count)
    return as_script(step, pull, arms, asked, applied, observed)


def as_script(step: object, pull: object, arms: object, asked: object, applied: object, observed: object) -> Script:
    """The script as compiled code reads it: plain arrays of its own, of one type each."""
    return Script(
        step=np.array(step, np.int64),
        pull=np.array(pull, np.int64),
        arm=np.array(arms, np.int64),
        asked=np.array(asked, np.float64),
        applied=np.array(applied, np.float64),
        observed=np.array(observed, np.float64, order="C", ndmin=2),
    )


def replayed(
    problem: Problem, policy: Policy | None, script: Script, *, seed: int = 0, max_pulls: int | None = None
) -> Replayed:
    """The session after the script, bit for bit as if each result had been told to it, and its decisions."""
    session = Session(problem, policy, seed=seed, max_pulls=max_pulls)
    return Replayed(session, session.replay(script))


def mismatches(script: Script, answers: Answers) -> Indices:
    """The pulls that were asked for and differ, in arm or level or in being asked at all, from what is decided now."""
    due = answers.status >= 0
    same = (answers.status == PULL) & (answers.arm == script.arm) & (answers.level == script.asked)
    return np.flatnonzero(due & ~same)
