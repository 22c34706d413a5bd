"""`surefoot theory`: what the theory says about a problem file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surefoot.cli import exit_codes
from surefoot.cli.output import Output
from surefoot.cli.scenario import scenario_of
from surefoot.problem import Problem
from surefoot.problem.files import read_table
from surefoot.theory import Report, report


def tell_theory(output: Output, file: Path) -> int:
    """The exit status, once the theory of the problem in the file is told."""
    if "world" in read_table(file):
        scenario = scenario_of(file, None)
        problem, found = scenario.problem, report(scenario.problem, scenario.world)
    else:
        problem = Problem.load(file)
        found = report(problem)
    if output.json:
        output.document(document(problem, found))
    else:
        tell(output, found)
    return exit_codes.OK


def document(problem: Problem, found: Report) -> dict[str, Any]:
    """The theory, for a program to read."""
    return {"fingerprint": problem.fingerprint, **found.to_dict()}


def tell(output: Output, found: Report) -> None:
    """Prints the theory line by line, then the notes on what does not apply."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    notes = []
    for label, text in found.lines():
        if label == "note":
            notes.append(text)
        else:
            table.add_row(Text(label), Text(text))
    output.out.print(table)
    for note in notes:
        output.out.print(Text(f"Note     {note}", "dim"), soft_wrap=not output.out.is_terminal)
    if not found.truth_known:
        hint = "Add a [world] table with the truth for the lower bound and the oracle allocation."
        output.out.print(Text(f"Note     {hint}", "dim"), soft_wrap=not output.out.is_terminal)
