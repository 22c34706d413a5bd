"""`surefoot init`: a few questions about a table of arms, and a commented problem file that holds the answers."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import typer

from surefoot.characters import visible
from surefoot.cli.interruption import telling
from surefoot.cli.new_problem import Stated, StatedLimit, written
from surefoot.cli.output import Output
from surefoot.errors import ABSENT, InvalidInput, SurefootError, counted
from surefoot.files import exists_already, writing
from surefoot.problem import Dial, Limit, Problem, Reward
from surefoot.problem.arms import ArmTable, read_arms
from surefoot.problem.checks import number
from surefoot.problem.dial_settings import in_levels
from surefoot.problem.units import checked_unit

SIDES = {"at most": "at_most", "<=": "at_most", "at least": "at_least", ">=": "at_least"}
Answer = TypeVar("Answer")
NOTHING_WRITTEN = "Nothing was written."
TWICE = "Say one of them: --at-most, or --at-least."
NONE = "none"  # the answer of one who has nothing that must keep a limit: Enter alone shall not say so


@dataclass(frozen=True)
class Answers:
    """What was typed as options; None where it is to be asked."""

    unit: str | None
    full: float | None
    safe_level: str | None
    noise: str | None
    reward_unit: str | None
    limit: str | None
    at_most: float | None
    at_least: float | None
    baseline: float | None
    limit_noise: str | None
    limit_unit: str | None
    epsilon: float | None
    delta: float | None
    delta_safety: float | None


def init(output: Output, arms: Path, out: Path | None, force: bool, given: Answers) -> int:
    """Asks what is not given, and writes the file once `show` and `run` would take it."""
    place = arms.with_suffix(".toml") if out is None else out
    if place.exists() and not force:
        raise in_place(place)
    if place.suffix.lower() != ".toml":
        raise InvalidInput("--out", str(place), "must end in .toml", "Comments have no place in other files.")
    table = arms_typed(arms)
    if sys.stdin.isatty() and not output.json:
        typer.echo(f"{counted(len(table.names), 'arm')} of {counted(table.features.shape[1], 'feature')}.", err=True)
    with telling(NOTHING_WRITTEN):  # also between two questions, and while something is imported for one
        try:
            stated = answered(given, table, asks=sys.stdin.isatty() and not output.json)
        except (typer.Abort, KeyboardInterrupt):
            raise KeyboardInterrupt(NOTHING_WRITTEN) from None
    content = written(stated, arms, place, table)
    try:
        Problem.from_dict(tomllib.loads(content), folder=place.parent)
    except SurefootError as error:
        error.add_note("nothing was written")
        raise
    try:
        with writing("--out", place, overwrite=force) as file:
            file.write(content.encode())
    except InvalidInput as error:
        raise in_place(place) if isinstance(error.__cause__, FileExistsError) else error from error
    words = f"{place} is written. Next: surefoot show {place}, surefoot run {place}, surefoot study create NAME {place}"
    return output.answer({"path": str(place), "arms": len(table.names)}, words)


def arms_typed(arms: Path) -> ArmTable:
    """The arms of the file; a refusal of the file as a whole is one of the argument."""
    try:
        return read_arms(arms)
    except InvalidInput as error:
        if error.field != "arms":
            raise
        nothing = error.value == []
        remedy = "Write a line for each arm below the names of the columns." if nothing else error.remedy
        raise InvalidInput("ARMS", str(arms), "holds no arm" if nothing else error.reason, remedy) from error


def in_place(place: Path) -> InvalidInput:
    """The refusal to write over a file, in the words of the command line."""
    found = exists_already("--out", place)
    return InvalidInput(found.field, found.value, found.reason, "Name another with --out, or allow it with --force.")


class Asking:
    """Asks on the terminal for what is left out, if there is anybody to ask."""

    def __init__(self, asks: bool) -> None:
        self._asks = asks

    def __call__(
        self, option: str, words: str, value: object, check: Callable[[str], Answer], default: str | None = None
    ) -> Answer:
        """The value of an option, checked; asked for where it is left out, again and again until it can be."""
        if value is not None or (not self._asks and default is not None):
            return named(option, check, default if value is None else value)
        if not self._asks:
            raise InvalidInput(
                option, ABSENT, "is needed where nobody can be asked", f"Add {option}: {lowered(words)}."
            )
        while True:
            typed = str(typer.prompt(words, default=default, err=True, show_default=bool(default))).strip()
            try:
                return check(typed)
            except InvalidInput as error:
                typer.echo(visible(f"{error.value!r} {error.reason}. {error.remedy}"), err=True)


def lowered(words: str) -> str:
    """The words amid a sentence."""
    return words[0].lower() + words[1:]


def answered(given: Answers, table: ArmTable, asks: bool) -> Stated:
    """All that the file needs, from options, from answers where there is somebody to ask, or by default."""
    ask = Asking(asks)
    unit = ask("--unit", "Unit of what is set, such as mg (Enter: levels from 0 to 1)", given.unit, unit_in, "")
    if unit is None and given.full is not None:
        raise InvalidInput("--full", given.full, "needs the unit of the dial", "Add --unit.")
    dial = None
    if unit is not None:
        dial = Dial(unit, full=ask("--full", f"The setting at full strength, in {unit}", given.full, positive_in))
    return Stated(
        dial=dial,
        noise=ask("--noise", "Noise of the reward, its standard deviation", given.noise, noise_in),
        reward_unit=ask("--reward-unit", "Unit of the reward (Enter: none)", given.reward_unit, unit_in, ""),
        limit=limit_of(ask, given, dial, table),
        epsilon=ask("--epsilon", "How far from the best may the answer be", given.epsilon, number_in),
        delta=ask("--delta", "Accepted chance of a worse answer", given.delta, number_in, "0.05"),
    )


def limit_of(ask: Asking, given: Answers, dial: Dial | None, table: ArmTable) -> StatedLimit | None:
    """What must keep a limit and where every arm is known to keep it, unless each says so itself; None if nothing
    must."""
    name = ask("--limit", f"Name of what must keep a limit, such as pressure, or {NONE}", given.limit, name_in)
    if name is None:
        refuse_of_limit(given, table)
        return None
    like = "0.2" if dial is None else f"'8 {dial.unit}', or a level such as 0.2"
    safely = f"Known to be safe for every arm ({like})"
    limit_unit = ask("--limit-unit", f"Unit of {name} (Enter: none)", given.limit_unit, unit_in, "")
    side, bound = side_of(given) or ask("--at-most", f"Limit of {name}: 'at most 8', or 'at least 2'", None, side_in)
    return StatedLimit(
        name=name,
        side=side,
        bound=bound,
        baseline=ask("--baseline", f"What {name} reads when nothing is applied", given.baseline, number_in, "0"),
        noise=ask("--limit-noise", f"Noise of {name}, its standard deviation", given.limit_noise, noise_in),
        unit=limit_unit,
        safe_level=None
        if given.safe_level is None and len(table.marks.safe_level) == len(table.names)
        else ask("--safe-level", safely, given.safe_level, lambda word: safe_in(dial, word)),
        delta_safety=ask("--delta-safety", "Accepted chance of any unsafe pull", given.delta_safety, number_in, "0.05"),
    )


def refuse_of_limit(given: Answers, table: ArmTable) -> None:
    """Refuses what belongs to a limit where none is to be kept: one of the two is an error."""
    if table.marks.safe_level:
        reason = "is given, and the arms have a column safe_level, which belongs to a limit"
        raise InvalidInput("--limit", NONE, reason, "Name the limit, or take the column out of the table.")
    of_limit = {
        "--at-most": given.at_most, "--at-least": given.at_least, "--baseline": given.baseline,
        "--limit-noise": given.limit_noise, "--limit-unit": given.limit_unit, "--safe-level": given.safe_level,
        "--delta-safety": given.delta_safety,
    }  # fmt: skip
    for option, value in of_limit.items():
        if value is not None:
            reason = f"is given beside {option}, which belongs to a limit"
            raise InvalidInput("--limit", NONE, reason, f"Name the limit, or leave {option} out.")


def named(option: str, check: Callable[[str], Answer], value: object) -> Answer:
    """What the check finds; its refusal is one of this option."""
    try:
        return check(str(value))
    except InvalidInput as error:
        raise InvalidInput(option, value, error.reason, error.remedy) from error


# -- what the words may be --------------------------------------------------------------------------------------------


def number_in(word: str) -> float:
    """A number."""
    try:
        value = float("nothing" if "_" in word else word)
    except ValueError:
        raise InvalidInput("answer", word, "must be a number", "Write it with a decimal point.") from None
    return number("answer", value, "Write a finite number.")


def positive_in(word: str) -> float:
    """A number above 0."""
    return number("answer", number_in(word), "Write a number above 0.", above=0.0)


def noise_in(word: str) -> float | str:
    """The size of noise, or a word for it, if rewards know one."""
    try:
        number_in(word)
    except InvalidInput:
        Reward(noise=word)  # refuses it by name, unless it is a word for noise
        return word
    return positive_in(word)


def unit_in(word: str) -> str | None:
    """A unit."""
    return checked_unit("answer", word) if word else None


def name_in(word: str) -> str | None:
    """The name of a limit, or that there is none."""
    return None if word.strip().lower() == NONE else Limit(word, at_most=1.0, noise=1.0).name


def safe_in(dial: Dial | None, word: str) -> float | str:
    """A level, or a setting with its unit."""
    try:
        stated: float | str = number_in(word)
    except InvalidInput:
        stated = word
    remedy = "Give a level above 0 and up to 1" + (f", or a setting such as '8 {dial.unit}'." if dial else ".")
    number("answer", in_levels(dial, "answer", stated), remedy, above=0.0, at_most=1.0)
    return stated


def side_of(given: Answers) -> tuple[str, float] | None:
    """The side and the limit, where they were typed as an option."""
    if given.at_most is not None and given.at_least is not None:
        raise InvalidInput("--at-most", given.at_most, "is given beside --at-least", TWICE)
    if given.at_most is not None:
        return "at_most", number("--at-most", given.at_most, "Give the limit.")
    return None if given.at_least is None else ("at_least", number("--at-least", given.at_least, "Give the limit."))


def side_in(words: str) -> tuple[str, float]:
    """The side and the limit, from words such as "at most 8"."""
    for word, side in SIDES.items():
        if words.lower().startswith(word):
            return side, number_in(words[len(word) :].strip())
    raise InvalidInput("answer", words, "must say on which side", "Write 'at most 8', or 'at least 2'.")
