"""Private labels as they are stored: the labels, the commitment to them, their parts, and the close."""

import json
import secrets
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from app.db.models import (
    Benchmark,
    Entrant,
    LabelClose,
    LabelPart,
    LabelSecret,
    LabelSet,
    Prediction,
    StoredTask,
    Token,
)
from app.errors import Conflict
from app.kinds.labels import KindLabels, Opening, parts_key
from app.kinds.registry import kind_of
from app.manifest.model import PRIVATE_PART, PUBLIC_PART, Manifest, Scoring
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.store import benchmark_rows, benchmarks
from app.store.benchmarks import Declared
from app.store.rows import RowKeys
from app.values.scores import Labels, PredictionBlock, digest_of

SALT_BYTES = 32

DUE = "The time of closes_at has come."


@dataclass(frozen=True)
class Commitment:
    """The public facts about private labels: the commitment and, once the benchmark has closed, its opening."""

    commitment: str
    committed_at: datetime
    close: LabelClose | None
    closed_by: str | None
    opening: Opening | None


def scoring_of(manifest: Manifest) -> Scoring | None:
    """Return the rules of disclosure of a benchmark's labels; None where these are not private, or absent."""
    labels = kind_of(manifest).labels
    return None if labels is None else labels.scoring(manifest)


def commit(session: Session, declared: Declared, labels: Sequence[Labels]) -> list[Labels]:
    """Choose the public part of labels that are put, keep what binds to them, and return them divided.

    Labels that are no secret are returned as they are.
    """
    manifest, rules = declared.manifest, scoring_of(declared.manifest)
    if rules is None:
        return list(labels)
    kind = labels_of(manifest)
    opening = Opening(secrets.token_bytes(SALT_BYTES), rules.public_share, kind.digest(manifest, labels))
    key = parts_key(opening.labels_sha256)
    session.execute(
        insert(LabelSecret).values(
            benchmark_id=declared.benchmark.id,
            salt=opening.salt,
            public_share=rules.public_share,
            labels_sha256=opening.labels_sha256,
            commitment=opening.commitment(),
        )
    )
    divided = [replace(each, public=kind.choose_public(manifest, each, key, rules.public_share)) for each in labels]
    for each in divided:
        packed = np.packbits(np.asarray(each.public)).tobytes()
        session.execute(insert(LabelPart).values(benchmark_id=declared.benchmark.id, task=each.task, public=packed))
    return divided


def load_parts(session: Session, benchmark_id: int, n_items: Mapping[str, int]) -> dict[str, BoolArray]:
    """Return which items of each task are public, [n_items]; empty where labels are no secret."""
    query = select(LabelPart.task, LabelPart.public).where(LabelPart.benchmark_id == benchmark_id)
    return {
        task: np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=n_items[task]).astype(np.bool_)
        for task, packed in session.execute(query)
    }


def deciding_part(session: Session, declared: Declared) -> str | None:
    """Return which part of its labels decides in a benchmark now; None where they are no secret."""
    if scoring_of(declared.manifest) is None:
        return None
    return PUBLIC_PART if find_close(session, declared.benchmark.id) is None else PRIVATE_PART


def find_close(session: Session, benchmark_id: int) -> LabelClose | None:
    """Return when and why a benchmark closed; None for one that is open."""
    return session.get(LabelClose, benchmark_id)


def refuse_closed(session: Session, declared: Declared, now: datetime) -> None:
    """Raise Conflict after the close, when nothing more is scored: anybody could fit the disclosed private part."""
    rules = scoring_of(declared.manifest)
    if rules is None:
        return
    closed = find_close(session, declared.benchmark.id)
    at = rules.closes_at if closed is None else closed.at
    if closed is not None or (at is not None and at <= now):
        raise Conflict(f"{declared.manifest.slug} closed on {at:%Y-%m-%d %H:%M %Z}: nothing more is scored.")


