"""Whom an identity provider knows a token's holder as."""

from sqlalchemy import ForeignKey, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Identity(Base):
    """Who signs in through a provider: by its address and its own unchanging name for them, never by an e-mail."""

    __tablename__ = "identity"

    issuer: Mapped[str] = mapped_column(Text, primary_key=True)
    subject: Mapped[str] = mapped_column(Text, primary_key=True)
    token_id: Mapped[int] = mapped_column(Integer, ForeignKey("token.id"), unique=True)
