"""The tables: studies, the arms they choose from, the events that happened to them, and what was deleted.

An event is written once and never changed. `sequence` counts a study's events from 1 without a gap and alone gives
their order; `number` is the pull that an event is about. `step` is 0 for the event that opens a number and 1 for the
one that closes it, so the database itself refuses to use a number twice or to tell a pull twice.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION_TABLE = "surefoot_version"
REVISIONS = ("0001", "0002")  # every arrangement of the tables so far, oldest first; the last one is this version's

# Names of constraints are fixed, so that later migrations can address them on every database.
metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

arms = Table(
    "surefoot_arms",
    metadata,
    Column("digest", String(64), primary_key=True),  # SHA-256 of the content, in hexadecimal
    Column("count", Integer, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),  # count x dimension numbers, float64, little-endian
)

studies = Table(
    "surefoot_studies",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("problem", Text, nullable=False),  # JSON: everything but the features
    Column("fingerprint", String(64), nullable=False),  # of the problem
    Column("arms", String(64), ForeignKey(arms.c.digest), nullable=False),
    Column("policy", Text, nullable=False),  # JSON
    Column("seed", BigInteger, nullable=False),
    Column("max_pulls", BigInteger),
    Column("fold", String(16), nullable=False),
    Column("alarm_level", Double, nullable=False),
    Column("created_at", BigInteger, nullable=False),  # microseconds since 1970, UTC
    Column("created_by", String(40), nullable=False),  # the version of surefoot
    Column("unchained", BigInteger, nullable=False, server_default="0"),  # events that were there before the chain
    sqlite_autoincrement=True,  # the number of a deleted study is never used again
)

events = Table(
    "surefoot_events",
    metadata,
    Column("study", Integer, ForeignKey(studies.c.id), primary_key=True, autoincrement=False),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("at", BigInteger, nullable=False),  # microseconds since 1970, UTC, by the clock of the storage
    Column("writer", BigInteger, nullable=False),  # drawn at random for each step
    Column("number", BigInteger),
    Column("step", SmallInteger),
    Column("arm", Integer),
    Column("level", Double),  # asked for, or really applied
    Column("reward", Double),
    Column("safety", LargeBinary),  # a reading for each limit, float64, little-endian
    Column("worker", String(200)),
    Column("phase", String(16)),  # from here on the reasons of a decision
    Column("margin", Double),
    Column("leader", Integer),
    Column("challenger", Integer),
    Column("gap", Double),
    Column("reason", Text),  # from here on what a person said
    Column("by", String(200)),
    Column("key", String(200)),  # under which a caller may repeat the step without doing it twice
    Column("hash", LargeBinary),  # SHA-256 over the event and the hash before it: see studies.chain
    UniqueConstraint("study", "number", "step"),
    sqlite_with_rowid=False,
)
Index(  # only of the few that have one: every other event would pay for it
    "uq_surefoot_events_study_key", events.c.study, events.c.key, unique=True,
    sqlite_where=events.c.key.is_not(None), postgresql_where=events.c.key.is_not(None),
)  # fmt: skip

deletions = Table(
    "surefoot_deletions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", String(200), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("events", BigInteger, nullable=False),  # how many there were
    Column("head", LargeBinary),  # the hash of the last one
    Column("key", String(200), unique=True),
    sqlite_autoincrement=True,
)
