"""The web processes that keep pages in memory, and what each of them may not show yet."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class WebProcess(Base):
    """A web process, and when it last read the counters of changes."""

    __tablename__ = "web_process"

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class Unshown(Base):
    """A published submission that a web process may not show yet: its pages are older than the boards' version."""

    __tablename__ = "unshown"

    submission_id: Mapped[int] = mapped_column(BigInteger, ForeignKey("submission.id"), primary_key=True)
    web_process_id: Mapped[str] = mapped_column(
        ForeignKey("web_process.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    boards_version: Mapped[int] = mapped_column(BigInteger)
