"""The report of `surefoot theory`: what it holds with and without the truth, and what it says where a bound fails."""

import json

import numpy as np
import pytest

from surefoot import worlds
from surefoot.errors import InvalidInput
from surefoot.problem import Dial
from surefoot.theory import report

EVERY_WORLD = pytest.mark.parametrize("name", worlds.WORLDS)


@EVERY_WORLD
def test_every_world_has_a_report_with_the_truth(name: str) -> None:
    world = worlds.WORLDS[name]()
    found = report(world.default_problem(), world, tolerance=0.01)
    assert found.truth_known
    for bound in (found.lower_bound, found.lower_bound_with_norms, found.strict_bound, found.strict_bound_with_norms):
        assert bound is not None
        assert 0.0 <= bound.gap <= 0.01
    assert [need.kind for need in found.exploration] == ["uniform-random", "round-robin"]
    assert all(need.closed_form >= need.pulls for need in found.exploration)
    labels = [label for label, _ in found.lines()]
    assert {"problem", "lower bound", "lower bound, norms", "strict bound", "strict bound, norms"} <= set(labels)
    assert {"quickest answer", "oracle allocation", "level confidence"} <= set(labels)
    json.dumps(found.to_dict())


@pytest.mark.parametrize("name", ["hard", "limited", "base-station"])
def test_without_the_truth_the_report_is_a_worst_case(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    blind, seeing = report(problem), report(problem, world, tolerance=0.01)
    assert blind.lower_bound is None
    assert not blind.truth_known
    assert blind.exploration[0].pulls >= seeing.exploration[0].pulls
    assert blind.pulls_at[0].complexity >= seeing.pulls_at[0].complexity
    json.dumps(blind.to_dict())


def test_the_papers_problem_reads_as_expected() -> None:
    world = worlds.hard()
    found = report(world.paper_problem(), world)
    lines = dict(found.lines())
    assert lines["lower bound"].startswith("1,446 pulls for methods that lean on no norm")
    assert "T* = 210.3" in lines["lower bound"]
    assert "exact within" in lines["lower bound"]
    assert lines["lower bound, norms"].startswith("1,443 pulls for methods that use the stated norms")
    assert lines["strict bound"].startswith("18 pulls at these deltas")
    assert lines["quickest answer"] == "a1 at level 1"
    assert lines["oracle allocation"].startswith("a2 97.3% at level 0.5")
    assert found.uniform_level_confidence == 0.001
    assert any("union over rounds" in note for note in found.notes)
    assert any("up to the first unsafe one" in note and "both deltas go to 0" in note for note in found.notes)


def test_levels_are_said_in_the_units_of_the_dial() -> None:
    world = worlds.hard()
    plain, dosed = (
        report(world.default_problem().with_(dial=dial), world, tolerance=0.01) for dial in (None, Dial("mg", 40))
    )
    before, after = dict(plain.lines()), dict(dosed.lines())
    assert before["quickest answer"] == "a1 at level 1"
    assert after["quickest answer"] == "a1 at 40 mg (level 1)"
    assert "a2 97.6% at level 0.5, " in before["oracle allocation"]
    assert "a2 97.6% at 20 mg (level 0.5), " in after["oracle allocation"]
    assert json.loads(json.dumps(dosed.to_dict()))["lower_bound"]["at"] == "40 mg (level 1)"


def test_level_confidence_by_both_ways_is_reported_where_both_exist() -> None:
    world = worlds.hard()
    found = report(world.paper_problem(delta_safety=0.01), world)
    by_union = found.pulls_at[0].level_confidence
    assert by_union is not None
    assert 0.0 < by_union < found.uniform_level_confidence


def test_a_bound_whose_condition_fails_leaves_a_note_with_the_remedy() -> None:
    world = worlds.hard()
    found = report(world.paper_problem(regularization=50.0), world)
    assert found.pulls_at[0].pulls is None
    assert any(note.startswith("regularization = 50.0") for note in found.notes)
    exact = report(world.paper_problem(epsilon=0.0))
    assert exact.pulls_at == ()
    assert exact.exploration == ()
    assert any("epsilon" in note for note in exact.notes)


def test_levels_that_are_not_in_proportion_are_reported_apart() -> None:
    world = worlds.hard()
    uneven = world.paper_problem(safe_level=[0.2, 0.2, 0.4, 0.3])
    assert [part.levels for part in report(uneven).pulls_at] == ["at the known safe levels", "at the highest levels"]


def test_on_a_level_grid_exploration_is_reported_only_with_the_truth() -> None:
    world = worlds.limited()
    problem = world.default_problem().with_(level_grid=[0.1, 0.25, 0.5, 0.55, 1.0])
    assert report(problem).exploration == ()
    assert report(problem, world).exploration[0].pulls > 0


def test_too_many_pairs_of_arms_are_left_out_with_a_note() -> None:
    world = worlds.sphere(arms=90, dim=3, lead=0.01)
    found = report(world.default_problem())
    assert found.pulls_at == ()
    assert any("4,005 pairs" in note for note in found.notes)


def test_a_known_level_that_is_good_enough_needs_no_exploration() -> None:
    world = worlds.hard()
    problem = world.paper_problem(epsilon=1.9, safe_level=[0.6, 0.4, 0.6, 0.6])
    found = report(problem, world)
    assert [need.pulls for need in found.exploration] == [0, 0]


def test_a_norm_that_is_untrue_leaves_only_the_bounds_without_norms() -> None:
    world = worlds.hard()
    found = report(world.paper_problem(reward_norm=1.0), world)
    assert found.lower_bound is not None
    assert found.strict_bound is not None
    assert found.lower_bound_with_norms is None
    assert found.to_dict()["lower_bound_with_norms"] is None
    assert "lower bound, norms" not in dict(found.lines())
    assert any(note.startswith("reward.norm = 1.0") for note in found.notes)


def test_in_raw_units_the_bounds_are_those_of_the_same_problem_in_other_units() -> None:
    scale = np.array([3e4, 2e-3])
    arms = np.array([[1.0, 0.2], [0.3, 1.0], [0.8, 0.9]])
    plain = worlds.Linear(arms, theta_star=[1.0, 0.4], mu_star=[-0.6, 0.1])
    raw = worlds.Linear(arms * scale, theta_star=[1.0, 0.4] / scale, mu_star=[-0.6, 0.1] / scale)
    asked = {"epsilon": 0.1, "delta": 0.05, "delta_safety": 0.05, "safe_level": 0.3}
    here, there = report(plain.problem(**asked), plain), report(raw.problem(**asked), raw)
    for name in ("lower_bound", "strict_bound"):
        bound, same = getattr(here, name), getattr(there, name)
        assert same.pulls == pytest.approx(bound.pulls, rel=2e-3)
        assert same.gap <= 1e-3


def test_a_problem_of_another_world_is_refused() -> None:
    with pytest.raises(InvalidInput, match="arms"):
        report(worlds.hard().paper_problem(), worlds.limited())


def test_a_world_that_is_not_linear_is_refused() -> None:
    problem = worlds.hard().default_problem()
    with pytest.raises(InvalidInput) as caught:
        report(problem, object())  # type: ignore[arg-type]
    assert caught.value.field == "world"
