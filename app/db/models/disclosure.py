"""What is kept of labels that are a secret: what binds their steward, which are public, what was disclosed."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, Double, ForeignKey, Identity, Index, Text, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class LabelSecret(Base):
    """What the commitment to a benchmark's labels is made of, shown when it closes; the commitment is shown at once."""

    __tablename__ = "label_secret"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    salt: Mapped[bytes]
    public_share: Mapped[float] = mapped_column(Double)
    labels_sha256: Mapped[str]
    commitment: Mapped[str]
    committed_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class LabelPart(Base):
    """Which items of a task are public: one packed bit for each, in the order of the labels."""

    __tablename__ = "label_part"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    task: Mapped[str] = mapped_column(Text, primary_key=True)
    public: Mapped[bytes]


class LabelClose(Base):
    """A benchmark closed: from now on its private part is shown. `by_id` is null where its time had come.

    `labels_match` says whether the stored labels were still those that were committed to.
    """

    __tablename__ = "label_close"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    by_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    labels_match: Mapped[bool] = mapped_column(Boolean)


class LabelAttempt(Base):
    """A submission that is scored against private labels, whatever becomes of it; `exempt`: of one who knows them."""

    __tablename__ = "label_attempt"
    __table_args__ = (Index("ix_label_attempt_benchmark_id", "benchmark_id", "token_id"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    exempt: Mapped[bool] = mapped_column(Boolean)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class LabelAnswer(Base):
    """One scored entrant: whether its scores were shown, its score on each board, and how many numbers were shown."""

    __tablename__ = "label_answer"

    submission_id: Mapped[int] = mapped_column(ForeignKey("label_attempt.submission_id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    shown: Mapped[bool] = mapped_column(Boolean)
    rungs: Mapped[dict[str, Any]] = mapped_column(JSONB)
    n_numbers: Mapped[int]
    predictions_sha256: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())


class OwnerLink(Base):
    """A steward says that two tokens are one owner in a benchmark: they share a quota and a best; the newest holds."""

    __tablename__ = "owner_link"
    __table_args__ = (Index("ix_owner_link_benchmark_id", "benchmark_id"),)

    id: Mapped[int] = mapped_column(BigInteger, Identity(always=True), primary_key=True)
    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"))
    token_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    owner_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    by_id: Mapped[int] = mapped_column(ForeignKey("token.id"))
    reason: Mapped[str]
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
