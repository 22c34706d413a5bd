"""Small worlds for tests of worlds."""

from types import SimpleNamespace
from typing import Any

from surefoot import worlds
from surefoot.problem import Limit, Problem, Reward

ARMS = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]


def linear(**changes: object) -> worlds.Linear:
    """Three arms in the plane, one limit."""
    given = {"arms": ARMS, "theta_star": [1.0, 0.5], "mu_star": [-1.0, 0.2], **changes}
    return worlds.Linear(given.pop("arms"), **given)  # type: ignore[arg-type]


def made_for_a_problem() -> tuple[worlds.Linear, Problem]:
    """A world for a problem with a baseline and with limits from above and from below."""
    problem = Problem(
        arms={"low": [1.0, 0.0], "high": [0.0, 1.0]},
        reward=Reward(noise=1.0, norm=2.0),
        safety=[
            Limit("heat", at_most=70.0, baseline=40.0, noise=2.0, norm=50.0),
            Limit("speed", at_least=-1.0, baseline=3.0, noise=0.1, norm=10.0),
        ],
        safe_level=0.2,
        epsilon=0.01,
        delta=0.1,
        delta_safety=0.1,
    )
    mu_star = [[20.0, 45.0], [-5.0, 1.0]]
    return worlds.Linear.for_problem(problem, theta_star=[1.0, 1.5], mu_star=mu_star), problem


def pulled(arm: object, level: object, number: object) -> Any:
    """A pull as a world reads it."""
    return SimpleNamespace(arm=arm, level=level, number=number)
