"""The table of who did what: rows are added with what they are about, and the database refuses to change them."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Identity, Index, SmallInteger, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class AuditEvent(Base):
    """Somebody wrote something, or was refused: by which token, from where, and what it changed.

    `action` is the route or the command, `subject` what the address named. `token_id` is null for whoever is not known
    and for commands on the server's own machine. `before` and `after` name tokens by their numbers alone, so that a
    person's name can be erased elsewhere. `address` is emptied after `address_until`, and nothing else ever changes.
    """

    __tablename__ = "audit_event"
    __table_args__ = (
        CheckConstraint("address IS NULL OR address_until IS NOT NULL", name="address_until"),
        Index("ix_audit_event_benchmark", "benchmark", "id", postgresql_where="benchmark IS NOT NULL"),
        Index("ix_audit_event_token_id", "token_id", "id", postgresql_where="token_id IS NOT NULL"),
        Index("ix_audit_event_address_until", "address_until", postgresql_where="address IS NOT NULL"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    action: Mapped[str]
    subject: Mapped[str]
    benchmark: Mapped[str | None]
    token_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    session_id: Mapped[int | None]
    address: Mapped[str | None]
    address_until: Mapped[datetime | None]
    status: Mapped[int | None] = mapped_column(SmallInteger)
    refusal: Mapped[str | None]
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    reason: Mapped[str | None]
