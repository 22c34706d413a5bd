"""Numbers from runs: the summary against scipy.stats, and the ways out to frames and files."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from surefoot.core.records import Records
from surefoot.core.types import BREAKDOWN, CERTIFIED, CONTRADICTION, UNDECIDED
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.results import exact_interval, judged, mean_interval


@pytest.fixture(scope="module")
def runs() -> sf.Runs:
    world = sf.worlds.limited()
    return sf.simulate(world, world.default_problem(), sf.SafeLinGapE(), runs=60, seed=2, max_pulls=700)


@given(st.integers(0, 200), st.integers(0, 200), st.floats(0.5, 0.999))
def test_rates_have_the_exact_bounds_of_clopper_and_pearson(events: int, others: int, confidence: float) -> None:
    trials = events + others
    if trials == 0:
        assert exact_interval(0, 0)[1:] == (0.0, 1.0)
        return
    found, theirs = (
        exact_interval(events, trials, confidence),
        stats.binomtest(events, trials).proportion_ci(confidence),
    )
    assert found.estimate == events / trials
    assert found.lower == pytest.approx(theirs.low, abs=1e-9)
    assert found.upper == pytest.approx(theirs.high, abs=1e-9)


def test_means_have_students_interval() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, 17)
    found = mean_interval(values, 0.9)
    theirs = stats.t.interval(0.9, 16, loc=values.mean(), scale=stats.sem(values))
    assert (found.lower, found.upper) == pytest.approx(theirs)
    assert mean_interval(values[:1]) == (values[0], None, None)
    assert mean_interval(values[:0]) == (None, None, None)


def test_the_summary_is_what_scipy_says(runs: sf.Runs) -> None:
    table = runs.summary()
    certain = runs.pulls[runs.stopped]
    assert 0 < len(certain) < 60  # the budget cuts some off
    assert table["runs"] == 60
    assert table["certified_runs"] + table["undecided_runs"] == 60
    assert table["pulls_mean"] == pytest.approx(certain.mean())
    assert table["pulls_sd"] == pytest.approx(certain.std(ddof=1))
    assert table["pulls_median"] == np.median(certain)
    interval = stats.t.interval(0.95, len(certain) - 1, loc=certain.mean(), scale=stats.sem(certain))
    assert (table["pulls_lower"], table["pulls_upper"]) == pytest.approx(interval)
    for name, flags in {
        "wrong": runs.wrong, "broken": runs.broken_promise, "unsafe": runs.unsafe_pulls > 0,
        "unsafe_answer": runs.answer_unsafe,
    }.items():  # fmt: skip
        bounds = stats.binomtest(int(flags.sum()), 60).proportion_ci(0.95, method="exact")
        assert table[f"{name}_runs"] == flags.sum()
        assert table[f"{name}_rate"] == flags.mean()
        assert (table[f"{name}_lower"], table[f"{name}_upper"]) == pytest.approx((bounds.low, bounds.high), abs=1e-12)
    assert json.loads(json.dumps(table)) == table


def test_another_confidence_gives_wider_bounds(runs: sf.Runs) -> None:
    usual, wide = runs.summary(), runs.summary(confidence=0.999)
    assert wide["wrong_upper"] > usual["wrong_upper"]
    assert wide["pulls_lower"] < usual["pulls_lower"]


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1, True, "0.9", None])
def test_a_confidence_that_is_none_is_refused(runs: sf.Runs, confidence: Any) -> None:
    with pytest.raises(InvalidInput):
        runs.summary(confidence=confidence)


def test_a_frame_has_a_row_a_run(runs: sf.Runs) -> None:
    frame = runs.to_pandas()
    assert len(frame) == 60
    assert frame["pulls"].tolist() == runs.pulls.tolist()
    assert set(frame["outcome"]) == {"certified", "undecided"}
    assert frame.loc[frame["outcome"] == "undecided", "name"].isna().all()
    assert frame.loc[frame["outcome"] == "certified", "name"].isin(runs.problem.names).all()
    for k, name in enumerate(runs.problem.names):
        assert frame[f"pulls: {name}"].tolist() == runs.pulls_per_arm[:, k].tolist()
        assert frame[f"level: {name}"].tolist() == runs.levels[:, k].tolist()


def test_a_parquet_file_comes_back_as_it_was(runs: sf.Runs, tmp_path: Path) -> None:
    runs.to_parquet(tmp_path / "runs.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "runs.parquet"), runs.to_pandas())


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_extra_is_named(runs: sf.Runs, package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"surefoot\[frames\]"):
        runs.to_parquet(tmp_path / "runs.parquet")
    if package == "pandas":
        with pytest.raises(MissingExtra):
            runs.to_pandas()


# -- the judge, by hand -----------------------------------------------------------------------------------------------


def judged_by_hand(policy: Any, status: list[int], arm: list[int], level: list[float], levels: Any) -> sf.Runs:
    """Answers on two arms worth 1.0 and 0.5 at full level, the first safe up to 0.6: V* = 0.6; epsilon = 0.1."""
    world = sf.worlds.Linear(np.eye(2), theta_star=[1.0, 0.5], mu_star=[-1.0, 0.0], limit=-0.6)
    problem = world.problem(epsilon=0.1, delta=0.05, delta_safety=0.05, safe_level=0.2)
    n = len(status)
    records = Records(
        status=np.array(status), pulls=np.full(n, 10), arm=np.array(arm), level=np.array(level), gap=np.zeros(n),
        unsafe=np.zeros(n, int), first_unsafe=np.zeros(n, int), pulls_per_arm=np.full((n, 2), 5),
        levels=np.array(levels),
    )  # fmt: skip
    return judged(problem, policy, 0, np.arange(n), records, n, world.judge(problem))


def test_b_asks_for_a_safe_answer_within_epsilon() -> None:
    found = judged_by_hand(
        sf.SafeLinGapE(selection="optimistic"),
        [CERTIFIED] * 5,
        [0, 0, 0, 1, -1],
        [0.6, 0.51, 0.45, 1.0, 0.0],
        [[0.6, 1.0]] * 5,
    )
    np.testing.assert_allclose(found.suboptimality, [0.0, 0.09, 0.15, 0.1, 0.6], atol=1e-12)
    assert found.wrong.tolist() == [False, False, True, False, True]
    assert found.broken_promise.tolist() == found.wrong.tolist()


def test_an_unsafe_answer_is_wrong_however_good() -> None:
    found = judged_by_hand(sf.SafeLinGapE(selection="optimistic"), [CERTIFIED], [0], [0.7], [[0.7, 1.0]])
    assert found.answer_unsafe.tolist() == found.wrong.tolist() == [True]
    assert found.suboptimality[0] < 0.0


def test_proposition_1_forgives_what_is_unlearned_about_the_best_arm() -> None:
    """Certified up to 0.3 of 0.6, half of V* = 0.6 is unlearned: 0.3 + epsilon may be missing."""
    found = judged_by_hand(
        sf.SafeLinGapE(), [CERTIFIED] * 3, [1, 1, 1], [0.6, 0.39, 1.0], [[0.3, 0.6]] * 2 + [[0.6, 1.0]]
    )
    np.testing.assert_allclose(found.suboptimality, [0.3, 0.405, 0.1], atol=1e-12)
    assert found.wrong.tolist() == [True, True, False]
    assert found.broken_promise.tolist() == [False, True, False]


def test_a_policy_without_limits_is_judged_without_limits() -> None:
    found = judged_by_hand(sf.LinGapE(), [CERTIFIED] * 2, [0, 1], [1.0, 1.0], [[1.0, 1.0]] * 2)
    assert found.broken_promise.tolist() == [False, True]
    assert found.answer_unsafe.tolist() == [True, False]
    assert found.wrong.tolist() == [True, False]


def test_runs_that_did_not_end_in_certainty_are_never_wrong() -> None:
    endings = [UNDECIDED, CONTRADICTION, BREAKDOWN]
    found = judged_by_hand(sf.SafeLinGapE(), endings, [-1] * 3, [0.0] * 3, [[0.2, 0.2]] * 3)
    assert found.outcomes == ["undecided", "contradiction", "breakdown"]
    assert not (found.wrong | found.broken_promise | found.answer_unsafe | found.stopped).any()
    table = found.summary()
    assert (table["undecided_runs"], table["contradiction_runs"], table["breakdown_runs"]) == (1, 1, 1)
    assert table["pulls_mean"] is table["pulls_sd"] is None
