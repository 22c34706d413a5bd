"""A few aims, one after the other: all about one before the next.

Those that stand out are cut in their order, and each that is larger than all before hides those below it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from surefoot.core.estimate import column, diagonal, second_column, second_diagonal
from surefoot.core.kernel import kernel
from surefoot.core.state import Bounds, State
from surefoot.core.types import Ball, Instance, Vector
from surefoot.sets.aim_sums import ROWS, add_to_row, along2_of, along_of, meet
from surefoot.sets.aims import Aims, Met, Moved, fitted, moved_by, row_of, summed, turned, turned2, weight_of
from surefoot.sets.asking import Duel, question_of
from surefoot.sets.boundaries import boundary_in
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


@kernel
def learn_leads(inst: Instance, memory: "Memory", state: State, k: int, met: Met, duel: Duel) -> None:
    """The aims at the reward after a pull of arm k, each with the weight that it takes in it.                   (C5)"""
    estimate, aims, high, compared = state.estimate, memory.reward, state.levels.high, memory.compared[0]
    K, g, x = len(high), inst.gram_of[0], memory.x
    v, column_k, second_k = diagonal(estimate, g), column(inst, estimate, g, k), second_column(inst, estimate, g, k)
    column_i, column_j = column(inst, estimate, g, max(duel.i, 0)), column(inst, estimate, g, max(duel.j, 0))
    meet(aims.sums, 0, aims.active[0], memory.image, memory.image2)
    for n in range(aims.active[0]):
        a, value = aims.target[0, n], aims.value[n]
        before, before2 = along_of(aims.sums, n, n, memory.image), along2_of(aims.sums, n, n, memory.image2)
        asked = question_of(aims, n, duel, high, v, column_k, column_i, column_j)
        weight = weight_of(
            aims.information[n], met.gamma, duel.per_round, asked.square, asked.common, asked.along, before
        )
        moved = take_in(aims, 0, n, met, x, weight, before, before2, value)
        if a < K:
            aims.own[n] = turned(aims.own[n], moved, column_k[a])
            aims.own2[n] = turned2(aims.own2[n], moved, column_k[a], second_k[a])
        if compared >= 0:
            aims.rival[n] = turned(aims.rival[n], moved, column_k[compared])
            aims.rival2[n] = turned2(aims.rival2[n], moved, column_k[compared], second_k[compared])


@kernel
def learn_limit(inst: Instance, memory: "Memory", state: State, k: int, met: Met, per_round: float, s: int) -> None:
    """The aims at limit s after a pull of arm k, each with the weight that it takes in it.                      (C5)"""
    estimate, aims, e, g, x = state.estimate, memory.safety, s - 1, inst.gram_of[s], memory.x
    v, column_k, second_k = diagonal(estimate, g), column(inst, estimate, g, k), second_column(inst, estimate, g, k)
    meet(aims.sums, e, aims.active[e], memory.image, memory.image2)
    for n in range(aims.active[e]):
        b, a = aims.target[e, n], row_of(aims, e, n)
        value = aims.value[a]
        before, before2 = along_of(aims.sums, a, n, memory.image), along2_of(aims.sums, a, n, memory.image2)
        weight = weight_of(aims.information[a], met.gamma, per_round, v[b], column_k[b], aims.own[a], before)
        moved = take_in(aims, e, n, met, x, weight, before, before2, value)
        aims.own[a] = turned(aims.own[a], moved, column_k[b])
        aims.own2[a] = turned2(aims.own2[a], moved, column_k[b], second_k[b])


@kernel
def take_in(
    aims: Aims, e: int, n: int, met: Met, x: Vector, weight: float, before: float, before2: float, value: float
) -> Moved:  # fmt: skip
    """Aim n at signal e after a pull of the arm x with this weight: all but its products with other arms, and how these
    move. Before the pull are its along, along2 and value: who has to wait for memory asks for the last one early."""
    a = row_of(aims, e, n)
    aims.information[a] += weight * weight
    aims.value[a], aims.rest[a] = summed(met, weight, before, value, aims.rest[a])
    aims.fit[a], aims.fit2[a] = fitted(met, weight, before, before2, aims.fit[a], aims.fit2[a])
    add_to_row(aims.sums, a, met.gamma * weight, x)
    return moved_by(met, weight, before, before2)


@kernel
def cut_limit(
    inst: Instance, params: "Params", memory: "Memory", state: State, bounds: Bounds, s: int, radii: Radii
) -> None:  # fmt: skip
    """Cuts the bounds of signal s at the arms that an aim asks about.                                           (C6)"""
    estimate, aims, e = state.estimate, memory.safety, s - 1
    g, c, est = inst.gram_of[s], params.ball.prior[s], state.estimate.est[s]
    v, v2 = diagonal(estimate, g), second_diagonal(estimate, g)
    for n in range(aims.active[e]):
        k, a = aims.target[e, n], row_of(aims, e, n)
        if is_safe_anyway(inst, bounds, s, k):
            continue
        square, along = square_at_arm(v, v2, c, k), aims.own[a] + c * aims.own2[a]
        seen = Seen(square, along, aims.fit[a] + c * aims.fit2[a], aims.fit[a], aims.information[a], aims.rest[a])
        low, high = boundary_in(params.low[e], aims.turn[e, n]), boundary_in(params.high, e)
        below, above = furthest_at_arm(inst, memory, state, s, seen, radii, low, high)
        bounds.lower[e, k] = est[k] - beyond_arm(inst, memory.drift, s, k, below)
        bounds.upper[e, k] = est[k] + beyond_arm(inst, memory.drift, s, k, above)


@kernel
def cut_leads(
    inst: Instance, params: "Params", memory: "Memory", state: State, found: Ball, bounds: Bounds, levels: Vector,
    lead: Lead, column_i: Vector, second_i: Vector,
) -> bool:  # fmt: skip
    """Cuts the leads that stand out where an aim asks about them; whether the largest of all is one of these.   (C6)"""
    aims, est, x_i = memory.reward, state.estimate.est[0], max(lead.i, 0)
    v, v2 = diagonal(state.estimate, found.g), second_diagonal(state.estimate, found.g)
    largest, cut = lead.uncut, False
    for n in range(aims.active[0]):
        j = aims.target[0, n]
        if bounds.lead[j] > largest and j != lead.i:
            x_j, level_j = rival_at(levels, j, x_i)
            seen = lead_seen(aims, n, found, v, v2, level_j, x_j, lead.level_i, x_i, column_i, second_i)
            edge = boundary_of_lead(params, seen.information)
            width = furthest_lead(inst, memory, state, seen, found.radius, edge)
            mean = level_j * est[x_j] - lead.level_i * est[x_i]
            bounds.lead[j] = beyond_lead(inst, memory.drift, lead.i, j, mean + width)
            if bounds.lead[j] > largest:
                largest, cut = bounds.lead[j], True
    return cut


ONE_BY_ONE: dict[str, Callable[..., Any]] = {
    **ROWS, "learn_leads": learn_leads, "learn_limit": learn_limit, "cut_limit": cut_limit, "cut_leads": cut_leads,
}  # fmt: skip
