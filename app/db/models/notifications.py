"""Whom to notify of submissions, and what is still to be sent."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, CheckConstraint, ForeignKey, Identity, Index, Integer, LargeBinary, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base

EVENTS = ("published", "not_admitted", "superseded")


class Notification(Base):
    """An address that is notified of the submissions of a token, to one benchmark or to all; `https:` or `mailto:`.

    `secret` signs what a web address is sent, and confirms an address of mail. Nothing is sent before it is confirmed,
    nor after it has ended.
    """

    __tablename__ = "notification"
    __table_args__ = (CheckConstraint("events <@ ARRAY['published', 'not_admitted', 'superseded']", name="events"),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    benchmark_id: Mapped[int | None] = mapped_column(ForeignKey("benchmark.id"), index=True)
    address: Mapped[str]
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    events: Mapped[list[str]] = mapped_column(ARRAY(Text))
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    confirmed_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    ended_because: Mapped[str | None]


class Delivery(Base):
    """One notification to one address, written by the database with the event itself; `due_at` is null when over.

    Without a submission it asks for the confirmation of an address of mail.
    """

    __tablename__ = "delivery"
    __table_args__ = (Index("ix_delivery_due_at", "due_at", postgresql_where="due_at IS NOT NULL"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    notification_id: Mapped[int] = mapped_column(ForeignKey("notification.id"), index=True)
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submission.id"), index=True)
    event: Mapped[str]
    reason: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    due_at: Mapped[datetime | None] = mapped_column(server_default=func.clock_timestamp())
    tries: Mapped[int] = mapped_column(Integer, server_default="0")
    told_at: Mapped[datetime | None]
    last_error: Mapped[str | None]
