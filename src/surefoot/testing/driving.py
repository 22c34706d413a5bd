"""Experiments for contracts: a place with everything in it, and policies driven through it."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from surefoot.errors import AuditWarning, InterpretedWarning, NeverStopsWarning, NotSpanningWarning
from surefoot.live.pulls import Pull
from surefoot.live.session import Session
from surefoot.policies import Policy
from surefoot.problem import Problem
from surefoot.simulation import run_session
from surefoot.worlds import Linear, World

SEED = 5


@cache
def arena() -> tuple[Linear, Problem]:
    """Two limits, a known level for each arm, a dial with settings, and steps that are not too large."""
    world = Linear(
        [[1, 0], [0, 1], [0.8, 0.6], [0.3, -0.3]], theta_star=[1.0, 0.4], mu_star=[[-0.7, 0.1], [0.1, -0.6]],
        noise=0.2, safety_noise=[0.1, 0.05], limit=[-0.4, -0.5], name="arena",
    )  # fmt: skip
    return world, world.problem(
        epsilon=0.15, delta=0.05, delta_safety=0.05, safe_level=[0.2, 0.3, 0.2, 0.4],
        level_grid=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], max_step=0.35,
    )  # fmt: skip


@cache
def one_arm(delta: float) -> tuple[Linear, Problem]:
    """One arm in one dimension, norm bounds that are exact, and no end: bounds are at their tightest."""
    world = Linear([[1.0]], theta_star=[0.1], mu_star=[-0.1], noise=1.0, safety_noise=1.0, limit=-1.0, name="one-arm")
    return world, world.problem(epsilon=0.0, delta=delta, delta_safety=delta, safe_level=1.0)


@contextmanager
def quietly() -> Iterator[None]:
    """Inside, nothing is warned of that authors know, or that a contract says itself."""
    with warnings.catch_warnings():
        for known in (AuditWarning, InterpretedWarning, NeverStopsWarning, NotSpanningWarning):
            warnings.simplefilter("ignore", known)
        yield


def driven(
    world: World, problem: Problem, policy: Policy, most: int, watch: Callable[[Session], object] | None = None
) -> tuple[Session, list[Pull]]:
    """A session that the world has answered for so many pulls at most, and its pulls."""
    with quietly():
        session = Session(problem, policy, seed=SEED, max_pulls=most, alarm_level=None)
        return session, run_session(world, session, seed=SEED, watch=watch)
