"""Truths that a problem allows, drawn at random, from kind to harsh: what might be met before anything is measured.

A direction is drawn in the even coordinates of the arms, so that units and mixing of the features do not matter, and
then given a length by what the scenario says in words. The same draw, by seed and number, has the same directions in
every scenario.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from surefoot.core.coordinates import evened
from surefoot.problem import Limit, Problem, Reward
from surefoot.problem.checks import Floats
from surefoot.problem.noise import NoiseLaw
from surefoot.problem.norms import signals_of
from surefoot.problem.units import with_unit
from surefoot.sets.mixtures import finest_difference, largest_value

KIND, MIDDLE, HARSH = "kind", "middle", "harsh"
SCENARIOS = (KIND, MIDDLE, HARSH)
SMALLEST = 3.0  # what the best option is worth in the harsh scenario, in multiples of epsilon
DRAWN = (
    "Directions are Gaussian in the even coordinates of the options, where units and mixing of the features do not "
    "matter, and turned so that the most affected option gains, and meets each limit. The level up to which the most "
    "limited option is safe is log-uniform. Every known level is safe, and no stated norm or largest effect is "
    "exceeded."
)
DRAWN_WITHOUT_LIMITS = (
    "Directions are Gaussian in the even coordinates of the options, where units and mixing of the features do not "
    "matter, and turned so that the most affected option gains. No stated norm or largest effect is exceeded."
)
STRAYS = {KIND: 0.0, MIDDLE: 0.5, HARSH: 1.0}  # how far means stray from the law, as a share of the stated error
STRAYED = (
    " Where means are stated to be linear within an error, they stray from the law by none of it in the kind scenario, "
    "half of it in the middle and all of it in the harsh one, always against whoever trusts the law."
)
DIRECTIONS, POSTERIOR, SIZES = 0, 1, 2  # what is drawn: part of the address of a draw
INSIDE = 1.0 - 1e-9  # of what is allowed: a product that is formed in another order may differ in its last digits


class Truth(NamedTuple):
    """What nature might hold, in the coordinates of the stated features."""

    reward: Floats  # (D,)
    limits: Floats  # (m, D) as the core sees them: the more negative x . mu, the more dangerous the arm
    strays: Floats  # (1 + m,) how far the mean of each signal is from this law


class Space(NamedTuple):
    """Where directions are drawn."""

    arms: Floats  # (K, D) as stated
    weights: Floats  # (D, d) what a direction in even coordinates is in the coordinates of the arms

    @property
    def rank(self) -> int:
        """d."""
        return int(self.weights.shape[1])


def space_of(problem: Problem) -> Space:
    """The even coordinates of the arms: x . weights v = z . v for an arm x that is z in them."""
    X = problem.features
    units = np.abs(X).max(axis=0)  # so that a feature in tiny units is not taken for rounding
    found = np.linalg.lstsq(X / units, evened(X), rcond=None)[0] / units[:, np.newaxis]
    return Space(problem.arms, problem.basis @ found)


def drawn(problem: Problem, space: Space, scenario: str, seed: int, number: int) -> Truth:
    """The truth of this number; it does not depend on how many are drawn."""
    random, strays = np.random.default_rng([seed, DIRECTIONS, number]), strays_in(problem, scenario)
    reward = scaled_reward(problem, space, scenario, random.standard_normal(space.rank), float(strays[0]))
    limits = []
    for place in range(len(problem.safety)):
        direction, share = random.standard_normal(space.rank), float(random.random())
        limits.append(scaled_limit(problem, space, scenario, place, direction, share, float(strays[1 + place])))
    return Truth(reward, np.array(limits).reshape(-1, problem.arms.shape[1]), strays)


def strays_in(problem: Problem, scenario: str) -> Floats:
    """How far the mean of each signal strays from the law, the reward first; never further than half of the largest
    effect, so that something is left for the law."""
    shares = [
        min(STRAYS[scenario] * signal.within, 0.5 * (inf if signal.largest is None else signal.largest))
        for signal in signals_of(problem)
    ]
    return np.array(shares)


def scaled_reward(problem: Problem, space: Space, scenario: str, direction: Floats, stray: float) -> Floats:
    """The weights along this direction under which the most affected arm gains what the scenario says at full level."""
    weights, effects = turned(space, direction, 1.0)
    most = float(np.abs(effects).max())
    length = largest_in(problem, scenario) / most if most > 0.0 else 0.0
    length = min(length, longest(problem, weights, problem.reward, stray))
    return weights * min(length, within_range(problem.reward.law, effects))


def scaled_limit(
    problem: Problem, space: Space, scenario: str, place: int, direction: Floats, share: float, stray: float
) -> Floats:  # fmt: skip
    """The weights along this direction under which the most limited arm is safe, with what strays, up to a level from
    the scenario's range: at this share of it, by ratio."""
    weights, effects = turned(space, direction, -1.0)
    limit, known = problem.safety[place], problem.safe_level
    room = np.where(effects < 0.0, (limit.eta0 + stray) / np.where(effects < 0.0, effects * known, -1.0), inf)
    most = int(room.argmin())
    low, high = level_range(scenario, float(known[most]))
    level = low * (high / low) ** share
    length = float(room[most]) * float(known[most]) / level if room[most] < inf else 0.0
    length = min(length * INSIDE, longest(problem, weights, limit, stray))
    return weights * min(length, within_range(limit.law, effects))


