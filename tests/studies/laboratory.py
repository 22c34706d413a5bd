"""A study of the small arena, and what its pulls return."""

from typing import Any

from scenes import arena

import surefoot as sf


def measured(pull: sf.Pull, seed: int = 3) -> dict[str, Any]:
    """What the arena answers, as `tell` takes it: the same whoever asks."""
    world, problem = arena()
    reward, safety = world.observe(pull.arm, pull.level, pull.number, seed=seed)
    readings = {limit.name: float(limit.reading(s)) for limit, s in zip(problem.safety, safety, strict=True)}
    return {"reward": float(reward), "safety": readings}


def begun(storage: str, name: str = "power", policy: Any = None, **settings: Any) -> sf.Study:
    """A new study of the arena."""
    return sf.create_study(arena()[1], policy, name=name, storage=storage, seed=4, **settings)


def driven(study: sf.Study, pulls: int) -> sf.Study:
    """The study after so many more pulls, one by one."""
    study.run(measured, max_pulls=pulls)
    return study
