"""An entrant may stand on several submissions, on each of them for some of its tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Say of entries, and of entries in snapshots, for which tasks they count; null is for all of them."""
    op.add_column("entry", sa.Column("task_ids", sa.ARRAY(sa.Integer()), nullable=True))
    op.drop_index("uq_entry_current", table_name="entry", postgresql_where="state = 'current'")
    op.create_index("ix_entry_current", "entry", ["entrant_id"], postgresql_where="state = 'current'")
    op.add_column("snapshot_entry", sa.Column("task_ids", sa.ARRAY(sa.Integer()), nullable=True))
    op.drop_constraint(op.f("pk_snapshot_entry"), "snapshot_entry", type_="primary")
    op.create_primary_key(op.f("pk_snapshot_entry"), "snapshot_entry", ["snapshot_id", "entrant_id", "submission_id"])
