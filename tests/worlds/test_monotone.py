"""Worlds whose effects rise with the level along a bent curve."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.core.kernel import interpreting
from surefoot.errors import InvalidInput
from surefoot.testing import WorldContract

LAW = sf.worlds.doses()


class TestMonotone(WorldContract):
    """In the interpreter: what is compiled is the same source."""

    world = sf.worlds.Monotone(LAW, bend=(2.0, -1.5))
    problem = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.1)
    policy = sf.policies.SafeMonotonic()

    @pytest.fixture(autouse=True)
    def plain(self) -> Any:
        with interpreting():
            yield


@pytest.mark.parametrize("bend", [0.0, 3.0, -3.0])
def test_effects_rise_from_nothing_to_the_law_and_no_faster_than_said(bend: float) -> None:
    world = sf.worlds.Monotone(LAW, bend=bend)
    levels = np.linspace(0.0, 1.0, 1001)
    for k in range(LAW.size):
        means = world.means(np.full(1001, k), levels)
        assert means[:, 0].tolist() == [0.0, 0.0]
        assert means[:, -1] == pytest.approx(LAW.means(k, 1.0))
        steps = np.diff(means, axis=1)
        assert (steps[0] >= 0.0).all()
        assert (steps[1] <= 0.0).all()
        assert (np.abs(steps).max(axis=1) <= world.slopes() / 1000 * (1 + 1e-9)).all()
    steepest = np.abs(np.diff(world.means(np.array([[2]]), levels), axis=-1)).max(axis=-1).ravel() * 1000
    assert steepest == pytest.approx(world.slopes(), rel=0.01)


def test_a_bend_that_is_none_is_refused() -> None:
    for bend in (float("nan"), 1e3, [1.0, 2.0, 3.0], "much"):
        with pytest.raises(InvalidInput, match="bend"):
            sf.worlds.Monotone(LAW, bend=bend)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="law"):
        sf.worlds.Monotone(3)  # type: ignore[arg-type]
