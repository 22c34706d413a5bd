"""The pull that teaches most about the difference between leader and challenger.                    (G4-G7)"""

from surefoot.core.confidence import squared_norm
from surefoot.core.kernel import kernel
from surefoot.core.race import OPTIMISTIC, Race
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
        unlearned = level_cost(state, j)
        if unlearned > reward_cost(state, race):  # the level decides, not the reward                        (G6)
            return greedy(state, work, inst.gram_of[1 + tightest_limit(state, j)], j, 1.0, j, 0.0)
    if rule == GREEDY:
        return greedy(state, work, inst.gram_of[0], i, race.leader_level, j, race.challenger_level)
    if rule == ROUNDING:
        shortest_weights(inst, state, work, i, race.leader_level, j, race.challenger_level)
    else:
        finite_weights(state, work, inst.gram_of[0], i, race.leader_level, j, race.challenger_level)
    return furthest_behind(state, work)


@kernel
def level_cost(state: State, k: int) -> float:
    """What is at stake in the interval between the certified and the optimistic level of an arm."""
    cost: float = (state.high[k] - state.low[k]) * abs(state.est[0, k])
    return cost


@kernel
def reward_cost(state: State, race: Race) -> float:
    """The part of the gap that is uncertainty about the reward, and not a difference of the estimates."""
    i, j = max(race.leader, 0), max(race.challenger, 0)
    difference: float = race.challenger_level * state.est[0, j] - race.leader_level * state.est[0, i]
    return race.gap - difference


@kernel
def decisive_pull(inst: Instance, state: State, work: Work, race: Race) -> int:
    """The arm whose pull narrows the gap most: the reward's part and what both unlearned levels cost.       (G7)

    One pull shrinks a squared width |y|^2 in A^-1 by the share overlap^2 / (|y|^2 (1 + |z|^2)); each share counts by
    what its width costs.
    """
    i, j, g = max(race.leader, 0), max(race.challenger, 0), inst.gram_of[0]
    square = squared_norm(state, g, j, race.challenger_level, i, race.leader_level)
    by_reward = max(reward_cost(state, race), 0.0) / square if square > 0.0 else 0.0
    s_j, s_i = tightest_limit(state, j), tightest_limit(state, i)
    g_j, g_i = inst.gram_of[1 + s_j], inst.gram_of[1 + s_i]
    by_challenger = level_cost(state, j) / state.v[g_j, j] if race.challenger >= 0 and state.v[g_j, j] > 0.0 else 0.0
    asks_both = race.leader >= 0 and race.leader != race.challenger and state.v[g_i, i] > 0.0
    by_leader = level_cost(state, i) / state.v[g_i, i] if asks_both else 0.0
    best, most = 0, -1.0
    for k in range(len(state.N)):
        level = work.reach[k]
        information = level * level
        overlap = race.challenger_level * state.G[g, j, k] - race.leader_level * state.G[g, i, k]
        gain = by_reward * overlap * overlap / (1.0 + information * state.v[g, k])
        gain += by_challenger * state.G[g_j, j, k] * state.G[g_j, j, k] / (1.0 + information * state.v[g_j, k])
        gain += by_leader * state.G[g_i, i, k] * state.G[g_i, i, k] / (1.0 + information * state.v[g_i, k])
        gain *= information
        best = k if gain > most else best
        most = gain if gain > most else most
    return best


@kernel
def tightest_limit(state: State, k: int) -> int:
    """The limit that holds the arm's certified level down."""
    tightest = 0
    for s in range(1, len(state.low_of)):
        tightest = s if state.low_of[s, k] < state.low_of[tightest, k] else tightest
    return tightest


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
