"""Comparisons: the runs are those of `simulate`, refusals are rows, and what is kept is not run again."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import surefoot as sf
from surefoot import plots
from surefoot.comparing.asking import called, contenders_in
from surefoot.comparing.matching import matched, stops_by
from surefoot.comparing.yardsticks import lower_bound_without_limits, yardsticks_of
from surefoot.errors import InvalidInput
from surefoot.plots.style import rendered

POLICIES = ["safe-gap", "lingape", "frank-wolfe"]
WORLDS = [{"name": "hard", "omega": [0.3, 0.4]}, {"name": "hard", "omega": 0.4, "dim": 2}, "limited"]
WISHES: dict[str, Any] = {"delta": [0.05, 0.1], "runs": 6, "seed": 3}
FRAMES = {
    "pulls_by_delta": plots.pulls_by_delta_frame, "pulls_by_features": plots.pulls_by_features_frame,
    "pulls_by_gap": plots.pulls_by_gap_frame, "shares": plots.shares_frame,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where its runs are kept."""
    return tmp_path_factory.mktemp("compared") / "runs"


@pytest.fixture(scope="module")
def found(folder: Path) -> sf.Comparison:
    """A small comparison."""
    return sf.compare(POLICIES, WORLDS, out=folder, **WISHES)


def test_rows_are_what_simulations_say_and_differences_are_of_the_same_runs(found: sf.Comparison) -> None:
    world = sf.worlds.limited()
    problem = world.default_problem().with_(delta=0.05, delta_safety=0.05)
    ours = sf.simulate(world, problem, sf.SafeGap(), runs=6, seed=3)
    others = sf.simulate(world, problem, sf.LinGapE(radius="bias-free"), runs=6, seed=3)
    row = found["limited", "lingape"]
    assert row.problem.delta == 0.05
    assert row.summary == others.summary()
    assert found["limited", "safe-gap"].summary == ours.summary()
    assert row.difference.estimate == (others.pulls - ours.pulls).mean()
    assert row.pairs == 6
    assert row.shares is not None
    assert np.allclose(row.shares, others.pulls_per_arm.sum(axis=0) / others.pulls.sum())
    lower, estimate, upper = (row.to_dict()[name] for name in ("seconds_lower", "seconds", "seconds_upper"))
    assert estimate > 0.0
    assert lower < estimate < upper
    assert found["limited", "safe-gap"].difference.estimate is None


def test_who_refuses_a_problem_is_a_row_with_the_reason(found: sf.Comparison) -> None:
    row = found["limited", "frank-wolfe"]
    assert row.refused is not None
    assert row.refused.startswith("epsilon = 0.0")
    assert row.to_dict()["pulls_mean"] is None
    lines = [line for line in str(found).splitlines() if "refuses" in line]
    assert len(lines) == 4  # once in each world, not at every delta
    assert all(line.startswith("frank-wolfe") for line in lines)
    alone = sf.compare("frank-wolfe", "limited", delta=0.1, runs=2)
    assert [row.refused is not None for row in alone.rows] == [True]
    assert "refuses: epsilon" in str(alone)


def test_what_is_kept_is_not_run_again_and_says_the_same(found: sf.Comparison, folder: Path) -> None:
    told: list[tuple[int, int]] = []
    again = sf.compare(POLICIES, WORLDS, out=folder, watch=lambda done, total: told.append((done, total)), **WISHES)
    assert told == [(96, 96)]
    assert again.summary() == found.summary()  # seconds too: they are kept beside the runs


def test_policies_get_the_same_sets_where_they_have_them() -> None:
    assert matched({"name": "frank-wolfe"}, "ours") == {"name": "frank-wolfe", "stop": "ours"}
    assert matched({"name": "frank-wolfe", "stop": "own"}, "ours") == {"name": "frank-wolfe", "stop": "own"}
    assert matched({"name": "lingape"}, "norm") == {"name": "lingape", "radius": "norm"}
    assert matched({"name": "safe-lingape"}, "ours") == {
        "name": "safe-lingape", "reward_radius": "bias-free", "safety_radius": "bias-free",
    }  # fmt: skip
    assert matched({"name": "safe-gap"}, "ours") == matched({"name": "safe-gap"}, "own") == {"name": "safe-gap"}
    handed_in = sf.LinGapE()
    (kept,) = contenders_in([handed_in], "ours")
    assert kept.policy is handed_in
    stops = [stops_by(policy) for policy in (sf.SafeGap(), handed_in, sf.SafeLinGapE())]
    assert stops == ["ours", "determinant", "determinant and norm"]
    assert called(sf.SafeLinGapE(null_pull=True, explore=sf.RoundRobin(8))) == (
        "safe-lingape (explore round-robin 8, null_pull)"
    )
    both = contenders_in([{"name": "lingape", "radius": ["norm", "determinant"]}, "safe-gap"], "own")
    assert [one.label for one in both] == ["lingape (radius norm)", "lingape", "safe-gap"]


def test_the_bound_without_limits_is_that_of_limits_which_nothing_comes_near() -> None:
    paper = sf.worlds.hard()
    world = sf.worlds.Linear(
        paper.arms, theta_star=paper.theta_star, mu_star=[-1e-3, 0, 0], noise=1.0, safety_noise=1.0, limit=-1.0
    )
    problem = world.problem(epsilon=0.0, delta=0.01, delta_safety=1e-9, safe_level=1.0)
    with_limits = sf.theory.lower_bound(world, problem)
    found = yardsticks_of(world, problem)
    assert found.free is not None
    assert found.free.pulls == pytest.approx(with_limits.pulls, rel=0.02)
    sharper = problem.with_(delta=0.001)
    other = found.at(sharper).free
    assert other is not None
    assert other.pulls == pytest.approx(lower_bound_without_limits(world, sharper).pulls, rel=1e-9)
    paper_problem = paper.paper_problem()
    assert yardsticks_of(paper, paper_problem.with_(delta=0.1, delta_safety=0.1)).at(paper_problem).safe.pulls == (  # type: ignore[union-attr]
        pytest.approx(sf.theory.lower_bound(paper, paper_problem, tolerance=0.01).pulls, rel=1e-9)
    )