def close(session: Session, declared: Declared, by_id: int | None = None, reason: str = DUE) -> None:
    """Close a benchmark for good: its private part is shown from the next publication on.

    It records whether the stored labels match the commitment, by whom (None: its time has come) and why.
    Raises Conflict where there is nothing to close.
    """
    manifest, slug, benchmark_id = declared.manifest, declared.manifest.slug, declared.benchmark.id
    benchmark_rows.lock_benchmark(session, benchmark_id)
    secret, known = session.get(LabelSecret, benchmark_id), find_close(session, benchmark_id)
    if secret is None:
        raise Conflict(f"{slug} has no private labels, so there is nothing to close.")
    if known is not None:
        raise Conflict(f"{slug} closed on {known.at:%Y-%m-%d %H:%M %Z} already.")
    stored = list(load_labels(session, benchmark_id, with_items=True).values())
    matches = labels_of(manifest).digest(manifest, stored) == secret.labels_sha256
    row = {"benchmark_id": benchmark_id, "by_id": by_id, "reason": reason, "labels_match": matches}
    session.execute(insert(LabelClose).values(row))
    benchmark_rows.mark_data_changed(session, benchmark_id)


def due(session: Session) -> list[Declared]:
    """Return the benchmarks whose time to close has come and that are open."""
    is_closed = select(LabelClose.benchmark_id).where(LabelClose.benchmark_id == Benchmark.id)
    query = select(Benchmark).join(LabelSecret, LabelSecret.benchmark_id == Benchmark.id).where(~is_closed.exists())
    now = session.scalars(select(func.now())).one()
    open_ones = [
        benchmarks.load_declared(session, benchmark) for benchmark in session.scalars(query.order_by(Benchmark.id))
    ]
    return [each for each in open_ones if _is_due(each.manifest, now)]


def _is_due(manifest: Manifest, now: datetime) -> bool:
    rules = scoring_of(manifest)
    return rules is not None and rules.closes_at is not None and rules.closes_at <= now


def find_commitment(session: Session, benchmark_id: int) -> Commitment | None:
    """Return what is public of the private labels of a benchmark; None before they are put."""
    secret = session.get(LabelSecret, benchmark_id)
    if secret is None:
        return None
    closed = find_close(session, benchmark_id)
    by = None if closed is None or closed.by_id is None else session.get_one(Token, closed.by_id).name
    opening = None if closed is None else opening_of(secret)
    return Commitment(secret.commitment, secret.committed_at, closed, by, opening)


def opening_of(secret: LabelSecret) -> Opening:
    """Return the opening of a commitment."""
    return Opening(secret.salt, secret.public_share, secret.labels_sha256)


# The private labels of prediction benchmarks: uploaded once, read to match and to measure, never shown.


@dataclass(frozen=True)
class ItemsPut:
    """What was put for one task, items or labels, in short; of labels a steward alone may read even that."""

    task: str
    n_items: int
    sha256: str
    put_at: datetime


def labels_of(manifest: Manifest) -> KindLabels:
    """Return what the kind of a benchmark says of its labels. Raises Conflict for one without labels of its own."""
    labels = kind_of(manifest).labels
    if labels is None:
        raise Conflict(f"{manifest.slug} is no benchmark of predictions; it has no labels.")
    if not labels.takes(manifest):
        raise Conflict(f"In {manifest.slug} every submission brings its own labels; there are none to put.")
    return labels


def takes_labels(manifest: Manifest) -> bool:
    """Say whether a benchmark has labels of its own, which its steward uploads once."""
    labels = kind_of(manifest).labels
    return labels is not None and labels.takes(manifest)


def ranks_label_holders(manifest: Manifest) -> bool:
    """Say whether the manifest has entrants ranked that were sent by who can read its private labels."""
    labels = kind_of(manifest).labels
    return labels is not None and labels.ranks_holders(manifest)


def put_labels(
    session: Session, declared: Declared, labels: Sequence[Labels], sha256: str, token_id: int
) -> Sequence[Labels] | None:
    """Store the labels of every task, once, and return them divided into their parts; None when they are there already.

    Raises Conflict when others are there.
    """
    # The lock makes two uploads take turns.
    benchmark_rows.lock_benchmark(session, declared.benchmark.id)
    known = describe_labels(session, declared.benchmark.id)
    if known and {put.sha256 for put in known} == {sha256}:
        return None
    if known:
        slug = declared.manifest.slug
        raise Conflict(f"{slug} has labels already, of other bytes; its boards are scored against them.")
    for each in labels:
        session.execute(insert(LabelSet).values(_packed(each, declared.benchmark.id, sha256, token_id)))
    return commit(session, declared, labels)


