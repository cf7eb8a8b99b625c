"""Packed predictions: written with their submission, read back for measuring. Called by `store.submissions` and by
`store.entrant_evidence`.

An array is kept as zlib level 1 of little-endian float64. That pays: a million probabilities come to 25% of their
bytes with two decimals, 40% with four, 57% from float32 and 95% at full precision, in 0.04 to 0.2 s; level 6 gains
little for several times the time.
"""

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.db.models import Entrant, Prediction, Task
from app.stats.arrays import FloatArray, IntArray
from app.store.scores import RowKeys
from app.values.predictions import Labels, PredictionBlock, digest_of

LEVEL = 1
_LENGTH = struct.Struct("<q")


def write_blocks(session: Session, blocks: Sequence[PredictionBlock], keys: RowKeys) -> None:
    """Write one row for each block in the caller's transaction."""
    for block in blocks:
        row = {
            "submission_id": keys.submission_id,
            "entrant_id": keys.entrants[block.entrant],
            "task_id": keys.tasks[block.task],
            "n_items": block.values.shape[0],
            "n_columns": block.values.shape[1],
            "values": pack_floats(block.values),
            "labels": None if block.labels is None else pack_labels(block.labels),
        }
        session.execute(insert(Prediction).values(row))


def read_blocks(session: Session, submission_id: int, entrant_id: int) -> list[PredictionBlock]:
    """Return what one entrant predicted in one submission, by task; its own labels come without their items."""
    query = (
        select(Entrant.name, Task.name, Prediction.n_items, Prediction.n_columns, Prediction.values, Prediction.labels)
        .join(Entrant, Entrant.id == Prediction.entrant_id)
        .join(Task, Task.id == Prediction.task_id)
        .where(Prediction.submission_id == submission_id, Prediction.entrant_id == entrant_id)
        .order_by(Task.name)
    )
    return [
        PredictionBlock(
            entrant=entrant,
            task=task,
            values=unpack_floats(values).reshape(n_items, n_columns),
            labels=None if labels is None else unpack_labels(labels, task, with_items=False),
        )
        for entrant, task, n_items, n_columns, values, labels in session.execute(query)
    ]


def pack_floats(values: FloatArray) -> bytes:
    """Return an array as compressed little-endian float64, row after row."""
    return zlib.compress(values.astype("<f8").tobytes(), LEVEL)


def unpack_floats(content: bytes) -> FloatArray:
    """Return the array that `pack_floats` packed, without its shape."""
    return np.frombuffer(zlib.decompress(content), dtype="<f8").astype(np.float64)


def pack_integers(values: IntArray) -> bytes:
    """Return an array as compressed little-endian int64."""
    return zlib.compress(values.astype("<i8").tobytes(), LEVEL)


def unpack_integers(content: bytes) -> IntArray:
    """Return the array that `pack_integers` packed."""
    return np.frombuffer(zlib.decompress(content), dtype="<i8").astype(np.int64)


def pack_items(items: Sequence[str]) -> bytes:
    """Return the names of items as compressed JSON."""
    return zlib.compress(json.dumps(list(items), separators=(",", ":")).encode(), LEVEL)


def unpack_items(content: bytes) -> tuple[str, ...]:
    """Return the names that `pack_items` packed."""
    return tuple(json.loads(zlib.decompress(content)))


def pack_labels(labels: Labels) -> bytes:
    """Return a submitter's own labels as bytes: items, label, weight, group and row, each with its length or −1."""
    parts = (
        pack_items(labels.items),
        pack_floats(labels.label),
        None if labels.weight is None else pack_floats(labels.weight),
        None if labels.group is None else pack_integers(labels.group),
        None if labels.row is None else pack_integers(labels.row),
    )
    return b"".join(_LENGTH.pack(-1) if part is None else _LENGTH.pack(len(part)) + part for part in parts)


def unpack_labels(content: bytes, task: str, *, with_items: bool) -> Labels:
    """Return the labels that `pack_labels` packed; without their items they keep a digest of them."""
    parts: list[bytes | None] = []
    at = 0
    while at < len(content):
        (length,) = _LENGTH.unpack_from(content, at)
        at += _LENGTH.size
        parts.append(None if length < 0 else content[at : at + length])
        at += max(0, length)
    items, label, weight, group, row = parts
    if items is None or label is None:
        raise ValueError("packed labels without items or labels")
    labels = Labels(
        task=task,
        items=unpack_items(items),
        label=unpack_floats(label),
        weight=None if weight is None else unpack_floats(weight),
        group=None if group is None else unpack_integers(group),
        row=None if row is None else unpack_integers(row),
    )
    return labels if with_items else replace(labels, items=(), digest=digest_of(labels))
