"""The worlds on which pulls are counted: each asks another question, and none has settings of its own."""

from math import cos, sin
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.worlds import Linear

DELTA = 0.001


def suite() -> dict[str, tuple[Linear, sf.Problem]]:
    """Every world with its problem, at delta = delta_safety = 0.001 and the smallest norm bounds that are true."""
    worlds: dict[str, Linear] = {
        "paper, d = 3": sf.worlds.hard(),
        "paper, d = 10": sf.worlds.hard(dim=10),
        "paper, omega = 0.2": sf.worlds.hard(omega=0.2),
        "paper, omega = 0.05": sf.worlds.hard(omega=0.05),
        "paper, Rademacher noise": sf.worlds.hard(distribution="rademacher"),
        "mirrored, last arm best": mirrored(),
        "best arm limited": sf.worlds.limited(),
        "best arm limited, uniform noise": sf.worlds.limited(level=0.4, distribution="uniform"),
        "orthogonal doses": sf.worlds.doses(),
        "nearly parallel arms": sf.worlds.clusters(spread=0.1),
        "50 random arms": sf.worlds.sphere(arms=50, dim=5),
        "500 random arms": sf.worlds.sphere(arms=500, dim=5),
        "two limits, base station": sf.worlds.base_station(),
        "three limits": three_limits(),
        "all negative, do nothing": sf.worlds.doses(efficacy=(-0.4, -0.8, -1.0, -0.3, -0.5)),
    }
    return {name: (world, problem_of(world)) for name, world in worlds.items()}


def problem_of(world: Linear) -> sf.Problem:
    """The world's own problem with small errors."""
    return world.default_problem().with_(delta=DELTA, delta_safety=DELTA)


class Mirrored(Linear):
    """The paper's instance turned round, posed as the paper poses it."""

    def default_problem(self) -> sf.Problem:
        """The paper's problem on this world."""
        return sf.worlds.hard().paper_problem()


def mirrored(omega: float = 0.1) -> Linear:
    """The paper's arms with theta* along the last one: the arm that an algorithm looks at last is best."""
    paper = sf.worlds.hard(omega=omega)
    theta = 2.0 * np.array([cos(omega), sin(omega), 0.0])
    return Mirrored(paper.arms, theta_star=theta, mu_star=paper.mu_star, name="mirrored")


def three_limits() -> Linear:
    """Twelve random arms under three limits of different noise, several of which bind."""
    rng = np.random.default_rng(7)

    def directions(count: int) -> Any:
        vectors = rng.standard_normal((count, 4))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return Linear(
        directions(12),
        theta_star=directions(1)[0],
        mu_star=directions(3),
        noise=0.5,
        safety_noise=[0.05, 0.1, 0.2],
        limit=[-0.3, -0.4, -0.5],
        name="three-limits",
    )
