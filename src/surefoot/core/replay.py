"""Pulls told again, and pulls chosen while others are open: one loop over what happened to a study.

A live session, several workers at once and a study that is opened again all go through `replay`, so a decision that is
recomputed years later is the decision that was taken. Like `play` and `turn` it is a template around a policy's
`decide`; `replay_of` binds in the decision of any engine.

A pull that is chosen while others are open is chosen on a copy of the state in which each open pull has returned what
is expected of it: the estimates stay where they are and only the information grows, so nobody is sent to learn what
another is already learning. The copy chooses the *arm* alone. The level is one that the real state certifies, within
one step of what was really applied, and nothing ever stops because of the copy.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from surefoot.core.estimate import absorb, begin
from surefoot.core.kernel import kernel, rare, specialise
from surefoot.core.levels import margin, stepped
from surefoot.core.play import Engine
from surefoot.core.types import (
    CERTIFIED,
    DECIDING,
    PULL,
    Decision,
    Indices,
    Instance,
    Matrix,
    State,
    Vector,
    Work,
)

# What a step of a script says. The first four are about the pull that it names.
ASKED = 0  # it was asked for: what was the decision?
OPENED = 1  # it is open, and was decided on earlier
FOLDED = 2  # its result was taken in, asked for or not
DROPPED = 3  # it is open no more and has no result
BEGUN = 4  # the state before the first pull
AS_DECIDED = -1  # in place of an arm: the pull is whatever is decided when it is asked for


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

    status: Indices  # (P,) PULL, or how the study had ended by then
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


def decide(inst: Instance, rules: Any, state: State, work: Work, seed: int, run: int) -> Decision:
    """The decision of a policy, bound in by `specialise`."""
    raise TypeError("replay is a template: it runs only with a policy's decision bound in")


def replay(
    inst: Instance, rules: Any, state: State, ahead: State, trial: State, work: Work, seed: int, run: int,
    held: Decision, script: Script, queue: Indices, answers: Answers,
) -> tuple[bool, float, int, int, int, float, int, float, int, float]:  # fmt: skip
    """What `turn` returns after the last step; the state is taken along, and the answers are filled in.

    `held` is the decision of the state as it comes in. `ahead` and `trial` are room for two copies of it, `queue` for
    the numbers of all pulls: the state with the open ones anticipated, what a decision may write on, the open ones.
    """
    healthy, waiting, anticipated = True, 0, -1  # -1: the copy is out of date
    for i in range(len(script.step)):
        step, p = script.step[i], script.pull[i]
        subject = state
        if step == BEGUN:
            begin(inst, state, work)
            waiting, anticipated = 0, -1
        elif step == FOLDED:
            healthy = absorb(inst, state, work, script.arm[p], script.applied[p], script.observed[p]) and healthy
            waiting, anticipated = left_without(queue, waiting, p), -1
        elif step == DROPPED:
            waiting, anticipated = left_without(queue, waiting, p), -1
            continue
        elif step == ASKED and waiting > 0 and held.status == PULL:
            if anticipated < 0:
                copy_state(state, ahead)
            for q in range(max(anticipated, 0), waiting):
                anticipate(inst, ahead, work, script.arm[queue[q]], script.asked[queue[q]])
            anticipated = waiting
            copy_state(ahead, trial)
            subject = trial
        else:
            if step == ASKED:
                answer(inst, state, held, held.level, script, answers, p)
            queue[waiting] = p
            waiting += 1
            continue
        decision = decide(inst, rules, subject, work, seed, run)
        if step == ASKED:
            if decision.status == PULL:
                answer(inst, state, decision, level_beside(inst, state, decision), script, answers, p)
            else:  # the copy sees the end, or trouble; only the real state may
                answer(inst, state, held, held.level, script, answers, p)
            queue[waiting] = p
            waiting += 1
        else:
            held = decision
    k, level = (max(held.leader, 0), held.leader_level) if held.status == CERTIFIED else (held.arm, held.level)
    return (
        healthy, margin(inst, state, k, level), held.status, held.phase, held.arm, held.level, held.leader,
        held.leader_level, held.challenger, held.gap,
    )  # fmt: skip


@kernel
def level_beside(inst: Instance, state: State, decision: Decision) -> float:
    """The level of an arm that was chosen while others are open: one that the real state certifies.           (S4)"""
    k = decision.arm
    level = state.low[k] if decision.phase == DECIDING else min(decision.level, state.low[k])
    return stepped(inst, state, k, level)


@kernel
def anticipate(inst: Instance, ahead: State, work: Work, k: int, level: float) -> None:
    """The state after a pull that returned just what is expected of it: the estimates stay, the widths shrink."""
    for s in range(len(inst.R)):
        work.observed[s] = level * ahead.est[s, k]
    absorb(inst, ahead, work, k, level, work.observed)


@rare
def answer(
    inst: Instance, state: State, decision: Decision, level: float, script: Script, answers: Answers, p: int
) -> None:
    """Writes down the decision for pull p."""
    if script.arm[p] == AS_DECIDED:
        script.arm[p], script.asked[p] = decision.arm, level
    answers.status[p] = decision.status
    answers.phase[p] = decision.phase
    answers.arm[p] = decision.arm
    answers.level[p] = level
    answers.margin[p] = margin(inst, state, decision.arm, level)
    answers.leader[p] = decision.leader
    answers.challenger[p] = decision.challenger
    answers.gap[p] = decision.gap


@rare
def left_without(queue: Indices, waiting: int, p: int) -> int:
    """How many are left in the queue once p is out of it; the others keep their order."""
    kept = 0
    for q in range(waiting):
        if queue[q] != p:
            queue[kept] = queue[q]
            kept += 1
    return kept


@rare
def copy_state(state: State, copy: State) -> None:
    """The whole state, number by number."""
    for k in range(len(state.N)):
        copy.N[k] = state.N[k]
        copy.pulls[k] = state.pulls[k]
        copy.last[k] = state.last[k]
        copy.low[k] = state.low[k]
        copy.high[k] = state.high[k]
        for s in range(len(state.M)):
            copy.M[s, k] = state.M[s, k]
            copy.est[s, k] = state.est[s, k]
        for s in range(len(state.low_of)):
            copy.low_of[s, k] = state.low_of[s, k]
            copy.high_of[s, k] = state.high_of[s, k]
    for g in range(len(state.v)):
        copy.log_det[g] = state.log_det[g]
        copy.growth[g] = state.growth[g]
        for k in range(len(state.N)):
            copy.v[g, k] = state.v[g, k]
            for j in range(len(state.N)):
                copy.G[g, k, j] = state.G[g, k, j]
    for a in range(len(state.basis)):
        copy.basis[a] = state.basis[a]
        for b in range(len(state.basis)):
            copy.inverse[a, b] = state.inverse[a, b]
    for a in range(len(state.aim)):
        copy.aim_information[a] = state.aim_information[a]
        copy.aim_fit[a] = state.aim_fit[a]
        copy.aim_value[a] = state.aim_value[a]
        copy.aim_rest[a] = state.aim_rest[a]
        for k in range(len(state.N)):
            copy.aim[a, k] = state.aim[a, k]
            copy.aim_sum[k, a] = state.aim_sum[k, a]
    for c in range(len(state.clock)):
        copy.clock[c] = state.clock[c]


@cache
def replay_of(engine: Engine) -> Any:
    """The compiled replay of the policy with this engine: its `turn` holds the decision that was bound in."""
    source = getattr(engine.turn, "py_func", engine.turn)
    return specialise(replay, source.__name__.removeprefix("turn_"), decide=source.__globals__["decide"])
