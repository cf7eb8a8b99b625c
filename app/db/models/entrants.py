"""Entrants: their owners, and the names that registrations reserve."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Index, Integer, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Entrant(Base):
    """What is compared. Its first admitted submitter owns the name; names of one key are one name, see `name_key`."""

    __tablename__ = "entrant"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    name: Mapped[str]
    name_key: Mapped[str]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


Index("uq_entrant_benchmark_id_name_key", Entrant.benchmark_id, Entrant.name_key, unique=True)


class EntrantTransfer(Base):
    """A steward moved an entrant to another owner, and why."""

    __tablename__ = "entrant_transfer"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), index=True)
    from_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    to_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.now())


class EntrantReservation(Base):
    """A registration named an entrant that nobody owned: nobody else may take it until then, once for each token."""

    __tablename__ = "entrant_reservation"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    benchmark: Mapped[str]
    name: Mapped[str]
    name_key: Mapped[str]
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"), index=True)
    prereg_sha256: Mapped[str] = mapped_column(ForeignKey("prereg.sha256"), index=True)
    reserved_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    until: Mapped[datetime]


Index(
    "uq_entrant_reservation_name",
    EntrantReservation.benchmark,
    EntrantReservation.name_key,
    EntrantReservation.token_id,
    unique=True,
)


class EntrantRelease(Base):
    """A steward, or the registrant, gave a reserved name free, and why."""

    __tablename__ = "entrant_release"

    reservation_id: Mapped[int] = mapped_column(ForeignKey("entrant_reservation.id"), primary_key=True)
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
