"""The worlds that come with the package: each function returns one, ready to simulate.

Random worlds are functions of their seed. Each has a `default_problem()` in which every arm is truly safe at the known
safe level and one arm alone is the right answer (in the paper's problem the second is just still acceptable). The file
is long because it is a list: a new world is a function at its end, and a name.
"""

import inspect
from collections.abc import Callable, Sequence
from math import cos, pi, sin
from typing import Any

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.checks import Floats, did_you_mean, known_keys, number, vector
from surefoot.worlds.judge import TOLERANCE
from surefoot.worlds.linear import Linear
from surefoot.worlds.parameters import check_size, weights, whole

ATTEMPTS = 1000  # draws of a random world before its wishes are called impossible
LEAST_VALUE = 0.4  # V* of a random world, whose arms and weights have length 1: there must be something to find


class Hard(Linear):
    """The paper's instance, which knows the paper's default problem."""

    def paper_problem(self, **changes: Any) -> Problem:
        """The paper's problem: epsilon = 2 (1 - cos omega), errors 0.001, lambda 1, safe level 0.2, D = 2, D_s = 1.

        Any keyword of `problem` replaces the paper's value. Refused when the known safe level would not be safe here.
        """
        setting: dict[str, Any] = {
            "epsilon": 2.0 * (1.0 - self.arms[-1, 0]),
            "delta": 0.001,
            "delta_safety": 0.001,
            "safe_level": 0.2,
            "reward_norm": 2.0,
            "safety_norm": 1.0,
            "regularization": 1.0,
            **changes,
        }
        problem = self.problem(**setting)
        if (problem.safe_level > self.best_levels() * (1.0 + TOLERANCE)).any():
            reason = f"is not safe for every arm of this world, whose levels end at {self.best_levels().min():.6g}"
            raise InvalidInput("safe_level", setting["safe_level"], reason, "Pass a lower safe_level.")
        return problem

    def default_problem(self) -> Problem:
        """The paper's problem; where its safe level 0.2 would be unsafe, half of the lowest safe level instead."""
        lowest = float(self.best_levels().min())
        return self.paper_problem(safe_level=0.2 if lowest >= 0.2 else lowest / 2.0)


def hard(
    dim: int = 3,
    omega: float = 0.1,
    noise: float = 1.0,
    safety_noise: float = 0.1,
    limit: float = -0.5,
    distribution: str = "gaussian",
) -> Hard:
    """The paper's instance: the arm that tells the best two apart is itself the unsafe one.

    Arms e_1 .. e_d and (cos omega, sin omega, 0 ..); theta* = (2, 0 ..), mu* = (0, -1, 0 ..). Arm 1 is best, the last
    arm nearly as good, and only arm 2, safe up to level 0.5, shows the difference well.
    """
    dim = whole("dim", dim, "The instance needs two directions or more.", at_least=2)
    check_size("dim", dim, (dim + 1) * dim)
    remedy = "Give the angle between the two best arms in radians, for example 0.1."
    omega = number("omega", omega, remedy, above=0.0, at_most=pi / 2.0)
    arms = np.vstack([np.eye(dim), np.zeros(dim)])
    arms[-1, :2] = cos(omega), sin(omega)
    unit = np.eye(dim)
    return Hard(
        arms,
        theta_star=2.0 * unit[0],
        mu_star=-unit[1],
        noise=noise,
        safety_noise=safety_noise,
        limit=limit,
        distribution=distribution,
        name="hard",
    )


def sphere(
    arms: int = 20,
    dim: int = 5,
    seed: int = 0,
    lead: float = 0.1,
    noise: float = 0.5,
    safety_noise: float = 0.1,
    limit: float = -0.4,
    distribution: str = "gaussian",
) -> Linear:
    """Random arms on the unit sphere, reward and danger in random directions.

    Drawn again until some arm is limited, and the best safe value is at least 0.4 and leads the second by at least
    `lead` times itself.
    """
    dim = whole("dim", dim, "Give the number of features, for example 5.", at_least=2)
    arms = whole("arms", arms, "Give at least as many arms as dimensions.", at_least=dim)
    check_size("arms", arms, arms * dim)

    def draw(rng: np.random.Generator) -> Linear:
        return Linear(
            _directions(rng, arms, dim),
            theta_star=_directions(rng, 1, dim)[0],
            mu_star=_directions(rng, 1, dim)[0],
            noise=noise,
            safety_noise=safety_noise,
            limit=limit,
            distribution=distribution,
            name="sphere",
        )

    return _drawn(draw, seed, lead)


