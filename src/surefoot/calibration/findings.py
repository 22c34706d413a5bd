"""What a calibration has found: for each signal its noise, its straightness and its size, beside what is stated."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.calibration import suggesting, telling
from surefoot.calibration.fits import Pilot
from surefoot.cards import card
from surefoot.errors import InvalidInput
from surefoot.files import as_path, write_bytes
from surefoot.plain_data import plain
from surefoot.problem import Problem
from surefoot.problem.checks import Floats, did_you_mean
from surefoot.problem.noise import NoiseLaw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

REPEATS, FIT = "repeats", "fit"


class Noise(NamedTuple):
    """How large the noise is, for Gaussian noise of one size."""

    estimate: float
    at_least: float  # where it is by the fit: or the law is not linear
    at_most: float
    freedom: int  # degrees of freedom that it is known by
    by: str  # "repeats" of the same setting, or the "fit" of the linear law


class Bounded(NamedTuple):
    """A figure and what it is at most."""

    estimate: float
    at_most: float


class Between(NamedTuple):
    """A figure between two ends."""

    estimate: float
    lower: float
    upper: float


class Sizes(NamedTuple):
    """The noise at the higher levels of the pilot as a multiple of that at the lower ones."""

    ratio: float
    p: float


@dataclass(frozen=True)
class Signal:
    """What the rows say of one signal. None stands where they cannot say it."""

    name: str
    unit: str | None
    stated: NoiseLaw
    baseline: float
    noise: Noise | None
    sizes: Sizes | None  # whether the noise is of one size at low and high levels
    levels: float | None  # p-value: effects are proportional to the level
    arms: float | None  # p-value: arms follow their features
    offset: Between | None  # what is read beyond the baseline where nothing is applied
    bend: Between | None  # what a parabola would add at full strength for the most affected arm
    within: Bounded | None  # the deviation from the linear law at the settings of the pilot
    largest: Bounded | None  # of the effects of all options at full strength, by the linear law
    grain: float | None  # readings are rounded to this, coarsely beside their scatter


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """What pilot rows say about the statements of a problem. `print(calibration)` tells it, `plot()` draws it, and
    `save("suggested.toml")` writes a problem file with what they suggest."""

    problem: Problem
    rows: int
    risk: float  # that any of the bounds on noise is wrong: what the pilot spends of delta and of delta_safety
    signals: tuple[Signal, ...]  # the reward first, then the limits
    warnings: tuple[str, ...]  # about single rows and arms
    unseen: tuple[str, ...]  # what these rows cannot show
    pilot: Pilot = field(repr=False)
    readings: Floats = field(repr=False)  # (n, 1 + m) as read
    mark: str = field(repr=False)  # by which a study knows the rows again, and does not take them as data

    @property
    def confidence(self) -> float:
        """With which all bounds on noise hold together."""
        return 1.0 - self.risk

    def __getitem__(self, name: str) -> Signal:
        """What was found about "reward", or about the limit of this name."""
        found = {each.name: each for each in reversed(self.signals)}
        if name not in found:
            raise InvalidInput("signal", name, "is no signal of the problem", did_you_mean(name, found))
        return found[name]

    def suggestion(self, table: Mapping[str, Any] | None = None) -> str:
        """A commented problem file, TOML, with what the rows suggest; `table` is the file that it is made from."""
        return suggesting.written(self, table)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Writes `suggestion()` into a new file."""
        place = as_path("path", path)
        if place.suffix.lower() != ".toml":
            raise InvalidInput("path", str(place), "must end in .toml", "Comments have no place in other files.")
        content = self.suggestion()
        suggesting.check(content, place.parent)
        write_bytes("path", place, content.encode(), overwrite=overwrite)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as plain data."""
        table = {
            "problem": self.problem.fingerprint, "rows": self.rows, "confidence": self.confidence, "risk": self.risk,
            "signals": [{**vars(each), "words": telling.signal_words(self, each)} for each in self.signals],
            "warned": self.warnings, "unseen": self.unseen, "afterwards": telling.afterwards(self), "mark": self.mark,
        }  # fmt: skip
        found: dict[str, Any] = plain(table)
        return found

    def plot(self, *, theme: str = "light", width: float = 9.0) -> Figure:
        """Readings against level, arm by arm, with a line through the baseline for each."""
        from surefoot.plots.calibrated import Panel, calibrated

        units = [self.problem.reward.unit, *(limit.unit for limit in self.problem.safety)]
        panels = [
            Panel(each.name, unit, each.baseline, readings, limit)
            for each, unit, readings, limit in zip(
                self.signals, units, self.readings.T, [None, *(x.limit for x in self.problem.safety)], strict=True
            )
        ]
        return calibrated(self.problem, self.pilot.arm, self.pilot.level, panels, theme=theme, width=width)

    def __str__(self) -> str:
        return telling.told(self)

    def __repr__(self) -> str:
        return f"Calibration({telling.title(self)})"

    def _repr_html_(self) -> str:
        points = [f"{each.name}: {words}" for each in self.signals for words in telling.signal_words(self, each)]
        lines = [*self.warnings, *self.unseen, telling.afterwards(self)]
        return card(f"Calibration by {telling.title(self)}", lines, table=telling.noise_rows(self), points=points)
