"""The chain of events, keys of repeated steps, and a line about every deleted study.

The events that are there are chained once, as they are: from now on they cannot be changed unnoticed. What happened to
them before, the chain cannot know; each study says how many they were (`unchained`).
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from surefoot.storage.chain import chained, origin_of
from surefoot.storage.protocol import COLUMNS, StudyRow

revision = "0002"
down_revision = "0001"

AT_ONCE = 1_000  # events
STUDIES = sa.table("surefoot_studies", sa.column("id"), sa.column("arms"), *map(sa.column, StudyRow.__annotations__))
EVENTS = sa.table("surefoot_events", sa.column("study"), *map(sa.column, COLUMNS))


def upgrade() -> None:
    """Adds the columns and the table, and chains what is there."""
    op.add_column("surefoot_studies", sa.Column("unchained", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("surefoot_events", sa.Column("key", sa.String(200)))
    op.add_column("surefoot_events", sa.Column("hash", sa.LargeBinary))
    has_key = sa.text('"key" IS NOT NULL')
    op.create_index(
        "uq_surefoot_events_study_key", "surefoot_events", ["study", "key"], unique=True, sqlite_where=has_key,
        postgresql_where=has_key,
    )  # fmt: skip
    op.create_table(
        "surefoot_deletions",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("events", sa.BigInteger, nullable=False),
        sa.Column("head", sa.LargeBinary),
        sa.Column("key", sa.String(200)),
        sa.PrimaryKeyConstraint("id", name="pk_surefoot_deletions"),
        sa.UniqueConstraint("key", name="uq_surefoot_deletions_key"),
        sqlite_autoincrement=True,
    )
    connection = op.get_bind()
    for study in connection.execute(sa.select(STUDIES)).mappings().all():
        chain(connection, study["id"], study["arms"], {name: study[name] for name in StudyRow.__annotations__})


def chain(connection: sa.Connection, study: int, arms: str, settings: dict[str, Any]) -> None:
    """Chains the events of one study."""
    mine = EVENTS.c.study == study
    count = connection.execute(sa.select(sa.func.count()).select_from(EVENTS).where(mine)).scalar_one()
    connection.execute(sa.update(STUDIES).where(STUDIES.c.id == study).values(unchained=count))
    before = origin_of(StudyRow(**{**settings, "unchained": count}), arms)
    hold = sa.update(EVENTS).where(mine, EVENTS.c.sequence == sa.bindparam("at_sequence"))
    last = 0
    while True:
        found = sa.select(EVENTS).where(mine, EVENTS.c.sequence > last).order_by(EVENTS.c.sequence).limit(AT_ONCE)
        rows = [dict(row) for row in connection.execute(found).mappings()]
        if not rows:
            return
        linked = list(chained(before, rows))
        connection.execute(
            hold.values(hash=sa.bindparam("its_hash")),
            [{"at_sequence": row["sequence"], "its_hash": row["hash"]} for row in linked],
        )
        last, before = rows[-1]["sequence"], linked[-1]["hash"]