@pytest.mark.parametrize("picture", plots.COMPARED)
def test_a_frame_gives_the_picture_of_its_comparison(found: sf.Comparison, picture: str) -> None:
    draw, frame = plots.COMPARED[picture], FRAMES[picture]
    expected = rendered(draw(found), "svg")
    assert ElementTree.fromstring(expected).tag.endswith("svg")
    assert rendered(draw(frame(found, kind="polars")), "svg") == expected
    assert getattr(sf.plots, picture) is draw
    with pytest.raises(InvalidInput, match="is no comparison that could be drawn"):
        draw([1, 2])


def test_pictures_show_what_was_measured_beside_what_is_needed(found: sf.Comparison) -> None:
    by_delta = plots.pulls_by_delta_frame(found)
    assert set(by_delta["policy"]) == {"safe-gap", "lingape", "lower bound, limits kept", "lower bound, no limits"}
    row = found["limited", "safe-gap", 0.1]
    assert row.summary is not None
    assert row.bound is not None
    there = by_delta[(by_delta["world"] == "limited") & (by_delta["delta"] == 0.1)].set_index("policy")["pulls"]
    assert there["safe-gap"] == row.summary["pulls_mean"]
    assert there["lower bound, limits kept"] == row.bound.pulls
    gaps = plots.pulls_by_gap_frame(found)
    assert set(gaps["worlds"]) == {"hard, omega varied"}
    assert sorted(set(gaps["gap"])) == pytest.approx([2 - 2 * np.cos(0.3), 2 - 2 * np.cos(0.4)])
    features = plots.pulls_by_features_frame(found)
    assert set(features["worlds"]) == {"hard, dim varied"}
    assert sorted(set(features["features"])) == [2.0, 3.0]
    shares = plots.shares_frame(found)
    assert np.allclose(shares.groupby(["world", "policy"])["share"].sum(), 1.0)
    assert set(shares[shares["kind"] == "bound"]["policy"]) == {"oracle, limits kept", "oracle, no limits"}


def test_the_report_is_one_page_that_needs_nothing_else(found: sf.Comparison, tmp_path: Path) -> None:
    (page,) = found.report(tmp_path / "report.html", command=["surefoot compare --runs 6"])
    text = page.read_text("utf-8")
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text
    assert text.count("<img") == 8  # four pictures, light and dark
    assert "refuses: epsilon = 0.0" in text
    assert "surefoot compare --runs 6" in text
    assert "fewest pulls with both promises safe-gap" in text
    with pytest.raises(InvalidInput, match="overwrite=True"):
        found.report(page)
    files = found.report(tmp_path / "report.md")
    assert [file.name for file in files[1:]] == [f"report-{picture}.svg" for picture in plots.COMPARED]
    assert "| frank-wolfe | ours |" in files[0].read_text("utf-8")


def test_the_whole_is_a_frame_and_a_table(found: sf.Comparison) -> None:
    frame = found.frame()
    assert len(frame) == len(found) == 24
    assert frame["runs"].tolist().count(6) == 16
    assert found.frame("polars").columns == list(frame.columns)
    assert repr(found) == "Comparison(3 policies x 4 worlds x 2 deltas, 6 runs each)"
    assert "3 policies x 4 worlds" in found._repr_html_()
    with pytest.raises(KeyError):
        found["limited", "nobody"]


@pytest.mark.parametrize(
    ("wishes", "refusal"),
    [
        ({"policies": "safe-gapp"}, "policies\\[0\\].name = 'safe-gapp': must be one of"),
        ({"policies": []}, "policies = \\[\\]: is empty"),
        ({"policies": [{"name": "lingape", "stop": "own"}]}, "policy.stop = 'own': is not an option here"),
        ({"policies": ["safe-gap", "safe-gap"]}, "and the same setting as cell 1"),
        ({"worlds": ["harder"]}, "worlds\\[0\\].name = 'harder': is not the name of a world"),
        ({"worlds": [{"name": "hard", "delta": 0.1}]}, "worlds\\[0\\].delta = 0.1: is not of one world"),
        ({"worlds": [{"name": "hard", "omga": 0.1}]}, "omga"),
        ({"worlds": [{"name": "hard", "epsilon": -1.0}]}, "epsilon = -1"),
        ({"delta": 1.5}, "delta = 1.5"),
        ({"delta": []}, "delta = \\[\\]: is a list without a value"),
        ({"delta_safety": 0.0}, "delta_safety = 0"),
        ({"radius": "our"}, "radius = 'our': must be one of ours, own, .*Did you mean"),
        ({"runs": 0}, "runs = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"max_pulls": 0}, "max_pulls = 0"),
        ({"engine": "threds"}, "engine = 'threds'"),
        ({"confidence": 1.0}, "confidence = 1"),
        ({"out": 7}, "out = 7"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_any_work(wishes: dict[str, Any], refusal: str) -> None:
    asked = {"policies": "safe-gap", "worlds": "limited", "delta": 0.1, "runs": 2, **wishes}
    with pytest.raises(InvalidInput, match=refusal):
        sf.compare(**asked)
