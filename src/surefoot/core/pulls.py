"""The pull that teaches most about the difference between leader and challenger.                    (G4-G7)"""

from surefoot.core.estimate import Estimate, column, diagonal, squared_norm
from surefoot.core.finite_rounding import finite_weights
from surefoot.core.kernel import kernel, thin
from surefoot.core.levels import Levels, can_be_tried, tried_arms
from surefoot.core.passes import first_about_largest
from surefoot.core.race import OPTIMISTIC, Race
from surefoot.core.rounding import Shares, shortest_weights
from surefoot.core.state import State, Work
from surefoot.core.types import ROUND, Instance, Vector

GREEDY, ROUNDING, ROUNDING_FINITE, IN_TURN = 0, 1, 2, 3


@kernel
def choose_pull(inst: Instance, state: State, work: Work, shares: Shares, rule: int, selection: int, race: Race) -> int:
    """The arm to pull, at the level that work.reach gives it."""
    estimate, reach = state.estimate, work.reach
    if rule == IN_TURN:
        return in_turn(inst, state.clock[ROUND])
    i, j = max(race.leader, 0), max(race.challenger, 0)  # the null pull is any arm at level 0
    if selection == OPTIMISTIC and race.challenger >= 0:
        unlearned = level_cost(state, j)
        if unlearned > reward_cost(state, race):  # the level decides, not the reward                        (G6)
            return greedy(inst, state, work, gram_of_limit(inst, tightest_limit(state.levels, j)), j, 1.0, j, 0.0)
    if rule == GREEDY:
        return greedy(inst, state, work, inst.gram_of[0], i, race.leader_level, j, race.challenger_level)
    if rule == ROUNDING:
        shortest_weights(inst, shares, reach, i, race.leader_level, j, race.challenger_level)
    else:
        finite_weights(inst, estimate, shares, reach, inst.gram_of[0], i, race.leader_level, j, race.challenger_level)
    return furthest_behind(estimate, shares.weights, reach)


@kernel
def in_turn(inst: Instance, t: int) -> int:
    """The arm whose turn it is in round t + 1, of those that can be tried."""
    K = len(inst.dial.ceiling)
    if len(inst.dial.pullable) == 0:
        return int(t % K)
    turn, place = 0, t % tried_arms(inst.dial)
    for k in range(K):
        if can_be_tried(inst.dial, k):
            turn = k if place == 0 else turn
            place -= 1
    return turn


@kernel
def reached(reach: Vector, k: int) -> int:
    """Arm k, or the first that can be tried where k cannot, or is none: nothing tells the others apart.       (P2)"""
    if k >= 0 and reach[k] > 0.0:
        return k
    first = 0
    while first < len(reach) - 1 and not reach[first] > 0.0:
        first += 1
    return first


@thin
def gram_of_limit(inst: Instance, s: int) -> int:
    """The Gram matrix of limit s; without limits nothing is asked of it, and it is that of the reward.        (P1)"""
    return int(inst.gram_of[1 + s] if len(inst.eta0) > 0 else inst.gram_of[0])


@thin
def level_cost(state: State, k: int) -> float:
    """What is at stake in the interval between the certified and the optimistic level of an arm."""
    cost: float = (state.levels.high[k] - state.levels.low[k]) * abs(state.estimate.est[0, k])
    return cost


@thin
def reward_cost(state: State, race: Race) -> float:
    """The part of the gap that is uncertainty about the reward, and not a difference of the estimates."""
    i, j, values = max(race.leader, 0), max(race.challenger, 0), state.estimate.est[0]
    difference: float = race.challenger_level * values[j] - race.leader_level * values[i]
    return race.gap - difference


