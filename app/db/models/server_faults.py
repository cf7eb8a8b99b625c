"""Faults of the server that changed what is published."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Identity, Index, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base, one_of

KEPT, MISSING, TABLE, ASIDE = "board kept", "board missing", "table missing", "set aside on a board"
PUBLICATION, SET_ASIDE, NOT_ADMITTED = "publication", "set aside", "not admitted"
OF_BOARDS = (KEPT, MISSING, TABLE, ASIDE, PUBLICATION)
"""What holds until the benchmark is published anew; the others hold as long as the submission's status."""
FAULTS = (*OF_BOARDS, SET_ASIDE, NOT_ADMITTED)


class ServerFault(Base):
    """An unexpected exception and what it cost: a board or table its recomputation, a submission its place.

    `number` is the short one that pages say; equal faults have the same. `error` is for the admin alone.
    """

    __tablename__ = "server_fault"
    __table_args__ = (one_of("what", FAULTS), Index("ix_server_fault_benchmark_id", "benchmark_id"))

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    number: Mapped[str]
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id", ondelete="CASCADE"))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), index=True)
    what: Mapped[str]
    place: Mapped[str | None]
    error: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
