"""The commitment to private labels, their parts, and the close. Called by `app.store.labels`, the web and the sweep."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from app.db.models import Benchmark, LabelClose, LabelPart, LabelSecret, Token
from app.errors import Conflict
from app.kinds.known import kind_of
from app.kinds.predictions.commitment import Opening, labels_digest, parts_key
from app.kinds.predictions.label_parts import choose_public
from app.kinds.predictions.manifest_part import PredictionsPart
from app.manifest.asked import PRIVATE_PART, PUBLIC_PART
from app.manifest.manifest import Manifest, part_of
from app.manifest.scoring import Scoring
from app.stats.arrays import BoolArray
from app.store import benchmark_rows, benchmarks
from app.store.benchmarks import Declared
from app.values.predictions import Labels

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
    return kind_of(manifest).scoring(manifest)


def commit(session: Session, declared: Declared, labels: Sequence[Labels]) -> list[Labels]:
    """Choose the public part of labels that are put, keep what binds to them, and return them divided.

    Labels that are no secret are returned as they are.
    """
    rules = scoring_of(declared.manifest)
    if rules is None:
        return list(labels)
    part = part_of(declared.manifest, PredictionsPart).predictions
    opening = Opening(secrets.token_bytes(SALT_BYTES), rules.public_share, labels_digest(labels, part))
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
    divided = [replace(each, public=choose_public(each, part, key, rules.public_share)) for each in labels]
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


@dataclass(frozen=True)
class Closing:
    """A benchmark to be closed: its stored labels, by whom (None: its time has come) and why."""

    declared: Declared
    labels: Sequence[Labels]
    by_id: int | None = None
    reason: str = DUE


def close(session: Session, closing: Closing) -> None:
    """Close a benchmark for good: its private part is shown from the next publication on.

    It records whether the stored labels match the commitment.
    Raises Conflict where there is nothing to close.
    """
    slug, benchmark_id = closing.declared.manifest.slug, closing.declared.benchmark.id
    benchmark_rows.lock_benchmark(session, benchmark_id)
    secret, known = session.get(LabelSecret, benchmark_id), find_close(session, benchmark_id)
    if secret is None:
        raise Conflict(f"{slug} has no private labels, so there is nothing to close.")
    if known is not None:
        raise Conflict(f"{slug} closed on {known.at:%Y-%m-%d %H:%M %Z} already.")
    part = part_of(closing.declared.manifest, PredictionsPart).predictions
    matches = labels_digest(closing.labels, part) == secret.labels_sha256
    row = {"benchmark_id": benchmark_id, "by_id": closing.by_id, "reason": closing.reason, "labels_match": matches}
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
