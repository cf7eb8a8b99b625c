"""The private labels of prediction benchmarks: uploaded once, read to match and to measure, never shown.

Called by `web.labels`, by `web.submissions` when an upload arrives and by `store.entrant_evidence`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.db.models import LabelSet
from app.errors import Conflict
from app.kinds.known import kind_of
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.manifest_part import PredictionsPart
from app.manifest.manifest import Manifest, part_of
from app.store import benchmark_rows, disclosure
from app.store.benchmarks import Declared
from app.store.disclosure import Closing
from app.store.predictions import (
    pack_floats,
    pack_integers,
    pack_items,
    unpack_floats,
    unpack_integers,
    unpack_items,
)
from app.values.predictions import Labels


@dataclass(frozen=True)
class LabelsPut:
    """What may be shown of the labels of one task, and only to a steward."""

    task: str
    n_items: int
    sha256: str
    put_at: datetime


def private_part(manifest: Manifest) -> Predictions:
    """Return the prediction part of a manifest.

    Raises Conflict for a benchmark without labels of its own.
    """
    if kind_of(manifest).takes_labels is None:
        raise Conflict(f"{manifest.slug} is no benchmark of predictions; it has no labels.")
    if not takes_labels(manifest):
        raise Conflict(f"In {manifest.slug} every submission brings its own labels; there are none to put.")
    return part_of(manifest, PredictionsPart).predictions


def takes_labels(manifest: Manifest) -> bool:
    """Say whether a benchmark has labels of its own, which its steward uploads once."""
    asked = kind_of(manifest).takes_labels
    return asked is not None and asked(manifest)


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
    return disclosure.commit(session, declared, labels)


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


def describe_labels(session: Session, benchmark_id: int) -> list[LabelsPut]:
    """Return what may be shown of the labels of each task, by name."""
    query = select(LabelSet.task, LabelSet.n_items, LabelSet.sha256, LabelSet.put_at)
    rows = session.execute(query.where(LabelSet.benchmark_id == benchmark_id).order_by(LabelSet.task))
    return [LabelsPut(*row) for row in rows]


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
    parts = disclosure.load_parts(session, benchmark_id, {task: len(each) for task, each in labels.items()})
    return {task: replace(each, public=parts.get(task)) for task, each in labels.items()}


def close_due(session: Session) -> None:
    """Close the benchmarks whose time has come."""
    for declared in disclosure.due(session):
        disclosure.close(session, Closing(declared, stored_labels(session, declared)))


def stored_labels(session: Session, declared: Declared) -> Sequence[Labels]:
    """Return the labels of a benchmark with their items, as they are stored now."""
    return list(load_labels(session, declared.benchmark.id, with_items=True).values())
