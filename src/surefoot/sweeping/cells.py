"""A cell: one setting of world, problem, policy and budget, to be run many times."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from surefoot.policies import Policy, to_dict
from surefoot.problem import Problem
from surefoot.results import Runs
from surefoot.simulation import simulate
from surefoot.worlds import World

MAX_PULLS = 200_000
NOT_COLUMNS = ("problem", "policy", "seed", "requested", "traces")
COLUMNS = tuple(each.name for each in fields(Runs) if each.name not in NOT_COLUMNS)
PER_ARM = ("pulls_per_arm", "levels")  # one number for each arm in every run

Columns = dict[str, Any]  # name -> array with an entry for each run


class Playable(Protocol):
    """What can be run many times."""

    @property
    def world(self) -> World:
        """The world it is played in."""

    @property
    def problem(self) -> Problem:
        """The problem that the policy is given."""

    @property
    def policy(self) -> Policy:
        """The policy."""

    @property
    def max_pulls(self) -> int:
        """How many pulls a run may take."""

    @property
    def alarm(self) -> bool | float:
        """Whether each run is watched as a session is, or at which level."""

    @property
    def key(self) -> str:
        """A name made of the content: equal settings have equal keys, whoever asks for them."""


@dataclass(frozen=True, eq=False)
class Cell:
    """A world, a problem that is posed in it, a policy, and how many pulls are allowed.

    `settings` says in words and numbers what tells it from other cells: the columns of the sweep's tables.
    """

    world: World
    problem: Problem
    policy: Policy
    max_pulls: int = MAX_PULLS
    alarm: bool | float = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """A name made of the content: equal settings have equal keys, whatever they are called."""
        return key_of(self.world, self.problem, self.policy, self.max_pulls, self.alarm)


def played(cell: Playable, first_run: int, count: int, seed: int, workers: int | None = 1) -> Runs:
    """The runs of this cell from number `first_run` on."""
    return simulate(
        cell.world, cell.problem, cell.policy, runs=count, seed=seed, workers=workers, max_pulls=cell.max_pulls,
        first_run=first_run, alarm=cell.alarm,
    )  # fmt: skip


def columns_of(cell: Playable, first_run: int, count: int, seed: int) -> Columns:
    """The columns of the runs from number `first_run` on, all of them or none; in this thread alone.

    Run r is addressed by cell, seed and number, so that it does not matter who plays it, where and when.
    """
    from joblib import parallel_config

    with parallel_config(backend="sequential"):  # a worker of Dask would pass the work on to the other workers
        runs = played(cell, first_run, count, seed)
    if runs.interrupted:
        raise KeyboardInterrupt
    return {name: getattr(runs, name) for name in COLUMNS}


def key_of(world: World, problem: Problem, policy: Policy, max_pulls: int, alarm: bool | float = False) -> str:
    """A digest of all that the runs depend on but their seed and surefoot's own source."""
    digest = hashlib.sha256()
    for part in (
        home_of(world), world.name, world.response().truth, verdicts_of(world, problem), problem.fingerprint,
        home_of(policy), getattr(policy, "version", None), options_of(policy), max_pulls, alarm,
    ):  # fmt: skip
        add_to(digest, part)
    return digest.hexdigest()[:20]


def home_of(thing: object) -> tuple[str, str, str]:
    """Where the class of a world or a policy is from; if it is not ours, with a digest of the file that defines it."""
    kind = type(thing)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    ours = kind.__module__.split(".")[0] == "surefoot"  # the store knows its source already
    content = b"" if ours or file is None or not Path(file).is_file() else Path(file).read_bytes()
    return kind.__module__, kind.__qualname__, hashlib.sha256(content).hexdigest()


def verdicts_of(world: World, problem: Problem) -> dict[str, Any]:
    """The numbers by which a world judges answers; functions show themselves otherwise in every process."""
    judge = world.judge(problem)
    found = {each.name: getattr(judge, each.name) for each in fields(judge)}
    return {name: value for name, value in found.items() if not callable(value)}


def options_of(policy: Policy) -> Mapping[str, Any]:
    """The options of the policy; of one that is no dataclass all that it holds."""
    return to_dict(policy) if is_dataclass(policy) else getattr(policy, "__dict__", {})


def add_to(digest: Any, value: Any) -> None:
    """Adds the value, and how it is built, to the digest. What is unknown counts by how it shows itself."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes())
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            digest.update(f"{key}:".encode())
            add_to(digest, value[key])
        digest.update(b"}")
    elif isinstance(value, list | tuple):
        for item in value:
            add_to(digest, item)
        digest.update(b"]")
    elif is_dataclass(value) and not isinstance(value, type):
        add_to(digest, asdict(value))
    else:
        shown = value.item() if isinstance(value, np.generic) else value
        digest.update(f"{type(shown).__name__} {shown!r};".encode())
