"""The words that options are written in, and what the compiled code reads in their place."""

import warnings
from collections.abc import Mapping
from math import inf, log
from typing import Literal

import numpy as np

from surefoot.core import gaps, levels, pulls
from surefoot.core.types import DETERMINANT, NORM, Instance
from surefoot.errors import InvalidInput, NeverStopsWarning
from surefoot.problem import Problem
from surefoot.problem_settings import STEP_SLACK

Levels = Literal["static", "dynamic", "dynamic-max"]
Selection = Literal["conservative", "optimistic"]
Pull = Literal["greedy", "rounding", "rounding-finite"]
Radius = Literal["determinant", "norm"]

LEVELS = {"static": levels.STATIC, "dynamic": levels.DYNAMIC, "dynamic-max": levels.DYNAMIC_MAX}
SELECTIONS = {"conservative": gaps.CONSERVATIVE, "optimistic": gaps.OPTIMISTIC}
PULLS = {"greedy": pulls.GREEDY, "rounding": pulls.ROUNDING, "rounding-finite": pulls.ROUNDING_FINITE}
RADII = {"determinant": DETERMINANT, "norm": NORM}


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
    """The problem as the core reads it; delta_safety is split evenly over the limits."""
    m = len(problem.safety)
    X = np.array(problem.features)  # a copy: compiled code tells writable arrays from read-only ones
    grid = np.asarray(problem.level_grid, dtype=np.float64)
    ceiling = np.array(problem.max_level)
    if len(grid):
        ceiling = grid[np.searchsorted(grid, ceiling, side="right") - 1]
    lam = np.array([problem.regularization])
    norms = np.array([problem.reward.norm, *(limit.norm for limit in problem.safety)])
    L = float(np.sqrt((X * X).sum(axis=1).max()))
    return Instance(
        X=X,
        L=L,
        lam=lam,
        rate=L * L / lam,
        gram_of=np.zeros(1 + m, np.int64),
        R=np.array([problem.reward.noise, *(limit.noise for limit in problem.safety)]),
        D=norms,
        bias=np.sqrt(problem.regularization) * norms,
        log_inv_delta=np.array([-log(problem.delta)] + [log(m) - log(problem.delta_safety)] * m),
        radius=np.array([RADII[reward_radius]] + [RADII[safety_radius]] * m, np.int64),
        any_norm="norm" in (reward_radius, safety_radius),
        eta0=np.array([limit.eta0 for limit in problem.safety]),
        gamma0=np.array(problem.safe_level),
        ceiling=ceiling,
        grid=grid,
        step=inf if problem.max_step is None else problem.max_step * (1.0 + STEP_SLACK),
        epsilon=problem.epsilon,
    )
