"""Operations: liveness, readiness, health, figures, the glossary and the stylesheet."""

import logging
import math
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Request
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.config import MIB
from app.db.engine import is_transient
from app.db.migrate import can_rewrite, clock_ahead_s, clock_trouble, schema_trouble, why_unwritable
from app.errors import NotFound
from app.names import clip_for_message, names_in_words
from app.program.version import code_version, release
from app.render.columns import shown_columns
from app.render.csv_and_json import table_to_json
from app.render.glossary import glossary_entries
from app.render.html import institution
from app.render.pages import glossary_table, health_caption, health_table, list_operations
from app.render.saved import assets
from app.rights import roles
from app.store import benchmarks, health, news, sql
from app.telemetry import PAGES, Gauges, of_processes, render
from app.web.caller import PUBLIC, Caller, Handler, may
from app.web.checked_first import CheckedFirst
from app.web.description import described, table_routes
from app.web.documents import HealthDocument, PlainTableDocument, ReadyDocument
from app.web.front import HEALTHY
from app.web.problems import answer
from app.web.state import NoAnswer, SessionDep, State, StateDep, get_state
from app.web.views import csv_answer, json_answer, page, split_format
from plumbline.retries import RETRY_AFTER_S

logger = logging.getLogger(__name__)

router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["operations"])


@router.get("/healthz", summary="Whether the process answers", responses=described(answer=HealthDocument))
def healthz() -> Response:
    """Return the version of the process that answers."""
    # `app.web.front` answers with the same bytes, before the framework.
    return Response(HEALTHY, media_type="application/json")


@router.get("/readyz", summary="Whether the server is ready", responses=described(answer=ReadyDocument))
def readyz(request: Request, state: StateDep) -> Response:
    """Return whether the database answers and is migrated; 503 says what is wrong, `warnings` what soon will be."""
    readiness = look_soon(state)
    if readiness.problems:
        return answer(request, 503, " ".join(readiness.problems), headers={"Retry-After": str(RETRY_AFTER_S)})
    return json_answer({"status": "ready", "code_version": code_version(), "warnings": list(readiness.warnings)})


@router.get("/glossary", include_in_schema=False)
def glossary() -> Response:
    """Explain every number, interval and rule."""
    return page("glossary.html", title="Glossary", entries=glossary_entries())


@router.get("/glossary.csv", summary="The glossary as CSV", responses=described(also=("csv",)))
def glossary_csv() -> Response:
    """Explain every number, interval and rule, as CSV with a row for each."""
    return csv_answer(glossary_table(glossary_entries()))


@router.get("/glossary.json", summary="The glossary as JSON", responses=described(answer=PlainTableDocument))
def glossary_json() -> Response:
    """Explain every number, interval and rule, as JSON."""
    return Response(table_to_json(glossary_table(glossary_entries()), {}), media_type="application/json")


@router.get("/docs", include_in_schema=False)
def docs(request: Request) -> Response:
    """Show every operation of the API; without scripts, so that it is there in a closed network too."""
    return page("api.html", title="API", operations=list_operations(request.app.openapi()))


MOST_BENCHMARKS = 50
"""So many benchmarks are named with their stewards at /about."""


@router.get("/about", summary="Who runs this server", responses=described(also=("html",)))
def about(session: SessionDep) -> Response:
    """Show who runs this server, its imprint and how to reach them, as its settings say, and who cares for what."""
    everything = benchmarks.list_names(session)
    listed = everything[:MOST_BENCHMARKS]
    named = roles.stewards_by_slug(session, [each.slug for each in listed])
    stewards = [
        (each.title, f"/benchmarks/{each.slug}#rules", names_in_words(named.get(each.slug, ()))) for each in listed
    ]
    latest = news.list_news(session, limit=1)
    return page(
        "about.html",
        title="About",
        stewards=stewards,
        n_benchmarks=len(everything),
        published_at=latest[0].at if latest else None,
        version=release(),
    )


