"""Benchmarks and the versions of their manifests, their lives, and what a narrower range would leave outside."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ScalarSelect, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import (
    Benchmark,
    BenchmarkChange,
    DraftManifest,
    Entry,
    LabelSet,
    ManifestVersion,
    RoleGrant,
    StoredTask,
    Submission,
)
from app.errors import Conflict, NotFound
from app.kinds.parse import parse_manifest
from app.kinds.registry import kind_of
from app.manifest.build import manifest_digest
from app.manifest.model import Manifest, Metric
from app.names import first_few, in_words
from app.store import benchmark_rows
from app.store.benchmark_rows import add_names, refuse_respelled
from app.store.references import refuse_owned
from app.store.rows import read_scores
from app.values.scores import ScoreTable

MAX_NAMED = 10


@dataclass(frozen=True)
class Declared:
    """A benchmark with one version of its manifest."""

    benchmark: Benchmark
    version: ManifestVersion
    manifest: Manifest


def create_benchmark(
    session: Session, manifest: Manifest, yaml: bytes, token_id: int, visibility: str = "public"
) -> Declared:
    """Store a new benchmark, whose steward is who makes it. Raises Conflict when the slug is taken."""
    benchmark = session.scalar(
        insert(Benchmark)
        .values(slug=manifest.slug, created_by=token_id, visibility=visibility)
        .on_conflict_do_nothing(index_elements=["slug"])
        .returning(Benchmark)
    )
    if benchmark is None:
        raise Conflict(f"There is a benchmark {manifest.slug} already; PUT adds a version of its manifest.")
    session.add(RoleGrant(benchmark_id=benchmark.id, token_id=token_id, role="steward", granted=True, by_id=token_id))
    return _add_version(session, benchmark, manifest, yaml, token_id)


def update_benchmark(session: Session, slug: str, manifest: Manifest, yaml: bytes, token_id: int) -> Declared:
    """Add a version of the manifest; the same bytes as the newest version change nothing.

    Raises NotFound, or Conflict when the manifest names another slug, another kind of evidence, other tasks than
    those whose labels are there, a range that scores on the boards are outside of, or a new reference entrant that
    somebody else than a steward owns.
    """
    benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
    if not check_update(session, slug, manifest, yaml):
        return load_declared(session, benchmark)
    return _add_version(session, benchmark, manifest, yaml, token_id)


def refuse_taken(session: Session, slug: str) -> None:
    """Raise Conflict when a benchmark has the slug."""
    if benchmark_rows.known_slugs(session, [slug]):
        raise Conflict(f"There is a benchmark {slug} already; PUT adds a version of its manifest.")


def check_update(session: Session, slug: str, manifest: Manifest, yaml: bytes) -> bool:
    """Say whether a manifest would be a new version of a benchmark's; raises as `update_benchmark` does."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    newest = load_declared(session, benchmark)
    if newest.version.sha256 == manifest_digest(yaml):
        return False
    if manifest.slug != slug:
        raise Conflict(f"The manifest's slug is {manifest.slug}, but the address is that of {slug}.")
    if manifest.evidence != newest.manifest.evidence:
        raise Conflict(f"{slug} takes {newest.manifest.evidence}; another kind of evidence is another benchmark.")
    if not manifest.part.means_the_same(newest.manifest.part):
        raise Conflict(f"{slug} has {newest.manifest.part.bound}: make a new benchmark.")
    _refuse_other_tasks(session, benchmark, manifest)
    refuse_outside_range(session, benchmark.id, newest.manifest, manifest)
    refuse_owned(session, benchmark, newest.manifest, manifest)
    return True


def _refuse_other_tasks(session: Session, benchmark: Benchmark, manifest: Manifest) -> None:
    tasks = manifest.task_ids()
    labelled = set(session.scalars(select(LabelSet.task).where(LabelSet.benchmark_id == benchmark.id)))
    if labelled and tasks is not None and set(tasks) != labelled:
        others = ", ".join(sorted(labelled ^ set(tasks))[:MAX_NAMED])
        raise Conflict(
            f"The labels of {benchmark.slug} were put, once, for every task. They can be retitled and put in order, "
            f"but none can be added, left out or renamed ({others}): make a new benchmark."
        )


def load_declared(session: Session, benchmark: Benchmark, version_id: int | None = None) -> Declared:
    """Return a benchmark with its newest manifest, or with the version of the given id."""
    texts = (newest_text(BenchmarkChange.title), newest_text(BenchmarkChange.description))
    query = select(ManifestVersion, *texts).where(ManifestVersion.benchmark_id == benchmark.id)
    if version_id is not None:
        query = query.where(ManifestVersion.id == version_id)
    version, title, description = session.execute(query.order_by(ManifestVersion.version.desc()).limit(1)).one()
    given = {name: text for name, text in (("title", title), ("description", description)) if text is not None}
    manifest = parse_manifest(version.yaml)
    return Declared(benchmark, version, manifest.model_copy(update=given) if given else manifest)


