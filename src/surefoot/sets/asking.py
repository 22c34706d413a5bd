"""What the aims of a directional set ask, when they are opened, and what they learn from a pull.            (C5)"""

from typing import TYPE_CHECKING, NamedTuple

from surefoot.core.estimate import diagonal, image, image_twice, second_diagonal, square_of
from surefoot.core.kernel import bound_in, kernel, rare
from surefoot.core.levels import Levels
from surefoot.core.linear import dot, forward_solve, transposed_solve, weighted_sum
from surefoot.core.state import Scratch, State
from surefoot.core.types import CHALLENGER, LEADER, NULL, ROUND, Instance, Vector
from surefoot.sets.aim_sums import UNBOUND, along2_of, along_of, end_pull, meet, read_sum
from surefoot.sets.aims import Aims, Met, close_aim, is_open, open_aim, refresh_aim, row_of
from surefoot.sets.deviations import count_level
from surefoot.sets.norm_free import learn as learn_uncut
from surefoot.sets.norm_free import refresh as refresh_uncut
from surefoot.sets.sizes import begin_sizes, learn_size

if TYPE_CHECKING:
    from surefoot.sets.directional import Memory, Params

SELDOM = 15  # settled questions are looked for in every sixteenth round
NO_QUESTION = 1e-13  # a square below this share of the two that it is the difference of is nothing but rounding


@rare
def begin(inst: Instance, params: "Params", memory: "Memory") -> None:
    """No aim is open, or all are."""
    memory.compared[0] = NULL
    begin_sizes(inst, params.ball.mixture, memory.ball.sizes)
    for k in range(len(inst.X) if params.at_once else 0):
        open_aim(memory.reward, k)
        open_aim(memory.safety, k)
    if params.at_once:
        open_aim(memory.reward, len(inst.X))


@rare
def open_safety(memory: "Memory", k: int) -> None:
    """Opens the aims that ask for every limit at arm k, unless it is none or they are open."""
    if k >= 0 and not is_open(memory.safety, k):
        open_aim(memory.safety, k)


@rare
def close_settled(memory: "Memory", levels: Levels, s: int) -> None:
    """Closes the aims at signal s of arms that are certified at full level, where levels remember: none of them can say
    anything that a level would still follow from, as long as bounds do not contradict each other.

    What was opened counts as opened, and is never opened again. Only a pull closes anything: bounds may be asked for as
    often as one likes.
    """
    if levels.remember[0] == 0:
        return
    aims, e = memory.safety, s - 1
    n: int = aims.active[e] - 1
    while n >= 0:
        if levels.low_of[e, aims.target[e, n]] >= 1.0:
            close_aim(aims, e, n)
        n -= 1


@kernel
def compare_with(inst: Instance, memory: "Memory", state: State, i: int) -> None:
    """Makes the aims at the reward compare their arms with arm i."""
    if i >= 0 and memory.compared[0] != i:
        compare_anew(inst, memory, state, i)


@rare
def compare_anew(inst: Instance, memory: "Memory", state: State, i: int) -> None:
    """The products of every aim at the reward with arm i."""
    aims, g = memory.reward, inst.gram_of[0]
    image(inst, state.estimate, g, i, memory.image)
    image_twice(state.estimate, g, memory.image, memory.image2)
    meet(aims.sums, 0, aims.active[0], memory.image, memory.image2)
    for n in range(aims.active[0]):
        aims.rival[n] = along_of(aims.sums, n, n, memory.image)
        aims.rival2[n] = along2_of(aims.sums, n, n, memory.image2)
    memory.compared[0] = i


@kernel
def learn(
    inst: Instance, params: "Params", memory: "Memory", state: State, k: int, gamma: float, observed: Vector
) -> None:
    """The aims after a pull of arm k at level gamma, before the estimate changes.                           (C5)"""
    learn_uncut(inst, memory.ball, k, gamma)
    learn_size(inst, params.ball.mixture, memory.ball.sizes, state, k, gamma, observed)
    count_level(memory.drift, k, gamma)
    if state.estimate.spanned[inst.gram_of[0]] == 0:
        return  # weights of 0: nothing points anywhere yet
    i, j = state.clock[LEADER], state.clock[CHALLENGER]
    if state.estimate.pulls[k] > 0:
        open_safety(memory, k)
    if memory.close[0] == 1.0:
        open_safety(memory, i)
        open_safety(memory, j)
    compare_with(inst, memory, state, i)
    # None of the reward's aims is ever closed, so each stays where it began.
    of_leader = product_with(inst, memory, state, j, memory.reward.order[max(i, 0)] - 1 if i >= 0 else -1)
    low, per_round = state.levels.low, 1.0 / (state.clock[ROUND] + 1.0)
    level_i, level_j = low[max(i, 0)] if i >= 0 else 0.0, low[max(j, 0)] if j >= 0 else 0.0
    duel = Duel(i, level_i, j, level_j, of_leader, per_round)
    for c in range(len(memory.x)):
        memory.x[c] = inst.X[k, c]  # of many arms the features lie far apart, and every aim asks for them
    for s in range(len(inst.R)):
        g = inst.gram_of[s]
        if s == 0 or g != inst.gram_of[s - 1]:
            image(inst, state.estimate, g, k, memory.image)
            image_twice(state.estimate, g, memory.image, memory.image2)
        met = met_by(inst, state, k, gamma, observed[s], s)
        if s == 0:
            learn_leads(inst, memory, state, k, met, duel)
        else:
            if state.clock[ROUND] & SELDOM == 0:  # looking for them takes a while, and nothing waits for it
                close_settled(memory, state.levels, s)
            learn_limit(inst, memory, state, k, met, per_round, s)
    end_pull(memory.reward.sums, memory.reward.active, memory.x)
    end_pull(memory.safety.sums, memory.safety.active, memory.x)