def _packed(labels: Labels, benchmark_id: int, sha256: str, token_id: int) -> dict[str, Any]:
    return {
        "benchmark_id": benchmark_id,
        "task": labels.task,
        "n_items": len(labels),
        "items": pack_items(labels.items),
        "label": pack_floats(labels.label),
        "weight": None if labels.weight is None else pack_floats(labels.weight),
        "group": None if labels.group is None else pack_integers(labels.group),
        "row": None if labels.row is None else pack_integers(labels.row),
        "sha256": sha256,
        "put_by": token_id,
    }


def describe_labels(session: Session, benchmark_id: int) -> list[ItemsPut]:
    """Return what may be shown of the labels of each task, by name."""
    query = select(LabelSet.task, LabelSet.n_items, LabelSet.sha256, LabelSet.put_at)
    rows = session.execute(query.where(LabelSet.benchmark_id == benchmark_id).order_by(LabelSet.task))
    return [ItemsPut(*row) for row in rows]


def labels_to_match(session: Session, declared: Declared) -> dict[str, Labels]:
    """Return the items that an upload is matched to, without their labels; empty where uploads bring their own.

    Reading an upload needs no labels, so a dry run cannot disclose any.
    Raises Conflict when the steward has not uploaded them yet.
    """
    if not takes_labels(declared.manifest):
        return {}
    query = select(LabelSet.task, LabelSet.n_items, LabelSet.items).where(
        LabelSet.benchmark_id == declared.benchmark.id
    )
    rows = session.execute(query.order_by(LabelSet.task))
    labels = {row.task: Labels(row.task, unpack_items(row.items), np.zeros(row.n_items)) for row in rows}
    if not labels:
        slug = declared.manifest.slug
        raise Conflict(f"{slug} has no labels yet, so nothing can be scored; its steward must put them first.")
    return labels


def load_labels(session: Session, benchmark_id: int, *, with_items: bool = False) -> dict[str, Labels]:
    """Return the labels of every task, divided where they are a secret; the items' names only where asked for."""
    columns = [LabelSet.task, LabelSet.label, LabelSet.weight, LabelSet.group, LabelSet.row]
    query = select(*columns, *([LabelSet.items] if with_items else []))
    rows = session.execute(query.where(LabelSet.benchmark_id == benchmark_id).order_by(LabelSet.task))
    labels = {
        row.task: Labels(
            task=row.task,
            items=unpack_items(row.items) if with_items else (),
            label=unpack_floats(row.label),
            weight=None if row.weight is None else unpack_floats(row.weight),
            group=None if row.group is None else unpack_integers(row.group),
            row=None if row.row is None else unpack_integers(row.row),
        )
        for row in rows
    }
    parts = load_parts(session, benchmark_id, {task: len(each) for task, each in labels.items()})
    return {task: replace(each, public=parts.get(task)) for task, each in labels.items()}


def close_due(session: Session) -> None:
    """Close the benchmarks whose time has come."""
    for declared in due(session):
        close(session, declared)


# Packed predictions: written with their submission, read back for measuring.
#
# An array is kept as zlib level 1 of little-endian float64. That pays: a million probabilities come to 25% of their
# bytes with two decimals, 40% with four, 57% from float32 and 95% at full precision, in 0.04 to 0.2 s; level 6 gains
# little for several times the time.

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
        select(
            Entrant.name,
            StoredTask.name,
            Prediction.n_items,
            Prediction.n_columns,
            Prediction.values,
            Prediction.labels,
        )
        .join(Entrant, Entrant.id == Prediction.entrant_id)
        .join(StoredTask, StoredTask.id == Prediction.task_id)
        .where(Prediction.submission_id == submission_id, Prediction.entrant_id == entrant_id)
        .order_by(StoredTask.name)
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
