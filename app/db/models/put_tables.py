"""What a steward puts beside a manifest: labels, and the items of a grid."""

from datetime import datetime

from sqlalchemy import ForeignKey, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.db.models.base import Base


class LabelSet(Base):
    """The labels of one task of a prediction benchmark: put once by a steward, never served to anyone else.

    `items` is compressed JSON; the others are compressed little-endian float64 and int64 arrays.
    """

    __tablename__ = "label_set"

    benchmark_id: Mapped[int] = mapped_column(ForeignKey("benchmark.id"), primary_key=True)
    task: Mapped[str] = mapped_column(Text, primary_key=True)
    n_items: Mapped[int]
    items: Mapped[bytes]
    label: Mapped[bytes]
    weight: Mapped[bytes | None]
    group: Mapped[bytes | None]
    row: Mapped[bytes | None]
    sha256: Mapped[str]
    put_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    put_by: Mapped[int] = mapped_column(ForeignKey("token.id"))


class ItemSet(Base):
    """The items of a benchmark's grid, as its steward put them under one version of the manifest.

    `task` is empty where they are those of every task; `items` is compressed JSON.
    """

    __tablename__ = "item_set"

    manifest_version_id: Mapped[int] = mapped_column(ForeignKey("manifest_version.id"), primary_key=True)
    task: Mapped[str] = mapped_column(Text, primary_key=True)
    n_items: Mapped[int]
    items: Mapped[bytes]
    sha256: Mapped[str]
    put_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    put_by: Mapped[int] = mapped_column(ForeignKey("token.id"))
