"""The row of a benchmark: finding and locking it, and the counters by which cached pages become stale.

Independent of manifests, so that the supervisor and the commands can import it without the kinds of evidence.
"""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ARRAY, BindParameter, Text, bindparam, case, cast, func, literal, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import Benchmark, Entrant, StoredTask
from app.errors import Conflict, NotFound
from app.names import first_few, name_key

CHANGED_CHANNEL = "plumbline_changed"

# Queries of the page cache, on a connection of its own: for each benchmark, a number that grows whenever any page may
# change, and one that grows whenever a board may; and the names of a benchmark's boards.
CHANGE_COUNTERS = "SELECT slug, change_version, boards_version FROM public.benchmark WHERE visibility = 'public'"

BOARD_NAMES = (
    "SELECT substr(name, 13) FROM public.snapshot_table JOIN public.benchmark USING (snapshot_id) "
    "WHERE slug = %s AND name LIKE 'leaderboard/%%' ORDER BY name"
)


def find_benchmark(session: Session, slug: str) -> Benchmark:
    """Return a benchmark. Raises NotFound."""
    benchmark = session.scalar(select(Benchmark).where(Benchmark.slug == slug))
    if benchmark is None:
        raise NotFound(f"There is no benchmark “{slug}”.")
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


def mark_data_changed(session: Session, benchmark_id: int) -> None:
    """Mark the boards as outdated. Locks the benchmark's row, so call it last, just before deferring a job."""
    _mark(session, benchmark_id, Benchmark.data_version, Benchmark.change_version)


def mark_pages_changed(session: Session, benchmark_id: int) -> None:
    """Mark the benchmark's pages as stale, but not its boards."""
    _mark(session, benchmark_id, Benchmark.change_version)


def mark_boards_changed(session: Session, benchmark_id: int) -> None:
    """Mark all pages of the benchmark as stale, including its boards."""
    _mark(session, benchmark_id, Benchmark.change_version, Benchmark.boards_version)


def _mark(session: Session, benchmark_id: int, *counters: InstrumentedAttribute[int]) -> None:
    """Increase the counters, and notify listeners of them when the transaction is committed."""
    message = func.concat_ws(" ", Benchmark.slug, Benchmark.change_version, Benchmark.boards_version)
    # Pages that are not public are not cached, so nobody needs to be notified of them.
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


# The spelling of a benchmark's names: a name with the same key as a stored one must be spelt the same.

SHOWN = 20


def refuse_respelled(what: str, stored: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise Conflict for names that are stored, or wanted beside, in another spelling, see `name_key`."""
    known = {name_key(name): name for name in stored}
    alike = sorted(f"{name} is {first}" for name in wanted if (first := known.setdefault(name_key(name), name)) != name)
    if alike:
        raise Conflict(
            f"Too like {what} of this benchmark, only the case or the form of the letters differs: "
            f"{first_few(alike, SHOWN, between='; ')}. A name is written in one way."
        )


def add_names(session: Session, to: type[Entrant] | type[StoredTask], benchmark_id: int, names: Iterable[str]) -> None:
    """Create those names that are new in a benchmark, in a fixed order to avoid deadlocks.

    One statement however many there are: a list of values would be compiled anew for each number of them.
    """
    ordered = sorted(names, key=name_key)
    new = func.unnest(_array(map(name_key, ordered)), _array(ordered)).table_valued("name_key", "name", name="new")
    columns = new.render_derived().c
    rows = select(literal(benchmark_id), columns.name_key, columns.name)
    session.execute(insert(to).from_select(["benchmark_id", "name_key", "name"], rows).on_conflict_do_nothing())


def _array(texts: Iterable[str]) -> BindParameter[Any]:
    return bindparam(None, list(texts), type_=ARRAY(Text), unique=True)
