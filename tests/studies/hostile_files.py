"""Exports of studies, changed by someone who means harm and knows the format: checksums and chain are made to fit."""

import hashlib
import io
import json
import random
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from surefoot.storage.chain import VERSION, line_of

STUDY, ARMS, EVENTS, MANIFEST = "study.json", "arms.f8", "events.jsonl", "manifest.json"
DEEP = "<deep>"  # in its place comes what is nested very deeply
NUMBERS = [
    0, 1, -1, 2, 7, 2**31, 2**62, 2**63, 2**64, -(2**63) - 1, 10**400, 10**4000, 0.0, -0.0, 0.5, 1.0, 2.0, -1e-300,
    5e-324, 1e99, 1e101, 1.7e308, float("nan"), float("inf"), -float("inf"),
]  # fmt: skip
WORDS = [
    "", " ", "a", "a" * 17, "a" * 201, "a" * 70_000, "\x00", "\x1b[2J", "a\nb", "\ud800", "\u202eabc", "é" * 200,
    "null", "{}", "[]", '{"rows": 1000000000000}', '{"rows": 1, "order": "as measured"}', '{"rows": true, "order": []}',
    '{"outcome": "certified", "pulls": 1, "certificate": {}, "recommendation": {}}', "[" * 100_000, "ask", "tell",
    "add",
    "end", "table", "key", "late", "void", "correct", "hold-all", "freeze", "alarm", "recall", "order", "arrival",
    "uniform",
    "../../etc/passwd", "%s%n", "'; drop table surefoot_studies; --",
]  # fmt: skip
OTHERS: list[Any] = [
    None, True, False, [], {}, [None], [[]], [1.0], [1.0] * 7, ["a"], {"a": 1}, {"name": "uniform"}, DEEP, [DEEP],
    [float("nan")], {"": None},
]  # fmt: skip
HOSTILE = [*NUMBERS, *WORDS, *OTHERS]
KEYS = [
    "study",
    "id",
    "hash",
    "arms_file",
    "home",
    "versions",
    "unchained",
    "names",
    "x",
    "",
    "\x00",
    "key",
    "reason",
    "level",
]


