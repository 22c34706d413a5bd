"""Many aims, a tile of them side by side: one step of all before the next.

What a step reads of the arms is brought together first, and written back at the end, one aim after the other. All
between goes along a tile, without a question that one aim answers in another way than its neighbour, so that the
processor takes several at once. Each loop writes few arrays: it is taken so only if none of them lies in another's way,
and what has to be asked for that grows with their number.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from surefoot.core.estimate import column, diagonal, second_column, second_diagonal
from surefoot.core.kernel import kernel, rare
from surefoot.core.state import Bounds, State
from surefoot.core.types import Ball, Instance, Vector
from surefoot.sets.aim_sums import TILE, TILES, meet, steps_of
from surefoot.sets.aims import Aims, Met, fitted, moved_by, row_of, summed, turned, turned2, weight_of
from surefoot.sets.asking import Duel, question_of
from surefoot.sets.boundaries import Boundary, boundary_in
from surefoot.sets.cutting import (
    Lead,
    Radii,
    Seen,
    boundary_of_lead,
    furthest_at_arm,
    furthest_lead,
    is_safe_anyway,
    lead_seen,
    rival_at,
    square_at_arm,
)
from surefoot.sets.deviations import beyond_arm, beyond_lead

if TYPE_CHECKING:
    from surefoot.sets.directional import Memory, Params

# -- learning ---------------------------------------------------------------------------------------------------------


@kernel
def learn_leads(inst: Instance, memory: "Memory", state: State, k: int, met: Met, duel: Duel) -> None:
    """The aims at the reward after a pull of arm k, each with the weight that it takes in it.                   (C5)"""
    estimate, aims, high, compared = state.estimate, memory.reward, state.levels.high, memory.compared[0]
    g, sums = inst.gram_of[0], memory.reward.sums
    v, column_k, second_k = diagonal(estimate, g), column(inst, estimate, g, k), second_column(inst, estimate, g, k)
    column_i, column_j = column(inst, estimate, g, max(duel.i, 0)), column(inst, estimate, g, max(duel.j, 0))
    meet(sums, 0, aims.active[0], memory.image, memory.image2)
    for first in range(0, aims.active[0], TILE):
        end = min(first + TILE, aims.active[0])
        ask_leads(aims, first, end, duel, high, v, column_k, second_k, column_i, column_j)
        room, count = sums.room, end - first
        weigh(
            aims.information[first:end], met.gamma, duel.per_round, room.square, room.common, room.along,
            sums.along[first:end], room.weight[:count],
        )  # fmt: skip
        take_in(aims, 0, first, end, met)
        if compared >= 0:
            turn_by_one(
                met, room.weight, sums.along[first:end], sums.along2[first:end], column_k[compared],
                second_k[compared], aims.rival[first:end], aims.rival2[first:end],
            )  # fmt: skip


@rare
def ask_leads(
    aims: Aims, first: int, end: int, duel: Duel, high: Vector, v: Vector, column_k: Vector, second_k: Vector,
    column_i: Vector, column_j: Vector,
) -> None:  # fmt: skip
    """What these of the reward's aims ask for when arm k is pulled, and what their own arms have in common with it."""
    room = aims.sums.room
    for n in range(first, end):
        asked = question_of(aims, n, duel, high, v, column_k, column_i, column_j)
        room.square[n - first], room.common[n - first], room.along[n - first] = asked
        a = aims.target[0, n]
        room.overlap[n - first] = column_k[a] if a < len(high) else 0.0
        room.overlap2[n - first] = second_k[a] if a < len(high) else 0.0


@kernel
def learn_limit(inst: Instance, memory: "Memory", state: State, k: int, met: Met, per_round: float, s: int) -> None:
    """The aims at limit s after a pull of arm k, each with the weight that it takes in it.                      (C5)"""
    estimate, aims, e, g = state.estimate, memory.safety, s - 1, inst.gram_of[s]
    v, column_k, second_k = diagonal(estimate, g), column(inst, estimate, g, k), second_column(inst, estimate, g, k)
    sums = aims.sums
    meet(sums, e, aims.active[e], memory.image, memory.image2)
    for first in range(0, aims.active[e], TILE):
        end = min(first + TILE, aims.active[e])
        ask_limit(aims, e, first, end, v, column_k, second_k)
        room, a, b = sums.room, row_of(aims, e, first), row_of(aims, e, end)
        weigh(
            aims.information[a:b], met.gamma, per_round, room.square, room.overlap, aims.own[a:b],
            sums.along[first:end], room.weight[: end - first],
        )  # fmt: skip
        take_in(aims, e, first, end, met)


