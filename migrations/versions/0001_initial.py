"""Everything but the queue: benchmarks, preregistrations, submissions, scores, snapshots."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

RECORDS = (
    "manifest_version",
    "prereg",
    "prereg_attestation",
    "entrant_transfer",
    "submission_event",
    "submission_file",
    "score",
    "snapshot",
    "snapshot_entry",
    "snapshot_table",
)


def upgrade() -> None:
    """Make the tables, and let the database itself refuse to rewrite what is a record."""
    op.create_table(
        "score",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("file", sa.SmallInteger(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("condition", sa.Text(), nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.Column("item", sa.Text(), nullable=True),
        sa.Column("leaked", sa.Boolean(), nullable=False),
        sa.Column("values", sa.ARRAY(sa.Double()), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("recorded", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.PrimaryKeyConstraint("submission_id", "position", name=op.f("pk_score")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("revoked_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint("role IN ('submitter', 'steward', 'admin')", name=op.f("ck_token_role")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_token_hash")),
    )
    op.create_table(
        "benchmark",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.Column("data_version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("published_version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("change_version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("snapshot_id", sa.BigInteger(), nullable=True),
        sa.Column("publish_error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["token.id"], name=op.f("fk_benchmark_created_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_benchmark")),
        sa.UniqueConstraint("slug", name=op.f("uq_benchmark_slug")),
    )
    op.create_table(
        "prereg",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("git_blob_sha1", sa.Text(), nullable=False),
        sa.Column("yaml", sa.LargeBinary(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("run_purpose", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=True),
        sa.Column(
            "registered_at",
            postgresql.TIMESTAMP(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("registered_by", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["registered_by"], ["token.id"], name=op.f("fk_prereg_registered_by")),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_prereg")),
    )
    op.create_index(op.f("ix_prereg_benchmark"), "prereg", ["benchmark"], unique=False)
    op.create_table(
        "entrant",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_entrant_benchmark_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["token.id"], name=op.f("fk_entrant_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entrant")),
    )
    op.create_index(
        "uq_entrant_benchmark_id_lower_name", "entrant", ["benchmark_id", sa.literal_column("lower(name)")], unique=True
    )
    op.create_table(
        "manifest_version",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("yaml", sa.LargeBinary(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_manifest_version_benchmark_id")),
        sa.ForeignKeyConstraint(["created_by"], ["token.id"], name=op.f("fk_manifest_version_created_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_manifest_version")),
        sa.UniqueConstraint("benchmark_id", "version", name=op.f("uq_manifest_version_benchmark_id")),
    )
    op.create_table(
        "prereg_attestation",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("prereg_sha256", sa.Text(), nullable=False),
        sa.Column("registered_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("attested_at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("attested_by", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["attested_by"], ["token.id"], name=op.f("fk_prereg_attestation_attested_by")),
        sa.ForeignKeyConstraint(["prereg_sha256"], ["prereg.sha256"], name=op.f("fk_prereg_attestation_prereg_sha256")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_prereg_attestation")),
    )
    op.create_index(op.f("ix_prereg_attestation_prereg_sha256"), "prereg_attestation", ["prereg_sha256"], unique=False)
    op.create_table(
        "task",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_task_benchmark_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_task")),
        sa.UniqueConstraint("benchmark_id", "name", name=op.f("uq_task_benchmark_id")),
    )
    op.create_table(
        "entrant_transfer",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("from_id", sa.Integer(), nullable=True),
        sa.Column("to_id", sa.Integer(), nullable=False),
        sa.Column("by_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["by_id"], ["token.id"], name=op.f("fk_entrant_transfer_by_id")),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"], name=op.f("fk_entrant_transfer_entrant_id")),
        sa.ForeignKeyConstraint(["from_id"], ["token.id"], name=op.f("fk_entrant_transfer_from_id")),
        sa.ForeignKeyConstraint(["to_id"], ["token.id"], name=op.f("fk_entrant_transfer_to_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entrant_transfer")),
    )
    op.create_index(op.f("ix_entrant_transfer_entrant_id"), "entrant_transfer", ["entrant_id"], unique=False)
    op.create_table(
        "snapshot",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("manifest_version_id", sa.Integer(), nullable=False),
        sa.Column("input_digest", sa.Text(), nullable=False),
        sa.Column("manifest_digest", sa.Text(), nullable=False),
        sa.Column("code_version", sa.Text(), nullable=False),
        sa.Column("rng_seeds", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("withdrawals", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("changes", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "published_at",
            postgresql.TIMESTAMP(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_snapshot_benchmark_id")),
        sa.ForeignKeyConstraint(
            ["manifest_version_id"], ["manifest_version.id"], name=op.f("fk_snapshot_manifest_version_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshot")),
        sa.UniqueConstraint(
            "benchmark_id", "input_digest", "manifest_digest", "code_version", name="uq_snapshot_inputs"
        ),
        sa.UniqueConstraint("benchmark_id", "number", name="uq_snapshot_number"),
    )
    op.create_table(
        "submission",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("manifest_version_id", sa.Integer(), nullable=False),
        sa.Column("prereg_sha256", sa.Text(), nullable=True),
        sa.Column("token_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("run_purpose", sa.Text(), nullable=False),
        sa.Column("columns", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("n_rows", sa.Integer(), nullable=False),
        sa.Column("description", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("claims", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column(
            "received_at",
            postgresql.TIMESTAMP(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "status IN ('received', 'evaluated', 'published', 'not_admitted', 'withdrawn', 'superseded')",
            name=op.f("ck_submission_status"),
        ),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_submission_benchmark_id")),
        sa.ForeignKeyConstraint(
            ["manifest_version_id"], ["manifest_version.id"], name=op.f("fk_submission_manifest_version_id")
        ),
        sa.ForeignKeyConstraint(["prereg_sha256"], ["prereg.sha256"], name=op.f("fk_submission_prereg_sha256")),
        sa.ForeignKeyConstraint(["token_id"], ["token.id"], name=op.f("fk_submission_token_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
        sa.UniqueConstraint("benchmark_id", "token_id", "digest", name="uq_submission_digest"),
        sa.UniqueConstraint("token_id", "idempotency_key", name="uq_submission_idempotency_key"),
    )
    op.create_index("ix_submission_benchmark_id_status", "submission", ["benchmark_id", "status"], unique=False)
    op.create_index(op.f("ix_submission_prereg_sha256"), "submission", ["prereg_sha256"], unique=False)
    op.create_table(
        "entry",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("n_rows", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("superseded_by", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "state IN ('pending', 'current', 'superseded', 'withdrawn', 'not_admitted')", name=op.f("ck_entry_state")
        ),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"], name=op.f("fk_entry_entrant_id")),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_entry_submission_id")),
        sa.ForeignKeyConstraint(["superseded_by"], ["submission.id"], name=op.f("fk_entry_superseded_by")),
        sa.PrimaryKeyConstraint("submission_id", "entrant_id", name=op.f("pk_entry")),
    )
    op.create_index(op.f("ix_entry_entrant_id"), "entry", ["entrant_id"], unique=False)
    op.create_index("uq_entry_current", "entry", ["entrant_id"], unique=True, postgresql_where="state = 'current'")
    op.create_table(
        "snapshot_entry",
        sa.Column("snapshot_id", sa.BigInteger(), nullable=False),
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrant.id"], name=op.f("fk_snapshot_entry_entrant_id")),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_snapshot_entry_snapshot_id")),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_snapshot_entry_submission_id")),
        sa.PrimaryKeyConstraint("snapshot_id", "entrant_id", name=op.f("pk_snapshot_entry")),
    )
    op.create_table(
        "snapshot_table",
        sa.Column("snapshot_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshot.id"], name=op.f("fk_snapshot_table_snapshot_id")),
        sa.PrimaryKeyConstraint("snapshot_id", "name", name=op.f("pk_snapshot_table")),
    )
    op.create_table(
        "submission_check",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.CheckConstraint("outcome IN ('passed', 'failed', 'warned')", name=op.f("ck_submission_check_outcome")),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_submission_check_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", "position", name=op.f("pk_submission_check")),
    )
    op.create_table(
        "submission_event",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column(
            "at", postgresql.TIMESTAMP(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_submission_event_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission_event")),
    )
    op.create_index(op.f("ix_submission_event_submission_id"), "submission_event", ["submission_id"], unique=False)
    op.create_table(
        "submission_file",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("n_rows", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_submission_file_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", "position", name=op.f("pk_submission_file")),
    )
    op.create_table(
        "submission_table",
        sa.Column("submission_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("content", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_submission_table_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", "name", name=op.f("pk_submission_table")),
    )

    op.create_foreign_key("fk_benchmark_snapshot_id", "benchmark", "snapshot", ["snapshot_id"], ["id"])
    op.execute(
        """
        CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '% is a record: its rows are never changed or removed', TG_TABLE_NAME
                USING ERRCODE = 'restrict_violation';
        END $$
        """
    )
    for table in RECORDS:
        op.execute(
            f"CREATE TRIGGER keep_history BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
        )
