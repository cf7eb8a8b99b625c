"""What somebody says is wrong with a submission, and what a steward answered: both for ever."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Dispute(Base):
    """Somebody says that a submission is wrong. Its stewards read it; everybody does with the answer."""

    __tablename__ = "dispute"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), index=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    text: Mapped[str]


class DisputeAnswer(Base):
    """What a steward answered to a dispute, once."""

    __tablename__ = "dispute_answer"

    dispute_id: Mapped[int] = mapped_column(ForeignKey("dispute.id"), primary_key=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    text: Mapped[str]
