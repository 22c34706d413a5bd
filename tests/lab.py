"""Instances and states for tests of single kernels, and those kernels in a form that Python can call."""

from functools import cache
from math import inf, log
from typing import Any

import numpy as np

from surefoot.core.estimate import absorb, begin
from surefoot.core.kernel import entry
from surefoot.core.types import DETERMINANT, NORM, Instance, State, Work, new_state, new_work


@cache
def callable_form(kernel: Any) -> Any:
    return entry(kernel)


def instance(X: Any, **changes: Any) -> Instance:
    """An instance with plain defaults: one limit at -0.5, known level 0.2, error 0.05 everywhere."""
    X = np.array(X, dtype=float)
    K, m = len(X), len(changes.get("eta0", [-0.5]))
    table: dict[str, Any] = {
        "X": X,
        "L": float(np.linalg.norm(X, axis=1).max()),
        "lam": [1.0],
        "gram_of": np.zeros(1 + m, np.int64),
        "R": [1.0] + [0.1] * m,
        "D": [1.0] * (1 + m),
        "log_inv_delta": [log(20.0)] * (1 + m),
        "radius": np.full(1 + m, DETERMINANT),
        "eta0": [-0.5] * m,
        "gamma0": np.full(K, 0.2),
        "ceiling": np.ones(K),
        "grid": np.zeros(0),
        "step": inf,
        "epsilon": 0.1,
        "prior": np.ones(1 + m),
        "boundary": np.ones((2 + 2 * m, 3)),
        "switch": inf,
        "aims": 0,
        **changes,
    }
    lam, owner = np.array(table["lam"], float), np.array(table["gram_of"])
    derived = {
        "log_inv_delta_high": table["log_inv_delta"],
        "any_norm": bool((np.array(table["radius"]) == NORM).any()),
        "rate": table["L"] ** 2 / lam,
        "bias": np.sqrt(lam[owner]) * np.array(table["D"], float),
    }
    table = {key: value for key, value in derived.items() if key in Instance._fields} | table
    whole = ("gram_of", "radius")
    return Instance(
        **{
            key: value if np.isscalar(value) else np.array(value, dtype=np.int64 if key in whole else float)
            for key, value in table.items()
        }
    )


def fresh(inst: Instance) -> tuple[State, Work]:
    """The state before the first pull."""
    state, work = new_state(inst), new_work(inst)
    callable_form(begin)(inst, state, work)
    return state, work


def absorbed(inst: Instance, state: State, work: Work, k: int, gamma: float, observed: Any) -> bool:
    """`absorb` with any sequence of observations."""
    return bool(callable_form(absorb)(inst, state, work, k, gamma, np.array(observed, dtype=float)))


def absorb_all(inst: Instance, state: State, work: Work, arms: Any, gammas: Any, seen: Any) -> bool:
    """So many updates, compiled together. Here and not in a test file, whose name a compiled cache could not find."""
    healthy = True
    for t in range(len(arms)):
        healthy = absorb(inst, state, work, arms[t], gammas[t], seen[t]) and healthy
    return healthy
