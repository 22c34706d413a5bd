"""How problems are posed in a world: its limits as problems state them, and whether a problem belongs to it."""

from typing import TYPE_CHECKING

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem import Limit, Problem
from surefoot.problem.checks import Floats
from surefoot.worlds.judge import TOLERANCE
from surefoot.worlds.parameters import per_signal

if TYPE_CHECKING:
    from surefoot.worlds.linear import Linear

REMEDY = "Take the problem from world.problem(...), or the world from Linear.for_problem(problem, ...)."


def own_limits(world: "Linear", safety_norm: object) -> list[Limit]:
    """The limits in the world's own units, called "safety", or "safety1", "safety2", ... when there are several."""
    remedy = "Give a bound on the length of each mu, for example 1.0."
    norms = per_signal("safety_norm", safety_norm, world.signals, remedy, above=0.0)
    names = ["safety"] if world.signals == 1 else [f"safety{s + 1}" for s in range(world.signals)]
    sizes = zip(names, world.limit.tolist(), world.safety_noise.tolist(), norms.tolist(), strict=True)
    return [Limit(name, at_least=eta0, noise=noise, norm=norm) for name, eta0, noise, norm in sizes]


def check_posed(world: "Linear", problem: Problem) -> None:
    """Raises InvalidInput when the problem is not posed in this world, naming what differs."""
    if not isinstance(problem, Problem):
        raise InvalidInput("problem", problem, "must be a Problem", "world.problem(...) builds a fitting one.")
    if not np.array_equal(problem.arms, world.arms):
        reason = f"differ from the arms {world.arms.shape} of the world {world.name!r}"
        raise InvalidInput("arms", problem.arms, reason, REMEDY)
    eta0, own = [limit.eta0 for limit in problem.safety], world.limit.tolist()
    if len(eta0) != len(own):
        reason = f"are {len(eta0)} limits, but the world {world.name!r} has {world.signals} safety signals"
        raise InvalidInput("safety", [limit.name for limit in problem.safety], reason, REMEDY)
    if any(abs(here - there) > TOLERANCE * abs(there) for here, there in zip(eta0, own, strict=True)):
        reason = f"lie elsewhere than the limits eta0 = {own} of the world {world.name!r}"
        raise InvalidInput("safety", eta0, reason, REMEDY)


def on_dial(problem: Problem, levels: Floats) -> Floats:
    """The highest levels up to these that the problem's dials allow; 0 where even the lowest grid point is higher."""
    if not problem.level_grid:
        return np.minimum(levels, problem.max_level)
    grid, highest = np.array((0.0, *problem.level_grid)), np.minimum(levels * (1.0 + TOLERANCE), problem.max_level)
    allowed: Floats = grid[np.searchsorted(grid, highest, side="right") - 1]
    return allowed
