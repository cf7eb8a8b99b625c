"""create_app(): routers, problem handlers, lifespan, and the page cache in front."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.responses import Response

from app.config import MIB, Settings
from app.db.engine import make_engine, make_session_factory
from app.jobs.queue import QueuedJobs
from app.reading.readers import Readers
from app.version import release
from app.web import (
    benchmarks,
    exports,
    labels,
    leaderboards,
    ops,
    preregs,
    problems,
    registrations,
    reservations,
    rows,
    stewards,
    submissions,
    tokens,
)
from app.web.cache import PublishedPages, watch
from app.web.description import DescribedApi
from app.web.front import Front
from app.web.limits import RateLimit
from app.web.state import State

SMALL_BODY = 1 * MIB


def create_app(settings: Settings, database_url: str) -> Front:
    """Return the ASGI app of a web process on a migrated database."""
    engine = make_engine(database_url)
    readers = Readers(settings)
    sessions = make_session_factory(engine)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await readers.start()
        watcher = asyncio.create_task(watch(database_url, pages.clear))
        yield
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher
        engine.dispose()

    app = DescribedApi(
        title="plumbline",
        version=release(),
        lifespan=lifespan,
        default_response_class=Response,
        docs_url=None,
        redoc_url=None,
        max_body_size=SMALL_BODY,
        telemetry={"tracing": False, "metrics": False},
    )
    app.state.plumbline = State(settings, sessions, QueuedJobs(), RateLimit(settings.max_requests_per_minute), readers)
    problems.install(app)
    app.include_router(submissions.make_router(settings))
    app.include_router(labels.make_router(settings))
    for router in (
        benchmarks.router,
        leaderboards.router,
        rows.router,
        stewards.router,
        exports.router,
        preregs.router,
        registrations.router,
        reservations.router,
        tokens.router,
        ops.router,
    ):
        app.include_router(router)
    pages = PublishedPages(app, settings.max_cache_mib * MIB)
    return Front(pages)