def members_of(path: Path) -> dict[str, bytes]:
    """What is in an export."""
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def archive(members: list[tuple[str, bytes]], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these members, in this order, whatever they are."""
    content = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(content, "w", packing) as file:
        warnings.simplefilter("ignore")  # one name twice
        for name, held in members:
            file.writestr(zipfile.ZipInfo(name), held, packing)
    return content.getvalue()


def fitted(members: dict[str, bytes]) -> dict[str, bytes]:
    """The members with a manifest that fits them, chain and all."""
    manifest = json.loads(members[MANIFEST])
    manifest["sha256"] = {name: hashlib.sha256(members[name]).hexdigest() for name in (STUDY, ARMS, EVENTS)}
    if "head" in manifest:
        lines = members[EVENTS].split(b"\n")[:-1]
        manifest |= {"events": len(lines), "head": head_of(members, lines)}
    return members | {MANIFEST: json.dumps(manifest).encode()}


def head_of(members: dict[str, bytes], lines: list[bytes]) -> str:
    """The head of a chain of whatever is there; nonsense where there can be none."""
    try:
        table = json.loads(members[STUDY])
        shape = table.pop("arms")
        digest = hashlib.sha256(f"{shape['count']} {shape['dimension']}\n".encode() + members[ARMS]).hexdigest()
        settings = {name: value for name, value in table.items() if name != "name"} | {"arms": digest}
        before = hashlib.sha256(VERSION + line_of(settings)).hexdigest()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        before = "0" * 64
    for line in lines:
        before = hashlib.sha256(f"{before}\n".encode() + line).hexdigest()
    return before


def written(value: Any) -> str:
    """The value as JSON, in canonical form as far as it has one."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).replace(f'"{DEEP}"', "[" * 50_000 + "]" * 50_000)


class Attacker:
    """Draws mutations; the same seed draws the same ones."""

    def __init__(self, members: dict[str, bytes], seed: int) -> None:
        self.members, self.draw = members, random.Random(seed)

    def file(self) -> bytes:
        """One mutated export."""
        ways = [self.bytes_changed, self.members_changed, self.manifest_changed, *[self.study_changed] * 4]
        return self.draw.choice([*ways, *[self.events_changed] * 6])()

    def bytes_changed(self) -> bytes:
        """Bytes of the file itself, here and there."""
        content = bytearray(archive(list(self.members.items())))
        for _ in range(self.draw.choice([1, 1, 2, 8])):
            place, length = self.draw.randrange(len(content)), self.draw.choice([1, 2, 4, 30])
            way = self.draw.randrange(4)
            if way == 0:
                content[place] = self.draw.randrange(256)
            elif way == 1:
                del content[place : place + length]
            elif way == 2:
                content[place:place] = self.draw.randbytes(length)
            else:
                content[place : place + length] = b"\xff" * length
        return bytes(content)

    def members_changed(self) -> bytes:
        """Members cut, swapped, repeated, renamed or added."""
        held = list(self.members.items())
        i, j = self.draw.randrange(4), self.draw.randrange(4)
        name, content = held[i]
        way = self.draw.randrange(8)
        if way == 0:
            del held[i]
        elif way == 1:
            held[i] = name, content[: self.draw.randrange(len(content))]
        elif way == 2:
            held[i], held[j] = (name, held[j][1]), (held[j][0], content)
        elif way == 3:
            held.insert(j, held[i])
        elif way == 4:
            held[i] = self.draw.choice(["../" + name, name.upper(), "", "/" + name]), content
        elif way == 5:
            held.append((self.draw.choice(["x", "study.json/", "..\\x"]), b"x"))
        elif way == 6:
            held[i] = name, content * self.draw.choice([0, 2, 3])
        packing = self.draw.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
        changed = dict(held)
        if way in (1, 2, 6) and self.draw.random() < 0.7:
            with suppress(ValueError, KeyError, TypeError):
                held = list(fitted(changed).items())
        return archive(held, packing if way == 7 else zipfile.ZIP_DEFLATED)

    def manifest_changed(self) -> bytes:
        """What the manifest says."""
        manifest = self.mutated(json.loads(self.members[MANIFEST]))
        return archive(list((self.members | {MANIFEST: written(manifest).encode()}).items()))

    def study_changed(self) -> bytes:
        """What study.json says, also deep inside."""
        table = json.loads(self.members[STUDY])
        inner = self.draw.choice([None, "problem", "policy"])
        if inner is None:
            table = self.mutated(table)
        else:
            table[inner] = written(self.mutated(json.loads(table[inner])))
        arms = self.members[ARMS]
        if self.draw.random() < 0.2:
            arms = self.draw.choice([b"", arms[:-8], arms[:-1], arms * 2, b"\xff" * len(arms), bytes(len(arms))])
        changed = self.members | {STUDY: written(table).encode("utf-8", "surrogatepass"), ARMS: arms}
        return archive(list(fitted(changed).items()))

    def events_changed(self) -> bytes:
        """What happened."""
        lines = self.members[EVENTS].split(b"\n")[:-1]
        for _ in range(self.draw.choice([1, 1, 1, 2, 5])):
            i, j = self.draw.randrange(len(lines)), self.draw.randrange(len(lines))
            way = self.draw.randrange(12)
            if way == 0 and len(lines) > 1:
                del lines[i]
            elif way == 1:
                lines.insert(j, lines[i])
            elif way == 2:
                lines[i], lines[j] = lines[j], lines[i]
            elif way == 3:
                lines[i] = self.draw.choice(
                    [b"", b"{}", b"[]", b"1", b"\xff", lines[i][:-3], lines[i] + b" ", b"{" * 9]
                )
            else:
                one, other = as_table(lines[i]), as_table(lines[j])
                lines[i] = written(self.event_changed(one, other)).encode() if one and other else b"{}"
        if self.draw.random() < 0.6:
            lines = [renumbered(line, k) for k, line in enumerate(lines, start=1)]
        return archive(list(fitted(self.members | {EVENTS: b"".join(line + b"\n" for line in lines)}).items()))

    def event_changed(self, event: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        """One event: a value of another event, another kind with all that it holds, or something hostile."""
        way = self.draw.randrange(4)
        if way == 0:
            field = self.draw.choice(list(other))
            return event | {field: other[field]}
        if way == 1:
            return other | {"sequence": event["sequence"], "number": event.get("number", 1)}
        return self.mutated(event)

    def mutated(self, table: dict[str, Any]) -> dict[str, Any]:
        """The table with a value replaced, somewhere inside, a key taken away or one added."""
        keys = list(table)
        key = self.draw.choice(keys)
        way = self.draw.randrange(8)
        if way == 0:
            del table[key]
        elif way == 1:
            table[self.draw.choice([*KEYS, *keys])] = self.draw.choice(HOSTILE)
        elif isinstance(table[key], dict) and table[key] and way < 6:
            table[key] = self.mutated(table[key])
        elif isinstance(table[key], list) and table[key] and way < 6:
            place = self.draw.randrange(len(table[key]))
            held = table[key][place]
            table[key][place] = self.mutated(held) if isinstance(held, dict) and held else self.draw.choice(HOSTILE)
        else:
            table[key] = self.draw.choice(HOSTILE)
        return table


def renumbered(line: bytes, sequence: int) -> bytes:
    """The line with this sequence, if it is an event."""
    found = as_table(line)
    return written(found | {"sequence": sequence}).encode() if found else line


def as_table(line: bytes) -> dict[str, Any]:
    """What a line says; nothing if it is none, or nested too deeply."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
