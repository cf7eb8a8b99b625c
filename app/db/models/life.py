"""What changes of a benchmark beside its manifest: how it is called, and that it takes no more submissions."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Identity, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class BenchmarkChange(Base):
    """A benchmark was given another title or description under a version of its manifest, or was retired.

    The newest text of the version holds; a later version has its own.
    """

    __tablename__ = "benchmark_change"
    __table_args__ = (CheckConstraint("num_nonnulls(title, description, retired_because) > 0", name="says_something"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), index=True)
    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"), index=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    title: Mapped[str | None]
    description: Mapped[str | None]
    retired_because: Mapped[str | None]
