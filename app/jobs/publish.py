"""Publish a benchmark: read everything at one instant, compute every board, store one immutable snapshot.

Called by the queue's `publish` job. Killed at any moment it leaves the old snapshot served.
"""

from functools import cache, partial
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.db.engine import SessionFactory
from app.db.transactions import run_in_transaction
from app.jobs.boards import QUANTITIES, BoardInputs, compute_tables
from app.jobs.changes import PublishedState, list_changes, load_state, ranks_by_board
from app.jobs.claims import decide_benchmark
from app.jobs.evaluate import Queue
from app.jobs.measuring import Measuring
from app.leaderboards.estimator_metadata import metadata_table, note_estimands
from app.scores import ScoreTable
from app.store import benchmarks, snapshots, submissions
from app.store.measured import Pair
from app.store.scores import read_scores
from app.store.series import read_series
from app.store.snapshots import Inputs, Publication
from app.table import Table
from app.version import code_version


def publish(sessions: SessionFactory, queue: Queue, benchmark_id: int) -> None:
    """Bring a benchmark's boards up to its evidence, and ask again when more arrived meanwhile."""
    _wait_for_writers(sessions, benchmark_id)
    publication = _compute_or_say_why(sessions, benchmark_id)

    def store(session: Session) -> None:
        snapshots.store_publication(session, publication)
        benchmark = benchmarks.lock_benchmark(session, benchmark_id)
        if benchmark.data_version > benchmark.published_version:
            queue.defer_publish(session, benchmark_id)

    run_in_transaction(sessions, store)


def _wait_for_writers(sessions: SessionFactory, benchmark_id: int) -> None:
    """Wait until no transaction that changed the benchmark is open.

    A submission that found this job still waiting in the queue did not ask for another one. It held the
    benchmark's row then, so what it committed is visible once the row can be locked.
    """
    with sessions.begin() as session:
        benchmarks.lock_benchmark(session, benchmark_id)


def _compute_or_say_why(sessions: SessionFactory, benchmark_id: int) -> Publication:
    """Return what `_compute` does. A fault is noted for the page of the benchmark, whose boards stay as they are."""
    try:
        return _compute(sessions, benchmark_id)
    except DBAPIError:
        # The database is away or broke it off; the sweep asks again, and nothing could be noted now.
        raise
    except Exception as error:
        with sessions.begin() as session:
            snapshots.note_publish_error(session, benchmark_id, f"{type(error).__name__} (see the worker's log).")
        raise


def _compute(sessions: SessionFactory, benchmark_id: int) -> Publication:
    with sessions() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        inputs = snapshots.read_inputs(session, benchmark_id)
        pieces = {name: [s.piece for s in stood] for name, stood in inputs.by_entrant().items()}
        measuring = Measuring(session, inputs.declared, pieces)
        scores = cache(partial(_read_rows, session, inputs, [s.piece.pair for s in inputs.standings]))
        tables = compute_tables(inputs.declared.manifest, BoardInputs(scores, measuring.measure))
        tables = [*_describe(session, inputs, tables), *_claims(session, inputs)]
        before = snapshots.find_snapshot(session, inputs.declared.benchmark)
        changes = _changes(inputs, tables, None if before is None else load_state(session, before))
    run_in_transaction(sessions, measuring.keep)
    return Publication(inputs, tables, code_version(), changes, None if before is None else before.number)


def _read_rows(session: Session, inputs: Inputs, pairs: list[Pair]) -> ScoreTable:
    if inputs.declared.manifest.evidence == "series_metrics":
        return read_series(session, pairs)
    return read_scores(session, pairs, [*inputs.declared.manifest.metrics, *QUANTITIES])


def _describe(session: Session, inputs: Inputs, tables: list[Table]) -> list[Table]:
    """Add what the estimators of a series benchmark are, and say on its boards when they estimate different things."""
    if inputs.declared.manifest.evidence != "series_metrics":
        return tables
    standing = {s.entrant: s.submission_id for s in inputs.standings}
    facts = {number: submissions.find_submission(session, number).facts for number in set(standing.values())}
    described = {
        name: about
        for name, number in standing.items()
        if (about := facts[number].get("described", {}).get(name)) is not None
    }
    return [*note_estimands(tables, described), metadata_table(described)] if described else tables


def _claims(session: Session, inputs: Inputs) -> list[Table]:
    claims = decide_benchmark(session, inputs)
    return [] if claims is None else [claims]


def _changes(inputs: Inputs, tables: list[Table], before: PublishedState | None) -> list[dict[str, Any]]:
    after = PublishedState(
        manifest_digest=inputs.declared.version.sha256,
        manifest_version=inputs.declared.version.version,
        standings={name: [s.submission_id for s in stood] for name, stood in inputs.by_entrant().items()},
        ranks=ranks_by_board(tables),
        withdrawn={name for withdrawal in inputs.withdrawals for name in withdrawal.entrants},
    )
    return list_changes(before, after)
