"""Benchmarks, the versions of their manifests, who has a role in them, and their tasks."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, Integer, Text, UniqueConstraint, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base, one_of

ROLES_HERE = ("steward", "reviewer", "submitter")


class Benchmark(Base):
    """A benchmark and its counters.

    `data_version` grows with everything that can change a board; `published_version` is the data_version
    that the current snapshot shows. `change_version` grows with everything that any page shows, `boards_version` with
    what a published table's page shows.
    `publish_tries` counts the publications that failed since the last one that did not, `publish_error` says why the
    latest did, and `publish_retry_at` is when the sweep tries again. `visibility` only ever widens: draft, private,
    public; see `app.store.visibility`.
    """

    __tablename__ = "benchmark"
    __table_args__ = (
        one_of("visibility", ("draft", "private", "public")),
        Index("ix_benchmark_behind", "id", postgresql_where="data_version > published_version"),
        # Every statement of a reader leaves out what is hidden from them.
        Index("ix_benchmark_not_public", "id", postgresql_where="visibility <> 'public'"),
    )

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    slug: Mapped[str] = mapped_column(Text, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    created_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    data_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    published_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    change_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    boards_version: Mapped[int] = mapped_column(BigInteger, server_default="0")
    snapshot_id: Mapped[int | None] = mapped_column(
        ForeignKey("snapshot.id", use_alter=True, name="fk_benchmark_snapshot_id")
    )
    publish_error: Mapped[str | None]
    publish_tries: Mapped[int] = mapped_column(Integer, server_default="0")
    publish_retry_at: Mapped[datetime | None]
    visibility: Mapped[str] = mapped_column(Text, server_default="public")


class ManifestVersion(Base):
    """One immutable version of a benchmark's manifest, as the bytes that were sent.

    `title`, `evidence` and `leaderboards` (the name and title of each) are what a list of benchmarks shows of it.
    """

    __tablename__ = "manifest_version"
    __table_args__ = (UniqueConstraint("benchmark_id", "version"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    version: Mapped[int]
    yaml: Mapped[bytes]
    sha256: Mapped[str]
    title: Mapped[str]
    evidence: Mapped[str]
    leaderboards: Mapped[list[dict[str, str]]] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    created_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class RoleGrant(Base):
    """A token was given a role in a benchmark, or lost it; the newest of the two holds, until its time."""

    __tablename__ = "role_grant"
    __table_args__ = (
        one_of("role", ROLES_HERE),
        Index("ix_role_grant_benchmark_id", "benchmark_id", "token_id", "role"),
        Index("ix_role_grant_token_id", "token_id"),
    )

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    role: Mapped[str]
    granted: Mapped[bool]
    until: Mapped[datetime | None]
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class Task(Base):
    """A task's name, stored once; score rows hold its number. `stratum` is what the name means in a series."""

    __tablename__ = "task"
    __table_args__ = (UniqueConstraint("benchmark_id", "name_key"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    stratum: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
