"""The run loop: a policy's decisions against nature's answers.

`play` for simulation and `turn` for the live session are templates around the same `decide` and `absorb`. Each policy
gets compiled forms of its own with its decision bound in (`specialise`).
"""

from typing import Any, NamedTuple

from surefoot.core.estimate import absorb, begin
from surefoot.core.kernel import rare, specialise
from surefoot.core.levels import margin
from surefoot.core.nature import is_unsafe, observe
from surefoot.core.types import (
    BREAKDOWN,
    CERTIFIED,
    NULL,
    PULL,
    ROUND,
    UNDECIDED,
    Decision,
    Indices,
    Instance,
    Records,
    State,
    Truth,
    Work,
)

AS_IT_IS = -2  # in place of an arm: nothing new, only decide


def decide(inst: Instance, rules: Any, state: State, work: Work, seed: int, run: int) -> Decision:
    """The decision of a policy, bound in by `specialise`."""
    raise TypeError("play is a template: it runs only with a policy's decision bound in")


def play(
    inst: Instance, rules: Any, truth: Truth, seed: int, first_run: int, max_pulls: int, state: State, work: Work,
    records: Records, cancel: Indices,
) -> int:  # fmt: skip
    """How many of the runs were finished; their records are filled in. cancel[0] = 1 from outside ends the work."""
    for row in range(len(records.pulls)):
        run = first_run + row
        begin(inst, state, work)
        work.block[0] = -1
        healthy = True
        while True:
            if cancel[0] == 1:
                return row
            decision = decide(inst, rules, state, work, seed, run)
            if decision.status != PULL or state.clock[ROUND] >= max_pulls or not healthy:
                break
            number = state.clock[ROUND] + 1
            observe(
                truth, seed, run, number, decision.arm, decision.level, work.words, work.block, work.observed
            )  # fmt: skip
            healthy = absorb(inst, state, work, decision.arm, decision.level, work.observed)
            if is_unsafe(truth, decision.arm, decision.level):
                records.unsafe[row] += 1
                if records.first_unsafe[row] == 0:
                    records.first_unsafe[row] = number
        write_down(state, decision, healthy, records, row)
    return len(records.pulls)


@rare
def write_down(state: State, decision: Decision, healthy: bool, records: Records, row: int) -> None:
    """The record of a run that has ended."""
    status = decision.status if healthy else BREAKDOWN
    records.status[row] = UNDECIDED if status == PULL else status
    records.pulls[row] = state.clock[ROUND]
    records.arm[row] = decision.leader if status == CERTIFIED else NULL
    records.level[row] = decision.leader_level if status == CERTIFIED else 0.0
    records.gap[row] = decision.gap
    for k in range(len(state.N)):
        records.pulls_per_arm[row, k] = state.pulls[k]
        records.levels[row, k] = state.low[k]


def turn(
    inst: Instance, rules: Any, state: State, work: Work, seed: int, run: int, arm: int, level: float
) -> tuple[bool, float, int, int, int, float, int, float, int, float]:
    """Whether the numbers are sound, the certified margin of the next pull, and the fields of the next Decision.

    work.observed holds what the pull of `arm` at `level` returned; without an arm (NULL) the state begins anew, and
    AS_IT_IS leaves it as it is. The result is flat: to build a named tuple, numba would run Python code that Ctrl-C
    can break off, and then crash.
    """
    healthy = True
    if arm == NULL:
        begin(inst, state, work)
    elif arm != AS_IT_IS:
        healthy = absorb(inst, state, work, arm, level, work.observed)
    decision = decide(inst, rules, state, work, seed, run)
    k, level_k = decision.arm, decision.level
    if decision.status == CERTIFIED:
        k, level_k = max(decision.leader, 0), decision.leader_level
    return (
        healthy, margin(inst, state, k, level_k), decision.status, decision.phase, decision.arm, decision.level,
        decision.leader, decision.leader_level, decision.challenger, decision.gap,
    )  # fmt: skip


class Engine(NamedTuple):
    """The compiled parts of one policy."""

    turn: Any  # one step of a live session
    play: Any  # many simulated runs


def engine_of(name: str, decide: Any) -> Engine:
    """The compiled parts of the policy with this decision."""
    return Engine(specialise(turn, name, decide=decide), specialise(play, name, decide=decide))
