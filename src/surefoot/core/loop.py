"""The two loops: one plays many runs against a world, one goes through what happened to an experiment.

Both are templates around a policy's parts. A live session, several workers at once and a study that is opened again all
go through `replay`, so a decision that is recomputed years later is the decision that was taken; a single result told
to a session is a replay of one step.

A pull that is chosen while others are open is chosen ahead of them, in the state in which each open pull has returned
what is expected of it: the estimates stay where they are and only the information grows, so nobody is sent to learn
what another is already learning. That state chooses the *arm* alone. The level is one that the real state certifies,
within one step of what was really applied, and nothing ever stops because of what is ahead.
"""

from typing import Any

from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.learn import absorb, begin
from surefoot.core.levels import stepped
from surefoot.core.margin import margin
from surefoot.core.parts import begin_watch, crosses, decide, respond, rings
from surefoot.core.records import Answers, Records, Script
from surefoot.core.state import State, Work, copy_words, remember_race
from surefoot.core.types import (
    ALARM,
    BREAKDOWN,
    CERTIFIED,
    DECIDING,
    NULL,
    PULL,
    ROUND,
    UNDECIDED,
    Decision,
    Indices,
    Instance,
    Vector,
)

# What a step of a script says. All but the last two are about the pull that it names.
ASKED = 0  # it was asked for: what was the decision?
OPENED = 1  # it is open, and was decided on earlier
LEARNED = 2  # its result was taken in, asked for or not
DROPPED = 3  # it is open no more and has no result
BEGUN = 4  # the state before the first pull
DECIDED = 5  # nothing new, only decide
NEVER = (1 << 63) - 1  # a round that does not come
AS_DECIDED = -1  # in place of an arm: the pull is whatever is decided when it is asked for


# -- many runs against a world ----------------------------------------------------------------------------------------


def play(
    inst: Instance, rules: Any, truth: Any, room: Any, watch: Any, seed: int, first_run: int, max_pulls: int,
    state: State, work: Work, records: Records, cancel: Indices,
) -> int:  # fmt: skip
    """How many of the runs were finished; their records are filled in. cancel[0] = 1 from outside ends the work."""
    for row in range(len(records.pulls)):
        begin(inst, state, work)
        begin_watch(watch)
        run = first_run + row
        if not play_on(
            inst, rules, truth, room, watch, seed, run, max_pulls, NEVER, state, work, records, row, cancel
        ):  # fmt: skip
            return row
    return len(records.pulls)


@kernel
def play_on(
    inst: Instance, rules: Any, truth: Any, room: Any, watch: Any, seed: int, run: int, max_pulls: int, pause: int,
    state: State, work: Work, records: Records, row: int, cancel: Indices,
) -> bool:  # fmt: skip
    """Whether the run has ended, and is written down; otherwise so many rounds are over, and it can be taken up again
    where it stands."""
    healthy, alarmed = True, False
    while True:
        if cancel[0] == 1 or (state.clock[ROUND] >= pause and healthy and not alarmed):
            return False
        decision = decide(inst, rules, state, work, seed, run)
        remember_race(state, decision.leader, decision.challenger)
        if decision.status != PULL or state.clock[ROUND] >= max_pulls or not healthy or alarmed:
            break
        number = state.clock[ROUND] + 1
        respond(truth, room, seed, run, number, decision.arm, decision.level, work.observed)
        healthy = absorb(inst, state, work, decision.arm, decision.level, work.observed)
        if crosses(truth, decision.arm, decision.level):
            records.unsafe[row] += 1
            if records.first_unsafe[row] == 0:
                records.first_unsafe[row] = number
        alarmed = rings(watch, decision.arm, decision.level, work.observed)
    write_down(state, decision, healthy, alarmed, records, row)
    return True


