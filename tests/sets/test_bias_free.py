"""The bias-free set: its bounds by least squares, when it begins to speak, and that it only ever cuts."""

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from surefoot.core.parts import bound_leads, bound_safety
from surefoot.core.types import NULL
from surefoot.sets import linked
from surefoot.sets.bias_free import Params, bias_free
from surefoot.sets.ellipsoid import SQUARED_SUM, ellipsoid
from workbench import Bench, bench

X = np.array([[1.0, 0.0], [0.0, 2.0], [0.6, 0.8]])
PRIOR = np.array([0.8, 2.5])


def cut(D: float = 50.0, asked: Any = (1, 1)) -> Bench:
    """The ellipsoid, cut by the bias-free set. A bias of 50 makes it so wide that the bias-free set decides."""
    params = Params(np.array(asked), PRIOR, np.full(2, log(20.0)))
    return bench(X, D=D, form=SQUARED_SUM, sets=lambda ball: linked(ellipsoid(ball), bias_free(params, 3, 2)))


def uncut(D: float = 50.0) -> Bench:
    """The ellipsoid alone."""
    return bench(X, D=D, form=SQUARED_SUM)


def learned(here, rounds=25):  # type: ignore[no-untyped-def]
    inst, (state, work) = here.inst, here.fresh()
    rng = np.random.default_rng(5)
    for t in range(rounds):
        here.absorb(state, work, t % len(inst.X), 0.2 + 0.03 * (t % 20), rng.standard_normal(len(inst.R)))
    return state, work


def bounds(here, state, work):  # type: ignore[no-untyped-def]
    here.plain(bound_safety)(here.inst, state, work)
    return work.bounds.lower.copy(), work.bounds.upper.copy()


def by_least_squares(here, state, s, y):  # type: ignore[no-untyped-def]
    """y . theta_LS and sqrt(y^T (V^-1 + c V^-2) y) R sqrt(2 log(1/delta) + log det(I + V/c))."""
    V, c = (X.T * state.estimate.N) @ X, PRIOR[s]
    inverse = np.linalg.inv(V)
    grown = np.linalg.slogdet(np.eye(len(V)) + V / c)[1]
    radius = here.inst.R[s] * sqrt(2 * log(20.0) + grown)
    return y @ inverse @ X.T @ state.estimate.M[s], radius * sqrt(y @ (inverse + c * inverse @ inverse) @ y)


def test_safety_bounds_are_c2() -> None:
    here = cut()
    state, work = learned(here)
    lower, upper = bounds(here, state, work)
    for k, x in enumerate(X):
        middle, width = by_least_squares(here, state, 1, x)
        assert lower[0, k] == pytest.approx(middle - width, rel=1e-10)
        assert upper[0, k] == pytest.approx(middle + width, rel=1e-10)


@pytest.mark.parametrize("optimistic", [False, True])
@pytest.mark.parametrize("leader", [NULL, 0, 2])
def test_leads_are_c2(leader: int, optimistic: bool) -> None:
    here = cut()
    state, work = learned(here)
    state.levels.low[:], state.levels.high[:] = [0.3, 0.5, 0.2], [0.9, 0.5, 0.7]
    levels = state.levels.high if optimistic else state.levels.low
    level = float(state.levels.low[leader]) if leader != NULL else 0.0
    z_i = level * X[max(leader, 0)]
    here.plain(bound_leads)(here.inst, state, work, leader, level, optimistic)
    for k, x in enumerate(X):
        middle, width = by_least_squares(here, state, 0, levels[k] * x - z_i)
        assert work.bounds.lead[k] == pytest.approx(middle + width, rel=1e-9)
    middle, width = by_least_squares(here, state, 0, -z_i)
    assert work.bounds.lead[3] == (pytest.approx(middle + width, rel=1e-9) if leader != NULL else -np.inf)


@pytest.mark.parametrize("arms", [[], [0, 0, 0], [1, 1, 1, 1], [0, 0, 1]])
def test_it_waits_until_its_matrix_is_invertible(arms: list[int]) -> None:
    """Pulls of one arm leave V singular, and then the ellipsoid alone speaks; the second arm makes it invertible."""
    found = []
    for here in (cut(), uncut()):
        state, work = here.fresh()
        for k in arms:
            here.absorb(state, work, k, 0.7, [0.3, -0.2])
        found.append(bounds(here, state, work))
    assert np.array_equal(*found) == (len(set(arms)) < 2)


@pytest.mark.parametrize("D", [0.1, 1.0, 10.0])
def test_it_only_ever_cuts(D: float) -> None:
    (lower, upper), (low, high) = (bounds(here, *learned(here, 40)) for here in (cut(D), uncut(D)))
    assert (lower >= low).all()
    assert (upper <= high).all()


@pytest.mark.parametrize("asked", [(0, 0), (0, 1), (1, 0)])
def test_only_the_signals_that_ask_for_it_are_cut(asked: tuple[int, int]) -> None:
    found = []
    for here in (cut(asked=asked), uncut()):
        state, work = learned(here)
        here.plain(bound_leads)(here.inst, state, work, 0, 0.2, True)
        found.append((work.bounds.lead.copy(), bounds(here, state, work)))
    (lead, safety), (plain_lead, plain_safety) = found
    assert np.array_equal(lead, plain_lead) == (asked[0] == 0)
    assert np.array_equal(safety, plain_safety) == (asked[1] == 0)
