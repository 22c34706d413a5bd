"""What is stated about the noise of a signal: its size, its kind without a size, or what single readings can be.

a number                    R-sub-Gaussian with that R; for Gaussian noise the standard deviation
"unknown"                   Gaussian of one size for all arms, levels and rounds, which nobody needs to know
"binary"                    every reading is 0 or 1
("bounded", lo, hi)         every reading lies between lo and hi
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

from surefoot.errors import InvalidInput
from surefoot.problem.checks import did_you_mean, number, positive

Noise: TypeAlias = float | str | tuple[str, float, float]

UNKNOWN, BINARY, BOUNDED = "unknown", "binary", "bounded"
KINDS = (UNKNOWN, BINARY, BOUNDED)

SIZE = "Give the sub-Gaussian scale of its noise; for Gaussian noise that is the standard deviation."
OTHERWISE = f'{SIZE} Or say "unknown" (Gaussian of one size), "binary" (readings 0 and 1) or ["bounded", lo, hi].'
GUESS = "Give about the size of the noise: it only tunes, and a bad guess costs pulls and no promise."
CAP = "Give a size that the noise is certainly not larger than, or leave it out."
ENDS = 'Write ["bounded", lo, hi] with the least and the largest reading there can be, lo below hi.'
EPSILONS_OF_NOISE = 10.0
ROUNDING = 1e-9  # of the range of readings: what was computed from a baseline may miss an end by so much
NARROWER = 4.0  # what is guessed where only a cap is stated: a quarter of it


@dataclass(frozen=True)
class NoiseLaw:
    """The noise of one signal, as far as it is stated."""

    size: float | None  # the number that stands for R: a bound where one is stated, else a guess; None: not even that
    bound: float  # a size that it surely does not exceed; infinite where none is stated
    low: float = -inf  # the least reading there can be
    high: float = inf  # the largest
    binary: bool = False  # whether there are no readings but these two
    unknown: bool = False  # whether the size is to be learned: Gaussian noise of one size

    @property
    def said(self) -> str:
        """What is assumed of it, in words."""
        if self.unknown:
            capped = "" if self.bound == inf else f", at most {self.bound:g}"
            return f"Gaussian noise of one unknown size{capped}, the same for all arms, levels and rounds"
        if self.binary:
            return "yes/no readings, 0 or 1"
        if self.high < inf:
            return f"readings between {self.low:g} and {self.high:g}"
        return f"noise {self.size:g}-sub-Gaussian given the past"

    @property
    def short(self) -> str:
        """The same in a word or two, for a line of a listing."""
        if self.unknown:
            guessed = "" if self.size is None else f", about {self.size:g}"
            return f"unknown{guessed}" + ("" if self.bound == inf else f", at most {self.bound:g}")
        if self.binary:
            return "of yes/no readings"
        return f"of readings between {self.low:g} and {self.high:g}" if self.high < inf else f"{self.size:g}"

    def check_reading(self, field: str, reading: float) -> None:
        """Refuses a reading that there cannot be."""
        slack = ROUNDING * (self.high - self.low) if self.high < inf else 0.0
        if self.binary and min(abs(reading), abs(reading - 1.0)) > slack:
            raise InvalidInput(field, reading, "must be 0 or 1, as the noise is stated to be binary", READ)
        if not self.low - slack <= reading <= self.high + slack:
            reason = f"must lie between {self.low:g} and {self.high:g}, as the noise is stated to be bounded"
            raise InvalidInput(field, reading, reason, READ)


READ = "Tell what was measured, or state the noise in another way: a reading that cannot be breaks the promises."


def checked_noise(field: str, value: object) -> Noise:
    """What is stated, as a number, a word, or a word with two ends."""
    if isinstance(value, list | tuple):
        if len(value) != 3 or value[0] != BOUNDED:
            raise InvalidInput(field, value, "does not say between what the readings lie", ENDS)
        low, high = (number(field, end, ENDS) for end in value[1:])
        if not low < high:
            raise InvalidInput(field, value, "must have its lower end below its upper one", ENDS)
        return BOUNDED, low, high
    if isinstance(value, str):
        if value == BOUNDED:
            raise InvalidInput(field, value, "does not say between what the readings lie", ENDS)
        if value not in KINDS:
            close = did_you_mean(value, KINDS)
            raise InvalidInput(field, value, "is not a kind of noise", f"{close} {OTHERWISE}")
        return value
    return positive(field, value, OTHERWISE)


def law_of(field: str, noise: Noise, guess: float | None, cap: float | None, cap_name: str) -> NoiseLaw:
    """The law of the noise that is stated so, whose parts are checked already; a guess or a cap that has no meaning is
    refused."""
    if noise == UNKNOWN:
        size = guess if guess is not None else None if cap is None else cap / NARROWER
        return NoiseLaw(size=size, bound=inf if cap is None else cap, unknown=True)
    for name, value in (("guess", guess), (cap_name, cap)):
        if value is not None:
            reason = f'has no meaning unless noise = "{UNKNOWN}"'
            raise InvalidInput(field.replace(".noise", f".{name}"), value, reason, "Leave it out.")
    if noise == BINARY:
        return NoiseLaw(size=0.5, bound=0.5, low=0.0, high=1.0, binary=True)
    if isinstance(noise, tuple):
        _, low, high = noise
        return NoiseLaw(size=(high - low) / 2.0, bound=(high - low) / 2.0, low=low, high=high)
    return NoiseLaw(size=float(noise), bound=float(noise))


def checked_size(field: str, value: float | None, remedy: str) -> float | None:
    """A guess or a cap, where one is stated."""
    return None if value is None else positive(field, value, remedy)


def plain_noise(noise: Noise, guess: float | None, cap: float | None, cap_name: str) -> dict[str, object]:
    """The entries of a file; a number alone is written as it always was."""
    stated = {"guess": guess, cap_name: cap}
    return {
        "noise": list(noise) if isinstance(noise, tuple) else noise,
        **{name: value for name, value in stated.items() if value is not None},
    }


def guessed_for(law: NoiseLaw, epsilon: float) -> NoiseLaw:
    """The law of a reward; where not even a guess is stated, ten times epsilon is guessed, which only tunes."""
    return law if law.size is not None else replace(law, size=EPSILONS_OF_NOISE * epsilon or 1.0)