@rare
def write_down(
    state: State, decision: Decision, healthy: bool, alarmed: bool, records: Records, row: int
) -> None:  # fmt: skip
    """The record of a run that has ended; after an alarm nothing is certified."""
    status = decision.status if healthy else BREAKDOWN
    if alarmed:
        status = ALARM
    records.status[row] = UNDECIDED if status == PULL else status
    records.pulls[row] = state.clock[ROUND]
    records.arm[row] = decision.leader if status == CERTIFIED else NULL
    records.level[row] = decision.leader_level if status == CERTIFIED else 0.0
    records.gap[row] = decision.gap
    for k in range(len(state.levels.low)):
        records.pulls_per_arm[row, k] = state.estimate.pulls[k]
        records.levels[row, k] = state.levels.low[k]


# -- what happened to an experiment -----------------------------------------------------------------------------------


def replay(
    inst: Instance, rules: Any, state: State, real: Indices, ahead: Indices, work: Work, seed: int, run: int,
    held: Decision, script: Script, queue: Indices, answers: Answers,
) -> tuple[bool, float, int, int, int, float, int, float, int, float]:  # fmt: skip
    """Whether the numbers are sound, the certified margin of the next pull, and the fields of the next Decision.

    The state is taken along, and the answers are filled in. `held` is the decision of the state as it comes in. `real`
    and `ahead` are room for the words of two states, the real one and the one with the open pulls anticipated, and
    `queue` for the numbers of all pulls, of the open ones. The result is flat: to build a named tuple, numba would run
    Python code that Ctrl-C can break off, and then crash.
    """
    healthy, waiting, anticipated = True, 0, -1  # -1: what is ahead is out of date
    for i in range(len(script.step)):
        step, p = script.step[i], script.pull[i]
        looks_ahead = step == ASKED and waiting > 0 and held.status == PULL
        if step == BEGUN:
            begin(inst, state, work)
            waiting, anticipated = 0, -1
        elif step == LEARNED:
            healthy = take_in(inst, state, work, script.arm[p], script.applied[p], script.observed[p]) and healthy
            waiting, anticipated = left_without(queue, waiting, p), -1
        elif step == DROPPED:
            waiting, anticipated = left_without(queue, waiting, p), -1
            continue
        elif looks_ahead:
            copy_words(state.whole, real)
            if anticipated >= 0:
                copy_words(ahead, state.whole)
            for q in range(max(anticipated, 0), waiting):
                anticipate(inst, state, work, script.arm[queue[q]], script.asked[queue[q]])
            anticipated = waiting
            copy_words(state.whole, ahead)  # what a decision writes is no part of it
        elif step != DECIDED:
            if step == ASKED:
                answer(inst, state, held, held.level, script, answers, p)
            queue[waiting] = p
            waiting += 1
            continue
        decision = decide(inst, rules, state, work, seed, run)
        remember_race(state, decision.leader, decision.challenger)
        if looks_ahead:
            copy_words(real, state.whole)
            if decision.status == PULL:
                answer(inst, state, decision, level_while_open(inst, state, decision), script, answers, p)
            else:  # what is ahead sees the end, or trouble; only the real state may
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


@thin
def level_while_open(inst: Instance, state: State, decision: Decision) -> float:
    """The level of an arm that was chosen while others are open: one that the real state certifies.           (S4)"""
    k, low = decision.arm, state.levels.low
    level = low[k] if decision.phase == DECIDING else min(decision.level, low[k])
    return stepped(inst.dial, state.levels, k, level)


@rare
def take_in(inst: Instance, state: State, work: Work, k: int, level: float, observed: Vector) -> bool:
    """What `absorb` says, out of line: here a round waits for people, and one copy compiles faster than two."""
    return absorb(inst, state, work, k, level, observed)


@thin
def anticipate(inst: Instance, state: State, work: Work, k: int, level: float) -> None:
    """The state after a pull that returned just what is expected of it: the estimates stay, the widths shrink."""
    for s in range(len(inst.R)):
        work.observed[s] = level * state.estimate.est[s, k]
    take_in(inst, state, work, k, level, work.observed)


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
