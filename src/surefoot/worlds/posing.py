"""How problems are posed in a world: its limits as problems state them, and whether a problem belongs to it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.checks import Floats
from surefoot.problem.marked_arms import Marks
from surefoot.worlds.judge import TOLERANCE
from surefoot.worlds.parameters import per_signal

if TYPE_CHECKING:
    from surefoot.worlds.linear import Linear

REMEDY = "Take the problem from world.problem(...), or the world from Linear.for_problem(problem, ...)."


def own_bounds(
    world: "Linear", reward_norm: float | None, safety_norm: object, reward_largest: float | None,
    safety_largest: object,
) -> tuple[dict[str, float], list[dict[str, float]]]:  # fmt: skip
    """What is stated about the size of the weights of the reward, and of each limit: norms, the true ones where none
    are given; or, where a largest effect is given, these."""
    by_norm = reward_largest is None and safety_largest is None
    reward: dict[str, float] = {} if reward_norm is None else {"norm": reward_norm}
    if by_norm:
        reward = reward or {"norm": world.reward_norm}
        safety_norm = world.safety_norm if safety_norm is None else safety_norm
    else:
        reward["largest"] = world.reward_largest if reward_largest is None else reward_largest
        safety_largest = world.safety_largest if safety_largest is None else safety_largest
    limits: list[dict[str, float]] = [{} for _ in range(world.signals)]
    for word, given, remedy in (
        ("norm", safety_norm, "Give a bound on the length of each mu, for example 1.0."),
        ("largest", safety_largest, "Give the most by which an arm changes each signal, for example 1.0."),
    ):
        if given is not None:
            sizes = per_signal(f"safety_{word}", given, world.signals, remedy, above=0.0)
            for limit, size in zip(limits, sizes.tolist(), strict=True):
                limit[word] = size
    return reward, limits


def own_reward(world: "Linear", bound: dict[str, float]) -> Reward:
    """The reward as it is."""
    return Reward(noise=world.noise, norm=bound.get("norm"), largest=bound.get("largest"))


def own_limits(world: "Linear", bounds: list[dict[str, float]]) -> list[Limit]:
    """The limits in the world's own units, called "safety", or "safety1", "safety2", ... when there are several."""
    names = ["safety"] if world.signals == 1 else [f"safety{s + 1}" for s in range(world.signals)]
    sizes = zip(names, world.limit.tolist(), world.safety_noise.tolist(), bounds, strict=True)
    return [
        Limit(name, at_least=eta0, noise=noise, norm=bound.get("norm"), largest=bound.get("largest"))
        for name, eta0, noise, bound in sizes
    ]


def marks_of(problem: Problem) -> Marks:
    """The marks of the arms that cannot be tried."""
    return Marks({int(k): False for k in np.flatnonzero(~problem.pullable)}, {})


def marked(world: "Linear", safe_level: object) -> dict[str, Any]:
    """The known safe levels and which arms can be tried, by what the arms of the world are marked with: a level of its
    own stands in place of the one that is stated for all."""
    marks, arms = world.marks, range(world.size)
    if marks.safe_level and (safe_level is None or isinstance(safe_level, int | float)):
        safe_level = [marks.safe_level.get(k, safe_level) for k in arms]
    found: dict[str, Any] = {"safe_level": safe_level}
    return {**found, "pullable": [marks.pullable.get(k, True) for k in arms]} if marks.pullable else found


def default_settings(world: "Linear") -> dict[str, Any]:
    """What suits a world where nobody states a problem: see `Linear.default_problem`."""
    scale, safe_level = float(np.abs(world.values).max()) or 1.0, min(0.25, float(world.best_levels().min()) / 2.0)
    return {
        "epsilon": world.lead() / 2.0 or scale / 10.0,
        "delta": 0.05,
        **({"delta_safety": 0.05, "safe_level": safe_level} if world.signals else {}),
        "reward_norm": world.reward_norm or 1.0,
        "safety_norm": np.where(world.safety_norm > 0.0, world.safety_norm, 1.0),
    }


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