def find_declared(session: Session, slug: str) -> Declared:
    """Return a benchmark with its newest manifest. Raises NotFound."""
    return load_declared(session, benchmark_rows.find_benchmark(session, slug))


def ensure_tasks(session: Session, benchmark_id: int, names: Sequence[str]) -> dict[str, int]:
    """Return the number of each task, making those that are new. Raises Conflict for a task in another spelling."""
    numbers = _task_numbers(session, benchmark_id)
    if new := set(names) - numbers.keys():
        add_names(session, StoredTask, benchmark_id, new)
        numbers = _task_numbers(session, benchmark_id)
    refuse_respelled("a task", numbers, names)
    return {name: numbers[name] for name in names}


def _task_numbers(session: Session, benchmark_id: int) -> dict[str, int]:
    rows = session.execute(select(StoredTask.name, StoredTask.id).where(StoredTask.benchmark_id == benchmark_id))
    return {row.name: row.id for row in rows}


def _add_version(session: Session, benchmark: Benchmark, manifest: Manifest, yaml: bytes, token_id: int) -> Declared:
    newest = session.scalar(
        select(func.max(ManifestVersion.version)).where(ManifestVersion.benchmark_id == benchmark.id)
    )
    version = ManifestVersion(
        benchmark_id=benchmark.id,
        version=(newest or 0) + 1,
        yaml=yaml,
        sha256=manifest_digest(yaml),
        title=manifest.title,
        evidence=manifest.evidence,
        leaderboards=[{"name": board.name, "title": board.title or board.name} for board in manifest.leaderboards],
        created_by=token_id,
    )
    session.add(version)
    session.flush()
    benchmark_rows.mark_data_changed(session, benchmark.id)
    benchmark_rows.mark_boards_changed(session, benchmark.id)
    return Declared(benchmark, version, manifest)


# A draft of the next version: kept beside the versions, which are public, and shown to stewards alone.

NEWEST = 2**31 - 1
"""The number of a draft as a version: larger than any that is stored, so that everything was admitted before it."""


@dataclass(frozen=True)
class DraftVersion:
    """A draft as it is kept, and the version that it would be."""

    kept: DraftManifest
    declared: Declared


def keep_draft(session: Session, benchmark: Benchmark, yaml: bytes, by_id: int) -> None:
    """Keep a manifest as the draft of the next version, in place of the one that is there."""
    values = {"yaml": yaml, "put_by": by_id, "put_at": func.clock_timestamp()}
    added = insert(DraftManifest).values(benchmark_id=benchmark.id, **values)
    session.execute(added.on_conflict_do_update(index_elements=["benchmark_id"], set_=values))


def load_draft(session: Session, benchmark: Benchmark) -> DraftVersion:
    """Return the draft of the next version of a benchmark. Raises NotFound."""
    kept = session.get(DraftManifest, benchmark.id, populate_existing=True)
    if kept is None:
        raise NotFound(f"There is no draft of another version of {benchmark.slug}.")
    number = load_declared(session, benchmark).version.version + 1
    about = {"version": number, "yaml": kept.yaml, "sha256": manifest_digest(kept.yaml)}
    version = ManifestVersion(id=NEWEST, benchmark_id=benchmark.id, **about)
    return DraftVersion(kept, Declared(benchmark, version, parse_manifest(kept.yaml)))


def remove_draft(session: Session, draft: DraftVersion) -> None:
    """Remove a draft; nobody but stewards was shown it."""
    session.delete(draft.kept)


# Scores outside of a range that a new version of a manifest declares: it is refused while they are on the boards.
# Uploads are held to the range when they are read, so a range that is narrowed later would leave older scores beyond
# what anybody can still reach, and their entrants first for good.

SHOWN = 5

AT_ONCE = 100
"""Entrants whose rows are in memory at a time."""


