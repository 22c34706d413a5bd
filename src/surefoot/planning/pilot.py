"""Truths that pilot results leave likely: the Gaussian posterior given the rows, with a scenario's size as the prior.

The rows tune a plan. They are not data of the experiment that is planned: nothing is certified from them.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.planning.scenarios import POSTERIOR, SIZES, Space, Truth, drawn, known_safe, longest, strays_in
from surefoot.problem import Problem
from surefoot.problem.checks import Floats
from surefoot.studies.import_tables import MEND, Row, cells_in, checked_rows
from surefoot.worlds import Linear

DRAWN = (
    "Truths are draws from the Gaussian posterior given the pilot rows, and the prior is Gaussian in the even "
    "coordinates of the options, with effects about as large as the scenario says. Every known level is safe, and no "
    "stated norm or largest effect is exceeded."
)
SIZED = 200  # draws of the scenario by which the prior is given its size
BATCH = 200  # draws from the posterior at a time
BATCHES = 100  # until it is given up that any of them keeps what is stated


class Pilot(NamedTuple):
    """Results of pilot trials, as the core sees them."""

    arms: Floats  # (n, D)
    levels: Floats  # (n,)
    observed: Floats  # (n, 1 + m)


class Posterior(NamedTuple):
    """What is likely of one signal: v is Gaussian in even coordinates, with this mean; its covariance is F F^T."""

    mean: Floats  # (d,)
    factor: Floats  # (d, d)


def pilot_rows(problem: Problem, table: object, field: str) -> list[Row]:
    """The rows of a table or of a CSV file, in the form of `study.add`; what cannot be is refused by row and column."""
    try:
        return checked_rows(problem, cells_in(Path(table) if isinstance(table, str) else table))
    except InvalidInput as error:
        remedy = error.remedy.replace(MEND, "Mend them.")
        if problem.dial is not None and "column 'level'" in error.reason:
            remedy += (
                f" Numbers in the column 'level' are levels, from 0 to 1: write '20 {problem.dial.unit}' there, or "
            )
            remedy += "name the column 'setting'."
        raise InvalidInput(field, error.value, error.reason, remedy) from error


def pilot_in(problem: Problem, table: object) -> Pilot:
    """The rows, as the core sees them."""
    rows = pilot_rows(problem, table, "like")
    readings = [[limit.internal(x) for limit, x in zip(problem.safety, row.readings, strict=True)] for row in rows]
    observed = np.array([[row.reward, *internal] for row, internal in zip(rows, readings, strict=True)])
    return Pilot(problem.arms[[row.arm for row in rows]], np.array([row.level for row in rows]), observed)


def posteriors(problem: Problem, space: Space, scenario: str, seed: int, pilot: Pilot) -> list[Posterior]:
    """For the reward and each limit, what the rows leave likely in this scenario. Where means stray, a row tells the
    law no better than that."""
    sizes = sizes_in(problem, space, scenario, seed)
    still = np.zeros(space.arms.shape[1])
    world = Linear.for_problem(problem, theta_star=still, mu_star=[still] * len(problem.safety))
    noises = np.hypot([world.noise, *world.safety_noise], strays_in(problem, scenario)).tolist()
    rows = pilot.levels[:, np.newaxis] * (pilot.arms @ space.weights)
    found = []
    for size, noise, results in zip(sizes, noises, pilot.observed.T, strict=True):
        precision = np.eye(space.rank) / size**2 + rows.T @ rows / noise**2
        root = np.linalg.cholesky(precision)
        factor = np.asarray(np.linalg.inv(root).T, np.float64)
        found.append(Posterior(factor @ (factor.T @ (rows.T @ results)) / noise**2, factor))
    return found


def sizes_in(problem: Problem, space: Space, scenario: str, seed: int) -> Floats:
    """The standard deviation in even coordinates with which the largest effect is as large as in the scenario, by
    medians, for each signal."""
    plain = np.random.default_rng([seed, SIZES]).standard_normal((SIZED, space.rank))
    unit = float(np.median(np.abs(space.arms @ space.weights @ plain.T).max(axis=0)))
    truths = [drawn(problem, space, scenario, seed, number) for number in range(SIZED)]
    weights = np.array([np.vstack([truth.reward, truth.limits]) for truth in truths])
    largest: Floats = np.median(np.abs(weights @ space.arms.T).max(axis=2), axis=0) / unit
    return largest


def drawn_like(
    problem: Problem, space: Space, scenario: str, found: list[Posterior], seed: int, number: int
) -> Truth:  # fmt: skip
    """The truth of this number: a draw from the posterior that keeps every known level, norm and largest effect."""
    random = np.random.default_rng([seed, POSTERIOR, number])
    strays = strays_in(problem, scenario)
    signals = [
        drawn_signal(problem, space, place, each, random, float(strays[place])) for place, each in enumerate(found)
    ]
    return Truth(signals[0], np.array(signals[1:]).reshape(-1, problem.arms.shape[1]), strays)


def drawn_signal(
    problem: Problem, space: Space, place: int, found: Posterior, random: np.random.Generator, stray: float
) -> Floats:  # fmt: skip
    """The first draw of this signal, the reward or a limit, that is allowed."""
    for _ in range(BATCHES):
        for each in found.mean + random.standard_normal((BATCH, space.rank)) @ found.factor.T:
            weights: Floats = space.weights @ each
            stated = problem.reward if place == 0 else problem.safety[place - 1]
            kept = place == 0 or known_safe(problem, weights, place - 1, stray)
            if kept and longest(problem, weights, stated, stray) >= 1.0:
                return weights
    size = "largest effect" if problem.reward.largest is not None else "norm"
    said = f"its {size}" if place == 0 else f"the known safe level for {problem.safety[place - 1].name}"
    reason = f"leaves hardly any truth that keeps {said}: none of {BATCH * BATCHES:,} draws does"
    remedy = "Check the units of the table, and what is stated: safe_level, noise, baseline, norm or largest."
    raise InvalidInput("like", "the pilot results", reason, remedy)