@kernel
def decisive_pull(inst: Instance, state: State, work: Work, race: Race) -> int:
    """The arm whose pull narrows the gap most: the reward's part and what both unlearned levels cost.       (G7)

    One pull shrinks a squared width |y|^2 in A^-1 by the share overlap^2 / (|y|^2 (1 + |z|^2)); each share counts by
    what its width costs.
    """
    estimate = state.estimate
    i, j, g = max(race.leader, 0), max(race.challenger, 0), inst.gram_of[0]
    square = squared_norm(inst, estimate, g, j, race.challenger_level, i, race.leader_level)
    by_reward = max(reward_cost(state, race), 0.0) / square if square > 0.0 else 0.0
    s_j, s_i = tightest_limit(state.levels, j), tightest_limit(state.levels, i)
    g_j, g_i = gram_of_limit(inst, s_j), gram_of_limit(inst, s_i)
    v, v_j, v_i = diagonal(estimate, g), diagonal(estimate, g_j), diagonal(estimate, g_i)
    by_challenger = level_cost(state, j) / v_j[j] if race.challenger >= 0 and v_j[j] > 0.0 else 0.0
    asks_both = race.leader >= 0 and race.leader != race.challenger and v_i[i] > 0.0
    by_leader = level_cost(state, i) / v_i[i] if asks_both else 0.0
    reward_j, reward_i = column(inst, estimate, g, j), column(inst, estimate, g, i)
    safety_j, safety_i = column(inst, estimate, g_j, j), column(inst, estimate, g_i, i)
    leading, challenging, reach, score = race.leader_level, race.challenger_level, work.reach, work.score
    if g_j != g or g_i != g:  # each in the metric of its own signal, brought to that of the reward
        for k in range(len(reach)):
            overlap, information = challenging * reward_j[k] - leading * reward_i[k], reach[k] * reach[k]
            whole, worth = 1.0 + information * v[k], by_reward * overlap * overlap
            worth += by_challenger * safety_j[k] * safety_j[k] * (whole / (1.0 + information * v_j[k]))
            worth += by_leader * safety_i[k] * safety_i[k] * (whole / (1.0 + information * v_i[k]))
            score[k] = worth * (information / whole)
    else:
        for k in range(len(reach)):
            overlap, information = challenging * reward_j[k] - leading * reward_i[k], reach[k] * reach[k]
            worth = by_reward * overlap * overlap
            worth += by_challenger * safety_j[k] * safety_j[k] + by_leader * safety_i[k] * safety_i[k]
            score[k] = worth * (information / (1.0 + information * v[k]))
    return reached(reach, first_about_largest(score, len(reach), inst.ties)[0])


@kernel
def spanning_pull(inst: Instance, state: State, work: Work) -> int:
    """The arm with the largest part outside the span of what was pulled, at the level that work.reach gives it. (S0)

    The regularisation that is still there is so small that such a part outweighs every other gain.
    """
    v, reach, score = diagonal(state.estimate, inst.gram_of[0]), work.reach, work.score
    for k in range(len(reach)):
        score[k] = reach[k] * reach[k] * v[k]
    return reached(reach, first_about_largest(score, len(reach), inst.ties)[0])


@kernel
def tightest_limit(levels: Levels, k: int) -> int:
    """The limit that holds the arm's certified level down."""
    tightest = 0
    for s in range(1, len(levels.low_of)):
        tightest = s if levels.low_of[s, k] < levels.low_of[tightest, k] else tightest
    return tightest


@kernel
def greedy(
    inst: Instance, state: State, work: Work, g: int, i: int, level_i: float, j: int, level_j: float
) -> int:  # fmt: skip
    """The arm whose pull, at its level in work.reach, shrinks |y| most, y = level_i x_i - level_j x_j.         (G4)"""
    estimate, reach, score = state.estimate, work.reach, work.score
    column_i, column_j = column(inst, estimate, g, i), column(inst, estimate, g, j)
    v = diagonal(estimate, g)
    for k in range(len(reach)):
        overlap = reach[k] * (level_i * column_i[k] - level_j * column_j[k])
        information = 1.0 + reach[k] * reach[k] * v[k]
        score[k] = overlap * overlap / information if overlap != 0.0 else 0.0  # a GPU divides zeros slowly
    return reached(reach, first_about_largest(score, len(reach), inst.ties)[0])


@kernel
def furthest_behind(estimate: Estimate, weights: Vector, reach: Vector) -> int:
    """The arm with the fewest pulls for its share, counted in pulls at today's level.                       (G5)"""
    best, best_ratio = -1, 0.0
    total = 0.0
    for k in range(len(weights)):
        total += abs(weights[k])
    for k in range(len(weights)):
        share = abs(weights[k])
        if share <= 1e-12 * total:
            continue
        ratio = estimate.N[k] / (reach[k] * reach[k] * share)
        if best < 0 or ratio < best_ratio:
            best, best_ratio = k, ratio
    return reached(reach, best)
