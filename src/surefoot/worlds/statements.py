"""Whether a world keeps what a problem states of it: the promises hold where it does, and nowhere else."""

import warnings
from math import inf

import numpy as np

from surefoot.errors import WorldBreaksStatement, outside
from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.checks import Floats
from surefoot.problem.norms import signals_of
from surefoot.worlds.bounded import Bounded
from surefoot.worlds.linear import Linear
from surefoot.worlds.nearly_linear import NearlyLinear
from surefoot.worlds.protocol import World

SLACK = 1.0 + 1e-9  # a norm that was computed twice may differ in its last digits
SHOWN = 3  # arms of one sentence


def warn_of_broken_statements(world: World, problem: Problem) -> None:
    """Warns of what the problem states and the world does not keep."""
    broken = broken_statements(world, problem)
    if broken:
        warnings.warn(
            f"The world {world.name!r} breaks what the problem states: {'; '.join(broken)}. The promises do not hold "
            "there, and what is counted shows what that means.",
            WorldBreaksStatement,
            stacklevel=outside(),
        )


def broken_statements(world: World, problem: Problem) -> list[str]:
    """What the problem states and the world does not keep, in words; of a world that is not linear less is known."""
    broken = _norms_and_noise(world, problem) if isinstance(world, Linear) else []
    if isinstance(world, NearlyLinear):
        broken = _norms_and_noise(world.law, problem) + _errors(world, problem)
    judge, arms = world.judge(problem), np.arange(problem.size)
    broken += _largest_effects(np.abs(judge.means(arms, np.ones(problem.size))), problem)
    known = judge.is_safe(arms, problem.safe_level)
    unsafe = [problem.names[k] for k in np.flatnonzero(~np.asarray(known))]
    if unsafe:
        more = f" and {len(unsafe) - SHOWN:,} more" if len(unsafe) > SHOWN else ""
        broken.append(f"the known safe level is not safe for {', '.join(unsafe[:SHOWN])}{more}")
    return broken


def _errors(world: NearlyLinear, problem: Problem) -> list[str]:
    """The signals whose means no linear law follows within what is stated."""
    names = ["the reward", *(limit.name for limit in problem.safety)]
    return [
        f"the mean of {name} is up to {error:.4g} from every linear law, and {signal.within:g} is stated"
        for name, signal, error in zip(names, signals_of(problem), world.least_error(), strict=True)
        if error > SLACK * signal.within
    ]


def _largest_effects(effects: Floats, problem: Problem) -> list[str]:
    """The signals that an arm changes by more than stated, of these effects (1 + m, K) at full level."""
    names = ["reward", *(limit.name for limit in problem.safety)]
    broken = []
    for name, signal, found in zip(names, signals_of(problem), effects, strict=True):
        if signal.largest is not None and found.max() > SLACK * signal.largest:
            arm, most = problem.names[int(found.argmax())], float(found.max())
            broken.append(f"{arm} changes {name} by {most:.4g}, and its largest says {signal.largest:g} at most")
    return broken


def _norms_and_noise(world: Linear, problem: Problem) -> list[str]:
    """The weights that are longer and the noise that is larger than stated; weights count in the span of the arms."""
    truths = [world.theta_star, *world.mu_star]
    stated: list[tuple[str, Reward | Limit]] = [("reward", problem.reward)]
    stated += [(limit.name, limit) for limit in problem.safety]
    broken = []
    noises = [world.noise, *world.safety_noise]
    for (name, signal), weights, noise in zip(stated, truths, noises, strict=True):
        length = float(np.linalg.norm(problem.basis.T @ weights))
        if signal.norm is not None and length > SLACK * signal.norm:
            broken.append(f"the weights of {name} have length {length:.4g}, and its norm says {signal.norm:g} at most")
        if noise > SLACK * signal.law.bound:
            broken.append(f"{name} has noise {noise:g}, and {signal.law.bound:g} is stated")
        if signal.law.unknown and world.distribution != "gaussian":
            broken.append(f"{name} has {world.distribution} noise, and where its size is unknown it must be Gaussian")
        if signal.law.high < inf and not isinstance(world, Bounded):
            broken.append(f"{name} has {world.distribution} noise, and {signal.law.said} are stated")
    return broken
