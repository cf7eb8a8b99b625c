"""The other kinds of evidence: what a run says of itself, strata, predictions and labels, kept measurements."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

RECORDS = ("label_set", "prediction")


def upgrade() -> None:
    """Add the columns and tables; labels and predictions are records like every other row."""
    op.add_column("submission", sa.Column("facts", postgresql.JSONB(), server_default="{}", nullable=False))
    op.add_column("task", sa.Column("stratum", postgresql.JSONB(none_as_null=True), nullable=True))
    _label_set()
    _prediction()
    _measured()
    for table in RECORDS:
        op.execute(
            f"CREATE TRIGGER keep_history BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
        )


def _label_set() -> None:
    op.create_table(
        "label_set",
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("items", sa.LargeBinary(), nullable=False),
        sa.Column("label", sa.LargeBinary(), nullable=False),
        sa.Column("weight", sa.LargeBinary(), nullable=True),
        sa.Column("group", sa.LargeBinary(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column(
            "put_at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("put_by", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_label_set_benchmark_id")),
        sa.ForeignKeyConstraint(["put_by"], ["token.id"], name=op.f("fk_label_set_put_by")),
        sa.PrimaryKeyConstraint("benchmark_id", "task", name=op.f("pk_label_set")),
    )


def _prediction() -> None:
    op.create_table(
        "prediction",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("n_columns", sa.Integer(), nullable=False),
        sa.Column("values", sa.LargeBinary(), nullable=False),
        sa.Column("labels", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_prediction_submission_id")),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"], name=op.f("fk_prediction_entrant_id")),
        sa.ForeignKeyConstraint(["task_id"], ["task.id"], name=op.f("fk_prediction_task_id")),
        sa.PrimaryKeyConstraint("submission_id", "entrant_id", "task_id", name=op.f("pk_prediction")),
    )


def _measured() -> None:
    op.create_table(
        "measured",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_measured_submission_id")),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"], name=op.f("fk_measured_entrant_id")),
        sa.PrimaryKeyConstraint("submission_id", "entrant_id", "key", name=op.f("pk_measured")),
    )