def clusters(
    groups: int = 4,
    size: int = 5,
    dim: int = 4,
    spread: float = 0.3,
    seed: int = 0,
    lead: float = 0.05,
    noise: float = 0.5,
    safety_noise: float = 0.1,
    limit: float = -0.4,
    distribution: str = "gaussian",
) -> Linear:
    """Groups of arms that are nearly alike: finding the best group is easy, the best arm in it is not.

    Each group gathers around a random direction; `spread` is the distance of its arms from it before they are put
    back on the unit sphere. Drawn again until some arm is limited, the best safe value is at least 0.4, the second best
    arm is of the same group, and the best leads it by at least `lead` times its own value.
    """
    groups = whole("groups", groups, "Give the number of groups, for example 4.", at_least=1)
    size = whole("size", size, "Give the number of arms in a group, for example 5.", at_least=1)
    dim = whole("dim", dim, "Give the number of features, for example 4.", at_least=2)
    spread = number("spread", spread, "Give a spread above 0, for example 0.3.", above=0.0)
    if groups * size < dim:
        raise InvalidInput("groups", groups, f"of {size} give fewer arms than dim = {dim}", "Ask for more arms.")
    check_size("groups", groups, groups * size * dim)

    def draw(rng: np.random.Generator) -> Linear:
        centres = np.repeat(_directions(rng, groups, dim), size, axis=0)
        arms = centres + spread * _directions(rng, groups * size, dim)
        return Linear(
            arms / np.linalg.norm(arms, axis=1, keepdims=True),
            theta_star=_directions(rng, 1, dim)[0],
            mu_star=_directions(rng, 1, dim)[0],
            noise=noise,
            safety_noise=safety_noise,
            limit=limit,
            distribution=distribution,
            names=[f"group {g + 1} arm {k + 1}" for g in range(groups) for k in range(size)],
            name="clusters",
        )

    def best_two_are_alike(world: Linear) -> bool:
        worth = world.best_levels() * world.values
        second, best = np.argsort(worth)[-2:] // size
        return size == 1 or bool(second == best)

    return _drawn(draw, seed, lead, best_two_are_alike)


def doses(
    efficacy: Sequence[float] = (0.4, 0.8, 1.0, 0.7, 0.9),
    toxicity: Sequence[float] = (0.3, 0.9, 2.0, 0.6, 1.2),
    noise: float = 0.5,
    safety_noise: float = 0.1,
    limit: float = -0.5,
    distribution: str = "gaussian",
) -> Linear:
    """Drugs with a dose each: one drug tells nothing about another, and the strongest is too toxic to be given fully.

    Orthogonal arms; the level is the dose as a share of the full one. Drug k at full dose has the given efficacy and
    toxicity; the mean toxicity may not exceed -limit.
    """
    remedy = "Give one number per drug."
    theta = vector("efficacy", efficacy, remedy)
    if len(theta) == 0:
        raise InvalidInput("efficacy", efficacy, "is empty", remedy)
    mu = weights("toxicity", toxicity, len(theta), remedy)
    if (mu < 0.0).any():
        raise InvalidInput("toxicity", toxicity, "must not be negative", "Give 0 for a harmless drug.")
    return Linear(
        np.eye(len(theta)),
        theta_star=theta,
        mu_star=-mu,
        noise=noise,
        safety_noise=safety_noise,
        limit=limit,
        distribution=distribution,
        names=[f"drug {k + 1}" for k in range(len(theta))],
        name="doses",
    )


def limited(
    dim: int = 3,
    level: float = 0.6,
    noise: float = 0.5,
    safety_noise: float = 0.1,
    limit: float = -0.5,
    distribution: str = "gaussian",
) -> Linear:
    """A best arm that is itself limited: its highest safe level must be learned, not only its identity.

    Arm 1 is worth 1 at full level but safe only up to `level`, so V* = level. The mixed arm between directions 1 and 2
    is safe further up and worth less, the other arms are harmless and worth half of V*.
    """
    dim = whole("dim", dim, "The world needs two directions or more.", at_least=2)
    check_size("dim", dim, (dim + 1) * dim)
    remedy = "Give the level at which the best arm reaches the limit, for example 0.6."
    level = number("level", level, remedy, above=0.0, below=1.0)
    limit = number("limit", limit, "Give a limit below zero, for example -0.5.", below=0.0)
    arms = np.vstack([np.eye(dim), np.zeros(dim)])
    arms[-1, :2] = np.sqrt(0.5)
    theta = np.full(dim, 0.5 * level)
    theta[:2] = 1.0, -0.3  # the mixed arm is worth 0.7 V* at the most, whatever the level
    return Linear(
        arms,
        theta_star=theta,
        mu_star=np.eye(dim)[0] * (limit / level),
        noise=noise,
        safety_noise=safety_noise,
        limit=limit,
        distribution=distribution,
        name="limited",
    )