@router.get("/static/{name}", include_in_schema=False)
def static(name: str) -> Response:
    """Return a file of the pages; its address changes with its content, so it may be kept for ever."""
    asset = {**assets(), **institution().files}.get(f"/static/{name}")
    if asset is None:
        raise NotFound(f"There is no file {clip_for_message(name)} here, or no longer.")
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(asset[0], media_type=asset[1], headers=headers)


# /health: what is stuck, failing, set aside or overdue; an admin reads of all benchmarks, a steward of their own.

health_router = APIRouter(route_class=CheckedFirst, tags=["operations"])


@table_routes(health_router, "/health", "What needs a steward", 403, answer=PlainTableDocument, is_columnar=False)
def show(
    request: Request, session: SessionDep, state: StateDep, caller: Annotated[Caller, may("see what needs a steward")]
) -> Response:
    """List what is stuck, failing, set aside or overdue (.csv, .json), with since when and why."""
    readiness = look_soon(state)
    # With a table that something holds, the rest would wait for it too.
    troubles, old = list[health.Trouble](), list[str]()
    if readiness.database_up:
        troubles = health.list_troubles(session, roles.stewarded_slugs(session, caller))
        old = list(_old_backup(session))
    table = health_table(troubles, (*readiness.problems, *readiness.warnings, *old))
    fmt = split_format(request.url.path)[1]
    if fmt == "json":
        return Response(table_to_json(table, {}), media_type="application/json")
    if fmt == "csv":
        return csv_answer(table)
    columns, caption = shown_columns(table, detail=False), health_caption(table)
    return page("health.html", title="Health", table=table, columns=columns, caption=caption)


def _old_backup(session: Session) -> Iterator[str]:
    """Yield that the last backup is old; a server that never made one leaves backups to another program."""
    at = health.last_backup(session)
    age = timedelta(seconds=0.0 if at is None else round(sql.now(session).timestamp() - at))
    if age.total_seconds() > BACKUP_S:
        yield (
            f"The last backup by `plumbline db backup` is {age} old: run it by hand. If it fails it says why; if it "
            "does not, look at what should have run it (cron, a timer, a job)."
        )


# `/metrics`: figures in Prometheus' text form, fewer of them while the database does not answer.


class AlsoWithoutDatabase(CheckedFirst):
    """A route of figures: were it to fail with the database, no alert could tell that from a server that is down."""

    def get_route_handler(self) -> Handler:
        """Return the route's handler, with the figures of the process alone where the database does not answer."""
        handle = super().get_route_handler()

        async def answering(request: Request) -> Response:
            state = get_state(request)
            try:
                if (await run_in_threadpool(look_soon, state)).database_up:
                    return await handle(request)
            except (DBAPIError, PoolTimeout) as error:
                if not is_transient(error):
                    raise
            return await run_in_threadpool(_answer, gauges_of_process(state, database_up=False))

        return answering


figures_router = APIRouter(route_class=AlsoWithoutDatabase, dependencies=PUBLIC, tags=["operations"])


def _answer(observed: Gauges) -> Response:
    return Response(render(observed), media_type="text/plain; version=0.0.4; charset=utf-8")


# What is measured at the moment of a scrape, and whether a web process can serve.

ROOM_MIB = 256
"""With less room for temporary files an upload of usual size may be refused."""

ROOMS = {"temporary": "The temporary folder", "data": "The folder of the embedded database"}

BACKUP_S = 36 * 3600.0
"""A backup each night, and one that failed."""

WORKER_SILENT_S = 60

COUNTED_EVERY_S = 300.0

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
            off = clock_trouble(clock_ahead_s(connection))
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
    warnings += [
        f"{ROOMS[name]} has {free // MIB:,.0f} MiB left: uploads may be refused."
        for name, free in _free(state).items()
        if free < ROOM_MIB * MIB
    ]
    if off is not None:
        warnings.append(off)
    return Readiness(problems, [] if problems else warnings)


def _engine(state: State) -> Engine:
    engine: Engine = state.sessions.kw["bind"]
    return engine


