"""`surefoot sweep`: many settings and many runs, on one machine or on many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.cli import exit_codes
from surefoot.cli.interruption import telling
from surefoot.cli.output import Output
from surefoot.errors import counted
from surefoot.pages import aligned
from surefoot.progress import many_bars
from surefoot.sweeping import Sweep, sweep
from surefoot.sweeping.plans import plan_of
from surefoot.sweeping.tables import settings_of
from surefoot.sweeping.work import Watch, kept_in

SHOWN = 40  # cells of the table on the terminal
ALWAYS = ("world", "policy")
NEVER = ("cell", "arms", "features")
RATES = ("wrong", "unsafe")
LINES = 10  # that tell of progress away from a terminal


def sweep_plan(
    output: Output, file: Path, out: Path, engine: str, workers: int | None, scheduler: str | None, runs: int | None,
    seed: int | None, confidence: float,
) -> int:  # fmt: skip
    """The exit status, once the sweep is run, written and told."""
    plan = plan_of(file, runs=runs, seed=seed)
    with telling(kept_in(out)), watching(output, f"{plan.size} by {engine}, seed {plan.seed}") as watch:
        done = sweep(
            plan, out=out, engine=engine, workers=workers, scheduler=scheduler, confidence=confidence, watch=watch
        )
    rows = done.summary()
    if output.json:
        output.json_result(told_to_programs(done, engine, rows))
    else:
        tell(output, done, rows)
    return exit_codes.OK


@contextmanager
def watching(output: Output, begun: str) -> Iterator[Watch]:
    """These words, and what to call when runs are finished: a bar on a terminal, elsewhere a line now and then."""
    if not output.shows_progress:
        yield lambda done, total: None
        return
    output.err.print(begun, soft_wrap=True)
    if not output.err.is_terminal:
        yield lines(output)
        return
    with many_bars(output.err) as show:
        yield lambda done, total: show("runs", done, total)


def lines(output: Output) -> Watch:
    """A line when runs are there from before, and one for every tenth of the whole."""
    told = -1

    def watch(done: int, total: int) -> None:
        nonlocal told
        if told < 0 and done:
            output.err.print(f"{done:,} of {total:,} runs are there from before")
        tenths = LINES * done // total
        if told >= 0 and tenths > told:
            output.err.print(f"{done:,} of {total:,} runs")
        told = tenths

    return watch


def told_to_programs(done: Sweep, engine: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Everything about the sweep, for a program to read."""
    return {
        "surefoot": __version__,
        "folder": str(done.folder),
        "engine": engine,
        "seed": done.plan.seed,
        "runs": done.plan.runs,
        "cells": list(rows),
    }


def tell(output: Output, done: Sweep, rows: Sequence[dict[str, Any]]) -> None:
    """Prints a row for each cell, and where everything is."""
    names = varied([settings_of(cell) for cell in done.plan.cells])
    lines = [[*(name.removeprefix("world_").removeprefix("policy_") for name in names), "pulls", "certified", *RATES]]
    for row in rows[:SHOWN]:
        certified = f"{row['certified_runs']:,} of {row['runs']:,}"
        lines.append(
            [*(shown(row.get(name)) for name in names), pulls(row), certified, *(rate(row, of) for of in RATES)]
        )
    for line in aligned(lines, left=len(names)):
        output.out.print(line, soft_wrap=True)
    if len(rows) > SHOWN:
        output.out.print(f"... and {counted(len(rows) - SHOWN, 'more cell')}: all are in summary.csv.")
    level = f"{100 * done.confidence:g} % intervals"
    note = f"Mean pulls of certified runs; wrong answers, and runs with an unsafe pull; {level}."
    output.out.print(note, soft_wrap=not output.out.is_terminal)
    output.out.print(f"Cells    {done.folder / 'summary.parquet'} and .csv", soft_wrap=True)
    output.out.print(f"Runs     {done.folder / 'runs'}, Parquet", soft_wrap=True)


def varied(settings: Sequence[dict[str, Any]]) -> list[str]:
    """The columns that tell the cells apart: world, policy, and of their settings those that are needed for it."""
    found = list(ALWAYS)
    for name in dict.fromkeys(name for each in settings for name in sorted(each, key=is_derived)):
        if name not in (*NEVER, *ALWAYS) and groups(settings, [*found, name]) > groups(settings, found):
            found.append(name)
    return found


def is_derived(name: str) -> bool:
    """Whether the column may follow from others, as epsilon does from a world's parameters."""
    return not name.startswith(("world_", "policy_"))


def groups(settings: Sequence[dict[str, Any]], names: Sequence[str]) -> int:
    """How many cells these columns tell apart."""
    return len({tuple(shown(each.get(name)) for name in names) for each in settings})


def shown(value: Any) -> str:
    """A setting in a table."""
    if isinstance(value, dict):
        return " ".join(str(each) for each in value.values())
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def pulls(row: dict[str, Any]) -> str:
    """Mean pulls with their interval."""
    if row["pulls_mean"] is None:
        return "-"
    half = "" if row["pulls_upper"] is None else f" ± {row['pulls_upper'] - row['pulls_mean']:,.1f}"
    return f"{row['pulls_mean']:,.1f}{half}"


def rate(row: dict[str, Any], name: str) -> str:
    """How many runs, and between which shares they lie."""
    low, high = (f"{100 * row[f'{name}_{end}']:.3g}" for end in ("lower", "upper"))
    return f"{row[f'{name}_runs']:,} [{low}, {high} %]"
