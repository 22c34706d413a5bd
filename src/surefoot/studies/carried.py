"""A study that was carried here in a file: its settings, and its events as they are to be stored. Each value is looked
at before it is used, so that nothing is left for a storage to refuse."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from surefoot.problem.checks import text
from surefoot.storage.chain import chained, line_of, origin_of
from surefoot.storage.protocol import COLUMNS, Arms, StudyRow
from surefoot.storage.tables import studies
from surefoot.studies.archives import FREE, LARGEST_ARMS, Archive, Unfit, parsed, whole_number
from surefoot.studies.carried_events import LAST_MOMENT, MOST, OTHER, Looking, real, short_text
from surefoot.studies.events import Event

WIDTHS = {name: getattr(studies.c[name].type, "length", None) for name in StudyRow.__annotations__}
PAGE = 10_000  # events that are replayed at once


class Carried:
    """A study in an archive; iterated over, its events as they are to be stored, as often as wanted."""

    def __init__(self, archive: Archive, name: str | None = None) -> None:
        self._archive = archive
        table = archive.table()
        self.arms = arms_in(table, archive)
        self.events = archive.events if archive.events is not None else sum(1 for _ in archive.lines())
        row = row_in(table, first_format=archive.first_format)
        if archive.first_format:
            row = replace(row, unchained=self.events)  # they are chained now
        if row.unchained > self.events:
            raise Unfit(f"holds unchained = {row.unchained:,}, more than its events")
        self.row = row if name is None else replace(row, name=name)
        self.origin = origin_of(self.row, self.arms.digest)

    def __iter__(self) -> Iterator[Event]:
        look = Looking(self.arms.count, self.events)
        return chained(self.origin, (look(each) for each in self._plain_events()))

    def pages(self) -> Iterator[list[list[Any]]]:
        """The events in the order of `COLUMNS`, page by page; after the last, that they are as many as they were, and
        end in the head that was written."""
        page: list[list[Any]] = []
        count, head = 0, self.origin
        for event in self:
            page.append([event.get(column) for column in COLUMNS])
            count, head = count + 1, event["hash"]
            if len(page) == PAGE:
                yield page
                page = []
        yield page
        if count != self.events:
            raise Unfit(f"holds {count:,} events, and {self.events:,} were written")
        if not self._archive.first_format and head.hex() != self._archive.manifest["head"]:
            raise Unfit("holds events or settings that do not fit the head of its hash chain, so they were changed")

    def _plain_events(self) -> Iterator[Event]:
        """The events as they are written; those that are chained in the very bytes that are hashed."""
        for line in self._archive.lines():
            found = parsed(line.decode("ascii"), strict=False)
            if not isinstance(found, dict):
                raise Unfit("holds an event that is no table")
            if self._archive.first_format:
                found = {field: value + 0.0 if type(value) is float else value for field, value in found.items()}
            elif line_of(found) != line:
                raise Unfit(f"holds an event that is not in canonical form: {line[:80].decode('ascii')}")
            yield found


def arms_in(table: Any, archive: Archive) -> Arms:
    """The arms; that their shape and their content fit is found out before they are unpacked."""
    shape = table.pop("arms", None) if isinstance(table, dict) else None
    if not isinstance(shape, dict) or set(shape) != {"count", "dimension"}:
        raise Unfit("must say how many arms there are, and of how many features")
    count = whole_number("arms.count", shape["count"], 1, LARGEST_ARMS // 8)
    dimension = whole_number("arms.dimension", shape["dimension"], 1, LARGEST_ARMS // 8)
    return Arms(count, dimension, archive.arms(count, dimension))


def row_in(table: dict[str, Any], *, first_format: bool) -> StudyRow:
    """The settings of the study. What they mean is found out by whoever reads them; that they can be stored, here."""
    wanted = set(StudyRow.__annotations__) - ({"unchained"} if first_format else set())
    if set(table) != wanted:
        odd = sorted(set(table) ^ wanted)
        raise Unfit(f"must have a study.json with {', '.join(sorted(wanted))}: see {', '.join(map(repr, odd))[:200]}")
    text("name", table["name"], OTHER)
    for field in ("problem", "policy"):
        if not isinstance(table[field], str) or not isinstance(parsed(table[field]), dict):
            raise Unfit(f"holds {field}, which must be a table in JSON")
    names = parsed(table["problem"]).get("names")
    if not isinstance(names, list):
        raise Unfit("must name its arms")
    for field in ("fingerprint", "fold", "created_by"):
        short_text(field, table[field], WIDTHS[field] or FREE)
    whole_number("seed", table["seed"], 0, MOST)
    if table["max_pulls"] is not None:
        whole_number("max_pulls", table["max_pulls"], 1, MOST)
    real("alarm_level", table["alarm_level"], 0.0, 1.0)
    whole_number("created_at", table["created_at"], 0, LAST_MOMENT)
    whole_number("unchained", table.get("unchained", 0), 0, MOST)
    return StudyRow(**table)
