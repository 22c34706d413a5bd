"""What the runs say, as numbers: rows of Table 1, protocols that fit, and the curves of the figures."""

from dataclasses import dataclass
from typing import Any

from surefoot.reproduction import curves, paper
from surefoot.reproduction.cells import lingape_cell, safe_cell
from surefoot.reproduction.curves import Curve, curve
from surefoot.reproduction.plans import TABLE, Plan
from surefoot.reproduction.protocols import (
    CONFIDENCES,
    Played,
    Protocol,
    Row,
    lingape_cells,
    protocols_of,
    row_of,
    rows_of,
    safe_cells,
)


@dataclass(frozen=True)
class TableOne:
    """Table 1, measured."""

    ours: dict[str, tuple[paper.Printed, Row]]  # by our own protocol
    lingape: list[Row]
    safe: list[Row]
    protocols: list[Protocol]

    def fitting(self, confidence: float) -> list[Protocol]:
        """The protocols under which both printed rows are ordinary, most ordinary first."""
        found = [protocol for protocol in self.protocols if protocol.fits(confidence)]
        return sorted(found, key=lambda protocol: -least_tail(protocol))


def least_tail(protocol: Protocol) -> float:
    """How far out the most extreme of the four printed numbers lies; small is far."""
    rows = (protocol.lingape, protocol.safe)
    return min(min(row.pulls_position.tail, row.unsafe_position.tail) for row in rows)


def table_one(played: Played) -> TableOne:
    """Table 1 from the runs of its cells."""
    lingape = rows_of(lingape_cells(), paper.LINGAPE, played)
    safe = rows_of(safe_cells(), paper.SAFE_LINGAPE, played)
    ours = {
        "LinGapE": (paper.LINGAPE, row_of(lingape_cell(None), True, paper.LINGAPE, played)),
        "Safe-LinGapE, conservative": (
            paper.SAFE_LINGAPE, row_of(safe_cell("dynamic", "conservative"), True, paper.SAFE_LINGAPE, played)
        ),
        "Safe-LinGapE, optimistic": (
            paper.SAFE_LINGAPE, row_of(safe_cell("dynamic", "optimistic"), True, paper.SAFE_LINGAPE, played)
        ),
    }  # fmt: skip
    return TableOne(ours, lingape, safe, protocols_of(lingape, safe))


Panels = dict[str, list[Curve]]  # what is drawn -> its curves


def panels_of(experiment: str, quick: bool, played: Played) -> Panels:
    """The curves of a figure."""

    def lines(cells: curves.Cells, quantity: curves.Quantity) -> list[Curve]:
        return [curve(name, by_x, played, quantity) for name, by_x in cells.items()]

    if experiment == "fig-a":
        return {"level": lines(curves.exploration_cells(quick), curves.level_of(1))}
    if experiment == "fig-b":
        cells = curves.limit_cells(quick)
        arms = range(paper.DIM + 1)
        panels = {
            name: [curve(f"arm {k + 1}", by_x, played, curves.level_of(k)) for k in arms]
            for name, by_x in cells.items()
        }
        whole_runs = {curves.DYNAMIC: cells[curves.DYNAMIC]}
        return {**panels, "wrong": lines(whole_runs, curves.wrong_answers)}
    if experiment == "fig-c":
        cells = curves.dimension_cells(quick)
        quantities = {"pulls": curves.pulls_to_stop, "wrong": curves.wrong_answers, "undecided": curves.no_answer}
        return {what: lines(cells, quantity) for what, quantity in quantities.items()}
    cells = curves.violation_cells(quick)
    pooled = [curves.unsafe_runs(name, cells[name], played) for name in curves.SAFE.values()]
    return {"violations": lines(cells, curves.violations), "unsafe runs": pooled}


@dataclass(frozen=True)
class Findings:
    """What the runs say: Table 1, if it was asked for, and the curves of the figures that were."""

    table: TableOne | None
    figures: dict[str, Panels]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, texts, lists and dicts."""
        found: dict[str, Any] = {} if self.table is None else {TABLE: table_as_dict(self.table)}
        for experiment, panels in self.figures.items():
            found[experiment] = {
                what: {each.name: [point._asdict() for point in each.points] for each in curves}
                for what, curves in panels.items()
            }
        return found


def findings_of(plan: Plan, played: Played) -> Findings:
    """What the runs of the experiments say."""
    return Findings(
        table_one(played) if TABLE in plan.experiments else None,
        {name: panels_of(name, plan.quick, played) for name in plan.figures},
    )


def table_as_dict(table: TableOne) -> dict[str, Any]:
    """Table 1 as plain numbers."""
    return {
        "ours": {name: row_as_dict(row) for name, (_, row) in table.ours.items()},
        "lingape": [row_as_dict(row) for row in table.lingape],
        "safe_lingape": [row_as_dict(row) for row in table.safe],
        "protocols": len(table.protocols),
        "fitting": {
            f"{confidence:g}": [
                {"lingape": row_label(each.lingape), "safe_lingape": row_label(each.safe), "tail": least_tail(each)}
                for each in table.fitting(confidence)
            ]
            for confidence in CONFIDENCES
        },
    }


def row_label(row: Row) -> dict[str, Any]:
    """The reading that a row follows."""
    return {**row.cell.described(), "counted": row.counted}


def row_as_dict(row: Row) -> dict[str, Any]:
    """A row as plain numbers."""
    return {
        **row_label(row),
        "runs": row.runs,
        "undecided": row.undecided,
        "pulls": row.pulls._asdict(),
        "sd": row.sd,
        "unsafe_share": row.unsafe._asdict(),
        "wrong_rate": row.wrong._asdict(),
        "means_of_ten": {
            what: {
                "printed": at.printed, "at_most": at.at_most, "at_least": at.at_least,
                "quantiles": {f"{q:g}": value for q, value in at.quantiles.items()},
            }
            for what, at in (("pulls", row.pulls_position), ("unsafe_share", row.unsafe_position))
        },
        "fits": {f"{confidence:g}": row.fits(confidence) for confidence in CONFIDENCES},
    }  # fmt: skip
