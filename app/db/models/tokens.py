"""Tokens: who may do what."""

from datetime import datetime

from sqlalchemy import ARRAY, Identity, Index, Integer, LargeBinary, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base, one_of

ROLES = ("submitter", "steward", "admin")


class Token(Base):
    """A bearer token: only its SHA-256 is kept. It is also the identity that owns entrants.

    No two ever have the same name, so that what is shown of a token names one of them. `benchmarks` are the slugs that
    it is limited to, None for all; `used_at` is its last use to the hour. After a rotation the former text works until
    `former_until`.
    """

    __tablename__ = "token"
    __table_args__ = (one_of("role", ROLES),)

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    name: Mapped[str]
    role: Mapped[str]
    hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    revoked_at: Mapped[datetime | None]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]
    benchmarks: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    former_hash: Mapped[bytes | None] = mapped_column(LargeBinary, unique=True)
    former_until: Mapped[datetime | None]


Index("uq_token_lower_name", func.lower(Token.name), unique=True)
