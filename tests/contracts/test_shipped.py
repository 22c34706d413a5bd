"""Our policies and our confidence sets, held to the contracts that we ship."""

import pytest

import surefoot as sf
from surefoot.building import ConfidenceSet, Grams, sets_for
from surefoot.testing import PolicyContract, SetContract


class TestSafeGap(PolicyContract):
    policy = sf.SafeGap()


class TestSafeLinGapE(PolicyContract):
    policy = sf.SafeLinGapE()


class TestSafeLinGapEThatRemembersAndRounds(PolicyContract):
    policy = sf.SafeLinGapE(
        selection="optimistic", levels="dynamic-max", pull="rounding", null_pull=True, explore=sf.UniformRandom(9),
        reward_radius="bias-free", safety_radius="own-pulls",
    )  # fmt: skip
    test_a_decision_without_its_mark_decides_the_same = None  # as above, whose decision it is, and minutes to compile


class TestSafeLinGapEWithFrozenLevels(PolicyContract):
    policy = sf.SafeLinGapE(levels="static", explore=sf.UntilConfident(rounds=30))
    test_a_decision_without_its_mark_decides_the_same = None


class TestLinGapE(PolicyContract):
    policy = sf.LinGapE()


class TestUniform(PolicyContract):
    policy = sf.Uniform(selection="optimistic")


class InWords(SetContract):
    """The sets that two words name."""

    reward = safety = "determinant"

    def build(self, problem: sf.Problem) -> tuple[Grams, ConfidenceSet]:
        return sets_for(problem, self.reward, self.safety)


class TestPapersEllipsoids(InWords):
    safety = "norm"


class TestSquaredSum(InWords):
    reward = safety = "squared-sum"


class TestBiasFree(InWords):
    reward = safety = "bias-free"


class TestOwnPulls(InWords):
    safety = "own-pulls"


@pytest.mark.xdist_group("directional sets")  # one worker, so that they are compiled once
class TestDirectional(SetContract):
    every_arm = False  # the promise needs the best arm's upper bounds and its lead alone

    def build(self, problem: sf.Problem) -> tuple[Grams, ConfidenceSet]:
        plan = sf.SafeGap().plan(problem)
        return plan.grams, plan.sets
