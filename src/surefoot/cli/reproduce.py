"""`surefoot reproduce`: the paper's experiments, and where the printed numbers lie among many runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.cli import exit_codes
from surefoot.cli.output import Output
from surefoot.progress import many_bars
from surefoot.reproduction import Reproduction, reproduce
from surefoot.reproduction.conclusions import conclusions
from surefoot.reproduction.driver import Watch
from surefoot.reproduction.findings import TableOne


def reproduce_paper(
    output: Output, experiments: Sequence[str], out: Path, runs: int | None, quick: bool, seed: int, engine: str,
    workers: int | None, scheduler: str | None,
) -> int:  # fmt: skip
    """The exit status, once the experiments are run, written and told."""
    with watching(output) as watch:
        done = reproduce(
            experiments, out=out, runs=runs, quick=quick, seed=seed, engine=engine, workers=workers,
            scheduler=scheduler, watch=watch,
        )  # fmt: skip
    if output.json:
        output.json_result(told_to_programs(done))
    else:
        tell(output, done)
    return exit_codes.OK


@contextmanager
def watching(output: Output) -> Iterator[Watch]:
    """What to call when runs are finished: a bar for each experiment on a terminal, elsewhere a line at its end."""
    if not output.shows_progress:
        yield lambda experiment, done, total: None
        return
    if not output.err.is_terminal:
        yield lines(output)
        return
    with many_bars(output.err) as show:
        yield lambda experiment, done, total: show(f"{experiment:<7}", done, total)


def lines(output: Output) -> Watch:
    """A line when an experiment begins with runs that are there already, and one when all its runs are."""
    begun: set[str] = set()

    def watch(experiment: str, done: int, total: int) -> None:
        if experiment not in begun and 0 < done < total:
            output.err.print(f"{experiment}: {done:,} of {total:,} runs are there from before")
        begun.add(experiment)
        if done == total:
            output.err.print(f"{experiment}: {total:,} runs")

    return watch


def told_to_programs(done: Reproduction) -> dict[str, Any]:
    """Everything about the reproduction, for a program to read."""
    return {
        "surefoot": __version__,
        "command": done.plan.command,
        "runs": done.plan.runs,
        "quick": done.plan.quick,
        "seed": done.plan.seed,
        "folder": str(done.folder),
        "files": [path.name for path in done.files],
        "experiments": done.findings.to_dict(),
    }


def tell(output: Output, done: Reproduction) -> None:
    """Prints Table 1 with what follows from it, and where everything is."""
    out = output.out
    if done.findings.table is not None:
        tell_table(output, done.plan.runs, done.findings.table)
    figures = ", ".join(path.stem for path in done.files if path.suffix == ".png")
    if figures:
        out.print(f"Figures  {figures} in {done.folder}", soft_wrap=True)
    out.print(f"Report   {done.folder / 'report.html'}", soft_wrap=True)
    out.print(f"Runs     {done.folder / 'runs-*.csv'} and .parquet", soft_wrap=True)


def tell_table(output: Output, runs: int, found: TableOne) -> None:
    """Prints Table 1 beside the printed one, and the conclusions."""
    from rich.table import Table
    from rich.text import Text

    from surefoot.reproduction import formatting as fmt

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Table 1", header_style="dim", no_wrap=True)
    for title in ("printed", "mean pulls", "means of ten", "printed at", "unsafe"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, (printed, row) in found.ours.items():
        half = (row.pulls.upper or 0.0) - (row.pulls.estimate or 0.0)
        table.add_row(
            name.replace("Safe-LinGapE, ", "Safe, "), f"{printed.pulls:,.1f}",
            f"{fmt.pulls(row.pulls.estimate)} ± {fmt.pulls(half)}", fmt.central(row.pulls_position),
            fmt.percent(row.pulls_position.at_most), fmt.percent(row.unsafe.estimate),
        )  # fmt: skip
    output.out.print(table)
    note = (
        f"Up to {runs:,} runs with 95 % intervals; the central 95 % of means of ten runs, and the share of them that "
        "are at most the printed number."
    )
    output.out.print(Text(note, "dim"), soft_wrap=not output.out.is_terminal)
    for text in conclusions(found):
        output.out.print(Text(f"- {text}"), soft_wrap=not output.out.is_terminal)
