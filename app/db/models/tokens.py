"""Tokens: who may do what."""

from datetime import datetime

from sqlalchemy import ARRAY, CheckConstraint, ForeignKey, Identity, Index, Integer, LargeBinary, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base, one_of

SCOPES = ("read", "submit", "steward")
ROLES = ("submitter", "steward", "admin")


class Token(Base):
    """A bearer token: only its SHA-256 is kept. It is also the identity that owns entrants.

    No two ever have the same name, so that what is shown of a token names one of them. `benchmarks` are the slugs that
    it is limited to, None for all; so are `scopes` and `entrants`, names that it may submit. `used_at` is its last use
    to the hour. After a rotation the former text works until `former_until`.
    """

    __tablename__ = "token"
    __table_args__ = (
        one_of("role", ROLES),
        CheckConstraint("scopes <@ ARRAY['read', 'submit', 'steward']", name="scopes"),
    )

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    name: Mapped[str]
    role: Mapped[str]
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    revoked_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    benchmarks: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    scopes: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    entrants: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    former_hash: Mapped[bytes | None] = mapped_column(LargeBinary, unique=True)
    former_until: Mapped[datetime | None]


Index("uq_token_lower_name", func.lower(Token.name), unique=True)


class Invitation(Base):
    """A code that makes one token, once: with which role, in which benchmark, for how many days.

    Only the code's SHA-256 is kept. It works until it is used, revoked or over.
    """

    __tablename__ = "invitation"
    __table_args__ = (one_of("role", ("submitter", "reviewer", "steward")),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    role: Mapped[str]
    benchmark_id: Mapped[int | None] = mapped_column(ForeignKey("benchmark.id"), index=True)
    token_days: Mapped[int | None]
    made_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    token_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))


class BrowserSession(Base):
    """What represents a token in a browser, until it is over or was ended; only the SHA-256 of its secret is kept.

    `proved_at` is when its holder last showed who they are, which an identity provider may have let them do earlier.
    """

    __tablename__ = "browser_session"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    begun_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    proved_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    used_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