@rare
def product_with(inst: Instance, memory: "Memory", state: State, j: int, n: int) -> float:
    """x_j . V^-1 q of the aim in place n, if there are both."""
    if j < 0 or n < 0:
        return 0.0
    image(inst, state.estimate, inst.gram_of[0], j, memory.image)
    read_sum(memory.reward.sums, 0, n, n, memory.image2)
    return dot(memory.image2, memory.image)


@kernel
def met_by(inst: Instance, state: State, k: int, gamma: float, observed: float, s: int) -> Met:
    """A pull of arm k at level gamma, as the aims of signal s see it."""
    g = inst.gram_of[s]
    v, v2 = diagonal(state.estimate, g)[k], max(second_diagonal(state.estimate, g)[k], 0.0)
    shrink = 1.0 / (1.0 + gamma * gamma * v)
    unexplained = (observed - gamma * state.estimate.est[s, k]) * shrink
    return Met(gamma, v, v2, gamma * gamma * shrink, observed, unexplained)


class Duel(NamedTuple):
    """Whom the last decision was about: the leader is asked about by the other arms, and about the leader it is the
    challenger that asks."""

    i: int
    level_i: float  # at which it leads
    j: int
    level_j: float  # that is certified of the challenger
    of_leader: float  # x_j . V^-1 q of the aim at the leader
    per_round: float  # 1 / (t + 1)


class Question(NamedTuple):
    """What an aim at y asks for: all in V^-1."""

    square: float  # |y|^2, and 0 where y is nothing but rounding
    common: float  # x . y for the arm x that is pulled
    along: float  # q . y


@kernel
def question_of(
    aims: Aims, n: int, duel: Duel, high: Vector, v: Vector, column_k: Vector, column_i: Vector, column_j: Vector
) -> Question:  # fmt: skip
    """What the reward's aim n asks for when arm k is pulled; the columns are those of the pulled arm and of the two."""
    a, about_leader = aims.target[0, n], aims.target[0, n] == duel.i
    x_b, level_b = (max(duel.j, 0), duel.level_j) if about_leader else (max(duel.i, 0), duel.level_i)
    x_a, level_a = (a, high[a]) if a < len(high) else (x_b, 0.0)
    overlap = column_j[x_a] if about_leader else column_i[x_a]
    square = square_of(level_a, v[x_a], level_b, v[x_b], overlap)
    if square <= NO_QUESTION * (level_a * level_a * v[x_a] + level_b * level_b * v[x_b]):
        square = 0.0
    along = level_a * aims.own[n] - level_b * (duel.of_leader if about_leader else aims.rival[n])
    return Question(square, level_a * column_k[x_a] - level_b * column_k[x_b], along)


@bound_in
def learn_leads(inst: Instance, memory: "Memory", state: State, k: int, met: Met, duel: Duel) -> None:
    """The aims at the reward after a pull of arm k, each with the weight that it takes in it.                   (C5)"""
    raise TypeError(UNBOUND)


@bound_in
def learn_limit(inst: Instance, memory: "Memory", state: State, k: int, met: Met, per_round: float, s: int) -> None:
    """The aims at limit s after a pull of arm k, each with the weight that it takes in it.                      (C5)"""
    raise TypeError(UNBOUND)


@rare
def refresh(inst: Instance, params: "Params", memory: "Memory", state: State, scratch: Scratch, g: int) -> None:
    """The aims anew, by the factor C of V in scratch.A."""
    refresh_uncut(inst, params.ball, memory.ball, state)
    if state.estimate.spanned[g] == 0:
        return
    K, V_q = len(inst.X), memory.image
    for s in range(len(inst.R)):
        if inst.gram_of[s] == g:
            weighted_sum(inst.X, state.estimate.M[s], memory.x)
            aims, e = (memory.reward, 0) if s == 0 else (memory.safety, s - 1)
            for n in range(aims.active[e]):
                a = row_of(aims, e, n)
                refresh_aim(aims, e, n, scratch.A, scratch.u, V_q, memory.x)
                forward_solve(scratch.A, V_q, scratch.u)
                transposed_solve(scratch.A, scratch.u, memory.image2)  # V^-2 q
                if aims.target[e, n] < K:
                    x = inst.X[aims.target[e, n]]
                    aims.own[a], aims.own2[a] = dot(x, V_q), dot(x, memory.image2)
    memory.compared[0] = NULL  # found when it is asked for