def turned(space: Space, direction: Floats, sign: float) -> tuple[Floats, Floats]:
    """Weights along the direction or against it, and what they do to each arm: the one that they move most is moved
    to this side."""
    weights = space.weights @ direction
    effects = space.arms @ weights
    most = float(effects[np.abs(effects).argmax()])
    return (weights, effects) if most * sign >= 0.0 else (-weights, -effects)


def known_safe(problem: Problem, weights: Floats, place: int, stray: float) -> bool:
    """Whether every arm keeps the limit at its known level under these weights, with what strays."""
    return bool((problem.safe_level * (problem.arms @ weights) >= problem.safety[place].eta0 + stray).all())


def longest(problem: Problem, weights: Floats, signal: Reward | Limit, stray: float) -> float:
    """How many times as long these weights may be by the stated norm, or the largest effect, with what strays."""
    if signal.largest is not None:
        most, size = signal.largest - stray, float(np.abs(problem.arms @ weights).max())
    else:
        most, size = inf if signal.norm is None else signal.norm, float(np.linalg.norm(problem.basis.T @ weights))
    return inf if most == inf or size == 0.0 else INSIDE * most / size


def within_range(law: NoiseLaw, effects: Floats) -> float:
    """How many times as large these effects may be where readings have ends: none is larger than their range."""
    most = float(np.abs(effects).max())
    return inf if most == 0.0 else INSIDE * (law.high - law.low) / most


def largest_in(problem: Problem, scenario: str) -> float:
    """What the most affected arm gains at full level."""
    law = problem.reward.law
    kind = min(largest_value(problem), law.high - law.low)
    harsh = min(kind, SMALLEST * finest_difference(problem))
    return {KIND: kind, MIDDLE: sqrt(kind * harsh), HARSH: harsh}[scenario]


def level_range(scenario: str, known: float) -> tuple[float, float]:
    """Between which levels the highest safe one of the most limited arm lies; above 1 the limit does not bind."""
    ranges = {KIND: (1.0, 2.0), MIDDLE: (known, 1.0), HARSH: (known, 2.0 * known)}
    low, high = ranges[scenario]
    return max(low, known), max(high, known)


def in_words(problem: Problem, scenario: str, *, before_rows: bool = False) -> str:
    """What the truths of the scenario are like, beyond what all have in common; or were before pilot rows spoke."""
    levels = {
        KIND: "from 1 to 2, so that no limit binds",
        MIDDLE: "from its known level to 1",
        HARSH: "from its known level to twice that",
    }[scenario]
    worth = with_unit(f"{largest_in(problem, scenario):.3g}", problem.reward.unit)
    best = (
        "before the rows, the best effect at full level is about" if before_rows else "the best effect at full level is"
    )
    return f"{best} {worth}" + (f"; the most limited option is safe up to a level {levels}." if problem.safety else ".")
