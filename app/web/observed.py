"""What is measured at the moment of a scrape, and whether a web process can serve. Called by `app.web.ops`."""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from app.config.settings import MIB
from app.db.grants import can_rewrite
from app.db.migrate import schema_trouble
from app.db.writing import why_unwritable
from app.store import health
from app.telemetry.metrics import PAGES, Gauges
from app.web.probe import NoAnswer
from app.web.state import State

ROOM_MIB = 256
"""With less room for temporary files an upload of usual size may be refused."""
WORKER_SILENT_S = 60
HEARD_LATELY_S = 2.0
"""The counters of changes are read each second, without the pooler."""


@dataclass(frozen=True)
class Readiness:
    """Why a process cannot serve, and warnings although it can; one sentence each."""

    problems: Sequence[str]
    warnings: Sequence[str]
    database_up: bool = True


def look_soon(state: State) -> Readiness:
    """Run `look`, shared between concurrent callers; report after a few seconds that the database has not answered."""
    try:
        readiness: Readiness = state.probe.ask(partial(look, state))
    except NoAnswer as error:
        return _away(state, f"has not answered for {error.since_s:.0f} s")
    return readiness


def _away(state: State, how: str) -> Readiness:
    """Say what does not answer: with a pooler in front of the database, which of the two, as far as one can tell."""
    if state.settings.direct_database_url is None:
        problem = f"The database {how}."
    elif (heard_s := state.heard_s()) < HEARD_LATELY_S:
        problem = (
            f"The pooler (PLUMBLINE_DATABASE_URL) {how}; the Postgres behind it (PLUMBLINE_DIRECT_DATABASE_URL) "
            f"answered {heard_s:.1f} s ago."
        )
    else:
        problem = (
            f"The database {how}, neither through the pooler (PLUMBLINE_DATABASE_URL) nor directly "
            "(PLUMBLINE_DIRECT_DATABASE_URL)."
        )
    return Readiness([problem], [], database_up=False)


def look(state: State) -> Readiness:
    """Ask the database, its schema, its workers and the temporary folder, and write to every table, in vain."""
    try:
        with _engine(state).connect() as connection:
            trouble = schema_trouble(connection)
            unwritable = why_unwritable(connection) if trouble is None or trouble.is_newer else None
            too_much = can_rewrite(connection) if trouble is None and unwritable is None else None
        if unwritable is not None:
            return Readiness([unwritable], [], database_up=False)
        with state.sessions() as session:
            silent_s = health.worker_silent_s(session) if trouble is None or trouble.is_newer else None
    except SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()[0]
        return _away(state, f"does not answer ({cause})")
    problems = [] if trouble is None or trouble.is_newer else [trouble.text]
    warnings = [trouble.text] if trouble is not None and trouble.is_newer else []
    if too_much is not None:
        warnings.append(too_much)
    if silent_s is None or silent_s > WORKER_SILENT_S:
        warnings.append("No worker has reported within the last minute: submissions are stored, but wait.")
    free_mib = shutil.disk_usage(tempfile.gettempdir()).free // MIB
    if free_mib < ROOM_MIB:
        warnings.append(f"The temporary folder has {free_mib} MiB left: uploads may be refused.")
    return Readiness(problems, [] if problems else warnings)


def _engine(state: State) -> Engine:
    engine: Engine = state.sessions.kw["bind"]
    return engine


def gauges(state: State, session: Session) -> Gauges:
    """Return the current measurements, without benchmarks that the reader may not see."""
    counted = health.count(session)
    return {
        "plumbline_submissions": ("Submissions by status", "status", counted.by_status),
        "plumbline_stale_benchmarks": ("Benchmarks whose boards are out of date", None, {"": counted.n_behind}),
        "plumbline_failing_benchmark_tries": (
            "Consecutive failed publications, by benchmark", "benchmark", counted.failing,
        ),
        "plumbline_set_aside": ("Submissions that are set aside", None, {"": counted.by_status.get("set_aside", 0)}),
        "plumbline_faults": ("What faults of the server cost now, by what", "what", counted.faults),
        "plumbline_queue_waiting": ("Submissions that are not on their board yet", None, {"": counted.n_waiting}),
        "plumbline_queue_oldest_seconds": ("Age of the oldest of them", None, {"": counted.oldest_s}),
        "plumbline_worker_silent_seconds": (
            "Seconds since a worker last reported; -1 if none ever has", None, {"": counted.worker_silent_s},
        ),
        "plumbline_table_bytes": ("Size of the largest tables with their indexes", "table", counted.table_bytes),
        **gauges_of_process(state, database_up=True),
    }  # fmt: skip


def gauges_of_process(state: State, *, database_up: bool) -> Gauges:
    """Return a web process's own figures, which do not need the database."""
    pool = _engine(state).pool
    held = {"used": pool.checkedout(), "idle": pool.checkedin()} if isinstance(pool, QueuePool) else {}
    turns = state.readers.turns
    return {
        "plumbline_database_up": (
            "Whether the database answered this scrape and takes writes", None, {"": float(database_up)},
        ),
        "plumbline_pages": ("Published pages answered, by source", "source", PAGES),
        "plumbline_pool_connections": ("Connections to the database of the web process", "state", held),
        "plumbline_readings": (
            "Uploads in the readers", "state", {"running": turns.n_running, "waiting": turns.n_waiting},
        ),
    }  # fmt: skip
