"""Benchmarks and the versions of their manifests."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Benchmark, BenchmarkChange, LabelSet, ManifestVersion, RoleGrant, Task
from app.errors import Conflict
from app.kinds.parse import parse_manifest
from app.manifest.build import manifest_digest
from app.manifest.manifest import Manifest
from app.store import benchmark_rows
from app.store.life import newest_text
from app.store.outside_range import refuse_outside_range
from app.store.references import refuse_owned
from app.store.spelling import add_names, refuse_respelled

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
    benchmark_rows.mark_data_changed(session, benchmark.id)
    benchmark_rows.mark_boards_changed(session, benchmark.id)
    return Declared(benchmark, version, manifest)
