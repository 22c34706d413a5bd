"""`surefoot study list`: the studies of a storage. It opens none, so it needs no policy and no numbers."""

from __future__ import annotations

from surefoot.characters import in_one_line
from surefoot.cli import exit_codes
from surefoot.cli.output import Output
from surefoot.storage.addresses import address_of
from surefoot.studies.listing import list_studies

TAKEN_IN = {"by-number": "by number", "on-arrival": "as they come"}


def list_all(output: Output, storage: str | None) -> int:
    """The studies of the storage."""
    found, where = list_studies(storage), str(address_of(storage))
    if output.json or not found:
        return output.answer({"storage": where, "studies": found}, f"No studies in {where}.")
    from rich.table import Table
    from rich.text import Text

    table = Table("study", "created", "policy", "results", "events", box=None, pad_edge=False, header_style="dim")
    table.columns[-1].justify = "right"
    for row in found:
        created, intake = (row["created_at"] or "")[:16].replace("T", " "), TAKEN_IN.get(row["intake"], "")
        policy, events = row["policy"] or "unreadable", "" if row["events"] is None else f"{row['events']:,}"
        table.add_row(Text(in_one_line(row["name"])), created, Text(policy), intake, events)
    output.out.print(table)
    return exit_codes.OK