# Shares of the radiated power by antenna tilt in degrees: what lands on the sector's users, and what passes over their
# heads into the neighbouring cell. A flat beam spills, a steep one lights the mast's foot.
COVERAGE = {2: 0.7, 4: 0.9, 8: 0.6}
SPILL = {2: 0.8, 4: 0.5, 8: 0.2}
# Heat in the cabinet by transmit power in watts, in units of 40 W: small powers use the amplifier less efficiently
# (25 % at 10 W, 35 % at 20 W), so heat is not proportional to power.
HEAT = {10: 0.75, 20: 0.93}
SECTORS = ("north", "east", "south")


def base_station(
    noise: float = 15.0,
    interference_noise: float = 0.1,
    temperature_noise: float = 2.0,
    interference_limit: float = 1.5,
    temperature_limit: float = 70.0,
    distribution: str = "gaussian",
) -> Linear:
    """Power allocation at a base station: more throughput, bounded by a neighbour's interference and by heat.

    An arm boosts one sector with one power and tilt; its level is the share of time slots in which the boost is on, so
    that means are linear in it. Features: power onto the users of the north, east and south sector, power spilled into
    the neighbouring cell (all in units of 20 W), and heat in the cabinet (units of 40 W). The reward is extra
    throughput in Mbit/s. Two limits: interference in the neighbouring cell, as a multiple of its noise floor (1 without
    a boost), and cabinet temperature (40 degrees C without a boost).
    """
    noise = number("noise", noise, "Give the noise of the throughput in Mbit/s, for example 15.", above=0.0)
    throughput = np.array([60.0, 36.0, 24.0, 0.0, 0.0])
    interference = np.array([0.30, 0.05, 0.05, 0.80, 0.0])  # the north sector faces the neighbour
    temperature = np.array([0.0, 0.0, 0.0, 0.0, 36.0])
    arms = {
        f"{sector}-sector {watts}W tilt {tilt}": _boost(sector, watts, tilt)
        for sector in SECTORS for watts in HEAT for tilt in COVERAGE
    }  # fmt: skip
    limits = [
        Limit("interference", at_most=interference_limit, baseline=1.0, noise=interference_noise, norm=0.9),
        Limit("temperature", at_most=temperature_limit, baseline=40.0, noise=temperature_noise, norm=36.0),
    ]

    def posed(safe_level: float, epsilon: float) -> Linear:
        problem = Problem(
            arms=arms,
            reward=Reward(noise=noise, norm=75.0),
            safety=limits,
            safe_level=safe_level,
            epsilon=epsilon,
            delta=0.05,
            delta_safety=0.05,
        )
        weights_of_limits = [interference, temperature]
        return Linear.for_problem(
            problem, theta_star=throughput, mu_star=weights_of_limits, distribution=distribution, name="base-station"
        )

    # Posed twice: the first time only to learn what is safe, and how far the best is ahead, under the chosen limits.
    first = posed(0.25, 4.0)
    return posed(min(0.25, 0.5 * float(first.best_levels().min())), min(4.0, first.lead() / 2.0 or 4.0))


def _boost(sector: str, watts: int, tilt: int) -> list[float]:
    """The features of one boost: see `base_station`."""
    power = watts / 20.0
    onto_users = [COVERAGE[tilt] * power * (sector == other) for other in SECTORS]
    return [*onto_users, SPILL[tilt] * power, HEAT[watts]]


def _directions(rng: np.random.Generator, count: int, dim: int) -> Floats:
    """Unit vectors (count, dim), uniform on the sphere."""
    vectors = rng.standard_normal((count, dim))
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _drawn(
    draw: Callable[[np.random.Generator], Linear],
    seed: int,
    lead: float,
    wanted: Callable[[Linear], bool] = lambda world: True,
) -> Linear:
    """The first world drawn from the seed that is worth searching, has the lead, and is as wanted."""
    seed = whole("seed", seed, "Give a seed such as 0.", at_least=0)
    lead = number("lead", lead, "Give a share of the best value, for example 0.1.", above=0.0, at_most=1.0)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    for _ in range(ATTEMPTS):
        world = draw(rng)
        best, limited_somewhere = world.best_value(), world.best_levels().min() < 1.0
        if limited_somewhere and best >= LEAST_VALUE and world.lead() >= lead * best and wanted(world):
            return world
    raise InvalidInput("lead", lead, f"was not reached by any of {ATTEMPTS} draws", "Ask for a smaller lead.")


WORLDS: dict[str, Callable[..., Linear]] = {
    "hard": hard,
    "sphere": sphere,
    "clusters": clusters,
    "doses": doses,
    "limited": limited,
    "base-station": base_station,
}


def make(name: str, **parameters: Any) -> Linear:
    """The world of that name in WORLDS with these parameters; unknown names and parameters are refused by name."""
    if name not in WORLDS:
        raise InvalidInput("world", name, "is not the name of a world", did_you_mean(name, WORLDS))
    known_keys(f"world {name}", parameters, inspect.signature(WORLDS[name]).parameters)
    return WORLDS[name](**parameters)
