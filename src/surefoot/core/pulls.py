"""The pull that teaches most about the difference between leader and challenger.                    (G4, G5, G6)"""

from surefoot.core.gaps import OPTIMISTIC, Race
from surefoot.core.kernel import kernel
from surefoot.core.rounding import finite_weights, shortest_weights
from surefoot.core.types import ROUND, Instance, State, Work

GREEDY, ROUNDING, ROUNDING_FINITE, IN_TURN = 0, 1, 2, 3


@kernel
def choose_pull(inst: Instance, state: State, work: Work, rule: int, selection: int, race: Race) -> int:
    """The arm to pull, at the level that work.reach gives it."""
    if rule == IN_TURN:
        return int(state.clock[ROUND] % len(state.N))
    i, j = max(race.leader, 0), max(race.challenger, 0)  # the null pull is any arm at level 0
    if selection == OPTIMISTIC and race.challenger >= 0:
        unlearned = (state.high[j] - state.low[j]) * abs(state.est[0, j])
        if unlearned > race.width:  # the level decides, not the reward                                      (G6)
            return greedy(state, work, inst.gram_of[1], j, 1.0, j, 0.0)
    if rule == GREEDY:
        return greedy(state, work, inst.gram_of[0], i, race.leader_level, j, race.challenger_level)
    if rule == ROUNDING:
        shortest_weights(inst, state, work, i, race.leader_level, j, race.challenger_level)
    else:
        finite_weights(state, work, inst.gram_of[0], i, race.leader_level, j, race.challenger_level)
    return furthest_behind(state, work)


@kernel
def greedy(state: State, work: Work, g: int, i: int, level_i: float, j: int, level_j: float) -> int:
    """The arm whose pull shrinks |y| most, y = level_i x_i - level_j x_j.                                   (G4)"""
    best, best_gain, best_den = 0, -1.0, 1.0  # gains are compared as fractions: a product is cheaper than a quotient
    for k in range(len(state.N)):
        level = work.reach[k]
        overlap = level * (level_i * state.G[g, i, k] - level_j * state.G[g, j, k])
        gain, den = overlap * overlap, 1.0 + level * level * state.v[g, k]
        better = gain * best_den > best_gain * den
        best = k if better else best
        best_gain = gain if better else best_gain
        best_den = den if better else best_den
    return best


@kernel
def furthest_behind(state: State, work: Work) -> int:
    """The arm with the fewest pulls for its share, counted in pulls at today's level.                       (G5)"""
    best, best_ratio = -1, 0.0
    total = 0.0
    for k in range(len(state.N)):
        total += abs(work.weights[k])
    for k in range(len(state.N)):
        share = abs(work.weights[k])
        if share <= 1e-12 * total:
            continue
        ratio = state.N[k] / (work.reach[k] * work.reach[k] * share)
        if best < 0 or ratio < best_ratio:
            best, best_ratio = k, ratio
    return max(best, 0)
