"""Worlds like a pilot: what its rows say is heeded, and rows that cannot be are refused before anything runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.planning.pilot import drawn_like, pilot_in, posteriors
from surefoot.planning.scenarios import MIDDLE, space_of

THETA, MU = np.array([1.5, 0.3]), np.array([4.0, 2.0])


@pytest.fixture(scope="module")
def problem() -> sf.Problem:
    """The pumps."""
    return sf.Problem(
        {"pump A": [1, 0], "pump B": [0, 1], "both": [0.6, 0.4]}, sf.Reward(noise=0.5),
        sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3), safe_level=0.2, epsilon=0.15, delta=0.05,
        delta_safety=0.05,
    )  # fmt: skip


def rows_of(problem: sf.Problem, count: int) -> list[dict[str, Any]]:
    """Pilot trials at the known level."""
    random = np.random.default_rng(1)
    rows = []
    for number in range(count):
        arm = number % 3
        x = 0.2 * problem.arms[arm]
        reward, reading = x @ THETA + 0.5 * random.normal(), 5.0 + x @ MU + 0.3 * random.normal()
        rows.append({"arm": problem.names[arm], "level": 0.2, "reward": reward, "safety": reading})
    return rows


def test_the_posterior_is_bayes_rule(problem: sf.Problem) -> None:
    """Held against weights of the same prior, by sampling: the mean of those that fit, weighted by likelihood."""
    space = space_of(problem)
    (reward, _) = posteriors(problem, space, MIDDLE, 0, pilot_in(problem, rows_of(problem, 12)))
    prior = posteriors(problem, space, MIDDLE, 0, pilot_in(problem, rows_of(problem, 12))._replace(levels=np.zeros(12)))
    draws = np.random.default_rng(0).normal(size=(400_000, 2)) @ prior[0].factor.T
    pilot = pilot_in(problem, rows_of(problem, 12))
    missed = pilot.observed[:, 0] - (pilot.levels[:, np.newaxis] * pilot.arms @ space.weights @ draws.T).T
    likelihood = np.exp(-0.5 * (missed**2).sum(axis=1) / 0.5**2 + 0.5 * (missed**2).sum(axis=1).min() / 0.5**2)
    mean = likelihood @ draws / likelihood.sum()
    assert mean == pytest.approx(reward.mean, abs=0.02 * np.sqrt(np.trace(reward.factor @ reward.factor.T)))
    spread = (likelihood[:, np.newaxis] * (draws - mean)).T @ (draws - mean) / likelihood.sum()
    assert spread == pytest.approx(reward.factor @ reward.factor.T, rel=0.03, abs=1e-3)


def test_many_rows_leave_worlds_like_the_one_that_was_measured(problem: sf.Problem) -> None:
    space = space_of(problem)
    found = posteriors(problem, space, MIDDLE, 0, pilot_in(problem, rows_of(problem, 30_000)))
    truths = [drawn_like(problem, space, MIDDLE, found, 0, number) for number in range(20)]
    for truth in truths:
        assert truth.reward == pytest.approx(THETA, abs=0.25)
        assert -truth.limits[0] == pytest.approx(MU, abs=0.15)  # at most: the more the worse
    assert len({truth.reward.tobytes() for truth in truths}) == 20


def test_a_file_a_frame_and_rows_say_the_same(problem: sf.Problem, tmp_path: Path) -> None:
    import pandas as pd

    rows = rows_of(problem, 9)
    frame = pd.DataFrame(rows)
    frame.rename(columns={"safety": "safety_pressure"}).to_csv(tmp_path / "pilot.csv", index=False)
    for given in (frame, tmp_path / "pilot.csv", str(tmp_path / "pilot.csv")):
        found = pilot_in(problem, given)
        assert np.allclose(found.observed, pilot_in(problem, rows).observed, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"arm": "pump C"}, ["row 1", "'arm'"]),
        ({"level": 1.5}, ["row 1", "'level'"]),
        ({"reward": float("nan")}, ["row 1", "'reward'"]),
        ({"safety": "high"}, ["row 1", "'safety'"]),
    ],
)
def test_rows_that_cannot_be_are_named(problem: sf.Problem, change: dict[str, Any], told: list[str]) -> None:
    rows = rows_of(problem, 3)
    rows[0].update(change)
    with pytest.raises(InvalidInput) as caught:
        sf.plan(problem, like=rows)
    assert caught.value.field == "like"
    assert "taken in" not in str(caught.value)
    for word in told:
        assert word in str(caught.value)


def test_a_table_without_a_column_and_a_file_that_is_not_there_are_refused(problem: sf.Problem, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="has no column 'reward'"):
        sf.plan(problem, like=[{"arm": "both", "level": 0.2, "safety": 6.0}])
    with pytest.raises(InvalidInput, match=r"like = .*cannot be read"):
        sf.plan(problem, like=tmp_path / "nothing.csv")
    with pytest.raises(InvalidInput, match="no table of results"):
        sf.plan(problem, like=7)


def test_a_pilot_that_contradicts_the_known_level_is_refused(problem: sf.Problem) -> None:
    rows = [{"arm": "pump A", "level": 0.2, "reward": 0.3, "safety": 9.5} for _ in range(50)]  # far beyond 8
    with pytest.raises(InvalidInput, match="hardly any truth that keeps the known safe level for pressure"):
        sf.plan(problem, like=rows)
