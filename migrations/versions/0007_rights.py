"""Names and rights: unique token names, stewards of single benchmarks, names reserved by a registration.

Tokens of one name are told apart by their number. Who made a benchmark is its steward; an admin gives it to others.
Attestations of before this revision have no benchmark: they count wherever they did. Registrations of before it
reserve no name until their registrant sends them again.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"

RECORDS = ("steward_grant", "entrant_reservation", "entrant_release")


def upgrade() -> None:
    """Make names unique, give each benchmark its maker as steward, and make the tables of reserved names."""
    _tell_apart_tokens()
    op.create_index("uq_token_lower_name", "token", [sa.text("lower(name)")], unique=True)
    op.add_column("prereg_attestation", sa.Column("benchmark", sa.Text(), nullable=True))
    _make_grants()
    _make_reservations()
    for table in RECORDS:
        op.execute(
            f"CREATE TRIGGER keep_history BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
        )


def _tell_apart_tokens() -> None:
    """Put its number behind every name that an older token has, and one more where that is taken too."""
    connection = op.get_bind()
    named = connection.execute(sa.text("SELECT id, name FROM token ORDER BY id")).all()
    every = {name.lower() for _, name in named}
    taken: set[str] = set()
    for number, name in named:
        wanted, copy = name, number
        while wanted.lower() in taken or (wanted != name and wanted.lower() in every):
            ending = f" ({copy})"
            wanted, copy = name[: 100 - len(ending)].rstrip() + ending, copy + 1
        taken.add(wanted.lower())
        if wanted != name:
            connection.execute(sa.text("UPDATE token SET name = :name WHERE id = :id"), {"name": wanted, "id": number})


def _make_grants() -> None:
    op.create_table(
        "steward_grant",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=False),
        sa.Column("granted", sa.Boolean(), nullable=False),
        sa.Column("by_id", sa.Integer(), nullable=False),
        _now("at"),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_steward_grant_benchmark_id")),
        sa.ForeignKeyConstraint(["by_id"], ["token.id"], name=op.f("fk_steward_grant_by_id")),
        sa.ForeignKeyConstraint(["token_id"], ["token.id"], name=op.f("fk_steward_grant_token_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_steward_grant")),
    )
    op.create_index("ix_steward_grant_benchmark_id", "steward_grant", ["benchmark_id", "token_id"])
    op.execute(
        "INSERT INTO steward_grant (benchmark_id, token_id, granted, by_id, at) "
        "SELECT id, created_by, true, created_by, created_at FROM benchmark ORDER BY id"
    )


def _make_reservations() -> None:
    op.create_table(
        "entrant_reservation",
        sa.Column("id", sa.Integer(), sa.Identity(always=True), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_id", sa.Integer(), nullable=False),
        sa.Column("prereg_sha256", sa.Text(), nullable=False),
        _now("reserved_at"),
        sa.Column("until", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["prereg_sha256"], ["prereg.sha256"], name=op.f("fk_entrant_reservation_prereg_sha256")
        ),
        sa.ForeignKeyConstraint(["token_id"], ["token.id"], name=op.f("fk_entrant_reservation_token_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entrant_reservation")),
    )
    op.create_index(op.f("ix_entrant_reservation_prereg_sha256"), "entrant_reservation", ["prereg_sha256"])
    op.create_index(op.f("ix_entrant_reservation_token_id"), "entrant_reservation", ["token_id"])
    op.create_index(
        "uq_entrant_reservation_name",
        "entrant_reservation",
        ["benchmark", sa.text("lower(name)"), "token_id"],
        unique=True,
    )
    op.create_table(
        "entrant_release",
        sa.Column("reservation_id", sa.Integer(), nullable=False),
        sa.Column("by_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        _now("at"),
        sa.ForeignKeyConstraint(["by_id"], ["token.id"], name=op.f("fk_entrant_release_by_id")),
        sa.ForeignKeyConstraint(
            ["reservation_id"], ["entrant_reservation.id"], name=op.f("fk_entrant_release_reservation_id")
        ),
        sa.PrimaryKeyConstraint("reservation_id", name=op.f("pk_entrant_release")),
    )


def _now(name: str) -> sa.Column[sa.DateTime]:
    at = postgresql.TIMESTAMP(timezone=True)
    return sa.Column(name, at, server_default=sa.text("clock_timestamp()"), nullable=False)
