"""Steps in a database that may go away and come back: each is tried again while it may still succeed.

Before the commit nothing is kept, so a step is simply done anew. A commit that breaks may have been kept or not: who
does the step anew has to find that out, and where even that is impossible the error says that it is unknown.
"""

import time
from collections.abc import Callable

from sqlalchemy import Connection

from surefoot.errors import StorageError, StorageUncertain
from surefoot.storage.databases import Database
from surefoot.storage.faults import named_faults
from surefoot.storage.protocol import Result

LONGEST_PAUSE = 1.0  # seconds between two calls
_known: set[object] = set()  # addresses that have answered before


def written_to(
    database: Database, work: Callable[[Connection], Result], seconds: float,
    meanwhile: Callable[[], object] | None = None,
) -> Result:  # fmt: skip
    """The result of the work in a transaction of its own."""

    def attempt() -> Result:
        with database.writing(meanwhile) as connection:
            return work(connection)

    return again_while_away(database, attempt, seconds, "; nothing of this step was kept")


def read_from(database: Database, work: Callable[[Connection], Result], seconds: float) -> Result:
    """The result of work that looks at one moment and changes nothing."""

    def attempt() -> Result:
        with database.reading() as connection:
            return work(connection)

    return again_while_away(database, attempt, seconds)


def again_while_away(database: Database, attempt: Callable[[], Result], seconds: float, outcome: str = "") -> Result:
    """The result of the attempt, which is repeated for so many seconds while the server is away; but one that has never
    answered is not waited for."""
    give_up, pause, unknown = time.monotonic() + seconds, 0.05, None
    while True:
        try:
            with named_faults(database.address):
                found = attempt()
            _known.add(database.address)
            return found
        except StorageError as error:
            if isinstance(error, StorageUncertain):
                unknown = unknown or error
            known = database.connected or database.address in _known
            if not error._passing or not known or time.monotonic() > give_up:
                raise _final(error, unknown, outcome) from error.__cause__
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _final(error: StorageError, unknown: StorageUncertain | None, outcome: str) -> StorageError:
    """What is said in the end: an attempt of which nobody knows whether it was kept outweighs what came after."""
    if unknown is not None:
        return error if error is unknown else StorageUncertain(error.storage, f"{unknown.detail}; then {error.detail}")
    if not error._passing or not outcome:
        return error
    return type(error)(error.storage, error.detail + outcome)
