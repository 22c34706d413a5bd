"""The address of a storage: what a user writes, checked, and how it is shown.

What follows `sqlite:///` is the path of a file, letter by letter. A password is handed to the driver and shown nowhere:
not by str or repr of an address, and not by the refusal of one that cannot be read, of which only the kind is shown.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from surefoot.errors import InvalidInput

VARIABLE = "SUREFOOT_STORAGE"
DEFAULT = "sqlite:///surefoot.db"
MEMORY = "memory"
FORMS = (
    'Write "sqlite:///power.db" for a file, "postgresql://user@host/database" for a server, or "memory" for storage '
    "that ends with this process."
)
ESCAPES = "Write an @ within a name or a password as %40, a : as %3A and a / as %2F. " + FORMS
SQLITE, SERVERS = ("sqlite", "sqlite+pysqlite"), ("postgresql", "postgres", "postgresql+psycopg")
# What drivers of SQLite take after a question mark: here it would be part of the name.
OPTIONS = (
    "mode", "cache", "immutable", "vfs", "nolock", "psow", "uri", "timeout", "check_same_thread",
    "isolation_level", "detect_types", "cached_statements", "autocommit", "journal_mode", "synchronous", "password",
    "key", "cipher",
)  # fmt: skip
_OPTION = re.compile(rf"\?(.*&)?({'|'.join(OPTIONS)})=", re.IGNORECASE)
# Options of a server that are shown; what others hold may be a secret.
_HARMLESS = (
    "application_name", "client_encoding", "connect_timeout", "dbname", "host", "hostaddr", "keepalives", "port",
    "sslmode", "sslrootcert", "target_session_attrs", "user",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Address:
    """Where a storage is."""

    url: URL  # without the secrets of its options
    path: Path | None  # of an SQLite file
    hidden: tuple[tuple[str, str], ...] = ()  # options of a server that are secret

    @property
    def in_memory(self) -> bool:
        """Whether it ends with this process."""
        return self.url.get_backend_name() == "sqlite" and self.path is None

    @property
    def secrets(self) -> list[str]:
        """What must never be shown."""
        found = [str(self.url.password or ""), *(value for _, value in self.hidden)]
        return [each for each in found if each]

    def arguments(self) -> dict[str, Any]:
        """What the driver of a server is called with."""
        parts = self.url.translate_connect_args(database="dbname", username="user")
        return {**parts, **self.url.query, **dict(self.hidden)}

    def __str__(self) -> str:
        if self.in_memory:
            return MEMORY
        if self.path is not None:
            return f"sqlite:///{self.path}"
        shown = self.url.render_as_string(hide_password=True)
        stars = "&".join(f"{name}=***" for name, _ in self.hidden)
        return f"{shown}{'&' if '?' in shown else '?'}{stars}" if stars else shown

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"


def address_of(storage: object) -> Address:
    """The address that was given, that of SUREFOOT_STORAGE in place of None, or the default."""
    field, written = ("storage", storage)
    if storage is None:
        field, written = (VARIABLE, os.environ[VARIABLE]) if os.environ.get(VARIABLE) else ("storage", DEFAULT)
    if not isinstance(written, str):
        raise InvalidInput(field, written, "must be the address of a storage", FORMS)
    if written == MEMORY:
        return Address(make_url("sqlite://"), None)
    kind, found, rest = written.partition("://")
    if not found or kind not in (*SQLITE, *SERVERS):
        reason = "is of a kind that cannot hold studies" if found else "is not the address of a storage"
        raise InvalidInput(field, masked(written), reason, FORMS)
    return _of_file(field, written, rest) if kind in SQLITE else _of_server(field, written, rest)


def _of_file(field: str, written: str, rest: str) -> Address:
    """The address of a file, whose name may hold anything."""
    if rest in ("", "/", "/:memory:"):
        return Address(make_url("sqlite://"), None)
    name = rest[1:]
    if not rest.startswith("/") or name.startswith("file:") or "\0" in name:
        raise InvalidInput(field, masked(written), "must name a plain file, without host or options", FORMS)
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # nobody has this name
        path = Path(name)
    if _OPTION.search(name) and not path.exists():
        reason = "names options after a question mark, which would be part of the name of the file, and there is none"
        raise InvalidInput(field, masked(written), reason, "Leave out the question mark and what follows. " + FORMS)
    return file_address(path)


def file_address(path: Path) -> Address:
    """The address of an SQLite file; its place is settled now, since the working folder may change later."""
    place = path.absolute()
    return Address(URL.create("sqlite", database=str(place)), place)


def _of_server(field: str, written: str, rest: str) -> Address:
    """The address of a server's database, with its secrets apart."""
    before_options, _, _ = rest.partition("?")
    try:
        url = make_url(f"postgresql+psycopg://{rest}")
        if before_options.count("@") > 1 or "@" in f"{url.host}{url.database}":
            raise ValueError("which @ ends the password cannot be told")
    except (ArgumentError, ValueError):  # a port that is no number is a ValueError
        raise InvalidInput(field, masked(written), "cannot be read as an address of a server", ESCAPES) from None
    names = [name for name in url.query if name not in _HARMLESS]
    secrets = {name: _last(url.query[name]) for name in names}
    url = url.difference_update_query(names)
    if "password" in secrets:  # which the driver prefers to the one before the @
        url = url.set(password=secrets.pop("password"))
    return Address(url, None, tuple(sorted(secrets.items())))


def _last(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else value[-1]


def masked(written: str) -> str:
    """What may be shown of an address that was refused: a password may stand anywhere in it."""
    kind, found, rest = written.partition("://")
    if not found:
        return "***" if re.search("[@:=]", written) else written
    if kind in SQLITE and rest.startswith("/") and not re.search(r"[?&](password|key)=", rest, re.IGNORECASE):
        return written
    return f"{kind if kind.replace('+', '').isalnum() else '***'}://***"
