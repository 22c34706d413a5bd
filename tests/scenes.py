"""Small experiments with everything in them, driven with any number of open pulls at once."""

from functools import cache
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.core.loop import ASKED, BEGUN, LEARNED
from surefoot.core.records import Script
from surefoot.live.readings import measured
from surefoot.live.scripts import as_script

POLICIES = {
    "default": None,
    "exploring": sf.SafeLinGapE(explore=sf.UniformRandom(40)),
    "until confident": sf.SafeLinGapE(explore=sf.UntilConfident(rounds=60)),
    "static": sf.SafeLinGapE(levels="static", explore=sf.RoundRobin(30)),
    "remembering": sf.SafeLinGapE(levels="dynamic-max", selection="optimistic", safety_radius="determinant"),
    "rounding": sf.SafeLinGapE(selection="optimistic", pull="rounding"),
    "rounding finite": sf.SafeLinGapE(pull="rounding-finite"),
    "in turn": sf.Uniform(selection="optimistic"),
    "optimistic": sf.SafeLinGapE(selection="optimistic", null_pull=True),
    "without limits": sf.LinGapE(),
}


@cache
def arena() -> tuple[sf.worlds.Linear, sf.Problem]:
    """Two limits, a dial with steps, a known level of each arm."""
    world = sf.worlds.Linear(
        [[1, 0], [0, 1], [0.8, 0.6], [0.3, -0.3]], theta_star=[1.0, 0.4], mu_star=[[-0.7, 0.1], [0.1, -0.6]],
        noise=0.2, safety_noise=[0.1, 0.05], limit=[-0.4, -0.5],
    )  # fmt: skip
    return world, world.problem(
        epsilon=0.05, delta=0.05, delta_safety=0.01, safe_level=[0.2, 0.3, 0.2, 0.4], max_step=0.15,
        level_grid=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
    )  # fmt: skip


def signals_of(problem: sf.Problem, reward: float, safety: Any) -> list[float]:
    """A result as the core sees it: the reward, then the readings as distances, larger is safer."""
    told, readings = measured(problem, reward, safety)
    return [told, *(float(limit.internal(each)) for limit, each in zip(problem.safety, readings, strict=True))]


def drive(session: sf.Session, most: int, open_at_once: int, rng: np.random.Generator) -> Script:
    """The session after so many pulls, told in any order, with up to so many open; and what happened, as a script."""
    world, _ = arena()
    steps, rows, taken = [(BEGUN, 0)], [], 0
    waiting: list[sf.Pull] = []
    while not session.stopped and session.pulls < most:
        if len(waiting) < open_at_once:
            for pull in session.ask(int(rng.integers(1, open_at_once - len(waiting) + 1))):
                waiting.append(pull)
                steps.append((ASKED, pull.number - 1))
                rows.append([pull.arm, pull.level, pull.level, 0.0, *(0.0 for _ in session.problem.safety)])
        pull = waiting.pop(int(rng.integers(len(waiting))))
        result = world.measure(pull, seed=3)
        rows[pull.number - 1][3:] = signals_of(session.problem, **result)
        session.tell(pull, **result)
        steps += [(LEARNED, number) for number in range(taken, session.pulls)]
        taken = session.pulls
    table: Any = np.array(rows)
    return as_script(*np.array(steps).T, table[:, 0].astype(int), table[:, 1], table[:, 2], table[:, 3:])
