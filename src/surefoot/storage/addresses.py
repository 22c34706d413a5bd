"""The address of a storage: what a user writes, checked, and how it is shown."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Address:
    """Where a storage is."""

    url: URL
    path: Path | None  # of an SQLite file

    @property
    def in_memory(self) -> bool:
        """Whether it ends with this process."""
        return self.url.get_backend_name() == "sqlite" and self.path is None

    def __str__(self) -> str:
        return MEMORY if self.in_memory else self.url.render_as_string(hide_password=True)


def address_of(storage: object) -> Address:
    """The address that was given, that of SUREFOOT_STORAGE in place of None, or the default."""
    field, written = ("storage", storage)
    if storage is None:
        field, written = (VARIABLE, os.environ[VARIABLE]) if os.environ.get(VARIABLE) else ("storage", DEFAULT)
    if not isinstance(written, str):
        raise InvalidInput(field, written, "must be the address of a storage", FORMS)
    if written == MEMORY:
        return Address(make_url("sqlite://"), None)
    try:
        url = make_url(written)
    except (ArgumentError, ValueError):  # a port that is no number is a ValueError
        raise InvalidInput(field, masked(written), "is not the address of a storage", FORMS) from None
    return _known(field, written, url)


def _known(field: str, written: str, url: URL) -> Address:
    """The address of one of the databases that are known here."""
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return Address(url.set(drivername="postgresql+psycopg"), None)
    if url.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise InvalidInput(field, masked(written), "is of a kind that cannot hold studies", FORMS)
    if url.database in (None, "", ":memory:"):
        return Address(make_url("sqlite://"), None)
    if url.query or url.host or str(url.database).startswith("file:") or "\0" in str(url.database):
        raise InvalidInput(field, masked(written), "must name a plain file, without host or options", FORMS)
    return file_address(Path(str(url.database)).expanduser())


def file_address(path: Path) -> Address:
    """The address of an SQLite file; its place is settled now, since the working folder may change later."""
    place = path.absolute()
    return Address(URL.create("sqlite", database=str(place)), place)


def masked(written: str) -> str:
    """The address without its password, even where it is no address."""
    return re.sub(r"(://[^:/@]*):.*@", r"\1:***@", written)
