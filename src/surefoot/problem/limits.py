"""The signals of a pull: the reward to maximise, and the safety readings with the limits they must keep."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from math import exp, log, sqrt
from typing import TypeVar

from surefoot.errors import ABSENT, InvalidInput
from surefoot.problem.checks import Floats, did_you_mean, number, positive, text
from surefoot.problem.largest import checked_largest
from surefoot.problem.nearly_linear import checked_error
from surefoot.problem.noise import (
    CAP,
    GUESS,
    Noise,
    NoiseLaw,
    checked_noise,
    checked_size,
    law_of,
    plain_noise,
)
from surefoot.problem.units import checked_unit, with_unit

Readings = TypeVar("Readings", float, Floats)

_NORM = "Give an upper bound on the length of its unknown weights, or leave it out."
_RISK = "Choose the chance that a single reading crosses the limit, for example 0.01."
_LIMITS = "Pass a list of Limit(name, at_least=... or at_most=..., noise=...)."

MEAN, READINGS = "mean", "readings"  # what a limit covers
ROOM_FOR_NOISE = 5.0  # the room between baseline and limit, in sizes of noise, where nobody guesses any
_SMALLEST_RISK = 1e-300  # it has a finite logarithm


@dataclass(frozen=True)
class Reward:
    """The signal to maximise: its noise, and if one is known a bound on its size. Its unit is shown with every number
    of it.

    largest  no option changes it by more than so much at full strength, in the units that are read: free of the units
             of the features. Or, and never both:
    norm     a bound D on the length of its weights, which mixes the units of the features

    For SafeGap either is a hint that tunes and nothing rests on it; the paper's policies lean on it and ask for it.

    noise    a number R (R-sub-Gaussian), "unknown" (Gaussian of one size for all arms, levels and rounds; for SafeGap),
             "binary" (rewards 0 and 1) or ("bounded", lo, hi). Noise that grows with the level, and rewards that are
             coarsely rounded, are not of one size: state a number that is certainly large enough
    guess    about how large unknown noise is: it only tunes
    at_most  a size that unknown noise certainly does not exceed
    within   how far the mean may be from the linear law, at every arm, level and time; for SafeGap
    unit     in which it is read, shown with every number of it
    """

    noise: Noise
    norm: float | None = None
    unit: str | None = None
    guess: float | None = None
    at_most: float | None = None
    largest: float | None = None
    within: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", checked_unit("reward.unit", self.unit))
        object.__setattr__(self, "largest", checked_largest("reward", self.largest, self.norm))
        object.__setattr__(self, "noise", checked_noise("reward.noise", self.noise))
        object.__setattr__(self, "norm", _norm("reward.norm", self.norm))
        object.__setattr__(self, "guess", checked_size("reward.guess", self.guess, GUESS))
        object.__setattr__(self, "at_most", checked_size("reward.at_most", self.at_most, CAP))
        law = law_of("reward.noise", self.noise, self.guess, self.at_most, "at_most")
        object.__setattr__(self, "within", checked_error("reward.within", self.within, law))

    @property
    def law(self) -> NoiseLaw:
        """What is stated about its noise."""
        return law_of("reward.noise", self.noise, self.guess, self.at_most, "at_most")

    def to_dict(self) -> dict[str, object]:
        """The reward as a table for a file."""
        noise = plain_noise(self.noise, self.guess, self.at_most, "at_most")
        stated = _stated(norm=self.norm, unit=self.unit, largest=self.largest, within=self.within or None)
        return {**noise, **stated}


@dataclass(frozen=True)
class Limit:
    """A safety signal and the side of a limit on which it must stay.

    At level 0, with nothing applied, the signal reads `baseline`; the limit must leave room beyond it. The core sees
    only s' = sign * (reading - baseline), which is safe while it stays at or above eta0 < 0.

    A limit covers the *mean* of a pull: single readings scatter about it, and of those from a pull at the limit half
    lie beyond. With covers="readings" it is tightened by noise * sqrt(2 log(1/reading_risk)), so that each single
    reading keeps it with probability 1 - reading_risk given the past. Then "safe" means the tightened limit
    everywhere, also for the known safe level and for the best safe option.

    name           of what is read, such as "pressure"
    at_least       the limit, where the mean must not fall below; this or at_most
    at_most        the limit, where the mean must not rise above
    baseline       what is read at level 0, with nothing applied
    noise          a number R_s, "unknown", "binary" or ("bounded", lo, hi), as for `Reward`
    guess          about how large unknown noise is: it only tunes
    noise_at_most  a size that unknown noise certainly does not exceed
    within         how far the mean may be from the linear law, at every arm, level and time; for SafeGap. Then
                   `safe_level` says that every level up to it is safe
    largest        no option changes it by more than so much at full strength; or norm, as for `Reward`
    norm           a bound on the length of its weights, as for `Reward`
    covers         "mean", or "readings" for a limit on single readings
    reading_risk   then, the chance that a single reading crosses it
    unit           in which it is read, shown with every number of it
    """

    name: str
    _: KW_ONLY
    at_least: float | None = None
    at_most: float | None = None
    baseline: float = 0.0
    noise: Noise
    norm: float | None = None
    covers: str = MEAN
    reading_risk: float | None = None
    guess: float | None = None
    noise_at_most: float | None = None
    unit: str | None = None  # in which it is read, to be shown with every number of it
    largest: float | None = None
    within: float = 0.0

    def __post_init__(self) -> None:
        text("safety.name", self.name, "Give the limit a short name.")
        object.__setattr__(self, "name", str(self.name))
        object.__setattr__(self, "unit", checked_unit(self._field("unit"), self.unit))
        if (self.at_least is None) == (self.at_most is None):
            given = ABSENT if self.at_least is None else (self.at_least, self.at_most)
            remedy = "Say at_least=... when the signal must not fall below, at_most=... when it must not rise above."
            raise InvalidInput(self._field("at_least or at_most"), given, "exactly one of the two is needed", remedy)
        side = "at_least" if self.at_most is None else "at_most"
        units = "Give it in the units of the signal."
        for field in (side, "baseline"):
            object.__setattr__(self, field, number(self._field(field), getattr(self, field), units))
        object.__setattr__(self, "noise", checked_noise(self._field("noise"), self.noise))
        object.__setattr__(self, "norm", _norm(self._field("norm"), self.norm))
        object.__setattr__(self, "largest", checked_largest(f"safety[{self.name!r}]", self.largest, self.norm))
        for field, remedy in (("guess", GUESS), ("noise_at_most", CAP)):
            object.__setattr__(self, field, checked_size(self._field(field), getattr(self, field), remedy))
        self._stated_law()
        self._check_covers()
        if not self.internal(self.limit) < 0.0:
            where, other = ("below", "at_most") if self.sign > 0 else ("above", "at_least")
            reason = f"must lie {where} the baseline {self.baseline!r}, which the signal reads at level 0"
            remedy = f"Move the limit, set baseline to what the signal reads when nothing is applied, or use {other}."
            raise InvalidInput(self._field(side), self.limit, reason, remedy)
        if not self.eta0 < 0.0:
            raise InvalidInput(self._field("reading_risk"), self.reading_risk, *self._no_room())
        object.__setattr__(self, "within", checked_error(self._field("within"), self.within, self.law, -self.eta0))

    @property
    def law(self) -> NoiseLaw:
        """What is stated about its noise; where not even a guess is, a fifth of the room to the limit is guessed."""
        law = self._stated_law()
        return law if law.size is not None else replace(law, size=-self.internal(self.limit) / ROOM_FOR_NOISE)

    @property
    def limit(self) -> float:
        """The limit in the user's units, whichever side it is on."""
        return self.at_least if self.at_least is not None else self.at_most  # type: ignore[return-value]

    @property
    def said(self) -> str:
        """The limit with its unit."""
        return with_unit(f"{self.limit:g}", self.unit)

    @property
    def sign(self) -> float:
        """+1 when the signal must stay above its limit, -1 when below."""
        return 1.0 if self.at_least is not None else -1.0

    @property
    def eta0(self) -> float:
        """The limit on the mean as the core sees it, below 0."""
        return self.internal(self.limit) + self.margin

    @property
    def margin(self) -> float:
        """How far inside the limit the mean must stay: 0, unless the limit covers readings.                    (S5)"""
        return 0.0 if self.reading_risk is None else self.law.bound * sqrt(2.0 * log(1.0 / self.reading_risk))

    @property
    def mean_limit(self) -> float:
        """What the mean must keep, in the user's units: the limit itself, unless it covers readings."""
        return self.limit + self.sign * self.margin

    def internal(self, reading: Readings) -> Readings:
        """The reading as the core sees it."""
        return self.sign * (reading - self.baseline)

    def reading(self, internal: Readings) -> Readings:
        """What the user reads when the core sees `internal`."""
        return self.baseline + self.sign * internal

    def to_dict(self) -> dict[str, object]:
        """The limit as a table for a file."""
        side = "at_least" if self.at_least is not None else "at_most"
        noise = plain_noise(self.noise, self.guess, self.noise_at_most, "noise_at_most")
        numbers = {side: self.limit, "baseline": self.baseline, **noise, **_stated(norm=self.norm)}
        covers = {} if self.reading_risk is None else {"covers": self.covers, "reading_risk": self.reading_risk}
        stated = _stated(unit=self.unit, largest=self.largest, within=self.within or None)
        return {"name": self.name, **numbers, **covers, **stated}

    def _check_covers(self) -> None:
        """Refuses a limit on what does not exist, and a risk without a limit on readings."""
        if self.covers not in (MEAN, READINGS):
            remedy = did_you_mean(self.covers, (MEAN, READINGS))
            raise InvalidInput(self._field("covers"), self.covers, f"must be {MEAN!r} or {READINGS!r}", remedy)
        field = self._field("reading_risk")
        if self.covers == READINGS:
            if self._stated_law().unknown:
                reason = "must be 'mean' where the noise is unknown: how far readings scatter is not known in advance"
                remedy = "Let the limit cover the mean, or state a size that the noise certainly does not exceed."
                raise InvalidInput(self._field("covers"), self.covers, reason, remedy)
            if self.reading_risk is None:
                raise InvalidInput(field, ABSENT, "is needed where a limit covers readings", _RISK)
            risk = number(field, self.reading_risk, _RISK, at_least=_SMALLEST_RISK, below=1.0)
            object.__setattr__(self, "reading_risk", risk)
        elif self.reading_risk is not None:
            reason = "has no meaning for a limit that covers the mean"
            raise InvalidInput(field, self.reading_risk, reason, f"Leave it out, or say covers = {READINGS!r}.")

    def _no_room(self) -> tuple[str, str]:
        """Why a limit on readings cannot be kept at all, and what would help."""
        room = -self.internal(self.limit)
        least = exp(-0.5 * (room / self.law.bound) ** 2)
        reason = (
            f"asks the mean to stay {self.margin:.4g} inside the limit {self.limit:g}, and the baseline "
            f"{self.baseline:g} is only {room:.4g} away from it: even with nothing applied readings would cross it"
        )
        larger = f"Allow a risk above {least:.3g}, move" if least < 1.0 else "Move"
        return reason, f"{larger} the limit away from the baseline, or measure with less noise."

    def _stated_law(self) -> NoiseLaw:
        """The noise as it is stated, without a guess of our own."""
        return law_of(self._field("noise"), self.noise, self.guess, self.noise_at_most, "noise_at_most")

    def _field(self, name: str) -> str:
        return f"safety[{self.name!r}].{name}"


def _norm(field: str, value: float | None) -> float | None:
    """A bound on the length of the weights, where one is stated."""
    return None if value is None else positive(field, value, _NORM)


def _stated(**optional: object) -> dict[str, object]:
    """The entries of a file, which leaves out what is not stated."""
    return {key: value for key, value in optional.items() if value is not None}


def checked_limits(safety: object) -> tuple[Limit, ...]:
    """The limits, each with a name of its own; none where nothing must keep one."""
    limits = (safety,) if isinstance(safety, Limit) else safety
    if not isinstance(limits, list | tuple):
        raise InvalidInput("safety", safety, "must be a list of limits", _LIMITS)
    seen: set[str] = set()
    for i, limit in enumerate(limits):
        if not isinstance(limit, Limit):
            raise InvalidInput(f"safety[{i}]", limit, "must be a Limit", _LIMITS)
        if limit.name in seen:
            raise InvalidInput(f"safety[{i}].name", limit.name, "names two limits", "Give each a name of its own.")
        seen.add(limit.name)
    return tuple(limits)
