"""For which benchmarks a preregistration was registered, by whom and since when: rows instead of one column."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Make the table, keep what the column said, and drop the column."""
    op.create_table(
        "prereg_binding",
        sa.Column("prereg_sha256", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column(
            "bound_at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("bound_by", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bound_by"], ["token.id"], name=op.f("fk_prereg_binding_bound_by")),
        sa.ForeignKeyConstraint(["prereg_sha256"], ["prereg.sha256"], name=op.f("fk_prereg_binding_prereg_sha256")),
        sa.PrimaryKeyConstraint("prereg_sha256", "benchmark", name=op.f("pk_prereg_binding")),
    )
    op.create_index(op.f("ix_prereg_binding_benchmark"), "prereg_binding", ["benchmark"], unique=False)
    op.execute(
        "INSERT INTO prereg_binding (prereg_sha256, benchmark, bound_at, bound_by) "
        "SELECT sha256, benchmark, registered_at, registered_by FROM prereg WHERE benchmark IS NOT NULL"
    )
    op.execute(
        "CREATE TRIGGER keep_history BEFORE UPDATE OR DELETE OR TRUNCATE ON prereg_binding "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
    )
    op.drop_index(op.f("ix_prereg_benchmark"), table_name="prereg")
    op.drop_column("prereg", "benchmark")
