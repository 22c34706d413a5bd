"""Runs on numba-cuda's simulated device beside those of the interpreter, and what a device refuses; printed as JSON.

A process of its own (NUMBA_ENABLE_CUDASIM=1), since numba decides once whether it simulates.
"""

import json
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import surefoot as sf
from surefoot.core import device_play
from surefoot.core.columns import MANY
from surefoot.core.kernel import interpreting
from surefoot.errors import InvalidInput
from surefoot.policies.lingape import LinGapE

FIELDS = (
    "run", "pulls", "outcome", "arm", "level", "gap", "unsafe_pulls", "first_unsafe", "pulls_per_arm", "levels",
)  # fmt: skip


def differing(world: Any, problem: sf.Problem, policy: Any, **wishes: Any) -> dict[str, Any]:
    """The fields in which the device's runs differ from the interpreter's, and how many pulls both made."""
    with interpreting():
        plain = sf.simulate(world, problem, policy, workers=1, **wishes)
    device = sf.simulate(world, problem, policy, device="cuda", **wishes)
    fields = [name for name in FIELDS if not np.array_equal(getattr(plain, name), getattr(device, name))]
    return {"differ": fields, "runs": len(device), "pulls": device.pulls.tolist(), "outcomes": device.outcomes}


def refusal(world: Any, problem: sf.Problem, policy: Any) -> str:
    """Why the device does not take it."""
    try:
        sf.simulate(world, problem, policy, runs=1, device="cuda")
    except InvalidInput as error:
        return str(error)
    return ""


def candidates() -> tuple[sf.worlds.Linear, sf.Problem]:
    """No limits, and an arm that may be the answer and cannot be tried."""
    arms = [[1.0, 0.0], [0.0, 1.0], sf.Arm([0.8, 0.6], pullable=False)]
    world = sf.worlds.Linear(arms, theta_star=[1.0, 0.9], noise=0.5)
    return world, world.problem(epsilon=0.05, delta=0.05)


@dataclass(frozen=True)
class InPython(LinGapE):
    """A policy whose decision is no kernel."""

    name: ClassVar[str] = "in-python"

    def plan(self, problem: sf.Problem) -> Any:
        plan = super().plan(problem)

        def decide(*arguments: Any) -> Any:
            return plan.decide(*arguments)

        return plan._replace(decide=decide)


def main() -> None:
    """Everything, in one document."""
    warnings.simplefilter("ignore")
    device_play.FIRST_PAUSE = 6  # several pauses within a few pulls
    easy = sf.worlds.hard(omega=0.8)
    problem = easy.default_problem().with_(epsilon=0.5, delta=0.3)
    uniform = sf.worlds.limited(level=0.4, distribution="uniform")
    pulls: dict[str, Any] = {"seed": 3, "first_run": 5}
    angles = np.linspace(0.0, 3.0, 20_000)
    many = sf.worlds.Linear(
        np.column_stack([np.cos(angles), np.sin(angles)]), theta_star=[1.0, 0.0], mu_star=[-0.5, 0.0], limit=-0.4
    )
    crowd = sf.worlds.sphere(arms=MANY + 5, dim=3)
    crowd_problem = crowd.default_problem()
    print(
        json.dumps(
            {
                "safe-lingape": differing(easy, problem, sf.SafeLinGapE(), runs=5, **pulls),
                "safe-gap": differing(easy, problem, sf.SafeGap(), runs=5, **pulls),
                "cut off": differing(uniform, uniform.default_problem(), sf.SafeGap(), runs=3, max_pulls=15, **pulls),
                "many arms": differing(crowd, crowd_problem, sf.SafeLinGapE(), runs=1, max_pulls=4, **pulls),
                "many aims": differing(crowd, crowd_problem, sf.SafeGap(), runs=1, max_pulls=45, **pulls),
                "candidates": differing(*candidates(), sf.SafeGap(), runs=2, max_pulls=15, **pulls),
                "plain": refusal(easy, problem, InPython()),
                "many": refusal(many, many.default_problem(), sf.SafeLinGapE()),
            }
        )
    )


if __name__ == "__main__":
    main()
