"""Snapshots: what is published."""

from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ForeignKey, Identity, Index, Integer, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Snapshot(Base):
    """One immutable published state of a benchmark; `before` is the number of the one that was current until then.

    The same inputs make the same snapshot again, so the one before need not have the number before. One that is faulty
    lacks something by a fault of the server, and is never made again.
    """

    __tablename__ = "snapshot"
    __table_args__ = (
        UniqueConstraint("benchmark_id", "number", name="uq_snapshot_number"),
        Index(
            "uq_snapshot_inputs",
            "benchmark_id",
            "input_digest",
            "manifest_digest",
            "code_version",
            unique=True,
            postgresql_where="NOT is_faulty",
        ),
        # What is new of all benchmarks.
        Index("ix_snapshot_published_at", "published_at"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    number: Mapped[int]
    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"))
    input_digest: Mapped[str]
    manifest_digest: Mapped[str]
    code_version: Mapped[str]
    rng_seeds: Mapped[dict[str, Any]] = mapped_column(JSONB)
    withdrawals: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    changes: Mapped[list[dict[str, Any]]] = mapped_column(JSONB)
    before: Mapped[int | None]
    is_faulty: Mapped[bool] = mapped_column(server_default="false")
    published_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class SnapshotEntry(Base):
    """Which submission stood for an entrant in a snapshot; null `task_ids`: for all of its tasks."""

    __tablename__ = "snapshot_entry"

    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    task_ids: Mapped[list[int] | None] = mapped_column(ARRAY(Integer))


class SnapshotTable(Base):
    """A published table: the JSON of `app.values.table.Table`, compressed."""

    __tablename__ = "snapshot_table"

    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshot.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    content: Mapped[bytes]
