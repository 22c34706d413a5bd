"""What an experiment hands out: the next pull with its reasons, an answer, and where it stands."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite, isnan
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, cast

import numpy as np

from surefoot.core.types import DECIDING, NULL, Decision
from surefoot.errors import InvalidInput
from surefoot.live.by_arm import ByArm
from surefoot.live.certificate import NOTHING
from surefoot.live.dialled import set_on, set_to, without_unit
from surefoot.problem import Problem
from surefoot.problem.checks import check_count
from surefoot.problem.dial import Dial
from surefoot.problem.units import level_in_words, set_in_words

Phase: TypeAlias = Literal["explore", "decide"]
Outcome: TypeAlias = Literal["certified", "measured", "undecided", "contradiction", "breakdown", "alarm"]


MOST_AT_ONCE = 1_000  # pulls of one question
MOST_LISTED = 1_000  # arms that are listed one by one where nobody asked for all


class PullDocument(TypedDict):
    """A pull as plain data."""

    number: int
    arm: int
    name: str
    level: float
    phase: Phase
    margin: float
    leader: str | None
    challenger: str | None
    gap: float | None
    setting: NotRequired[float | None]
    unit: NotRequired[str]


@dataclass(frozen=True)
class Pull:
    """What to apply next, and why. While others are open, leader and challenger are those for which the arm was chosen:
    as if each open pull had returned what is expected of it. Level, margin and gap rest on told results alone, so pulls
    that are asked for together show one gap."""

    number: int  # counts from 1
    arm: int
    name: str
    level: float
    phase: Phase
    margin: float  # certified distance to the nearest limit, at least 0 for a policy that keeps limits; inf without any
    leader: str | None  # None while exploring
    challenger: str | None
    gap: float | None  # the most by which the challenger might beat the leader
    dial: Dial | None = field(default=None, repr=False)  # of the problem

    @property
    def setting(self) -> float | None:
        """What to set on the dial, in its unit, where the problem has one: never above the level. None: off."""
        return None if self.dial is None else self.dial.set_to(self.level)[0]

    @property
    def unit(self) -> str | None:
        """The unit of the setting."""
        return None if self.dial is None else self.dial.unit

    @property
    def at(self) -> str:
        """The level in words, with the setting of the dial if there is one: "20 mg (level 0.5)"."""
        return level_in_words(self.dial, self.level, 6)

    def to_dict(self) -> PullDocument:
        """The pull as plain data; setting and unit are there if the problem has a dial."""
        document = asdict(replace(self, dial=None))
        del document["dial"]
        return cast(PullDocument, document if self.dial is None else {**document, **set_on(self.dial, self.level)})


def check_batch(n: object) -> int:
    """How many pulls are asked for at once; so many that they make a plan of their own are refused."""
    wanted = check_count("n", n, "For example 4: as many as are applied side by side.")
    if wanted > MOST_AT_ONCE:
        reason = f"is more than the {MOST_AT_ONCE:,} pulls that are given at once"
        raise InvalidInput("n", n, reason, "Ask for as many as are applied side by side, and again when they are told.")
    return wanted


def pull_of(problem: Problem, number: int, decision: Decision, margin: float) -> Pull:
    """The decision as users see it."""
    deciding = decision.phase == DECIDING
    return Pull(
        number=number,
        arm=int(decision.arm),
        name=problem.names[decision.arm],
        level=float(decision.level),
        phase="decide" if deciding else "explore",
        margin=float(margin),
        leader=arm_name(problem, decision.leader) if deciding else None,
        challenger=arm_name(problem, decision.challenger) if deciding else None,
        gap=float(decision.gap) if deciding and not isnan(decision.gap) else None,
        dial=problem.dial,
    )


def arm_name(problem: Problem, arm: int) -> str:
    """The name of the arm, or of the null pull."""
    return problem.names[arm] if arm != NULL else NOTHING


class OvershootDocument(TypedDict):
    """An overshoot as plain data."""

    number: int
    name: str
    certified: float
    applied: float
    setting: NotRequired[float | None]
    applied_setting: NotRequired[float | None]
    unit: NotRequired[str]


@dataclass(frozen=True)
class Overshoot:
    """A pull that was applied above its certified level."""

    number: int
    name: str
    certified: float
    applied: float
    setting: float | None = None  # that was certified
    applied_setting: float | None = None
    unit: str | None = None

    def to_dict(self) -> OvershootDocument:
        """The overshoot as plain data; settings are there if the problem has a dial."""
        return cast(OvershootDocument, without_unit(asdict(self)))


def overshoot_of(problem: Problem, number: int, arm: int, certified: float, applied: float) -> Overshoot:
    """The pull as users see it that was applied at another level than the certified one."""
    settings = set_to(problem, certified)
    if settings:
        settings["applied_setting"] = set_to(problem, applied)["setting"]
    return Overshoot(number, problem.names[arm], certified, applied, **settings)


class RecommendationDocument(TypedDict):
    """A recommendation as plain data."""

    arm: int
    name: str
    level: float
    estimate: float
    setting: NotRequired[float | None]
    unit: NotRequired[str]


@dataclass(frozen=True)
class Recommendation:
    """The answer: an arm (-1 for the null pull) and a level that is certified safe."""

    arm: int
    name: str
    level: float
    estimate: float  # of its reward
    setting: float | None = None  # of the dial, where the problem has one; never above the level
    unit: str | None = None

    @property
    def at(self) -> str:
        """The level in words, with the setting of the dial if there is one: "20 mg (level 0.5)"."""
        return set_in_words(self.level, self.setting, self.unit)

    def to_dict(self) -> RecommendationDocument:
        """The recommendation as plain data; setting and unit are there if the problem has a dial."""
        return cast(RecommendationDocument, without_unit(asdict(self)))


class HeldDocument(TypedDict):
    """A held result as plain data."""

    number: int
    name: str
    level: float
    reward: float
    safety: dict[str, float]
    worker: str | None
    surprises: str
    unsafe: bool
    setting: NotRequired[float | None]
    unit: NotRequired[str]


@dataclass(frozen=True)
class HeldResult:
    """A result that is implausible, and waits for a person to confirm or replace it."""

    number: int
    name: str
    level: float
    reward: float
    safety: dict[str, float]  # by the names of the limits
    worker: str | None
    surprises: str  # what is implausible in it, and what was to be expected
    unsafe: bool  # it lies on the side of a limit: nobody is given a pull
    setting: float | None = None  # of the dial, where the problem has one
    unit: str | None = None

    def to_dict(self) -> HeldDocument:
        """The held result as plain data; setting and unit are there if the problem has a dial."""
        return cast(HeldDocument, without_unit(asdict(self)))


class StatusDocument(TypedDict):
    """A status as plain data."""

    pulls: int
    phase: Phase
    outcome: Outcome | None
    gap: float | None
    epsilon: float
    leader: str | None
    levels: dict[str, float]
    pulls_per_arm: dict[str, int]
    overshoots: int
    held: list[HeldDocument]
    settings: NotRequired[dict[str, float | None]]
    unit: NotRequired[str]


@dataclass(frozen=True)
class Status:
    """Where an experiment stands."""

    pulls: int
    phase: Phase
    outcome: Outcome | None
    gap: float | None
    epsilon: float
    leader: str | None
    challenger: str | None  # who might beat the leader by most
    best_estimate: str | None  # the arm of the highest estimated reward at full level; None before the first result
    levels: Mapping[str, float]  # of each arm, certified if the policy keeps limits
    pulls_per_arm: Mapping[str, int]
    overshoots: int  # pulls that were applied above their certified level
    held: list[HeldResult]  # implausible results that wait for a person
    dial: Dial | None = field(default=None, kw_only=True)  # of the problem: levels are settings of it

    def to_dict(self) -> Any:
        """The status as plain data: a StatusDocument, with more in it for a study. It names every arm, and where the
        problem has a dial also the settings of the levels."""
        levels = in_full(self.levels)
        document = asdict(replace(self, levels=levels, pulls_per_arm=in_full(self.pulls_per_arm), held=[], dial=None))
        document["held"] = [each.to_dict() for each in self.held]
        if self.dial is not None:
            settings = self.dial.setting_of(np.array(list(levels.values()), dtype=np.float64)).tolist()
            known = [each if isfinite(each) else None for each in settings]
            document |= {"settings": dict(zip(levels, known, strict=True)), "unit": self.dial.unit}
        return {key: value for key, value in document.items() if key not in ("challenger", "best_estimate", "dial")}

    def to_brief_dict(self) -> Any:
        """The same, but of more than a thousand arms only those that matter: who leads, who challenges, whose estimate
        is best, and who was tried. `arms` says how many there are."""
        known: Any = (self.levels, self.pulls_per_arm)
        if len(self.levels) > MOST_LISTED:
            names = self.names_that_matter()
            known = [{name: each[name] for name in names} for each in known]
        document = replace(self, levels=known[0], pulls_per_arm=known[1]).to_dict()
        said = {"arms": len(self.levels), "challenger": self.challenger, "best_estimate": self.best_estimate}
        return {**document, **said}

    def names_that_matter(self) -> list[str]:
        """The arms that were pulled, most often first, after those that lead, challenge or look best."""
        pulls = np.fromiter(self.pulls_per_arm.values(), np.int64, len(self.pulls_per_arm))
        tried = np.flatnonzero(pulls)
        busiest = tried[np.argsort(-pulls[tried], kind="stable")]
        names: Sequence[str] = getattr(self.pulls_per_arm, "names", None) or tuple(self.pulls_per_arm)
        first = [name for name in (self.leader, self.challenger, self.best_estimate) if name in self.levels]
        return list(dict.fromkeys([*first, *(names[k] for k in busiest.tolist())]))


def in_full(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table as a dict."""
    return table.plain() if isinstance(table, ByArm) else dict(table)
