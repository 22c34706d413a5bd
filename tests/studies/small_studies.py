"""A study of the small arena, and what its pulls return."""

from typing import Any

import surefoot as sf
from scenes import arena
from surefoot.studies.entries import StudyLedger
from surefoot.worlds import Measurement


def measured(pull: sf.Pull, seed: int = 3) -> Measurement:
    """What the arena answers, as `tell` takes it: the same whoever asks."""
    world, problem = arena()
    return world.measure(pull, seed=seed, problem=problem)


def begun(storage: str, name: str = "power", policy: Any = None, **settings: Any) -> sf.Study:
    """A new study of the arena."""
    return sf.create_study(arena()[1], policy, name=name, storage=storage, seed=4, **settings)


def driven(study: sf.Study, pulls: int) -> sf.Study:
    """The study after so many more pulls, one by one."""
    study.run(measured, max_pulls=pulls)
    return study


def itself(ledger: StudyLedger) -> StudyLedger:
    """The ledger that a study has in memory."""
    return ledger
