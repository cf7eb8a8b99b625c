"""Benchmarks and the versions of their manifests, and the counters by which pages know that they are old."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Text, case, cast, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import Benchmark, BenchmarkChange, LabelSet, ManifestVersion, RoleGrant, Task
from app.errors import Conflict, NotFound
from app.kinds.parse import parse_manifest
from app.manifest.build import manifest_digest
from app.manifest.manifest import Manifest
from app.store.life import newest_text
from app.store.spelling import add_names, refuse_respelled

MAX_NAMED = 10
CHANGED_CHANNEL = "plumbline_changed"
# What the page cache reads on a connection of its own: of each benchmark, two numbers of which one grows whenever any
# page may differ and the other whenever a board may; and the names of a benchmark's boards.
CHANGE_COUNTERS = "SELECT slug, change_version, boards_version FROM public.benchmark WHERE visibility = 'public'"
BOARD_NAMES = (
    "SELECT substr(name, 13) FROM public.snapshot_table JOIN public.benchmark USING (snapshot_id) "
    "WHERE slug = %s AND name LIKE 'leaderboard/%%' ORDER BY name"
)


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

    Raises NotFound, or Conflict when the manifest names another slug, another kind of evidence, or other tasks than
    those whose labels are there.
    """
    benchmark = lock_benchmark(session, find_benchmark(session, slug).id)
    if not check_update(session, slug, manifest, yaml):
        return load_declared(session, benchmark)
    return _add_version(session, benchmark, manifest, yaml, token_id)


def refuse_taken(session: Session, slug: str) -> None:
    """Raise Conflict when a benchmark has the slug."""
    if known_slugs(session, [slug]):
        raise Conflict(f"There is a benchmark {slug} already; PUT adds a version of its manifest.")


def check_update(session: Session, slug: str, manifest: Manifest, yaml: bytes) -> bool:
    """Say whether a manifest would be a new version of a benchmark's; raises as `update_benchmark` does."""
    benchmark = find_benchmark(session, slug)
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


def find_benchmark(session: Session, slug: str) -> Benchmark:
    """Return a benchmark. Raises NotFound."""
    benchmark = session.scalar(select(Benchmark).where(Benchmark.slug == slug))
    if benchmark is None:
        raise NotFound(f"There is no benchmark {slug}.")
    return benchmark


def known_slugs(session: Session, slugs: Collection[str]) -> set[str]:
    """Return those of some slugs that benchmarks have."""
    return set(session.scalars(select(Benchmark.slug).where(Benchmark.slug.in_(slugs))))


def get_benchmark(session: Session, benchmark_id: int) -> Benchmark:
    """Return a benchmark by its number. Raises NotFound."""
    benchmark = session.get(Benchmark, benchmark_id)
    if benchmark is None:
        raise NotFound(f"There is no benchmark with number {benchmark_id}.")
    return benchmark


def lock_benchmark(session: Session, benchmark_id: int) -> Benchmark:
    """Return a benchmark whose row stays locked until the transaction ends.

    It comes after entrants and submissions (see `submissions.lock_submission`). Rows that refer to the benchmark
    can be added meanwhile: its key does not change.
    """
    return session.scalars(
        select(Benchmark)
        .where(Benchmark.id == benchmark_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).one()


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
    return load_declared(session, find_benchmark(session, slug))


def mark_data_changed(session: Session, benchmark_id: int) -> None:
    """Say that the boards are behind. Locks the benchmark's row, so call it last, just before deferring a job."""
    _mark(session, benchmark_id, Benchmark.data_version, Benchmark.change_version)


def mark_pages_changed(session: Session, benchmark_id: int) -> None:
    """Say that some page of the benchmark shows something old, and none of its boards does."""
    _mark(session, benchmark_id, Benchmark.change_version)


def mark_boards_changed(session: Session, benchmark_id: int) -> None:
    """Say that every page of the benchmark shows something old, its boards too."""
    _mark(session, benchmark_id, Benchmark.change_version, Benchmark.boards_version)


def _mark(session: Session, benchmark_id: int, *counters: InstrumentedAttribute[int]) -> None:
    """Count a change, and tell the counters to who listens when the transaction is committed."""
    message = func.concat_ws(" ", Benchmark.slug, Benchmark.change_version, Benchmark.boards_version)
    # Pages of others are kept by nobody, so nobody need hear of them.
    is_heard = Benchmark.visibility == "public"
    session.execute(
        update(Benchmark)
        .where(Benchmark.id == benchmark_id)
        .values({counter: counter + 1 for counter in counters})
        .returning(case((is_heard, cast(func.pg_notify(CHANGED_CHANNEL, message), Text))))
    )


def data_version(session: Session, benchmark_id: int) -> int:
    """Return the number that grows with everything that can change a board."""
    return session.scalars(select(Benchmark.data_version).where(Benchmark.id == benchmark_id)).one()


def ensure_tasks(session: Session, benchmark_id: int, names: Sequence[str]) -> dict[str, int]:
    """Return the number of each task, making those that are new. Raises Conflict for a task in another spelling."""
    numbers = _task_numbers(session, benchmark_id)
    if new := set(names) - numbers.keys():
        add_names(session, Task, benchmark_id, new)
        numbers = _task_numbers(session, benchmark_id)
    refuse_respelled("a task", numbers, names)
    return {name: numbers[name] for name in names}


def _task_numbers(session: Session, benchmark_id: int) -> dict[str, int]:
    rows = session.execute(select(Task.name, Task.id).where(Task.benchmark_id == benchmark_id))
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
    mark_data_changed(session, benchmark.id)
    mark_boards_changed(session, benchmark.id)
    return Declared(benchmark, version, manifest)