@rare
def ask_limit(aims: Aims, e: int, first: int, end: int, v: Vector, column_k: Vector, second_k: Vector) -> None:
    """What these of the aims at signal e ask for when arm k is pulled."""
    room = aims.sums.room
    for n in range(first, end):
        b = aims.target[e, n]
        room.square[n - first], room.overlap[n - first], room.overlap2[n - first] = v[b], column_k[b], second_k[b]


@rare
def weigh(
    information: Vector, gamma: float, per_round: float, square: Vector, common: Vector, along: Vector,
    before: Vector, weight: Vector,
) -> None:  # fmt: skip
    """The weights that aims take in a pull.                                                                     (C5)"""
    for n in range(len(weight)):
        weight[n] = weight_of(information[n], gamma, per_round, square[n], common[n], along[n], before[n])


@rare
def take_in(aims: Aims, e: int, first: int, end: int, met: Met) -> None:
    """These of the aims at signal e after a pull with the weights that they take in it."""
    sums, room, a, b = aims.sums, aims.sums.room, row_of(aims, e, first), row_of(aims, e, end)
    before, before2, weight = sums.along[first:end], sums.along2[first:end], room.weight
    information, value, rest = aims.information[a:b], aims.value[a:b], aims.rest[a:b]
    for n in range(len(rest)):
        information[n] += weight[n] * weight[n]
        value[n], rest[n] = summed(met, weight[n], before[n], value[n], rest[n])
    fit, fit2, step = aims.fit[a:b], aims.fit2[a:b], steps_of(sums, e, first)
    for n in range(len(fit)):
        fit[n], fit2[n] = fitted(met, weight[n], before[n], before2[n], fit[n], fit2[n])
        step[n] = met.gamma * weight[n]
    own, own2, overlap, overlap2 = aims.own[a:b], aims.own2[a:b], room.overlap, room.overlap2
    for n in range(len(own)):
        moved = moved_by(met, weight[n], before[n], before2[n])
        own[n], own2[n] = turned(own[n], moved, overlap[n]), turned2(own2[n], moved, overlap[n], overlap2[n])


@rare
def turn_by_one(
    met: Met, weight: Vector, before: Vector, before2: Vector, overlap: float, overlap2: float, product: Vector,
    product2: Vector,
) -> None:  # fmt: skip
    """The products of aims with one arm after the pull."""
    for n in range(len(product)):
        moved = moved_by(met, weight[n], before[n], before2[n])
        product[n], product2[n] = turned(product[n], moved, overlap), turned2(product2[n], moved, overlap, overlap2)


# -- cutting ----------------------------------------------------------------------------------------------------------


@kernel
def cut_limit(
    inst: Instance, params: "Params", memory: "Memory", state: State, bounds: Bounds, s: int, radii: Radii
) -> None:  # fmt: skip
    """Cuts the bounds of signal s at the arms that an aim asks about.                                           (C6)

    The reach of all is found, of those too that are safe anyway: leaving these out would cost more.
    """
    aims, e, room, est = memory.safety, s - 1, memory.safety.sums.room, state.estimate.est[s]
    g, c = inst.gram_of[s], params.ball.prior[s]
    v, v2 = diagonal(state.estimate, g), second_diagonal(state.estimate, g)
    for first in range(0, aims.active[e], TILE):
        end = min(first + TILE, aims.active[e])
        for n in range(first, end):
            k, turn = aims.target[e, n], aims.turn[e, n]
            room.square[n - first] = square_at_arm(v, v2, c, k)
            room.rho[n - first], room.constant[n - first], room.offset[n - first] = boundary_in(params.low[e], turn)
        reach_of_limit(inst, params, memory, state, s, first, end, radii)
        for n in range(first, end):
            k = aims.target[e, n]
            if not is_safe_anyway(inst, bounds, s, k):
                bounds.lower[e, k] = est[k] - beyond_arm(inst, memory.drift, s, k, room.below[n - first])
                bounds.upper[e, k] = est[k] + beyond_arm(inst, memory.drift, s, k, room.above[n - first])


