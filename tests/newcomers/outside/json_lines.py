"""A store from outside: all studies in one file, one line of JSON for each step that was kept."""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import RLock
from typing import Any

from surefoot.errors import KeyUsed, StorageDamaged, StudyExists, StudyNotFound
from surefoot.storage.protocol import COLUMNS, Arms, StudyRow

_in_this_process = RLock()  # a lock on a file holds between processes


class Events:
    def __init__(self, kept: Sequence[Mapping[str, Any]], address: str) -> None:
        self.kept, self.new, self.address = list(kept), [], address

    def after(self, sequence: int) -> Iterator[tuple[Any, ...]]:
        for event in self.kept:
            if event["sequence"] > sequence:
                yield tuple(event[name] for name in COLUMNS)

    def of_pull(self, number: int) -> list[dict[str, Any]]:
        found = [dict(event) for event in self.kept if event["number"] == number and event["step"] is not None]
        return sorted(found, key=lambda event: event["step"])

    def at(self, sequence: int) -> dict[str, Any] | None:
        return next((dict(event) for event in self.kept if event["sequence"] == sequence), None)

    def all(self) -> Iterator[dict[str, Any]]:
        yield from (dict(event) for event in self.kept)

    def keyed(self, key: str) -> dict[str, Any] | None:
        return next((dict(event) for event in self.kept if event["key"] == key), None)

    def now(self) -> int:
        return time.time_ns() // 1_000

    def append(self, events: Iterable[Mapping[str, Any]]) -> None:
        for event in events:
            whole = {name: event.get(name) for name in COLUMNS}
            taken = self.at(whole["sequence"]) is not None or whole["kind"] is None
            used = whole["step"] is not None and whole["step"] in [e["step"] for e in self.of_pull(whole["number"])]
            if taken or used or (whole["key"] is not None and self.keyed(whole["key"])):
                raise StorageDamaged(self.address, f"was to keep an event that cannot be: {whole}")
            self.kept.append(whole)
            self.new.append(whole)


class JsonLines:
    """Studies in one file."""

    def __init__(self, path: Path) -> None:
        self.path, self.address = Path(path), f"jsonl:{path}"

    def create(self, study: StudyRow, arms: Arms, events: Iterable[Mapping[str, Any]] = ()) -> int:
        with self._alone():
            lines = self._lines()
            if any(row.name == study.name for _, row, _, _ in self._studies(lines).values()):
                raise StudyExists(study.name, self.address)
            first = Events([], self.address)
            first.append(events)
            identity = 1 + sum("row" in line for line in lines)
            table = asdict(arms) | {"content": arms.content.hex()}
            self._keep({"study": identity, "row": asdict(study), "arms": table, "events": first.new})
            return identity

    def find(self, name: str) -> tuple[int, StudyRow, Arms]:
        for identity, row, arms, _ in self._studies(self._lines()).values():
            if row.name == name:
                return identity, row, arms
        raise self._missing(name)

    def listed(self) -> list[dict[str, Any]]:
        found = [asdict(row) | {"events": len(kept)} for _, row, _, kept in self._studies(self._lines()).values()]
        return sorted(found, key=lambda each: each["name"])

    def delete(self, name: str, key: str | None = None) -> None:
        with self._alone():
            used = [line["deleted"] for line in self._lines() if key is not None and line.get("key") == key]
            if used and used != [name]:
                raise KeyUsed(str(key), f"delete the study {used[0]!r}")
            if not used:
                self._keep({"study": self.find(name)[0], "deleted": name, "key": key})

    def write(self, study: int, name: str, work: Callable[[Events], Any], meanwhile: Any = None) -> Any:
        with self._alone():
            events = self._events(study, name)
            result = work(events)
            if events.new:
                self._keep({"study": study, "events": events.new})
            return result

    def read(self, study: int, name: str, work: Callable[[Events], Any]) -> Any:
        return work(self._events(study, name))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with _in_this_process, self.path.with_suffix(".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _keep(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a+b") as file:
            file.truncate(whole(self.path.read_bytes()))
            file.write(json.dumps(line, default=lambda value: {"hex": value.hex()}).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _lines(self) -> list[dict[str, Any]]:
        text = self.path.read_bytes() if self.path.exists() else b""
        return [json.loads(line, object_hook=_bytes_again) for line in text[: whole(text)].splitlines()]

    def _studies(self, lines: list[dict[str, Any]]) -> dict[int, tuple[int, StudyRow, Arms, list[Any]]]:
        found: dict[int, tuple[int, StudyRow, Arms, list[Any]]] = {}
        for line in lines:
            identity = line["study"]
            if "row" in line:
                arms = Arms(**{**line["arms"], "content": bytes.fromhex(line["arms"]["content"])})
                found[identity] = (identity, StudyRow(**line["row"]), arms, list(line["events"]))
            elif "deleted" in line:
                del found[identity]
            else:
                found[identity][3].extend(line["events"])
        return found

    def _events(self, study: int, name: str) -> Events:
        found = self._studies(self._lines()).get(study)
        if found is None:
            raise self._missing(name)
        return Events(found[3], self.address)

    def _missing(self, name: str) -> StudyNotFound:
        return StudyNotFound(name, self.address, [row["name"] for row in self.listed()])


def whole(text: bytes) -> int:
    """Where the last whole line ends: what follows was cut off by a crash, and never happened."""
    return text.rfind(b"\n") + 1


def _bytes_again(table: dict[str, Any]) -> Any:
    return bytes.fromhex(table["hex"]) if set(table) == {"hex"} else table
