"""What was tried and came to nothing, or was only asked."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, Text, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Try(Base):
    """A dry run, or an upload that was refused: what was answered, for its sender and the stewards to read again.

    `document` is the answer as JSON. Only the newest of each token are kept.
    """

    __tablename__ = "try"
    __table_args__ = (
        CheckConstraint("status BETWEEN 200 AND 599", name="status"),
        Index("ix_try_token_id_at", "token_id", "at"),
        Index("ix_try_benchmark_id_at", "benchmark_id", "at"),
    )

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    is_dry: Mapped[bool]
    status: Mapped[int]
    detail: Mapped[str]
    document: Mapped[dict[str, Any]] = mapped_column(JSONB)
