"""Versions: what decided in a study must go on deciding in it.

Confidence sets must not change in the middle of an experiment, for that would spend its delta twice; so a study stores
the version of its policy, of each of its sets and of the alarm, and goes on only with these. No old rules are kept
alive: a study of other versions can be read, exported and carried into a new one.
"""

import warnings
from collections.abc import Mapping

from surefoot.errors import NeverStopsWarning
from surefoot.live import model_checks
from surefoot.policies import Policy
from surefoot.problem import Problem

FIRST = 1  # of whatever was begun before versions were stored
ALARM = "alarm"


def versions_of(policy: Policy, problem: Problem) -> dict[str, int]:
    """The version of everything that decides, by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeverStopsWarning)  # whoever asks for it is told when it begins
        sets = policy.plan(problem).sets.versions
    return {f"policy {policy.name}": policy.version, **{f"set {name}": v for name, v in sets.items()},
            ALARM: model_checks.VERSION}  # fmt: skip


def differences(stored: Mapping[str, int], present: Mapping[str, int]) -> list[str]:
    """Which versions are not those that a study was begun with, in words."""
    began = {name: stored.get(name, FIRST) for name in [*present, *stored]} if stored else dict.fromkeys(present, FIRST)
    return [
        f"{name} is of version {version}, and {present.get(name, 'none')} is here"
        for name, version in began.items()
        if present.get(name) != version
    ]
