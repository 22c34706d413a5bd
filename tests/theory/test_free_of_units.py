"""With largest effects stated, what the theory says of a problem does not depend on the units of its features."""

from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.theory import report
from surefoot.worlds import Linear


def posed(A: Any) -> tuple[Linear, sf.Problem]:
    """A world of generic arms whose features went through the map."""
    rng = np.random.default_rng(12)
    arms, theta, mu = rng.standard_normal((5, 3)), rng.standard_normal(3), rng.standard_normal(3)
    back = np.linalg.inv(A)
    world = Linear(
        arms @ A, theta_star=back @ theta, mu_star=back @ mu, noise=0.4, safety_noise=0.3, limit=-0.8,
    )  # fmt: skip
    level = 0.5 * float(world.best_levels().min())
    problem = world.problem(
        epsilon=0.5, delta=0.1, delta_safety=0.1, safe_level=level, reward_largest=world.reward_largest,
        regularization=0.01,
    )  # fmt: skip
    return world, problem


@pytest.mark.parametrize("told", [False, True])
def test_units_and_mixing_of_the_features_change_no_number(told: bool) -> None:
    world, problem = posed(np.eye(3))
    plain = report(problem, world if told else None)
    wild = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0] * [1e4, 1.0, 1e-3]
    moved, other = posed(wild)
    found = report(other, moved if told else None)
    assert not any("Rescale" in note for note in found.notes)
    assert [each.pulls for each in found.exploration] == pytest.approx(
        [each.pulls for each in plain.exploration], rel=1e-3
    )
    for mine, theirs in zip(plain.pulls_at, found.pulls_at, strict=True):
        assert theirs.complexity == pytest.approx(mine.complexity, rel=1e-4)
        assert theirs.pulls == (None if mine.pulls is None else pytest.approx(mine.pulls, rel=1e-4))
    if told:
        for name in ("lower_bound", "lower_bound_with_norms"):
            assert getattr(found, name).pulls == pytest.approx(getattr(plain, name).pulls, rel=3e-3)


def test_a_lower_bound_for_a_world_that_breaks_a_largest_effect_is_refused() -> None:
    world, problem = posed(np.eye(3))
    less = problem.with_(reward=sf.Reward(noise=0.4, largest=0.5 * world.reward_largest))
    with pytest.raises(sf.errors.InvalidInput, match=r"reward\.largest"):
        sf.theory.lower_bound(world, less, norms=True)
