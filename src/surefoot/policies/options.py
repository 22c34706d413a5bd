"""The words that options are written in, and what the compiled code reads in their place."""

import warnings
from collections.abc import Mapping
from math import inf
from typing import Literal

import numpy as np

from surefoot.core import levels, pulls, race
from surefoot.core.types import DETERMINANT, MIXTURE, NORM, OWN_PULLS, SQUARED_SUM, Instance
from surefoot.errors import InvalidInput, NeverStopsWarning
from surefoot.problem import Problem
from surefoot.problem.settings import LEAST_REGULARIZATION, STEP_SLACK
from surefoot.sets import mixtures

Levels = Literal["static", "dynamic", "dynamic-max"]
Selection = Literal["conservative", "optimistic"]
Pull = Literal["greedy", "rounding", "rounding-finite"]
Radius = Literal["determinant", "norm", "squared-sum", "mixture"]
SafetyRadius = Literal["determinant", "norm", "squared-sum", "mixture", "own-pulls"]

LEVELS = {"static": levels.STATIC, "dynamic": levels.DYNAMIC, "dynamic-max": levels.DYNAMIC_MAX}
SELECTIONS = {"conservative": race.CONSERVATIVE, "optimistic": race.OPTIMISTIC}
PRIOR = 0.3  # information of the bias-free set's prior, as a share of what is planned for; no bias is paid for it
PULLS = {"greedy": pulls.GREEDY, "rounding": pulls.ROUNDING, "rounding-finite": pulls.ROUNDING_FINITE}
RADII = {"determinant": DETERMINANT, "norm": NORM, "squared-sum": SQUARED_SUM, "mixture": MIXTURE}
SAFETY_RADII = {**RADII, "own-pulls": OWN_PULLS}


def check_choice(field: str, value: object, choices: Mapping[str, int]) -> None:
    """Refuses a word that is not among the choices."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(repr(word) for word in choices)
        raise InvalidInput(field, value, f"must be one of {allowed}", "Write one of these words.")


def check_flag(field: str, value: object) -> None:
    """Refuses what is neither True nor False."""
    if not isinstance(value, bool):
        raise InvalidInput(field, value, "must be True or False", "Write one of the two.")


def warn_if_it_may_never_stop(levels: str, selection: str) -> None:
    """Warns by name about levels that are frozen while the selection waits for them to be learned."""
    if levels == "static" and selection == "optimistic":
        warnings.warn(
            "levels='static' with selection='optimistic' may never stop: the interval between an arm's certified and "
            "its optimistic level is frozen, and one that costs more than epsilon can never be closed. Use "
            "levels='dynamic', or set max_pulls and expect 'undecided'.",
            NeverStopsWarning,
            stacklevel=4,
        )


def instance_of(problem: Problem, reward_radius: str, safety_radius: str) -> Instance:
    """The problem as the core reads it; delta_safety is split evenly over the limits.

    Where two sets are intersected each gets half of the error: the squared-sum ellipsoid and the bias-free set, or the
    ellipsoid and the arms' own pulls, whose half is split evenly over the arms and over both sides.
    """
    K, d = problem.features.shape
    m = len(problem.safety)
    X = np.array(problem.features)  # a copy: compiled code tells writable arrays from read-only ones
    grid = np.asarray(problem.level_grid, dtype=np.float64)
    ceiling = np.array(problem.max_level)
    if len(grid):
        ceiling = grid[np.searchsorted(grid, ceiling, side="right") - 1]
    radius = np.array([RADII[reward_radius]] + [SAFETY_RADII[safety_radius]] * m, np.int64)
    noise = np.array([problem.reward.noise, *(limit.noise for limit in problem.safety)])
    norms = np.array([problem.reward.norm, *(limit.norm for limit in problem.safety)])
    L = float(np.sqrt((X * X).sum(axis=1).max()))
    own = np.maximum(d * (noise / norms) ** 2, LEAST_REGULARIZATION * L * L)
    lam, gram_of = np.unique(np.where(radius < SQUARED_SUM, problem.regularization, own), return_inverse=True)
    delta = np.array([problem.delta] + [problem.delta_safety / m] * m)
    delta[radius >= MIXTURE] /= 2.0
    information = mixtures.planned_information(problem)
    boundary = np.ones((2 * (1 + m), 3))
    for s in range(1, 1 + m):
        boundary[2 * s] = boundary[2 * s + 1] = mixtures.half_normal(delta[s] / (2 * K), noise[s], information[s])
    return Instance(
        X=X,
        L=L,
        lam=lam,
        rate=L * L / lam,
        gram_of=gram_of.astype(np.int64),
        R=noise,
        D=norms,
        bias=np.sqrt(lam[gram_of]) * norms,
        log_inv_delta=-np.log(delta),
        log_inv_delta_high=-np.log(delta),
        radius=radius,
        any_norm="norm" in (reward_radius, safety_radius),
        eta0=np.array([limit.eta0 for limit in problem.safety]),
        gamma0=np.array(problem.safe_level),
        ceiling=ceiling,
        grid=grid,
        step=inf if problem.max_step is None else problem.max_step * (1.0 + STEP_SLACK),
        epsilon=problem.epsilon,
        prior=PRIOR * np.array(information),
        boundary=boundary,
        switch=inf,
        aims=0,
    )
