"""Submissions: what was uploaded, how it was checked, and which of it is current."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ForeignKey,
    Identity,
    Index,
    Integer,
    SmallInteger,
    Text,
    UniqueConstraint,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base, one_of

STATUSES = ("received", "evaluated", "published", "not_admitted", "withdrawn", "superseded", "set_aside")


ENTRY_STATES = ("pending", "current", "superseded", "withdrawn", "not_admitted", "set_aside")


class Submission(Base):
    """One upload. `digest` is over its files and fields: the same bytes are one, until it is withdrawn or set aside.

    `evaluation_tries` counts the tries that failed, `evaluation_retry_at` is when the next one is due. `request_id` is
    that of the request that brought it, for the logs.
    """

    __tablename__ = "submission"
    __table_args__ = (
        one_of("status", STATUSES),
        Index(
            "uq_submission_digest",
            "benchmark_id",
            "token_id",
            "digest",
            unique=True,
            postgresql_where="status NOT IN ('withdrawn', 'set_aside')",
        ),
        UniqueConstraint("token_id", "idempotency_key", name="uq_submission_idempotency_key"),
        Index("ix_submission_benchmark_id_status", "benchmark_id", "status"),
        Index(
            "ix_submission_waits",
            "benchmark_id",
            "id",
            postgresql_where="status = 'received' OR status = 'not_admitted' AND run_purpose <> 'leaderboard'",
        ),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"))
    prereg_sha256: Mapped[str | None] = mapped_column(ForeignKey("prereg.sha256"), index=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    digest: Mapped[str]
    idempotency_key: Mapped[str | None]
    status: Mapped[str]
    run_purpose: Mapped[str]
    columns: Mapped[list[str]] = mapped_column(ARRAY(Text))
    n_rows: Mapped[int]
    description: Mapped[dict[str, Any]] = mapped_column(JSONB)
    claims: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    facts: Mapped[dict[str, Any]] = mapped_column(JSONB, server_default="{}")
    received_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    evaluation_tries: Mapped[int] = mapped_column(Integer, server_default="0")
    evaluation_retry_at: Mapped[datetime | None]
    request_id: Mapped[str | None]


class SubmissionEvent(Base):
    """A submission reached a state, when and why."""

    __tablename__ = "submission_event"

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), index=True)
    status: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    reason: Mapped[str]


class SubmissionFile(Base):
    """A file as it was sent, or a member of a sent archive: its name, size and hash."""

    __tablename__ = "submission_file"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    name: Mapped[str]
    sha256: Mapped[str] = mapped_column(Text, index=True)
    n_bytes: Mapped[int] = mapped_column(BigInteger)
    n_rows: Mapped[int]


class SubmissionCheck(Base):
    """One admission rule applied to one submission."""

    __tablename__ = "submission_check"
    __table_args__ = (one_of("outcome", ("passed", "failed", "warned")),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    position: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    rule: Mapped[str]
    outcome: Mapped[str]
    reason: Mapped[str]


class SubmissionTable(Base):
    """A table computed from one submission alone, by `jobs.evaluate`."""

    __tablename__ = "submission_table"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    content: Mapped[dict[str, Any]] = mapped_column(JSONB)


class Entry(Base):
    """One entrant in one submission, and whether it is the evidence that counts now.

    `task_ids` are the tasks that it counts for, where later evidence supersedes task by task; null: all of its tasks.
    """

    __tablename__ = "entry"
    __table_args__ = (
        one_of("state", ENTRY_STATES),
        Index("ix_entry_current", "entrant_id", postgresql_where="state = 'current'"),
        Index("ix_entry_superseded_by", "superseded_by", postgresql_where="superseded_by IS NOT NULL"),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    n_rows: Mapped[int]
    state: Mapped[str]
    superseded_by: Mapped[int | None] = mapped_column(ForeignKey("submission.id"))
    task_ids: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))
