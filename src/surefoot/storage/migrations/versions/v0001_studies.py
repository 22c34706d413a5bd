"""Studies, arms and events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """The three tables of the first version."""
    op.create_table(
        "surefoot_arms",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("dimension", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_surefoot_arms"),
    )
    op.create_table(
        "surefoot_studies",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("arms", sa.String(64), nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("max_pulls", sa.BigInteger),
        sa.Column("fold", sa.String(16), nullable=False),
        sa.Column("alarm_level", sa.Double, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_surefoot_studies"),
        sa.UniqueConstraint("name", name="uq_surefoot_studies_name"),
        sa.ForeignKeyConstraint(["arms"], ["surefoot_arms.digest"], name="fk_surefoot_studies_arms"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "surefoot_events",
        sa.Column("study", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("sequence", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("writer", sa.BigInteger, nullable=False),
        sa.Column("number", sa.BigInteger),
        sa.Column("step", sa.SmallInteger),
        sa.Column("arm", sa.Integer),
        sa.Column("level", sa.Double),
        sa.Column("reward", sa.Double),
        sa.Column("safety", sa.LargeBinary),
        sa.Column("worker", sa.String(200)),
        sa.Column("phase", sa.String(16)),
        sa.Column("margin", sa.Double),
        sa.Column("leader", sa.Integer),
        sa.Column("challenger", sa.Integer),
        sa.Column("gap", sa.Double),
        sa.Column("reason", sa.Text),
        sa.Column("by", sa.String(200)),
        sa.PrimaryKeyConstraint("study", "sequence", name="pk_surefoot_events"),
        sa.ForeignKeyConstraint(["study"], ["surefoot_studies.id"], name="fk_surefoot_events_study"),
        sa.UniqueConstraint("study", "number", "step", name="uq_surefoot_events_study_number_step"),
        sqlite_with_rowid=False,
    )
