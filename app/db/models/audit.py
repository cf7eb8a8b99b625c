"""The table of who did what: rows are added with what they are about, and the database refuses to change them."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    FetchedValue,
    ForeignKey,
    Identity,
    Index,
    SmallInteger,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class AuditEvent(Base):
    """Somebody wrote something, or was refused: by which token, from where, and what it changed.

    `action` is the route or the command, `subject` what the address named. `token_id` is null for whoever is not known
    and for commands on the server's own machine. `before` and `after` name tokens by their numbers alone, so that a
    person's name can be erased elsewhere. `address` is emptied after `address_until`, with
    its salt, and nothing else ever changes. The database itself fills `at`, both salts and the digest of the address.
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
    salt: Mapped[bytes] = mapped_column(server_default=text("uuid_send(gen_random_uuid())"))
    address_salt: Mapped[bytes | None] = mapped_column(server_default=FetchedValue())
    address_digest: Mapped[bytes | None] = mapped_column(server_default=FetchedValue())


class AuditUnsealed(Base):
    """An event that no seal covers yet; a trigger adds it, a seal removes it."""

    __tablename__ = "audit_unsealed"

    event_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)


class AuditSeal(Base):
    """A batch of events, and the seal before it, under one digest; see `app.store.seals`.

    `leaves` are the digests of `events`, 32 bytes each and in their order. The database takes only the next number, on
    the digest of the last seal, at the present time.
    """

    __tablename__ = "audit_seal"
    __table_args__ = (CheckConstraint("octet_length(leaves) = 32 * cardinality(events)", name="leaves"),)

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    events: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    leaves: Mapped[bytes]
    previous: Mapped[bytes | None]
    digest: Mapped[bytes]
