"""Limits on single readings: tightened by what the noise may do, and true for every kind of noise."""

from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.simulation import run_session
from surefoot.testing.worlds import Applied

PUMPS = {"pump A": [1.0, 0.0], "pump B": [0.0, 1.0], "both": [0.6, 0.4]}
RISK = 0.05


def pressure(**changes: object) -> sf.Limit:
    settings = {"at_most": 8.0, "baseline": 5.0, "noise": 0.3, "norm": 5.0, "covers": "readings", "reading_risk": RISK}
    return sf.Limit("pressure", **{**settings, **changes})  # type: ignore[arg-type]


def pumps(*limits: sf.Limit, **changes: object) -> sf.Problem:
    settings = {"safe_level": 0.2, "epsilon": 0.3, "delta": 0.05, "delta_safety": 0.05, **changes}
    return sf.Problem(PUMPS, sf.Reward(noise=0.5, norm=2.0), list(limits), **settings)  # type: ignore[arg-type]


def test_a_limit_covers_the_mean_unless_it_says_otherwise() -> None:
    plain = sf.Limit("pressure", at_most=8.0, baseline=5.0, noise=0.3, norm=5.0)
    assert (plain.covers, plain.reading_risk, plain.margin, plain.mean_limit, plain.eta0) == ("mean", None, 0, 8, -3)
    assert set(plain.to_dict()) == {"name", "at_most", "baseline", "noise", "norm"}  # old fingerprints stay


@pytest.mark.parametrize(
    ("limit", "mean"),
    [
        (pressure(), 8.0 - 0.3 * sqrt(2.0 * log(20.0))),
        (pressure(at_most=None, at_least=-2.0, baseline=1.0), -2.0 + 0.3 * sqrt(2.0 * log(20.0))),
    ],
    ids=["at most", "at least"],
)
def test_a_limit_on_readings_keeps_the_mean_inside(limit: sf.Limit, mean: float) -> None:
    assert limit.mean_limit == pytest.approx(mean)
    assert limit.eta0 == pytest.approx(limit.internal(mean))
    assert limit.eta0 < 0.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"covers": "reading"}, "Did you mean 'readings'?"),
        ({"covers": 3}, "must be 'mean' or 'readings'"),
        ({"reading_risk": None}, "is needed where a limit covers readings"),
        ({"covers": "mean"}, "has no meaning for a limit that covers the mean"),
        ({"reading_risk": 0.0}, "at least 1e-300"),
        ({"reading_risk": 1.0}, "below 1"),
        ({"reading_risk": True}, "must be a finite number"),
        ({"noise": 2.0}, "Allow a risk above 0.325"),
        ({"reading_risk": 1e-300}, "even with nothing applied readings would cross it"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match="pressure") as refused:
        pressure(**changes)
    assert words in str(refused.value)


def test_the_remedy_for_no_room_leaves_room() -> None:
    with pytest.raises(InvalidInput):
        pressure(noise=2.0)
    assert pressure(noise=2.0, reading_risk=0.326).eta0 < 0.0


@pytest.mark.parametrize("name", ["problem.toml", "problem.json"])
def test_files_equality_and_studies_keep_what_a_limit_covers(tmp_path: Path, name: str) -> None:
    posed, mean = pumps(pressure()), pumps(pressure(covers="mean", reading_risk=None))
    posed.save(tmp_path / name)
    assert sf.Problem.load(tmp_path / name) == posed != mean
    assert posed != pumps(pressure(reading_risk=0.06))
    study = sf.create_study(posed, name="pumps", storage=f"sqlite:///{tmp_path / 'a.db'}")
    study.export(tmp_path / "pumps.zip")
    moved = sf.import_study(tmp_path / "pumps.zip", f"sqlite:///{tmp_path / 'b.db'}")
    assert moved.problem == posed
    assert moved.problem.safety[0].reading_risk == RISK


def test_the_judge_holds_pulls_against_the_limit_as_it_is_posed() -> None:
    posed = pumps(pressure())
    world = sf.worlds.Linear.for_problem(posed, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]])
    highest = (posed.safety[0].mean_limit - 5.0) / 4.0
    judge = world.judge(posed)
    assert judge.best_level == pytest.approx(highest)
    assert judge.is_safe(0, highest)
    assert not judge.is_safe(0, 3.0 / 4.0)  # where half of the readings would lie beyond


@pytest.mark.parametrize("noise", ["gaussian", "uniform", "rademacher"])
def test_single_readings_keep_their_limit_as_often_as_promised(noise: str) -> None:
    """At the highest safe level, where it is hardest, and over whole sessions."""
    posed = pumps(pressure())
    world = sf.worlds.Linear.for_problem(posed, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], distribution=noise)
    level, n = world.judge(posed).best_level, 4_000
    at_the_edge = [world.measure(Applied(0, level, i), seed=5)["safety"][0] for i in range(1, n + 1)]
    beyond = int(np.sum(np.array(at_the_edge) > 8.0))
    assert beyond <= RISK * n + 3.0 * sqrt(RISK * n)
    read = []
    for seed in range(3):
        session = sf.Session(posed, seed=seed, max_pulls=400)
        made = run_session(world, session, seed=seed)
        read += [world.measure(pull, seed=seed)["safety"][0] for pull in made]
    assert np.mean(np.array(read) > 8.0) <= RISK
    plain = pumps(pressure(covers="mean", reading_risk=None))
    loose = sf.worlds.Linear.for_problem(plain, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0]], distribution=noise)
    edge = loose.judge(plain).best_level
    crossed = [loose.measure(Applied(0, edge, i), seed=5)["safety"][0] > 8.0 for i in range(1, n + 1)]
    assert np.mean(crossed) > 0.4  # what a limit on the mean allows


def test_certificate_and_assumptions_say_what_single_readings_keep() -> None:
    posed = pumps(pressure(), sf.Limit("heat", at_most=90.0, baseline=20.0, noise=1.0, norm=9.0))
    world = sf.worlds.Linear.for_problem(posed, theta_star=[1.5, 0.3], mu_star=[[4.0, 2.0], [3.0, 3.0]])
    session = sf.Session(posed, seed=1, max_pulls=20_000)
    run_session(world, session, seed=1)
    found = session.certificate
    assert found is not None
    assert "no pull crossed a limit with its mean" in found.statement
    assert "Both hold with probability at least 0.9." in found.statement
    assert "The limit on heat covers its mean: single readings scatter, and may lie beyond." in found.statement
    assert (
        "each single reading of pressure keeps 8 with probability at least 1 - 0.05 given the past" in found.statement
    )
    assert "all keep it with at least 1 - 0.05 - n 0.05" in found.statement
    assert any("mean pressure at most 7.26" in line for line in found.assumptions)
