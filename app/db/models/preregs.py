"""Preregistrations, the benchmarks they are registered for, and what stewards attest of them."""

from datetime import datetime

from sqlalchemy import ForeignKey, Identity, Integer, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Prereg(Base):
    """A preregistration, addressed by the SHA-256 of its bytes; until `embargo_until` it is shown to few."""

    __tablename__ = "prereg"

    sha256: Mapped[str] = mapped_column(Text, primary_key=True)
    git_blob_sha1: Mapped[str]
    yaml: Mapped[bytes]
    form: Mapped[str]
    run_purpose: Mapped[str]
    registered_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    registered_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    embargo_until: Mapped[datetime | None]


class PreregBinding(Base):
    """A prereg was registered for a benchmark, which may be made later; it may be for several."""

    __tablename__ = "prereg_binding"

    prereg_sha256: Mapped[str] = mapped_column(ForeignKey("prereg.sha256"), primary_key=True)
    benchmark: Mapped[str] = mapped_column(Text, primary_key=True, index=True)
    bound_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    bound_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class PreregAttestation(Base):
    """A steward's word that a prereg existed before the server saw it, with the evidence for it.

    It counts for one benchmark; null: for all of them, as an admin's word does.
    """

    __tablename__ = "prereg_attestation"

    id: Mapped[int] = mapped_column(Integer, Identity(always=True), primary_key=True)
    prereg_sha256: Mapped[str] = mapped_column(ForeignKey("prereg.sha256"), index=True)
    registered_at: Mapped[datetime]
    evidence: Mapped[str]
    attested_at: Mapped[datetime] = mapped_column(server_default=func.now())
    attested_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
    benchmark: Mapped[str | None]
