"""What a run begins with, and what it learns from a pull.                                                (E1, E2)"""

from math import inf, sqrt

from surefoot.core.estimate import arm_width, has_cancelled, update
from surefoot.core.kernel import kernel, rare, thin
from surefoot.core.levels import begin_levels
from surefoot.core.parts import ball_of, begin_own, sets_begin, sets_learn, sets_refresh
from surefoot.core.refreshing import refresh_gram, spans_now
from surefoot.core.state import State, Work, empty_state, remember_race
from surefoot.core.types import CONTRADICTED, NULL, ROUND, SINCE_REFRESH, Instance, Vector

REFRESH_EVERY = 10_000
IMPOSSIBLE = 10.0  # times the norm bound; see is_possible


@thin
def begin(inst: Instance, state: State, work: Work) -> None:
    """The state before the first pull."""
    empty_state(state)
    begin_levels(inst, state.levels)
    begin_own(inst, state.own)
    sets_begin(inst, inst.sets, state.sets)
    remember_race(state, NULL, NULL)
    refresh(inst, state, work)


@thin
def absorb(inst: Instance, state: State, work: Work, k: int, gamma: float, observed: Vector) -> bool:
    """The state after pulling arm k at level gamma; False if the numbers broke down.                    (E1, E2)"""
    sets_learn(inst, inst.sets, state.sets, state, k, gamma, observed)  # with what was known before this result
    estimate = state.estimate
    new_arm = estimate.N[k] == 0.0 and gamma > 0.0
    healthy = update(inst, estimate, work.scratch, k, gamma, observed)
    state.levels.last[k] = gamma
    t = state.clock[ROUND] + 1
    state.clock[ROUND] = t
    state.clock[SINCE_REFRESH] += 1
    doubled = t & (t - 1) == 0  # early rounds cancel most: 1, 2, 4, 8, ...
    if state.clock[SINCE_REFRESH] >= REFRESH_EVERY or is_due(inst, state, work, k, new_arm, doubled):
        healthy = refresh(inst, state, work) and healthy
    if (doubled or t % REFRESH_EVERY == 0) and not is_possible(inst, state):
        state.clock[CONTRADICTED] = 1
    return healthy


@kernel
def is_due(inst: Instance, state: State, work: Work, k: int, new_arm: bool, doubled: bool) -> bool:
    """Whether all is to be computed anew after this pull. Of many arms that is as dear as a thousand rounds, and is
    done when digits are gone and not by the clock."""
    estimate, due = state.estimate, False
    if doubled and not inst.few_columns:
        return True
    for g in range(len(inst.log_det)):
        if inst.fades[g] == 0 or estimate.spanned[g] == 1:  # before, all but the choice of arms is still to come
            due = due or has_cancelled(estimate, g, k)
        if new_arm:  # only an arm that was not pulled before can make them span
            due = due or spans_now(inst, estimate, work.scratch, g)
    return due


@rare
def refresh(inst: Instance, state: State, work: Work) -> bool:
    """Everything that can be, computed anew from the sufficient statistics; False if it broke down.     (E1, E2)"""
    healthy = True
    for g in range(len(inst.log_det)):
        healthy = refresh_gram(inst, state.estimate, work.scratch, g) and healthy
        sets_refresh(inst, inst.sets, state.sets, state, work.scratch, g)
    state.clock[SINCE_REFRESH] = 0
    return healthy


@rare
def is_possible(inst: Instance, state: State) -> bool:
    """Whether the estimates are at all possible: |x_k . estimate| <= 10 |x_k| D + width for all arms and signals.

    On the confidence event the factor 1 suffices. The slack leaves norm bounds that are only a little too small to
    the experimenter; a reading in the wrong unit ends here and not in a confident answer.
    """
    possible = True
    for s in range(len(inst.R)):
        ball = ball_of(inst, state, s)
        if ball.norm == inf:  # a set that leans on no norm has none to be beyond
            continue
        for k in range(len(inst.X)):
            width = arm_width(state.estimate, ball, k)
            if abs(state.estimate.est[s, k]) <= width:  # so it is whatever the norm: of many arms, nearly all
                continue
            longest = 0.0  # first, so that features too small to be squared are not taken for zeros
            for a in range(inst.X.shape[1]):
                longest = max(longest, abs(inst.X[k, a]))
            square = 0.0
            for a in range(inst.X.shape[1]):
                square += (inst.X[k, a] / longest) ** 2 if longest > 0.0 else 0.0
            largest = IMPOSSIBLE * (longest * sqrt(square)) * ball.norm + width
            possible = possible and abs(state.estimate.est[s, k]) <= largest
    return possible
