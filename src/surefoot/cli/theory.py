"""`surefoot theory`: what the theory says about a problem file."""

from __future__ import annotations

from pathlib import Path

from surefoot.cli import exit_codes
from surefoot.cli.output import Output
from surefoot.theory import Report, report
from surefoot.worlds.files import posed_in


def tell_theory(output: Output, file: Path) -> int:
    """The exit status, once the theory of the problem in the file is told."""
    posed = posed_in(file)
    found = report(posed.problem) if posed.world is None else report(posed.problem, posed.world)
    if output.json:
        output.json_result({"fingerprint": posed.problem.fingerprint, **found.to_dict()})
    else:
        tell(output, found)
    return exit_codes.OK


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
