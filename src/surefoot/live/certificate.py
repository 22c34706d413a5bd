"""What is promised when a policy stops, in words and numbers: no more than the mathematics gives."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf
from textwrap import fill
from typing import Any, NotRequired, Self, TypedDict, cast

from surefoot.cards import card
from surefoot.policies.guarantee import Guarantee
from surefoot.problem import Dial, Problem
from surefoot.problem.norms import noise_laws, signals_of
from surefoot.problem.units import level_in_words, rounded_down, rounded_up, set_in_words, with_unit

WIDTH = 80  # characters of a line
NOTHING = "(nothing)"  # the null pull: leave every dial at 0
LISTS = ("assumptions", "data", "contradictions")  # fields of a certificate that are lists in its table


class CertificateDocument(TypedDict):
    """A certificate as plain data."""

    arm: int
    name: str
    level: float
    guarantee: str
    confidence: float
    epsilon: float
    delta: float
    delta_safety: float
    gap: float
    pulls: int
    keeps_limits: bool
    overshoots: int
    statement: str
    assumptions: list[str]
    data: list[str]
    contradictions: list[str]
    head: str
    setting: NotRequired[float | None]
    unit: NotRequired[str]


@dataclass(frozen=True)
class Certificate:
    """The answer, the promise about it, and what the promise rests on."""

    arm: int  # -1: the null pull
    name: str
    level: float
    guarantee: str  # "within-epsilon", "proposition-1", "without-limits", ...
    confidence: float  # the promise about the value holds with at least this probability
    epsilon: float
    delta: float
    delta_safety: float  # 0 where no limits were stated
    gap: float  # B(t) when it stopped
    pulls: int
    keeps_limits: bool
    overshoots: int  # pulls that were applied above their certified level
    statement: str
    assumptions: tuple[str, ...]
    data: tuple[str, ...] = ()  # what became of every pull, where a study has kept count
    contradictions: tuple[str, ...] = ()  # what the data were found to contradict, and for which reason it went on
    head: str = ""  # of a study: the hash of the event with which it ended, over all that happened before
    setting: float | None = None  # of the dial, where the problem has one; never above the level. None: off
    unit: str | None = None

    @property
    def at(self) -> str:
        """The level in words, with the setting of the dial if there is one: "20 mg (level 0.5)"."""
        return set_in_words(self.level, self.setting, self.unit)

    def to_dict(self) -> CertificateDocument:
        """The certificate as plain data; setting and unit are there if the problem has a dial."""
        table = asdict(self) | {name: list(getattr(self, name)) for name in LISTS}
        if self.unit is None:
            del table["setting"], table["unit"]
        return cast(CertificateDocument, table)

    def __str__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return card_of(self)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Self:
        """The certificate that `to_dict` wrote."""
        lists = {name: tuple(table.get(name, ())) for name in LISTS}
        return cls(**{**table, **lists})


def certify_answer(
    guarantee: Guarantee,
    problem: Problem,
    arm: int,
    level: float,
    gap: float,
    pulls: int,
    overshoots: int,
    releases: Mapping[str, str] | None = None,
) -> Certificate:
    """The certificate of an answer at the moment the policy stops; `releases` are alarms, and why it went on after."""
    name = problem.names[arm] if arm >= 0 else NOTHING
    found = tuple(f"{message}; released: {reason}" for message, reason in (releases or {}).items())
    setting, unit = (None, None) if problem.dial is None else problem.dial.set_to(level)
    warned = "".join(f" The data were found to contradict the model ({each})." for each in found)
    return Certificate(
        arm=arm,
        name=name,
        level=level,
        guarantee=guarantee.kind,
        confidence=guarantee.confidence,
        epsilon=problem.epsilon,
        delta=problem.delta,
        delta_safety=problem.delta_safety,
        gap=gap,
        pulls=pulls,
        keeps_limits=guarantee.keeps_limits,
        overshoots=overshoots,
        statement=statement_of(guarantee, problem, name, level, overshoots) + warned,
        assumptions=(*guarantee.assumptions, *about_dial(problem.dial)),
        contradictions=found,
        setting=setting,
        unit=unit,
    )


def statement_of(guarantee: Guarantee, problem: Problem, name: str, level: float, overshoots: int) -> str:
    """The promise in words."""
    answer = f"{name} at {level_in_words(problem.dial, level)}" if name != NOTHING else "doing nothing"
    value = guarantee.value.format(answer=answer, epsilon=with_unit(rounded_up(problem.epsilon), problem.reward.unit))
    promise = f"With probability at least {rounded_down(guarantee.confidence, 6)}, {value}"
    if guarantee.safety is None:
        return " ".join([promise, *about_noise(problem), *about_error(problem)])
    safely = rounded_down(guarantee.safety, 6)
    safe = f"With probability at least {safely}, no pull crossed a limit with its mean and the answer crosses none."
    if overshoots:
        safe += f" This leaves out {overshoots} pull(s) applied above the certified level."
    together = round(guarantee.confidence + guarantee.safety - 1.0, 12)  # 0.95 + 0.95 - 1 falls short of 0.9 by 1e-16
    if together > 0.0:
        safe += f" Both hold with probability at least {rounded_down(together, 6)}."
    return " ".join([promise, safe, *about_readings(problem), *about_noise(problem), *about_error(problem)])


def about_dial(dial: Dial | None) -> list[str]:
    """What the promise takes from the dial: nothing where settings are levels, else the curve that was stated."""
    if dial is None or not dial.is_curve:
        return []
    return [f"a setting in {dial.unit} has the effect that the table of the dial states, and means are linear in that"]


def about_readings(problem: Problem) -> list[str]:
    """What the limits say of single readings, in a sentence for those on means and one for each on readings. (S5)"""
    on_means = [limit.name for limit in problem.safety if limit.reading_risk is None]
    told = []
    if on_means:
        covers = "The limit on {} covers its mean" if len(on_means) == 1 else "The limits on {} cover their means"
        told.append(f"{covers.format(', '.join(on_means))}: single readings scatter, and may lie beyond.")
    for limit in problem.safety:
        if limit.reading_risk is not None:
            risk, both = rounded_up(limit.reading_risk, 6), rounded_up(problem.delta_safety, 6)
            told.append(
                f"While that holds, each single reading of {limit.name} keeps {limit.said} with probability at "
                f"least 1 - {risk} given the past; with both risks, n readings named in advance all keep it with at "
                f"least 1 - {both} - n {risk}."
            )
    return told


def about_noise(problem: Problem) -> list[str]:
    """What the promise takes for granted of noise whose size nobody stated: a sentence for each such signal."""
    names = ["the reward", *(limit.name for limit in problem.safety)]
    laws = zip(names, noise_laws(problem), strict=True)
    return [f"This rests on {law.said}, for {name}." for name, law in laws if law.unknown or law.high < inf]


def about_error(problem: Problem) -> list[str]:
    """What the promise allows for where means are only nearly linear: a sentence for each such signal.         (W1)"""
    told = []
    for name, signal in zip(
        ["the reward", *(limit.name for limit in problem.safety)], signals_of(problem), strict=True
    ):
        if signal.within > 0.0:
            error = with_unit(f"{signal.within:g}", signal.unit)
            told.append(f"The mean of {name} is taken to be linear within {error}, at every arm, level and time.")
    return told


def card_of(certificate: Certificate) -> str:
    """The certificate as a notebook shows it."""
    return card(
        "Certificate",
        [certificate.statement],
        numbers_of(certificate),
        certificate.assumptions,
        before_points="It rests on:",
    )


def text_of(certificate: Certificate) -> str:
    """The certificate as lines of plain text."""
    width = max(len(name) for name, _ in numbers_of(certificate))
    told = [f"  {name:<{width}}  {value}" for name, value in numbers_of(certificate)]
    lists = (("It rests on:", certificate.assumptions), ("Data:", certificate.data))
    more = [line for title, texts in lists if texts for line in (title, *map(point, texts))]
    return "\n".join([fill(certificate.statement, WIDTH), "", *told, "", *more])


def point(text: str) -> str:
    """The text as an entry of a list, in as many lines as it takes."""
    return fill(text, WIDTH, initial_indent="  - ", subsequent_indent="    ")


def numbers_of(certificate: Certificate) -> list[tuple[str, str]]:
    """The numbers of a certificate with their names."""
    answer = f"{certificate.name} at {certificate.at}"
    found = [
        ("answer", answer if certificate.arm >= 0 else certificate.name),
        ("epsilon", f"{certificate.epsilon:g}"),
        ("gap at stop", f"{certificate.gap:.6g}"),
        ("delta", f"{certificate.delta:g}"),
        *([("delta_safety", f"{certificate.delta_safety:g}")] if certificate.delta_safety else []),
        ("pulls", f"{certificate.pulls:,}"),
    ]
    if certificate.overshoots:
        found.append(("applied too high", f"{certificate.overshoots:,}"))
    return [*found, ("head", certificate.head)] if certificate.head else found
