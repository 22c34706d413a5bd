"""The judge: what one who knows the truth says of pulls and answers."""

import numpy as np
import pytest

from small_worlds import linear, pulled
from surefoot import worlds
from surefoot.errors import InvalidInput

EVERY_WORLD = pytest.mark.parametrize("name", worlds.WORLDS)


@EVERY_WORLD
def test_the_judge_says_of_many_what_it_says_of_each(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    judge, rng = world.judge(problem), np.random.default_rng(4)
    arms, levels = rng.integers(-1, world.size, 60), rng.uniform(0.0, 1.0, 60)
    for of_many, of_one in (
        (judge.value, lambda k, g: world.value(k, g) if k >= 0 else 0.0),
        (judge.is_safe, lambda k, g: k < 0 or world.is_safe(k, g)),
        (judge.shortfall, lambda k, g: world.best_value(problem) - (world.value(k, g) if k >= 0 else 0.0)),
        (judge.is_wrong, lambda k, g: bool(judge.is_too_far(k, g)) or not judge.is_safe(k, g)),
    ):
        expected = [of_one(int(k), float(g)) for k, g in zip(arms, levels, strict=True)]
        assert of_many(arms, levels).tolist() == expected
        assert [of_many(int(k), float(g)) for k, g in zip(arms, levels, strict=True)] == expected


@EVERY_WORLD
def test_the_best_answer_is_right_and_doing_nothing_is_safe(name: str) -> None:
    world = worlds.WORLDS[name]()
    problem = world.default_problem()
    judge = world.judge(problem)
    assert (judge.best_arm, judge.best_value) == (world.best_arm(problem), world.best_value(problem))
    assert judge.best_level == world.best_levels(problem)[judge.best_arm]
    assert not judge.is_wrong(judge.best_arm, judge.best_level)
    assert judge.shortfall(judge.best_arm, judge.best_level) == pytest.approx(0.0)
    assert (judge.value(-1, 0.0), judge.is_safe(-1, 0.0), judge.is_wrong(-1, 0.0)) == (0.0, True, True)
    assert judge.best_without_limits == world.values.max()


def test_the_judge_knows_the_dial() -> None:
    setting = {"epsilon": 0.1, "delta": 0.1, "delta_safety": 0.1, "safe_level": 0.25}
    judge = linear().judge(linear().problem(**setting, level_grid=[0.2, 0.4, 0.9], max_level=0.95))
    assert (judge.best_arm, judge.best_level, judge.best_value) == (2, 0.9, pytest.approx(0.9))
    assert judge.best_without_limits == pytest.approx(0.9)


def test_proposition_1_leaves_open_what_is_not_certified_of_the_best_arm() -> None:
    judge = linear().judge(linear().problem(epsilon=0.1, delta=0.1, delta_safety=0.1, safe_level=0.25))
    certified = np.array([[0.25, 0.25, 0.25], [0.5, 1.0, 1.0]])
    assert judge.unlearned(certified).tolist() == pytest.approx([0.75, 0.0])
    harmful = linear(theta_star=[-1.0, -1.0])
    assert harmful.judge(harmful.default_problem()).unlearned(certified) == 0.0


def test_a_verdict_counts_unsafe_pulls_and_holds_the_answer_against_the_best() -> None:
    world = linear()
    judge = world.judge(world.problem(epsilon=0.1, delta=0.1, delta_safety=0.1, safe_level=0.25))
    pulls = [pulled(0, 0.5, 1), pulled(1, 1.0, 2), pulled(0, 0.6, 3), pulled(0, 0.9, 4)]
    assert judge.verdict(pulls, pulled(2, 0.9, 0)) == worlds.Verdict(2, 3, True, pytest.approx(0.1))
    assert judge.verdict(pulls[:2], pulled(0, 0.6, 0)) == worlds.Verdict(0, None, False, None)
    assert judge.verdict([], None) == worlds.Verdict(0, None, None, None)
    assert judge.verdict([], pulled(-1, 0.0, 0)) == worlds.Verdict(0, None, True, pytest.approx(1.0))


def test_an_arm_that_is_not_there_cannot_be_judged() -> None:
    judge = linear().judge(linear().default_problem())
    for arm in (3, 0.5, np.array([0, 7])):
        with pytest.raises(InvalidInput, match="arm"):
            judge.is_safe(arm, 0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="arms"):
        linear().judge(worlds.hard().default_problem())
