"""The statements of every step, in the words of each database, made once."""

from functools import cache
from typing import NamedTuple

from surefoot.storage.protocol import COLUMNS

NAMES = ", ".join(f'"{name}"' for name in COLUMNS)
CHOSEN = f"SELECT {NAMES} FROM surefoot_events WHERE study = ?"


class Words(NamedTuple):
    """What is asked of a database in each step."""

    there: str
    lock: str
    after: str
    newest: str
    at: str
    of_pull: str
    keyed: str
    append: str
    now: str


_MICROSECONDS = "floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


# A server tells the time along with the events, which saves everybody who waits a question; and the time alone where
# there are no events.
WITH_CLOCK = (
    f"SELECT {NAMES}, clock FROM (SELECT {_MICROSECONDS} AS clock) AS clocks "
    f"LEFT JOIN ({CHOSEN} AND sequence > ? ORDER BY sequence LIMIT ?) AS found ON true ORDER BY sequence"
)


@cache
def words_for(database: str) -> Words:
    """The statements for "sqlite" or "postgresql"."""
    postgres = database == "postgresql"
    there = "SELECT id FROM surefoot_studies WHERE id = ?"
    words = Words(
        there=there,
        lock=there + " FOR UPDATE" if postgres else there,  # SQLite has locked everything already
        after=WITH_CLOCK if postgres else CHOSEN + " AND sequence > ? ORDER BY sequence LIMIT ?",
        newest="SELECT max(sequence) FROM surefoot_events WHERE study = ?",
        at=CHOSEN + " AND sequence = ?",
        of_pull=CHOSEN + " AND number = ? AND step >= 0 ORDER BY step",
        keyed=CHOSEN + ' AND "key" = ?',
        append=f"INSERT INTO surefoot_events (study, {NAMES}) VALUES ({', '.join('?' * (1 + len(COLUMNS)))})",
        now=f"SELECT {_MICROSECONDS}",
    )
    return Words(*(each.replace("?", "%s") for each in words)) if postgres else words
