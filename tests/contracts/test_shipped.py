"""Our policies and our confidence sets, held to the contracts that we ship."""

from collections.abc import Iterator

import pytest

import surefoot as sf
from surefoot.building import ConfidenceSet, Grams, sets_for
from surefoot.core.kernel import interpreting
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


class OfTheField(PolicyContract):
    """A method that looks for the best arm itself, in the interpreter: a compiled form takes half a minute each."""

    world = sf.worlds.Linear(
        [[1, 0], [0, 1], [0.8, 0.6]], theta_star=[1.0, 0.1], mu_star=[-0.01, 0.01], noise=0.2, safety_noise=0.1,
        limit=-1.0, name="harmless",
    )  # fmt: skip
    problem = world.problem(epsilon=0.0, delta=0.05, delta_safety=0.05, safe_level=1.0)
    pulls, runs, most = 12, 2, 40
    test_the_interpreter_decides_as_compiled_code_does = None
    test_a_decision_without_its_mark_decides_the_same = None

    @pytest.fixture(autouse=True)
    def plain(self) -> Iterator[None]:
        with interpreting():
            yield


class TestXYStatic(OfTheField):
    policy = sf.policies.XYStatic()


class TestXYAdaptive(OfTheField):
    policy = sf.policies.XYAdaptive()


class TestRAGE(OfTheField):
    policy = sf.policies.RAGE()


class TestALBA(OfTheField):
    policy = sf.policies.ALBA()


class TestPeace(OfTheField):
    policy = sf.policies.Peace()


class TestLinGame(OfTheField):
    policy = sf.policies.LinGame()


class TestLinGameC(OfTheField):
    policy = sf.policies.LinGameC()


class TestLazyTrackAndStop(OfTheField):
    policy = sf.policies.LazyTrackAndStop()


class TestFrankWolfe(OfTheField):
    policy = sf.policies.FrankWolfe()


class Safely(OfTheField):
    """A method that keeps limits, or whose answer does, where they matter; in the interpreter too."""

    world = sf.worlds.doses(efficacy=[1.0, 0.5, 0.2], toxicity=[0.8, 0.1, 0.4], noise=0.2, safety_noise=0.1)
    problem = world.problem(epsilon=0.2, delta=0.05, delta_safety=0.05, safe_level=0.3)


class TestSafeElimination(Safely):
    policy = sf.policies.SafeElimination()


class TestSafeGame(Safely):
    policy = sf.policies.SafeGame()


class TestBeside(Safely):
    policy = sf.policies.Beside()


class TestSafeLinear(Safely):
    policy = sf.policies.SafeLinear()


class TestSafeMonotonic(Safely):
    policy = sf.policies.SafeMonotonic()


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
