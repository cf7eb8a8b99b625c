"""Failed tries are counted, and a submission that keeps the boards from being published can be set aside."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

STATUSES = "'received', 'evaluated', 'published', 'not_admitted', 'withdrawn', 'superseded', 'set_aside'"
ENTRY_STATES = "'pending', 'current', 'superseded', 'withdrawn', 'not_admitted', 'set_aside'"


def upgrade() -> None:
    """Add the counters, the state, and let the uniqueness of bytes leave out what was set aside."""
    op.add_column("benchmark", sa.Column("publish_tries", sa.Integer(), server_default="0", nullable=False))
    op.add_column("benchmark", sa.Column("publish_retry_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.add_column("submission", sa.Column("evaluation_tries", sa.Integer(), server_default="0", nullable=False))
    op.add_column("submission", sa.Column("evaluation_retry_at", sa.TIMESTAMP(timezone=True), nullable=True))
    op.drop_constraint(op.f("ck_submission_status"), "submission")
    op.create_check_constraint(op.f("ck_submission_status"), "submission", f"status IN ({STATUSES})")
    op.drop_constraint(op.f("ck_entry_state"), "entry")
    op.create_check_constraint(op.f("ck_entry_state"), "entry", f"state IN ({ENTRY_STATES})")
    op.drop_index("uq_submission_digest", table_name="submission")
    op.create_index(
        "uq_submission_digest",
        "submission",
        ["benchmark_id", "token_id", "digest"],
        unique=True,
        postgresql_where="status NOT IN ('withdrawn', 'set_aside')",
    )
