"""How far the ellipsoid reaches where an aim's half-space cuts it, and what that says of limits and leads.    (C6)"""

from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from surefoot.core.estimate import square_of
from surefoot.core.kernel import bound_in, kernel, thin
from surefoot.core.state import Bounds, State
from surefoot.core.types import Ball, Instance, Vector
from surefoot.sets.aim_sums import UNBOUND
from surefoot.sets.aims import Aims
from surefoot.sets.boundaries import Boundary, boundary_in, growth
from surefoot.sets.deviations import beyond_aim
from surefoot.sets.sizes import height_of

if TYPE_CHECKING:
    from surefoot.sets.directional import Memory, Params

NEAR, FAR = 0, 1  # boundaries of the reward's aims
ROUNDING = 1e-15


class Radii(NamedTuple):
    """The radii of an ellipsoid, as far as it bounds from below and from above."""

    low: float
    high: float


class Lead(NamedTuple):
    """The leader, NULL for none, its level, and the largest lead over it of those that no aim asks about."""

    i: int
    level_i: float
    uncut: float


class Seen(NamedTuple):
    """What an aim has seen, and how it lies to the question y."""

    square: float  # |y|^2, here and in the next two in B = V^-1 + c V^-2
    along: float  # y . q
    fit: float  # |q|^2
    plain: float  # |q|^2 in V^-1
    information: float
    rest: float


@kernel
def furthest(full: float, square: float, along: float, fit: float, bound: float, radius: float) -> float:
    """A bound on y . v with |v| <= radius in B^-1 and q . v <= bound: the largest, where the half-space cuts.   (C6)

    square = |y|^2, along = y . q and fit = |q|^2, all in B = V^-1 + c V^-2, and full = radius |y|. The part of y along
    q is held by the half-space, the rest by what the ellipsoid has left there.
    """
    most = radius * radius
    cuts = along > 0.0 and fit > 0.0 and bound * full < most * along and (bound > 0.0 or bound * bound < most * fit)
    if not cuts:
        return full  # the half-space does not cut where y points, or leaves nothing, which is for others to say
    share = 1.0 / fit
    angle = max(square - along * along * share, ROUNDING * square)  # what cancels must not make the bound too small
    across = angle * max(most - bound * bound * share, 0.0)
    return min(full, bound * along * share + sqrt(across))


@kernel
def furthest_at_arm(
    inst: Instance, memory: "Memory", state: State, s: int, seen: Seen, radii: Radii, low: Boundary, high: Boundary
) -> tuple[float, float]:
    """How far signal s at an arm can lie below its estimate, and how far above, by the aim at it and its boundaries,
    which have one rho.                                                                                          (C6)"""
    length, log_growth = sqrt(seen.square), growth(high.rho, seen.information)
    below = height_of(inst, memory.ball.sizes, s, low, seen.information, log_growth) - seen.rest
    above = height_of(inst, memory.ball.sizes, s, high, seen.information, log_growth) + seen.rest
    below = beyond_aim(inst, state, s, seen.information, seen.plain, below)
    above = beyond_aim(inst, state, s, seen.information, seen.plain, above)
    return (
        furthest(radii.low * length, seen.square, seen.along, seen.fit, below, radii.low),
        furthest(radii.high * length, seen.square, seen.along, seen.fit, above, radii.high),
    )


@kernel
def furthest_lead(
    inst: Instance, memory: "Memory", state: State, seen: Seen, radius: float, edge: Boundary
) -> float:  # fmt: skip
    """How far a lead can lie above its estimate by the aim at it and its boundary.                              (C6)"""
    bound = height_of(inst, memory.ball.sizes, 0, edge, seen.information, growth(edge.rho, seen.information))
    bound = beyond_aim(inst, state, 0, seen.information, seen.plain, bound + seen.rest)
    return furthest(radius * sqrt(seen.square), seen.square, seen.along, seen.fit, bound, radius)


@thin
def boundary_of_lead(params: "Params", information: float) -> Boundary:
    """The boundary that a reward's aim uses: NEAR for differences of a few epsilon, or early FAR for larger ones."""
    return boundary_in(params.reward, NEAR if information >= params.switch else FAR)


@kernel
def lead_seen(
    aims: Aims, n: int, found: Ball, v: Vector, v2: Vector, level_j: float, x_j: int, level_i: float, x_i: int,
    column_i: Vector, second_i: Vector,
) -> Seen:  # fmt: skip
    """What the reward's aim n has seen of the difference of the two arms; the columns are those of the leader."""
    c = found.prior
    square = square_of(level_j, v[x_j], level_i, v[x_i], column_i[x_j])
    square += c * square_of(level_j, v2[x_j], level_i, v2[x_i], second_i[x_j])
    along = level_j * (aims.own[n] + c * aims.own2[n]) - level_i * (aims.rival[n] + c * aims.rival2[n])
    return Seen(square, along, aims.fit[n] + c * aims.fit2[n], aims.fit[n], aims.information[n], aims.rest[n])


@thin
def rival_at(levels: Vector, j: int, x_i: int) -> tuple[int, float]:
    """The arm of rival j, and its level: the null pull is any arm at level 0."""
    return (j, levels[j]) if j < len(levels) else (x_i, 0.0)


@thin
def square_at_arm(v: Vector, v2: Vector, c: float, k: int) -> float:
    """|x_k|^2 in B = V^-1 + c V^-2."""
    square: float = max(v[k], 0.0) + c * max(v2[k], 0.0)
    return square


@thin
def is_safe_anyway(inst: Instance, bounds: Bounds, s: int, k: int) -> bool:
    """Whether the ellipsoid alone shows the arm to keep limit s at full level: no aim could raise that."""
    return bool(bounds.lower[s - 1, k] >= inst.eta0[s - 1] + inst.within[s])


@bound_in
def cut_limit(
    inst: Instance, params: "Params", memory: "Memory", state: State, bounds: Bounds, s: int, radii: Radii
) -> None:  # fmt: skip
    """Cuts the bounds of signal s at the arms that an aim asks about.                                           (C6)"""
    raise TypeError(UNBOUND)


@bound_in
def cut_leads(
    inst: Instance, params: "Params", memory: "Memory", state: State, found: Ball, bounds: Bounds, levels: Vector,
    lead: Lead, column_i: Vector, second_i: Vector,
) -> bool:  # fmt: skip
    """Cuts the leads that stand out where an aim asks about them; whether the largest of all is one of these.   (C6)"""
    raise TypeError(UNBOUND)
