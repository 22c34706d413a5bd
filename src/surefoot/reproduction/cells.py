"""A cell: one setting of world, problem and policy, to be run many times."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

from surefoot.policies import LinGapE, SafeLinGapE, UniformRandom, to_dict
from surefoot.problem import Problem
from surefoot.reproduction import paper
from surefoot.sweeping.cells import key_of
from surefoot.worlds import hard
from surefoot.worlds.gallery import Hard

MAX_PULLS = 200_000
# Frozen levels with optimistic selection may never stop. Ten runs of which one is cut off here have a mean above 5,000
# whatever the other nine do, so that the cut cannot make a protocol look compatible with the printed 4254.2.
MAX_PULLS_FROZEN = 50_000
# Where runs are long there are fewer of them, so that every cell costs about the same.
SHARE_FROZEN = 0.2
ALL_RUNS_UP_TO_DIM = 6
ALL_RUNS_UP_TO_EXPLORED = 500  # per arm

ContestedPolicy: TypeAlias = LinGapE | SafeLinGapE


@dataclass(frozen=True)
class Cell:
    """The paper's instance with a problem and a policy, and how many pulls are allowed."""

    policy: ContestedPolicy
    dim: int = paper.DIM
    limit: float = paper.LIMIT
    reward_norm: float = paper.REWARD_NORM
    max_pulls: int = MAX_PULLS
    share: float = 1.0  # of the wished-for runs

    @property
    def world(self) -> Hard:
        """The world it is played in."""
        return posed(self.dim, self.limit, self.reward_norm)[0]

    @property
    def problem(self) -> Problem:
        """The problem that the policy is given."""
        return posed(self.dim, self.limit, self.reward_norm)[1]

    @property
    def alarm(self) -> bool:
        """The paper has none."""
        return False

    @property
    def explored(self) -> int:
        """The rounds of forced exploration."""
        return self.policy.explore.rounds if isinstance(self.policy.explore, UniformRandom) else 0

    @cached_property
    def key(self) -> str:
        """A name made of the content: equal settings have equal keys, whatever experiment asks for them."""
        return key_of(self.world, self.problem, self.policy, self.max_pulls)

    def runs_of(self, wished: int) -> int:
        """How many runs the cell gets when so many are wished for; never fewer than the paper's."""
        return max(paper.RUNS, round(wished * self.share))

    def described(self) -> dict[str, Any]:
        """The setting in columns, for the tables of runs."""
        options = to_dict(self.policy)
        explore = options.get("explore") or {}
        return {
            "policy": options["name"],
            "levels": options.get("levels"),
            "selection": options.get("selection"),
            "reward_radius": options.get("reward_radius", options.get("radius")),
            "safety_radius": options.get("safety_radius"),
            "dim": self.dim,
            "eta0": self.limit,
            "D": self.reward_norm,
            "explored": self.explored,
            "explored_at": explore.get("level"),
            "max_pulls": self.max_pulls,
        }


@cache
def posed(dim: int, limit: float, reward_norm: float) -> tuple[Hard, Problem]:
    """The paper's instance, and the paper's problem in it."""
    world = hard(dim=dim, limit=limit)
    return world, world.paper_problem(reward_norm=reward_norm)


def safe_cell(
    levels: str, selection: str, *, dim: int = paper.DIM, limit: float = paper.LIMIT, per_arm: int = paper.EXPLORED,
    reward_norm: float = paper.REWARD_NORM, reward_radius: str = "determinant", safety_radius: str = "norm",
) -> Cell:  # fmt: skip
    """Safe-LinGapE after forced exploration, arms drawn uniformly at random."""
    frozen = levels == "static" and selection == "optimistic"
    policy = SafeLinGapE(
        levels=levels, selection=selection, explore=exploration(per_arm, dim),  # type: ignore[arg-type]
        reward_radius=reward_radius, safety_radius=safety_radius,  # type: ignore[arg-type]
    )  # fmt: skip
    return Cell(
        policy, dim, limit, reward_norm,
        max_pulls=MAX_PULLS_FROZEN if frozen else MAX_PULLS,
        share=share_of_runs(dim, per_arm) * (SHARE_FROZEN if frozen else 1.0),
    )  # fmt: skip


def lingape_cell(
    explored_at: float | None, *, dim: int = paper.DIM, reward_norm: float = paper.REWARD_NORM,
    radius: str = "determinant",
) -> Cell:  # fmt: skip
    """LinGapE after forced exploration at this level; with None after one pull of each arm."""
    explore = None if explored_at is None else exploration(paper.EXPLORED, dim, explored_at)
    policy = LinGapE(explore=explore, radius=radius)  # type: ignore[arg-type]
    return Cell(policy, dim, reward_norm=reward_norm, share=share_of_runs(dim))


def exploration_alone(cell: Cell) -> Cell:
    """The same cell cut off when exploration ends: run r of one begins with all of run r of the other."""
    return replace(cell, max_pulls=cell.explored)


def exploration(per_arm: int, dim: int, level: float = paper.EXPLORED_AT) -> UniformRandom:
    """So many rounds per arm on average, arms drawn uniformly at random."""
    return UniformRandom(per_arm * (dim + 1), level=level)


def share_of_runs(dim: int, per_arm: int = 0) -> float:
    """The share of the wished-for runs that a cell gets: less than all where each run is long."""
    return min(1.0, ALL_RUNS_UP_TO_DIM / dim, ALL_RUNS_UP_TO_EXPLORED / max(per_arm, 1))