def gauges_of_process(state: State, *, database_up: bool) -> Gauges:
    """Return a web process's own figures, which do not need the database."""
    pool = _engine(state).pool
    held = {"used": pool.checkedout(), "idle": pool.checkedin()} if isinstance(pool, QueuePool) else {}
    turns = state.readers.turns
    processes = of_processes()
    n_bytes, seconds, files = ({name: taken[at] for name, taken in processes.items()} for at in range(3))
    return {
        "plumbline_info": ("The version that answers", "version", {release(): 1}),
        "plumbline_process_resident_bytes": ("Memory of the processes of this server", "process", n_bytes),
        "plumbline_process_cpu_seconds": ("Processor time of those that run now", "process", seconds),
        "plumbline_process_open_files": ("Open files and connections", "process", files),
        "plumbline_disk_free_bytes": ("Room for temporary files and for an embedded database", "folder", _free(state)),
        "plumbline_database_up": (
            "Whether the database answered this scrape and takes writes", None, {"": float(database_up)},
        ),
        "plumbline_pages": ("Published pages answered, by source", "source", PAGES),
        "plumbline_pool_connections": ("Connections to the database of the web process", "state", held),
        "plumbline_readings": (
            "Uploads in the readers", "state", {"running": turns.n_running, "waiting": turns.n_waiting},
        ),
    }  # fmt: skip


def _free(state: State) -> Mapping[str, float]:
    folders = {"temporary": tempfile.gettempdir()}
    if (state.settings.data_dir / "cluster").is_dir():
        folders["data"] = str(state.settings.data_dir)
    return {name: float(shutil.disk_usage(folder).free) for name, folder in folders.items()}


@figures_router.get(
    "/metrics", summary="Figures of the server, in Prometheus' text format", responses=described(also=("text",))
)
def metrics(session: SessionDep, state: StateDep) -> Response:
    """Return what is under way, done and refused. Private benchmarks are counted only for callers who may read them."""
    return _answer(gauges(state, session))


def _counted_slowly(state: State) -> health.Slow:
    """Return what takes long to count, as it was within the last minutes; as before where it cannot be counted now."""
    at, counted = state.counted_slowly.get("last", (-math.inf, health.Slow(None, {})))
    if time.monotonic() - at >= COUNTED_EVERY_S:
        # Noted first, so that scrapes of several collectors do not all count.
        state.counted_slowly["last"] = time.monotonic(), counted
        try:
            counted = state.transact(health.count_slowly)
        except SQLAlchemyError as error:
            logger.warning("sizes of benchmarks could not be counted: %s", str(error).splitlines()[0])
        state.counted_slowly["last"] = time.monotonic(), counted
    return counted


def gauges(state: State, session: Session) -> Gauges:
    """Return the current measurements, without benchmarks that the reader may not see."""
    counted = health.count(session)
    slow = _counted_slowly(state)
    backup_age_s = -1.0 if slow.backed_up_at is None else max(0.0, counted.now - slow.backed_up_at)
    seen = health.readable(session, slow.benchmark_bytes)
    sizes = {slug: n for slug, n in slow.benchmark_bytes.items() if slug in seen}
    n_workers = sum(age_s <= WORKER_SILENT_S for age_s in counted.each_worker_s.values())
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
        "plumbline_workers": ("Workers that reported within the last minute", None, {"": float(n_workers)}),
        "plumbline_worker_report_age_seconds": (
            "Seconds since each worker last reported", "worker", counted.each_worker_s,
        ),
        "plumbline_clock_ahead_seconds": (
            "The database's clock before this machine's; negative: behind", None,
            {"": clock_ahead_s(session.connection())},
        ),
        "plumbline_backup_age_seconds": (
            "Seconds since plumbline db backup last made one; -1 if it never has", None, {"": backup_age_s},
        ),
        "plumbline_benchmark_bytes": ("Rows and snapshots of the largest benchmarks", "benchmark", sizes),
        "plumbline_database_bytes": ("Size of the whole database", None, {"": counted.database_bytes}),
        "plumbline_table_bytes": ("Size of the largest tables with their indexes", "table", counted.table_bytes),
        **gauges_of_process(state, database_up=True),
    }  # fmt: skip
