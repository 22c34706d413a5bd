"""What an arm's own pulls say of it: its mean, with a boundary on either side."""

import numpy as np
import pytest

from surefoot.core.parts import bound_leads, bound_safety
from surefoot.sets import linked
from surefoot.sets.boundaries import height_at
from surefoot.sets.ellipsoid import SQUARED_SUM, ellipsoid
from surefoot.sets.mixtures import half_normal
from surefoot.sets.own_pulls import Params, own_pulls
from workbench import Bench, bench

X = np.array([[1.0, 0.0], [0.0, 2.0], [0.6, 0.8]])
BELOW, ABOVE = half_normal(0.01, 0.1, 3.0), half_normal(0.002, 0.1, 8.0)


def cut(D: float = 50.0) -> Bench:
    """The ellipsoid, cut by each arm's own pulls; with a bias of 50 they decide."""
    params = Params(np.array([0, 1]), np.array([half_normal(0.05, 1.0, 1.0)] * 2 + [BELOW, ABOVE]))
    return bench(X, D=D, form=SQUARED_SUM, sets=lambda ball: linked(ellipsoid(ball), own_pulls(params)))


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


def test_an_arms_own_pulls_bound_it_by_its_mean() -> None:
    here = cut()
    state, work = learned(here)
    lower, upper = bounds(here, state, work)
    for k in range(3):
        N = state.estimate.N[k]
        mean = state.estimate.M[1, k] / N
        assert lower[0, k] == pytest.approx(mean - height_at(BELOW, 0.1, N) / N, rel=1e-12)
        assert upper[0, k] == pytest.approx(mean + height_at(ABOVE, 0.1, N) / N, rel=1e-12)


def test_an_arm_without_pulls_of_its_own_has_the_ellipsoid() -> None:
    found = []
    for here in (cut(), uncut()):
        state, work = here.fresh()
        for _ in range(9):
            here.absorb(state, work, 0, 0.9, [0.1, -0.1])
        found.append(bounds(here, state, work))
    (lower, upper), (low, high) = found
    assert (lower[0, 1:] == low[0, 1:]).all()
    assert (upper[0, 1:] == high[0, 1:]).all()
    assert lower[0, 0] > low[0, 0]


@pytest.mark.parametrize("D", [0.1, 1.0, 10.0])
def test_they_only_ever_cut(D: float) -> None:
    (lower, upper), (low, high) = (bounds(here, *learned(here, 40)) for here in (cut(D), uncut(D)))
    assert (lower >= low).all()
    assert (upper <= high).all()


def test_they_say_nothing_of_the_reward() -> None:
    leads = []
    for here in (cut(), uncut()):
        state, work = learned(here)
        here.plain(bound_leads)(here.inst, state, work, 0, 0.2, False)
        leads.append(work.bounds.lead.copy())
    assert np.array_equal(*leads)
