"""Snapshots say which one they came after; what was withdrawn may be submitted again.

Snapshots from before this revision do not say it: they are records, and are not filled in afterwards.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the column, and let the uniqueness of bytes leave out what was withdrawn."""
    op.add_column("snapshot", sa.Column("before", sa.Integer(), nullable=True))
    op.drop_constraint("uq_submission_digest", "submission")
    op.create_index(
        "uq_submission_digest",
        "submission",
        ["benchmark_id", "token_id", "digest"],
        unique=True,
        postgresql_where="status <> 'withdrawn'",
    )
