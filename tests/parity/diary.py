"""What a few sessions and simulations do, pull by pull: compiled, interpreted, or one against the other."""

from dataclasses import replace
from typing import Any

import surefoot as sf
from surefoot.simulation import run_session
from surefoot.worlds import Linear


def two_limits(**changes: Any) -> Linear:
    """A small world with two safety signals."""
    truth = {
        "theta_star": [1.0, 0.5, -0.2], "mu_star": [[-0.9, -0.2, 0.1], [0.2, -0.8, -0.3]],
        "noise": 0.3, "safety_noise": [0.1, 0.2], "limit": [-0.5, -0.4], **changes,
    }  # fmt: skip
    return Linear([[1, 0, 0], [0, 1, 0], [0.5, 0.5, 0.1], [0, 0.3, 1], [1, -1, 0]], **truth)


def scenes() -> list[tuple[str, Linear, sf.Problem, Any]]:
    """Short sessions that between them pass through every rule of the core."""
    setting = {"epsilon": 0.3, "delta": 0.05, "delta_safety": 0.05, "safe_level": 0.15}
    free = two_limits().problem(**setting)
    dials = two_limits().problem(
        **setting, level_grid=[0.1, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0], max_step=0.2, max_level=0.8
    )
    capped = replace(free.safety[0], noise="unknown", noise_at_most=0.3)
    unknown = free.with_(reward=sf.Reward(noise="unknown", guess=0.5), safety=[capped, free.safety[1]])
    explore = sf.UniformRandom(15)
    return [
        ("lingape", two_limits(), free, sf.LinGapE()),
        ("lingape rounding", two_limits(distribution="uniform"), free, sf.LinGapE(pull="rounding", radius="norm")),
        ("conservative", two_limits(), free, sf.SafeLinGapE(explore=explore)),
        ("static", two_limits(), dials, sf.SafeLinGapE(levels="static", explore=sf.EOptimal(20))),
        ("finite", two_limits(), dials, sf.SafeLinGapE(levels="static", explore=explore, pull="rounding-finite")),
        ("optimistic", two_limits(distribution="rademacher"), dials,
         sf.SafeLinGapE(levels="dynamic-max", selection="optimistic", null_pull=True, safety_radius="determinant")),
        ("rounding", two_limits(), free,
         sf.SafeLinGapE(selection="optimistic", pull="rounding", explore=sf.UntilConfident(rounds=30))),
        ("uniform", two_limits(), free, sf.Uniform(selection="optimistic", null_pull=True)),
        ("bias-free", two_limits(), free,
         sf.SafeLinGapE(selection="optimistic", reward_radius="bias-free", safety_radius="bias-free")),
        ("own pulls", two_limits(), free, sf.SafeLinGapE(reward_radius="squared-sum", safety_radius="own-pulls")),
        ("safe-gap", two_limits(), free, sf.SafeGap()),
        ("safe-gap, noise unknown", two_limits(), unknown, sf.SafeGap()),
        ("safe-gap on dials", two_limits(distribution="uniform"), dials, sf.SafeGap()),
    ]  # fmt: skip


def live(world: Linear, problem: sf.Problem, policy: Any, rounds: int, seed: int) -> dict[str, Any]:
    """One session against the world's noise of run 0."""
    session = sf.Session(problem, policy, seed=seed, max_pulls=rounds, alarm_level=None)
    pulls = run_session(world, session, seed=seed)
    found = session.certificate
    return {
        "state": session.ledger.learner.state.whole.tobytes(),
        "pulls": [
            [pull.arm, pull.level, pull.phase, pull.margin, pull.leader, pull.challenger, pull.gap] for pull in pulls
        ],
        "outcome": session.outcome,
        "gap": session.gap,
        "arm": found.arm if found else -1,
        "level": found.level if found else 0.0,
        "levels": session.levels.tolist(),
        "pulls_per_arm": session.pulls_per_arm.tolist(),
    }


def simulated(world: Linear, problem: sf.Problem, policy: Any, rounds: int, seed: int, runs: int) -> dict[str, Any]:
    """The records of a simulation."""
    found = sf.simulate(world, problem, policy, runs=runs, seed=seed, max_pulls=rounds, workers=1)
    names = ("pulls", "arm", "level", "gap", "unsafe_pulls", "first_unsafe", "outcome", "pulls_per_arm", "levels")
    return {name: getattr(found, name).tolist() for name in names}
