"""A finished comparison: its rows, as a table for people, a data frame, pictures and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot import frames
from surefoot.cards import card
from surefoot.comparing import drawing
from surefoot.comparing.rows import Row
from surefoot.comparing.words import HEAD, TEXT_COLUMNS, cells_of, note_of, once
from surefoot.errors import counted
from surefoot.pages import aligned


@dataclass(frozen=True, eq=False)
class Comparison:
    """Who took how many pulls where, how often wrong and how often unsafe, on the same noise."""

    rows: tuple[Row, ...]
    deltas: tuple[float, ...]
    radius: str  # which sets all have that can
    runs: int  # of each row
    seed: int
    max_pulls: int
    confidence: float

    def __repr__(self) -> str:
        return f"Comparison({self.size})"

    @property
    def size(self) -> str:
        """How much it is, in words."""
        parts = (counted(len(self.policies), "policy", "policies"), counted(len(self.worlds), "world"))
        return f"{' x '.join((*parts, counted(len(self.deltas), 'delta')))}, {counted(self.runs, 'run')} each"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def policies(self) -> list[str]:
        """How the policies are called, in the order that they were named in."""
        return list(dict.fromkeys(row.contender.label for row in self.rows))

    @property
    def worlds(self) -> list[str]:
        """How the worlds are called."""
        return list(dict.fromkeys(row.arena.label for row in self.rows))

    def __getitem__(self, key: tuple[str, str, float] | tuple[str, str]) -> Row:
        """The row of a world, a policy and a delta, the smallest if none is given."""
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            raise KeyError(key)
        world, policy = key[0], key[1]
        delta = key[2] if len(key) > 2 else self.deltas[-1]
        for row in self.rows:
            if (row.arena.label, row.contender.label, row.problem.delta) == (world, policy, delta):
                return row
        raise KeyError(key)

    def summary(self) -> list[dict[str, Any]]:
        """One table per row, the same columns in each."""
        return [row.to_dict() for row in self.rows]

    def frame(self, kind: str = frames.PANDAS) -> Any:
        """`summary` as a data frame, pandas or polars."""
        rows = [{**row, "options": None if not row["options"] else str(row["options"])} for row in self.summary()]
        return frames.frame_from({name: drawing.column([row[name] for row in rows]) for name in rows[0]}, kind)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            "radius": self.radius, "deltas": list(self.deltas), "runs": self.runs, "seed": self.seed,
            "max_pulls": self.max_pulls, "confidence": self.confidence, "rows": self.summary(),
        }  # fmt: skip

    def drawn(self, picture: str) -> dict[str, Any]:
        """The columns behind one of the pictures in `sf.plots`."""
        return drawing.DRAWN[picture](self.rows)

    def report(self, path: str | Path, *, overwrite: bool = False, command: Sequence[str] = ()) -> list[Path]:
        """The files that were written: one page, .html or .md by its ending, and the pictures beside one in Markdown.

        `command` are lines that make it again, to be shown on the page.
        """
        from surefoot.comparing.report import write_report

        return write_report(self, path, overwrite=overwrite, command=command)

    def __str__(self) -> str:
        """The table, a line for each row, and what it means."""
        shown = once(self.rows)
        head, *lines = aligned([HEAD, *map(cells_of, shown)], left=TEXT_COLUMNS)
        told, world = [], None
        for row, line in zip(shown, lines, strict=True):
            if row.arena.label != world:
                world = row.arena.label
                told += ["", world, head]
            told.append(line if row.refused is None else f"{line}  refuses: {row.refused}")
        return "\n".join([*told[1:], "", note_of(self.rows, self.runs, self.confidence)])

    def _repr_html_(self) -> str:
        facts = [("policies", ", ".join(self.policies)), ("worlds", ", ".join(self.worlds))]
        return card(repr(self), facts=facts)
