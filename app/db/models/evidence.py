"""The rows and predictions of a submission, and what is computed from them."""

from typing import Any

from sqlalchemy import ARRAY, BigInteger, Boolean, Double, ForeignKey, Index, Integer, SmallInteger, Text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class Fingerprint(Base):
    """What tells one entrant's rows in one submission from others, and the flags that they raised on arrival.

    `places` and `results` are digests over all rows, `sample` holds places and results of some, `contents` hashes of
    what rows say in many digits, the sampled ones values of some rows: see `app.values.fingerprints`.
    """

    __tablename__ = "fingerprint"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True, index=True)
    n_rows: Mapped[int]
    places: Mapped[str]
    results: Mapped[str]
    sample: Mapped[bytes]
    contents: Mapped[list[int]] = mapped_column(ARRAY(BigInteger))
    sampled_columns: Mapped[list[str]] = mapped_column(ARRAY(Text))
    sampled_places: Mapped[bytes]
    sampled_values: Mapped[bytes]
    flags: Mapped[list[str]] = mapped_column(ARRAY(Text))


Index("ix_fingerprint_contents", Fingerprint.contents, postgresql_using="gin")
Index("ix_fingerprint_results", Fingerprint.results)


class Score(Base):
    """One evidence row; `values` are in the order of its submission's `columns`, null where it failed."""

    __tablename__ = "score"

    submission_id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    file: Mapped[int] = mapped_column(SmallInteger)
    row: Mapped[int]
    entrant_id: Mapped[int]
    task_id: Mapped[int]
    condition: Mapped[str | None]
    seed: Mapped[int | None] = mapped_column(BigInteger)
    item: Mapped[str | None]
    leaked: Mapped[bool] = mapped_column(Boolean)
    values: Mapped[list[float | None]] = mapped_column(ARRAY(Double))
    reason: Mapped[str | None]
    recorded: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))


class Evidence(Base):
    """The score rows of one entrant in one submission, packed: what boards are computed from. Made of the rows."""

    __tablename__ = "evidence"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    content: Mapped[bytes]


class Prediction(Base):
    """What one entrant predicted for one task, packed in the order of the labels' items.

    `values` is a compressed little-endian float64 array [n_items, n_columns]. `labels` holds the submitter's own
    ones, packed, where the benchmark has none.
    """

    __tablename__ = "prediction"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    task_id: Mapped[int] = mapped_column(ForeignKey("task.id"), primary_key=True)
    n_items: Mapped[int]
    n_columns: Mapped[int]
    values: Mapped[bytes]
    labels: Mapped[bytes | None]


class Measured(Base):
    """What one entrant's evidence comes to under one board, kept so that publishing need not read its rows again.

    `key` is a digest of everything that decides it: the board's declaration, the metrics, the code. `apart` is what
    only the best of a board are shown with: curves, and what paired tests need of each item. `digest` is of both.
    """

    __tablename__ = "measured"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id"), primary_key=True)
    entrant_id: Mapped[int] = mapped_column(ForeignKey("entrant.id"), primary_key=True)
    key: Mapped[str] = mapped_column(Text, primary_key=True)
    digest: Mapped[bytes]
    content: Mapped[bytes]
    apart: Mapped[bytes | None]
