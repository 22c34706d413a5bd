"""What a confidence set is: numbers that it reads, what it remembers, and six kernels.

`surefoot.testing.SetContract` holds a set to it, and measures how often the truth leaves its bounds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot.core.kernel import thin
from surefoot.core.state import Bounds, Scratch, State
from surefoot.core.types import Instance, Vector

Kernel = Callable[..., Any]


@thin
def nothing_begins(inst: Instance, params: Any, memory: Any) -> None:
    """A set whose memory begins with zeros, or that has none."""


@thin
def nothing_learned(
    inst: Instance, params: Any, memory: Any, state: State, k: int, gamma: float, observed: Vector
) -> None:
    """A set that reads only what the estimate holds."""


@thin
def nothing_refreshed(inst: Instance, params: Any, memory: Any, state: State, scratch: Scratch, g: int) -> None:
    """A set that keeps nothing which could be computed anew."""


@thin
def no_safety_bounds(inst: Instance, params: Any, memory: Any, state: State, bounds: Bounds) -> None:
    """A set that says nothing about safety signals."""


@thin
def no_lead_bounds(
    inst: Instance, params: Any, memory: Any, state: State, bounds: Bounds, i: int, level_i: float, optimistic: bool
) -> None:
    """A set that says nothing about leads."""


@thin
def stated_noise(inst: Instance, params: Any, memory: Any, state: State, s: int) -> float:
    """A set that leans on the stated size of the noise."""
    return float(inst.R[s])


@dataclass(frozen=True)
class ConfidenceSet:
    """A confidence set for one problem. The first of several fills the bounds in, each further one cuts them.

    A version is a number that changes whenever what the set says changes: stored studies go on only with the version
    that they began with. `ball` gives the ellipsoid that margins and checks of possibility read; a set that only cuts
    has none.
    """

    name: str
    version: int
    params: Any  # a NamedTuple of numbers and arrays
    memory: Any  # a NamedTuple of arrays, whose shapes count; begun with zeros
    bound_safety: Kernel = no_safety_bounds  # (inst, params, memory, state, bounds)
    bound_leads: Kernel = no_lead_bounds  # (inst, params, memory, state, bounds, i, level_i, optimistic)
    begin: Kernel = nothing_begins  # (inst, params, memory)
    learn: Kernel = nothing_learned  # (inst, params, memory, state, k, gamma, observed), before the estimate changes
    refresh: Kernel = nothing_refreshed  # (inst, params, memory, state, scratch, g)
    ball: Kernel | None = None  # (inst, params, memory, state, s) -> Ball
    noise: Kernel = stated_noise  # (inst, params, memory, state, s) -> the largest size of noise that is possible
    learns_noise: bool = False  # whether it holds where the size of the noise is unknown
    bears_error: bool = False  # whether it holds where means follow the linear law only within a stated error
    parts: Mapping[str, Kernel] = field(default_factory=dict)  # what is bound to names of its own kernels
    links: tuple["ConfidenceSet", ...] = ()  # what it is made of, where it is several

    @property
    def versions(self) -> dict[str, int]:
        """The version of every set in this one, by name."""
        if not self.links:
            return {self.name: self.version}
        return {name: version for link in self.links for name, version in link.versions.items()}
