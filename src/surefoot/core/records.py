"""What the loops read and write besides the state: records of runs, scripts of what happened, the decisions due."""

from typing import NamedTuple

import numpy as np

from surefoot.core.types import Decision, Indices, Matrix, Vector


class Records(NamedTuple):
    """What is kept of each simulated run; one row a run."""

    status: Indices  # (runs,) CERTIFIED, UNDECIDED, ...; PULL for a run that was not finished
    pulls: Indices  # (runs,)
    arm: Indices  # (runs,) recommended, NULL for none
    level: Vector  # (runs,)
    gap: Vector  # (runs,) B(t) at the end
    unsafe: Indices  # (runs,) pulls that truly crossed a limit
    first_unsafe: Indices  # (runs,) number of the first of them, 0 for none
    pulls_per_arm: Indices  # (runs, K)
    levels: Matrix  # (runs, K) certified levels at the end


def new_records(runs: int, K: int) -> Records:
    """Empty records for so many runs."""

    def whole(*shape: int) -> Indices:
        return np.zeros(shape, np.int64)

    return Records(
        status=whole(runs), pulls=whole(runs), arm=whole(runs), level=np.zeros(runs), gap=np.zeros(runs),
        unsafe=whole(runs), first_unsafe=whole(runs), pulls_per_arm=whole(runs, K), levels=np.zeros((runs, K)),
    )  # fmt: skip


class Script(NamedTuple):
    """What happened, step by step, to which pulls."""

    step: Indices  # (S,)
    pull: Indices  # (S,) a row of the following
    arm: Indices  # (P,) AS_DECIDED is replaced by the answer, and so is the level that was asked for
    asked: Vector  # (P,) the level that was asked for
    applied: Vector  # (P,) the level at which the result was observed
    observed: Matrix  # (P, n)


class Answers(NamedTuple):
    """The decision that was due when a pull was asked for; one row a pull."""

    status: Indices  # (P,) PULL, or how the experiment had ended by then
    phase: Indices  # (P,)
    arm: Indices  # (P,)
    level: Vector  # (P,)
    margin: Vector  # (P,) certified distance to the nearest limit, by the real state
    leader: Indices  # (P,)
    challenger: Indices  # (P,)
    gap: Vector  # (P,)


def new_answers(pulls: int) -> Answers:
    """Room for so many decisions; the status of one that was never due is -1."""
    whole, real = np.full((5, pulls), -1, np.int64), np.zeros((3, pulls))
    return Answers(whole[0], whole[1], whole[2], real[0], real[1], whole[3], whole[4], real[2])


def decision_of(answers: Answers, p: int) -> tuple[Decision, float]:
    """The decision for pull p and its margin, as Python's numbers."""
    status, phase, arm, level, found, leader, challenger, gap = (column[p].item() for column in answers)
    return Decision(status, phase, arm, level, leader, 0.0, challenger, gap), found
