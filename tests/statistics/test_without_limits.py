"""Problems without limits, and candidates that cannot be tried, at delta = 0.05: answers are as good as promised.

A rate passes when its exact (Clopper-Pearson) lower bound does not exceed what is promised.               (P1, P2)
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import surefoot as sf

DELTA, MOST = 0.05, 400_000


def soare(phi: float = 0.3) -> tuple[sf.worlds.Linear, sf.Problem]:
    """Soare's instance without limits."""
    arms = np.vstack([np.eye(4), [np.cos(phi), np.sin(phi), 0, 0]])
    world = sf.worlds.Linear(arms, theta_star=[2.0, 0.0, 0.0, 0.0], noise=0.7)
    return world, world.problem(epsilon=0.0, delta=DELTA)


def transductive() -> tuple[sf.worlds.Linear, sf.Problem]:
    """The unit vectors can be tried; the best of eight mixtures of them is wanted."""
    mixed = np.random.default_rng(3).normal(size=(8, 3)) / 2.0
    arms = [*np.eye(3).tolist(), *(sf.Arm(row, pullable=False) for row in mixed.tolist())]
    world = sf.worlds.Linear(arms, theta_star=[0.6, 0.3, -0.2], noise=0.5, distribution="uniform")
    return world, world.problem(epsilon=0.02, delta=DELTA)


def candidates_with_a_limit() -> tuple[sf.worlds.Linear, sf.Problem]:
    """The same with a limit that holds the best candidate below full level."""
    mixed = np.random.default_rng(3).normal(size=(8, 3)) / 2.0
    arms = [*np.eye(3).tolist(), *(sf.Arm(row, pullable=False) for row in mixed.tolist())]
    world = sf.worlds.Linear(
        arms, theta_star=[0.6, 0.3, -0.2], mu_star=[-0.5, -0.6, -0.1], noise=0.3, safety_noise=0.1, limit=-0.4
    )
    return world, world.problem(epsilon=0.15, delta=DELTA, delta_safety=DELTA, safe_level=0.3)


POSED = {"soare": soare, "transductive": transductive, "with a limit": candidates_with_a_limit}


def hold(policy: Any, posed: Any, runs: int) -> sf.Runs:
    world, problem = posed()
    found = sf.simulate(world, problem, policy, runs=runs, seed=11, max_pulls=MOST)
    assert found.stopped.mean() > 0.9
    assert not found.pulls_per_arm[:, ~problem.pullable].any()
    for broken in (found.broken_promise, found.unsafe_pulls > 0):
        assert binomtest(int(broken.sum()), runs).proportion_ci(0.998, method="exact").low <= DELTA
    if not problem.safety:
        assert not found.unsafe_pulls.any()
    return found


@pytest.mark.parametrize("posed", POSED)
def test_safe_gap_keeps_its_promise(posed: str) -> None:
    found = hold(sf.SafeGap(), POSED[posed], 200)
    assert set(found.arm.tolist()) & set(np.flatnonzero(~found.problem.pullable).tolist()) or posed == "soare"


CERTIFIED = {
    "safe-gap": sf.SafeGap(),
    "safe-lingape": sf.SafeLinGapE(),
    "safe-lingape, optimistic": sf.SafeLinGapE(selection="optimistic", null_pull=True),
    "lingape": sf.LinGapE(),
    "uniform": sf.Uniform(),
    "xy-static, ours": sf.policies.XYStatic(stop="ours"),
}
OF_THE_FIELD = {
    "rage": sf.policies.RAGE(),
    "rage, ours": sf.policies.RAGE(stop="ours"),
    "xy-adaptive": sf.policies.XYAdaptive(stop="plain"),
    "peace": sf.policies.Peace(),
    "lingame": sf.policies.LinGame(stop="theorem"),
    "frank-wolfe": sf.policies.FrankWolfe(stop="theorem"),
    "lazy-track-and-stop": sf.policies.LazyTrackAndStop(),
}


@pytest.mark.certify
@pytest.mark.parametrize("posed", ["soare", "transductive"])
@pytest.mark.parametrize("policy", CERTIFIED)
def test_policies_keep_their_promises(policy: str, posed: str) -> None:
    found = hold(CERTIFIED[policy], POSED[posed], 1000)
    print(f"{policy:26} {posed:13} {found.pulls.mean():10,.1f} pulls, {int(found.wrong.sum())} of 1000 wrong")


@pytest.mark.certify
@pytest.mark.parametrize("policy", OF_THE_FIELD)
def test_methods_of_the_field_find_the_best_of_candidates(policy: str) -> None:
    """With Gaussian noise, for which all of them are proved, and without a tolerance, which most do not know."""
    world, problem = transductive()
    world = sf.worlds.Linear(
        [sf.Arm(row, pullable=bool(can)) for row, can in zip(world.arms.tolist(), problem.pullable, strict=True)],
        theta_star=world.theta_star, noise=0.5,
    )  # fmt: skip
    found = hold(OF_THE_FIELD[policy], lambda: (world, world.problem(epsilon=0.0, delta=DELTA)), 300)
    assert found.wrong.mean() < 0.05
    print(f"{policy:26} {'transductive':13} {found.pulls.mean():10,.1f} pulls, {int(found.wrong.sum())} of 300 wrong")


@pytest.mark.certify
def test_soares_instance_needs_as_many_pulls_as_with_a_limit_that_nothing_comes_near() -> None:
    """Other noise is drawn where there are more signals, so only the distribution of pulls is the same."""
    world, problem = soare()
    bare = sf.simulate(world, problem, sf.SafeGap(), runs=1000, seed=5)
    other = sf.worlds.Linear(
        world.arms, theta_star=world.theta_star, mu_star=np.zeros(4), noise=0.7, safety_noise=1e-3, limit=-1e6
    )
    limited = other.problem(epsilon=0.0, delta=DELTA / 0.9, delta_safety=DELTA, safe_level=1.0, safety_norm=1.0)
    vacuous = sf.simulate(other, limited, sf.SafeGap(), runs=1000, seed=5)
    apart = abs(bare.pulls.mean() - vacuous.pulls.mean())
    error = np.sqrt(bare.pulls.var() / 1000 + vacuous.pulls.var() / 1000)
    print(f"{bare.pulls.mean():,.1f} pulls without limits, {vacuous.pulls.mean():,.1f} with a vacuous one")
    assert apart < 4.0 * error