def refuse_outside_range(session: Session, benchmark_id: int, before: Manifest, after: Manifest) -> None:
    """Raise Conflict where evidence that counts, or soon will, has scores outside of a range that is narrowed."""
    narrowed = [name for name, metric in after.metrics.items() if name in before.metrics
                and _is_narrower(metric, before.metrics[name])]  # fmt: skip
    if not narrowed or kind_of(after).rows.are_packed:
        return
    query = select(Entry.submission_id, Entry.entrant_id).join(Submission, Submission.id == Entry.submission_id)
    counting = (Submission.benchmark_id == benchmark_id) & Entry.state.in_(("pending", "current"))
    pairs = [(number, entrant) for number, entrant in session.execute(query.where(counting).order_by(Entry.entrant_id))]
    outside = [
        line
        for start in range(0, len(pairs), AT_ONCE)
        for scores in [read_scores(session, pairs[start : start + AT_ONCE], narrowed)]
        for name in narrowed
        for line in _outside(scores, name, after.metrics[name])
    ]
    if outside:
        raise Conflict(
            "Scores on the boards are outside of the range that this version declares: "
            f"{first_few(outside, SHOWN, between='; ')}. Withdraw their submissions, or give the metric another name."
        )


def _is_narrower(now: Metric, before: Metric) -> bool:
    """Say whether a range excludes what another one held, of a metric that is read in the same way."""
    if not now.is_read_like(before) or now.above is not None:
        return False
    (least, most), (least_before, most_before) = _ends(now), _ends(before)
    return bool(least > least_before or most < most_before)


def _ends(metric: Metric) -> tuple[float, float]:
    return -np.inf if metric.min is None else metric.min, np.inf if metric.max is None else metric.max


def _outside(scores: ScoreTable, name: str, metric: Metric) -> Iterator[str]:
    """Yield each entrant with a score outside, with its score that is."""
    values, (least, most) = scores.value(name), _ends(metric)
    is_outside = (values < least) | (values > most)
    entrants, first = np.unique(scores.entrant.codes[is_outside], return_index=True)
    for code, value in zip(entrants.tolist(), values[is_outside][first].tolist(), strict=True):
        yield f"{in_words(scores.entrant.words[code])} has a {name} of {value:g}"


# Changes of a benchmark outside its manifest: title, description and retirement.


@dataclass(frozen=True)
class Retirement:
    """Since when a benchmark takes no more submissions, and why."""

    at: datetime
    reason: str


def newest_text(column: InstrumentedAttribute[str | None]) -> ScalarSelect[Any]:
    """Return, as part of a query of manifest versions, the newest text that a version was given."""
    query = select(column).where(BenchmarkChange.manifest_version_id == ManifestVersion.id, column.is_not(None))
    return query.order_by(BenchmarkChange.id.desc()).limit(1).correlate(ManifestVersion).scalar_subquery()


def find_retirement(session: Session, benchmark_id: int) -> Retirement | None:
    """Return since when and why a benchmark is retired; None where it is not."""
    query = select(BenchmarkChange.at, BenchmarkChange.retired_because)
    of_it = (BenchmarkChange.benchmark_id == benchmark_id, BenchmarkChange.retired_because.is_not(None))
    row = session.execute(query.where(*of_it).limit(1)).one_or_none()
    return None if row is None else Retirement(row.at, row.retired_because)


def list_retired(session: Session) -> Mapping[int, Retirement]:
    """Return since when and why benchmarks are retired, by their numbers."""
    query = select(BenchmarkChange.benchmark_id, BenchmarkChange.at, BenchmarkChange.retired_because)
    rows = session.execute(query.where(BenchmarkChange.retired_because.is_not(None)))
    return {number: Retirement(at, reason or "") for number, at, reason in rows}


def shown_retirement(retirement: Retirement | None) -> dict[str, Any]:
    """Return the key `retired` of a document, which only a retired benchmark has."""
    return {} if retirement is None else {"retired": {"at": retirement.at.isoformat(), "reason": retirement.reason}}


def refuse_retired(session: Session, benchmark_id: int, slug: str) -> None:
    """Raise Conflict when a benchmark takes no more submissions."""
    retirement = find_retirement(session, benchmark_id)
    if retirement is not None:
        raise Conflict(
            f"{slug} is retired since {retirement.at:%Y-%m-%d} and takes no submissions: {retirement.reason}"
        )


def retire(session: Session, version: ManifestVersion, slug: str, reason: str, by_id: int) -> None:
    """Retire a benchmark, so that it takes no more submissions; the caller holds the lock.

    Raises Conflict if it is retired.
    """
    refuse_retired(session, version.benchmark_id, slug)
    change = {"benchmark_id": version.benchmark_id, "manifest_version_id": version.id, "by_id": by_id}
    session.add(BenchmarkChange(**change, retired_because=reason))
    session.flush()


def rename(session: Session, version: ManifestVersion, title: str | None, description: str | None, by_id: int) -> None:
    """Change the title or description of a version of a manifest; None leaves it unchanged."""
    change = {"benchmark_id": version.benchmark_id, "manifest_version_id": version.id, "by_id": by_id}
    session.add(BenchmarkChange(**change, title=title, description=description))
    session.flush()
