"""A forger at work: rows are changed behind surefoot's back, with the chain left broken or made anew."""

import sqlite3

import surefoot as sf
from surefoot.storage.chain import hashed, origin_of
from surefoot.storage.protocol import COLUMNS, StudyRow


def edit(study: sf.Study, *statements: str) -> None:
    """What somebody did to the file; the chain is as it was."""
    with sqlite3.connect(study.storage.removeprefix("sqlite:///")) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount > 0
    connection.close()


def forge(study: sf.Study, *statements: str) -> None:
    """The same by somebody who knows the chain and makes it anew."""
    edit(study, *statements)
    with sqlite3.connect(study.storage.removeprefix("sqlite:///")) as connection:
        rechain(connection, study.name)
    connection.close()


def rechain(connection: sqlite3.Connection, name: str) -> None:
    """Makes the chain of a study anew over what is there."""
    settings = ", ".join(StudyRow.__annotations__)
    found = connection.execute(f"SELECT id, arms, {settings} FROM surefoot_studies WHERE name = ?", (name,)).fetchone()
    identity, arms, *values = found
    before = origin_of(StudyRow(*values), arms)
    columns = ", ".join(f'"{column}"' for column in COLUMNS)
    query = f"SELECT {columns} FROM surefoot_events WHERE study = ? ORDER BY sequence"
    for row in connection.execute(query, (identity,)).fetchall():
        before = hashed(before, row)
        connection.execute(
            "UPDATE surefoot_events SET hash = ? WHERE study = ? AND sequence = ?", (before, identity, row[0])
        )
