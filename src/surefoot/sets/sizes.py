"""The size of the noise, as the sets read it: stated, or learned while the experiment goes on (`sets.unknown_noise`).

Which of the two is bound into the loops with the policy: compiled code for known noise holds nothing of the other.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

from surefoot.core.kernel import bound_in, thin
from surefoot.core.state import State
from surefoot.core.types import Instance, Nothing, Vector
from surefoot.sets.boundaries import Boundary, height

UNBOUND = "it is not said whether the noise is known: make the set with surefoot.sets.directional"
NAMES = ("begin_sizes", "learn_size", "radius_of", "height_of", "size_now")  # of the parts that either form binds in


@bound_in
def begin_sizes(inst: Instance, mixture: Any, sizes: Any) -> None:
    """The memory before the first pull."""
    raise TypeError(UNBOUND)


@bound_in
def learn_size(
    inst: Instance, mixture: Any, sizes: Any, state: State, k: int, gamma: float, observed: Vector
) -> None:  # fmt: skip
    """The memory after a pull, whose result the estimate does not know yet."""
    raise TypeError(UNBOUND)


@bound_in
def radius_of(inst: Instance, sizes: Any, s: int, square: float) -> float:
    """R sqrt(square), with all sizes in place of R that are possible."""
    raise TypeError(UNBOUND)


@bound_in
def height_of(
    inst: Instance, sizes: Any, s: int, edge: Boundary, information: float, growth: float
) -> float:  # fmt: skip
    """The boundary (C3), its logarithm given, with all sizes in place of R that are possible."""
    raise TypeError(UNBOUND)


@bound_in
def size_now(inst: Instance, sizes: Any, s: int) -> float:
    """About how large the noise is: for choices that no promise rests on."""
    raise TypeError(UNBOUND)


# -- where it is stated ------------------------------------------------------------------------------------------------


@thin
def nothing_to_begin(inst: Instance, mixture: Nothing, sizes: Vector) -> None:
    """Nothing is remembered."""


@thin
def nothing_to_learn(
    inst: Instance, mixture: Nothing, sizes: Vector, state: State, k: int, gamma: float, observed: Vector
) -> None:  # fmt: skip
    """Nothing is remembered."""


@thin
def known_radius(inst: Instance, sizes: Vector, s: int, square: float) -> float:
    """R sqrt(square)."""
    return float(inst.R[s] * sqrt(square))


@thin
def known_height(
    inst: Instance, sizes: Vector, s: int, edge: Boundary, information: float, growth: float
) -> float:  # fmt: skip
    """The boundary itself.                                                                                  (C3)"""
    return height(edge, inst.R[s], information, growth)


@thin
def known_size(inst: Instance, sizes: Vector, s: int) -> float:
    """R."""
    return float(inst.R[s])


KNOWN_NOISE: dict[str, Callable[..., Any]] = dict(
    zip(NAMES, (nothing_to_begin, nothing_to_learn, known_radius, known_height, known_size), strict=True)
)
