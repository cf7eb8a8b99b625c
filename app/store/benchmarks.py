"""Benchmarks: the list with its counts, the versions of their manifests, their lives, and how large they may become.

Boards compare every two entrants, on every task that any of them has. Only admitted evidence counts towards the
limits: other names and tasks are on no board, and would let anybody exhaust them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, ScalarSelect, delete, exists, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app.db.models import (
    Benchmark,
    BenchmarkChange,
    Delivery,
    DraftManifest,
    Entrant,
    Entry,
    Invitation,
    ItemSet,
    LabelSet,
    ManifestVersion,
    Notification,
    PreregBinding,
    RoleGrant,
    Score,
    Snapshot,
    SnapshotTable,
    StoredTask,
    Submission,
    Try,
)
from app.errors import Conflict, NotFound
from app.kinds.parse import parse_manifest
from app.kinds.registry import kind_of
from app.manifest.build import manifest_digest
from app.manifest.model import Manifest, Metric
from app.names import first_few, in_words
from app.rights.visibility import DRAFT, ORDER
from app.store import benchmark_rows
from app.store.benchmark_rows import add_names, refuse_respelled
from app.store.entrants import is_named, refuse_owned
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

    Raises NotFound, or Conflict when the benchmark is retired, or the manifest names another slug, another kind of
    evidence, other tasks than those whose labels are there, a range that scores on the boards are outside of, or a new
    reference entrant that somebody else than a steward owns.
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
    refuse_retired(session, benchmark.id, slug)
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
        others = first_few(sorted(labelled ^ set(tasks)), MAX_NAMED)
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
    return DraftVersion(kept, as_next(load_declared(session, benchmark), kept.yaml, parse_manifest(kept.yaml)))


def as_next(newest: Declared, yaml: bytes, manifest: Manifest) -> Declared:
    """Return a benchmark with a manifest that is no version of it, as if it were the one after the newest."""
    about = {"version": newest.version.version + 1, "yaml": yaml, "sha256": manifest_digest(yaml)}
    version = ManifestVersion(id=NEWEST, benchmark_id=newest.benchmark.id, **about)
    return Declared(newest.benchmark, version, manifest)


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
    """Raise Conflict when a benchmark takes no more submissions, nor what it would ask of them."""
    retirement = find_retirement(session, benchmark_id)
    if retirement is not None:
        raise Conflict(
            f"{slug} is retired since {retirement.at:%Y-%m-%d} and takes no submissions and no new manifest: "
            f"{retirement.reason}"
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


@dataclass(frozen=True)
class BenchmarkNames:
    """What a benchmark is called: its slug and title, and the names and titles of its leaderboards."""

    slug: str
    title: str
    leaderboards: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class BenchmarkSummary:
    """What the front page says of a benchmark."""

    names: BenchmarkNames
    evidence: str
    n_entrants: int
    n_submissions: int
    snapshot_number: int | None
    published_at: datetime | None
    retired: Retirement | None = None


def list_names(session: Session) -> list[BenchmarkNames]:
    """Return what every benchmark is called, in the order of the slugs."""
    query = (
        select(Benchmark.slug, *_shown_of_manifest())
        .select_from(Benchmark)
        .join(ManifestVersion, is_newest())
        .order_by(Benchmark.slug)
    )
    return [BenchmarkNames(slug, new or title, boards) for slug, new, title, boards in session.execute(query)]


def list_benchmarks(session: Session, offset: int = 0, at_most: int | None = None) -> list[BenchmarkSummary]:
    """Return what the front page shows in the order of the slugs, of `at_most` benchmarks from the one at `offset`."""
    wanted = None if at_most is None else _numbers(session, offset, at_most)
    query = (
        select(Benchmark, ManifestVersion.evidence, Snapshot, *_shown_of_manifest())
        .select_from(Benchmark)
        .join(ManifestVersion, is_newest())
        .outerjoin(Snapshot, Snapshot.id == Benchmark.snapshot_id)
        .order_by(Benchmark.slug)
    )
    rows = session.execute(query if wanted is None else query.where(Benchmark.id.in_(wanted))).all()
    entrants, submissions = _count_entrants(session, wanted), _counted(session, Submission.benchmark_id, wanted)
    retired = list_retired(session)
    return [
        BenchmarkSummary(
            names=BenchmarkNames(benchmark.slug, new_title or title, boards),
            evidence=evidence,
            n_entrants=entrants.get(benchmark.id, 0),
            n_submissions=submissions.get(benchmark.id, 0),
            snapshot_number=snapshot.number if snapshot else None,
            published_at=snapshot.published_at if snapshot else None,
            retired=retired.get(benchmark.id),
        )
        for benchmark, evidence, snapshot, new_title, title, boards in rows
    ]


def count_benchmarks(session: Session) -> int:
    """Return how many benchmarks there are."""
    return session.scalars(select(func.count()).select_from(Benchmark)).one()


def _numbers(session: Session, offset: int, at_most: int) -> list[int]:
    # Selected alone, they come from the index of slugs; joined with the rest, whole tables would be scanned.
    return list(session.scalars(select(Benchmark.id).order_by(Benchmark.slug).offset(offset).limit(at_most)))


def _count_entrants(session: Session, of: Collection[int] | None) -> dict[int, int]:
    """Return how many entrants have evidence that counts, by benchmark: of those asked for, or of all."""
    has_evidence = exists().where(Entry.entrant_id == Entrant.id, Entry.state == "current")
    return _counted(session, Entrant.benchmark_id, of, has_evidence)


def _counted(
    session: Session, benchmark_id: InstrumentedAttribute[int], of: Collection[int] | None, *where: ColumnElement[bool]
) -> dict[int, int]:
    asked = [] if of is None else [benchmark_id.in_(of)]
    query = select(benchmark_id, func.count()).where(*asked, *where).group_by(benchmark_id)
    return dict(session.execute(query).all())


def _shown_of_manifest() -> tuple[Any, ...]:
    return newest_text(BenchmarkChange.title), ManifestVersion.title, ManifestVersion.leaderboards


def is_newest() -> ColumnElement[bool]:
    """Return, as part of a query, that a manifest version is the newest of its benchmark."""
    other = aliased(ManifestVersion)
    newest = select(func.max(other.version)).where(other.benchmark_id == Benchmark.id).correlate(Benchmark)
    return (ManifestVersion.benchmark_id == Benchmark.id) & (ManifestVersion.version == newest.scalar_subquery())


# Widens who may read a benchmark, with a summary of what becomes visible; deletes drafts. For `app.web.account`.


@dataclass(frozen=True)
class Contents:
    """What readers of a benchmark can see: how much of it, and who is named. Labels are never visible."""

    manifest_versions: int
    snapshots: int
    submissions: int
    registrations: int
    entrants: list[str]


def contents_of(session: Session, benchmark: Benchmark) -> Contents:
    """Return what who may read a benchmark finds there."""
    versions, snapshots, submissions = (
        session.scalars(select(func.count()).select_from(model).where(model.benchmark_id == benchmark.id)).one()
        for model in (ManifestVersion, Snapshot, Submission)
    )
    bound = select(func.count()).select_from(PreregBinding).where(PreregBinding.benchmark == benchmark.slug)
    names = select(Entrant.name).where(Entrant.benchmark_id == benchmark.id).order_by(Entrant.name)
    return Contents(versions, snapshots, submissions, session.scalars(bound).one(), list(session.scalars(names)))


def widen(session: Session, benchmark: Benchmark, visibility: str) -> None:
    """Let more people read a locked benchmark. Raises Conflict for fewer: what was public is known."""
    if ORDER.index(visibility) < ORDER.index(benchmark.visibility):
        raise Conflict(
            f"{benchmark.slug} is {benchmark.visibility} and cannot be made {visibility} again: what was read is known."
        )
    benchmark.visibility = visibility
    session.flush()
    benchmark_rows.mark_boards_changed(session, benchmark.id)


def delete_draft(session: Session, benchmark: Benchmark) -> None:
    """Delete a locked draft with all that is its own; the database refuses it for anything else. Raises Conflict."""
    if benchmark.visibility != DRAFT:
        raise Conflict(f"{benchmark.slug} is {benchmark.visibility}; only a draft can be deleted.")
    number = benchmark.id
    benchmark.snapshot_id = None
    session.flush()
    snapshots = select(Snapshot.id).where(Snapshot.benchmark_id == number)
    versions = select(ManifestVersion.id).where(ManifestVersion.benchmark_id == number)
    session.execute(delete(SnapshotTable).where(SnapshotTable.snapshot_id.in_(snapshots)))
    session.execute(delete(ItemSet).where(ItemSet.manifest_version_id.in_(versions)))
    notified = select(Notification.id).where(Notification.benchmark_id == number)
    session.execute(delete(Delivery).where(Delivery.notification_id.in_(notified)))
    for model in (Notification, BenchmarkChange, DraftManifest, Try, Snapshot, ManifestVersion, LabelSet, StoredTask,
                  RoleGrant, Invitation):  # fmt: skip
        session.execute(delete(model).where(model.benchmark_id == number))
    session.delete(benchmark)
    session.flush()


@dataclass(frozen=True)
class Sizes:
    """Most entrants of a benchmark, of one submitter in it, and most cells: its entrants times its tasks."""

    entrants: int = 5_000
    entrants_of_submitter: int = 2_500
    cells: int = 20_000_000


@dataclass(frozen=True)
class _Counts:
    entrants: int
    own: int
    tasks: int


def refuse_larger(
    session: Session, benchmark_id: int, submitter_id: int, names: Collection[str], tasks: Collection[str], most: Sizes
) -> None:
    """Raise Conflict where a submission with these entrants and tasks would make a benchmark larger than it may be."""
    known = _count(session, benchmark_id, submitter_id)
    bound = _Counts(known.entrants + len(names), known.own + len(names), known.tasks + len(tasks))
    if _is_within(bound, most):
        return
    # Existing names and tasks are looked up only where they matter.
    n_new = len(names) - _count_known(session, benchmark_id, names)
    after = _Counts(known.entrants + n_new, known.own + n_new, _count_tasks(session, benchmark_id, tasks))
    if not _is_within(after, most):
        raise Conflict(_reason(after, n_new, most))


def _is_within(counts: _Counts, most: Sizes) -> bool:
    return (
        counts.entrants <= most.entrants
        and counts.own <= most.entrants_of_submitter
        and counts.entrants * counts.tasks <= most.cells
    )


def _reason(after: _Counts, n_new: int, most: Sizes) -> str:
    if after.entrants > most.entrants:
        return (f"With the {n_new:,} new entrants of this submission the benchmark would have {after.entrants:,}; "
                f"this server compares at most {most.entrants:,}.")  # fmt: skip
    if after.own > most.entrants_of_submitter:
        return (f"With the {n_new:,} new entrants of this submission {after.own:,} in this benchmark would be yours; "
                f"at most {most.entrants_of_submitter:,} may be.")  # fmt: skip
    return (f"With this submission the benchmark would have {after.entrants:,} entrants and {after.tasks:,} tasks; "
            f"entrants times tasks may be at most {most.cells:,} on this server.")  # fmt: skip


def _count(session: Session, benchmark_id: int, submitter_id: int) -> _Counts:
    of_entrants = (Entrant.benchmark_id == benchmark_id, Entrant.owner_id.is_not(None))
    of_submitter = (Entrant.benchmark_id == benchmark_id, Entrant.owner_id == submitter_id)
    counts = (
        select(func.count()).select_from(Entrant).where(*of_entrants).scalar_subquery(),
        select(func.count()).select_from(Entrant).where(*of_submitter).scalar_subquery(),
        select(func.count()).select_from(StoredTask).where(StoredTask.benchmark_id == benchmark_id).scalar_subquery(),
    )
    return _Counts(*session.execute(select(*counts)).one())


def _count_known(session: Session, benchmark_id: int, names: Collection[str]) -> int:
    """Return how many of the entrants were admitted before."""
    known = (Entrant.benchmark_id == benchmark_id, Entrant.owner_id.is_not(None), is_named(names))
    return session.scalars(select(func.count()).select_from(Entrant).where(*known)).one()


def _count_tasks(session: Session, benchmark_id: int, names: Collection[str]) -> int:
    """Return how many tasks the evidence that counts, or soon will, has together with these."""
    counts = (Entry.submission_id == Score.submission_id) & (Entry.entrant_id == Score.entrant_id)
    numbers = select(Score.task_id).join(Entry, counts).join(Entrant, Entrant.id == Entry.entrant_id)
    shown = numbers.where(Entrant.benchmark_id == benchmark_id, Entry.state.in_(("pending", "current")))
    query = select(StoredTask.name).where(StoredTask.benchmark_id == benchmark_id, StoredTask.id.in_(shown))
    return len(set(session.scalars(query)) | set(names))