@rare
def reach_of_limit(
    inst: Instance, params: "Params", memory: "Memory", state: State, s: int, first: int, end: int, radii: Radii
) -> None:  # fmt: skip
    """How far signal s can lie below and above its estimate at the arms of these aims: room.below and room.above."""
    aims, room, e, c = memory.safety, memory.safety.sums.room, s - 1, params.ball.prior[s]
    a, b = row_of(aims, e, first), row_of(aims, e, end)
    own, own2, fit, fit2 = aims.own[a:b], aims.own2[a:b], aims.fit[a:b], aims.fit2[a:b]
    information, rest = aims.information[a:b], aims.rest[a:b]
    square, below, above = room.square, room.below[: end - first], room.above[: end - first]
    rho, constant, offset, high = room.rho, room.constant, room.offset, boundary_in(params.high, e)
    for n in range(len(below)):
        seen = Seen(square[n], own[n] + c * own2[n], fit[n] + c * fit2[n], fit[n], information[n], rest[n])
        low = Boundary(rho[n], constant[n], offset[n])
        below[n], above[n] = furthest_at_arm(inst, memory, state, s, seen, radii, low, high)


@kernel
def cut_leads(
    inst: Instance, params: "Params", memory: "Memory", state: State, found: Ball, bounds: Bounds, levels: Vector,
    lead: Lead, column_i: Vector, second_i: Vector,
) -> bool:  # fmt: skip
    """Cuts the leads that stand out where an aim asks about them; whether the largest of all is one of these.   (C6)"""
    aims, room, largest, cut, first = memory.reward, memory.reward.sums.room, lead.uncut, False, 0
    while first < aims.active[0]:
        first, count = outstanding(aims, bounds.lead, lead.i, largest, first)
        gather_leads(params, aims, state, found, count, levels, lead, column_i, second_i)
        reach_of_leads(inst, memory, state, found.radius, room.above[:count])
        for n in range(count):
            j = aims.target[0, room.chosen[n]]
            if bounds.lead[j] > largest:  # those that one before has hidden stay as they are, as they do one by one
                bounds.lead[j] = beyond_lead(inst, memory.drift, lead.i, j, room.mean[n] + room.above[n])
                if bounds.lead[j] > largest:
                    largest, cut = bounds.lead[j], True
    return cut


@rare
def outstanding(aims: Aims, leads: Vector, i: int, largest: float, first: int) -> tuple[int, int]:
    """Behind which aim to look for more, and how many were found up to there whose leads stand out: room.chosen says
    which."""
    chosen, count, n = aims.sums.room.chosen, 0, first
    while n < aims.active[0] and count < len(chosen):
        j = aims.target[0, n]
        if leads[j] > largest and j != i:
            chosen[count] = n
            count += 1
        n += 1
    return n, count


@rare
def gather_leads(
    params: "Params", aims: Aims, state: State, found: Ball, count: int, levels: Vector, lead: Lead,
    column_i: Vector, second_i: Vector,
) -> None:  # fmt: skip
    """What the chosen aims have seen, and their leads by the estimates."""
    room, est, x_i = aims.sums.room, state.estimate.est[0], max(lead.i, 0)
    v, v2 = diagonal(state.estimate, found.g), second_diagonal(state.estimate, found.g)
    for n in range(count):
        j = aims.target[0, room.chosen[n]]
        x_j, level_j = rival_at(levels, j, x_i)
        seen = lead_seen(aims, room.chosen[n], found, v, v2, level_j, x_j, lead.level_i, x_i, column_i, second_i)
        room.square[n], room.along[n], room.fit[n], room.plain[n], room.information[n], room.rest[n] = seen
        room.mean[n] = level_j * est[x_j] - lead.level_i * est[x_i]
        room.rho[n], room.constant[n], room.offset[n] = boundary_of_lead(params, seen.information)


@rare
def reach_of_leads(inst: Instance, memory: "Memory", state: State, radius: float, reach: Vector) -> None:
    """How far the leads that the chosen aims ask about can lie above their estimates."""
    room = memory.reward.sums.room
    square, along, fit, plain, information = room.square, room.along, room.fit, room.plain, room.information
    rest, rho, constant, offset = room.rest, room.rho, room.constant, room.offset
    for n in range(len(reach)):
        seen = Seen(square[n], along[n], fit[n], plain[n], information[n], rest[n])
        reach[n] = furthest_lead(inst, memory, state, seen, radius, Boundary(rho[n], constant[n], offset[n]))


SIDE_BY_SIDE: dict[str, Callable[..., Any]] = {
    **TILES, "learn_leads": learn_leads, "learn_limit": learn_limit, "cut_limit": cut_limit, "cut_leads": cut_leads,
}  # fmt: skip
