"""Boards that are in no manifest yet."""

from datetime import datetime

from sqlalchemy import ForeignKey, Integer, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class DraftBoard(Base):
    """A board that stewards and reviewers look at before it is in a manifest; its YAML as it was sent."""

    __tablename__ = "draft_board"

    benchmark_id: Mapped[int] = mapped_column(Integer, ForeignKey("benchmark.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    yaml: Mapped[bytes]
    put_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    put_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
