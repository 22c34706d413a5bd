"""`surefoot compare`: policies side by side on the same worlds and noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

from surefoot import __version__
from surefoot.cli import exit_codes
from surefoot.cli.loading import policy_named
from surefoot.cli.output import Output
from surefoot.cli.policy_options import FLAG, options_of
from surefoot.cli.sweep import watching
from surefoot.comparing import compare
from surefoot.comparing.asking import POLICIES as USUAL_POLICIES
from surefoot.comparing.asking import WORLDS as USUAL_WORLDS
from surefoot.comparing.driver import DELTAS
from surefoot.comparing.report import check_report
from surefoot.errors import InvalidInput, counted
from surefoot.policies import POLICIES, built

FILES = (".toml", ".json")
LIST = "/"  # between values that stand in turn
NAMES = "Write names with commas between them, and options as name:key=value:key=value."


def compare_policies(
    output: Output, policies: list[str] | None, worlds: list[str] | None, delta: str | None, delta_safety: float | None,
    epsilon: float | None, radius: str, runs: int, seed: int, max_pulls: int, confidence: float, folder: Path,
    engine: str, workers: int | None, scheduler: str | None, report: Path | None, force: bool,
) -> int:  # fmt: skip
    """The exit status, once everything is run, told and written."""
    chosen = [policy_of(word) for word in items(policies)] if policies else USUAL_POLICIES
    places = [world_of(word) for word in items(worlds)] if worlds else USUAL_WORLDS
    deltas = DELTAS if delta is None else [number_of("--delta", each) for each in delta.split(",")]
    if report is not None:
        with of_the_report():
            check_report(report, force)
    begun = f"{counted(len(chosen), 'policy', 'policies')}, {counted(runs, 'run')} each, by {engine}, seed {seed}"
    with watching(output, begun) as watch:
        found = compare(
            chosen, places, delta=deltas, delta_safety=delta_safety, epsilon=epsilon, radius=radius, runs=runs,
            seed=seed, max_pulls=max_pulls, confidence=confidence, out=folder, engine=engine, workers=workers,
            scheduler=scheduler, watch=watch,
        )  # fmt: skip
    files = []
    if report is not None:
        typed = [*named("--policies", policies), *named("--worlds", worlds), *named("--delta", delta)]
        typed += [*named("--delta-safety", delta_safety), *named("--epsilon", epsilon), "--radius", radius]
        typed += ["--runs", str(runs), "--seed", str(seed), "--max-pulls", str(max_pulls)]
        with of_the_report():
            files = found.report(report, overwrite=force, command=[" ".join(["surefoot compare", *typed])])
    if output.json:
        table = {**found.to_dict(), "folder": str(folder), "files": [str(each) for each in files]}
        output.json_result({"surefoot": __version__, **table})
        return exit_codes.OK
    lines, _, note = str(found).rpartition("\n")
    output.out.print(lines, soft_wrap=True)
    output.out.print(note, soft_wrap=not output.out.is_terminal)
    output.out.print(f"Runs     {folder}", soft_wrap=True)
    if files:
        output.out.print(f"Report   {files[0]}", soft_wrap=True)
    return exit_codes.OK


def named(option: str, value: Any) -> list[str]:
    """The option as it was typed, nothing if it was not."""
    if value is None:
        return []
    return [option, quote(",".join(value) if isinstance(value, list) else str(value))]


@contextmanager
def of_the_report() -> Iterator[None]:
    """Inside, what is refused about a path is about the report."""
    try:
        yield
    except InvalidInput as error:
        if error.field != "path":
            raise
        raise InvalidInput("--report", error.value, error.reason, error.remedy) from None


# -- words ------------------------------------------------------------------------------------------------------------


def items(words: Sequence[str]) -> list[str]:
    """What stands between commas, in one word or in several."""
    found = [item.strip() for word in words for item in word.split(",")]
    if not all(found):
        raise InvalidInput("--policies or --worlds", ",".join(words), "names nothing between two commas", NAMES)
    return found


def told(word: str) -> tuple[str, dict[str, str]]:
    """A name and its options: name:key=value:key=value. What has no sign = belongs to what stands before it."""
    name, *parts = word.split(":")
    options: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals:
            last = key.strip().replace("-", "_")
            options[last] = value.strip()
        elif options:
            options[last] += f":{part}"
        else:
            name += f":{part}"
    return name, options


def policy_of(word: str) -> Any:
    """The policy that the word names: a table for one of ours, so that it gets the sets of all; else an object."""
    name, given = told(word)
    with of_the_option("--policy", "--policies"):
        kind = policy_named(name)
    known = {option.name: option for option in options_of(kind)}
    values: dict[str, Any] = {}
    for key, typed in given.items():
        if key not in known:
            remedy = f"Its options are {', '.join(known)}." if known else "It has no options."
            raise InvalidInput("--policies", word, f"{key} is no option of {name}", remedy)
        with of_the_option(known[key].flag, "--policies"):
            values[key] = flag_of(word, typed) if known[key].form == FLAG else known[key].value(typed)
    if kind in POLICIES.values():
        return {"name": name, **values}
    return built("--policies", kind, values) if isinstance(kind, type) else kind


def flag_of(word: str, typed: str) -> bool:
    """Yes or no."""
    if typed.lower() not in ("true", "false"):
        raise InvalidInput("--policies", word, "has a switch that is neither true nor false", "Write true or false.")
    return typed.lower() == "true"


def world_of(word: str) -> dict[str, Any]:
    """The table of the world that the word names: one of the package, or a problem file."""
    name, given = told(word)
    return {"file" if name.endswith(FILES) else "name": name, **{key: value_of(text) for key, text in given.items()}}


def value_of(text: str) -> Any:
    """What was typed for a setting: values in turn, a number, or a word."""
    if LIST in text:
        return [value_of(each) for each in text.split(LIST)]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def number_of(field: str, typed: str) -> float:
    """What was typed, as a number."""
    try:
        return float(typed)
    except ValueError:
        raise InvalidInput(field, typed, "must be a number", "For example 0.05, or 0.1,0.01,0.001.") from None


@contextmanager
def of_the_option(field: str, other: str) -> Iterator[None]:
    """Inside, what is refused of this option is refused of the other, which it was typed in."""
    try:
        yield
    except InvalidInput as error:
        if error.field != field:
            raise
        raise InvalidInput(other, error.value, error.reason, error.remedy) from None
