"""create_app(): routers, problem handlers, lifespan, and the page cache in front."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial

from fastapi import APIRouter, FastAPI
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import Lifespan

from app.config import MIB, Settings
from app.db.engine import REQUESTS, dispose_unused, make_engine, make_session_factory
from app.jobs.queue import QueuedJobs
from app.program.starting import quietly
from app.program.version import release
from app.reading import Readers
from app.render.html import set_institution
from app.render.institution import institution_of
from app.rights.oidc import Provider
from app.rights.visibility import narrow_to_reader
from app.store import web_processes
from app.web import (
    account,
    audit,
    benchmarks,
    desk,
    drafts,
    entrants,
    exports,
    labels,
    leaderboards,
    new_benchmark,
    notifications,
    ops,
    people,
    preregs,
    problems,
    rows,
    sessions,
    submissions,
    submit_page,
    syndication,
    tokens,
)
from app.web.caller import sees_more
from app.web.concurrency import ConcurrencyLimit
from app.web.description import SUMMARY, DescribedApi
from app.web.front import OuterMiddleware
from app.web.limits import RateLimit, share_reads
from app.web.other_sites import OtherSites
from app.web.page_cache import Freshness, PublishedPages, watch
from app.web.renderer import EXPLORERS, RenderProcess, first_page, prepare
from app.web.state import State

SMALL_BODY = 1 * MIB
LEAVES_WITHIN_S = 1.0

WARM_WITHIN_S = 30.0
"""Longer is no host waited for: what is wrong with it is better seen."""


def create_app(
    settings: Settings, database_url: str, *, render_apart: bool = False, freshness: Freshness | None = None
) -> OuterMiddleware:
    """Return the ASGI app of a web process on a migrated database; its pages may be rendered in a process apart.

    Who hands in what is known of changes can ask it what has been heard.
    """
    freshness = freshness or Freshness()
    readers = Readers(settings)
    # Where another host answers meanwhile, the first page is rendered before anybody asks.
    prepares = [first_page if settings.several_hosts else None, *[partial(quietly, prepare)] * EXPLORERS]
    apart = [
        RenderProcess(_render_app, settings, database_url, forked=True, prepare=each)
        for each in (prepares if render_apart else ())
    ]

    async def shown(slug: str, boards: int) -> None:
        await pages.renew(slug)
        await run_in_threadpool(
            transact, lambda session: web_processes.note_shown(session, freshness.process, slug, boards)
        )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await readers.start()
        beside = [asyncio.create_task(watch(database_url, freshness, pages.publish, shown))]
        for shared in (limit, api.state.plumbline.reads):
            if shared is not None:
                beside.append(asyncio.create_task(share_reads(shared, api.state.plumbline.transact)))
        warming = [process.warm_up() for process in apart]
        if settings.several_hosts:
            # Nobody is listened to yet, and another host answers: the first readers here would have waited for this.
            await asyncio.gather(*(run_in_threadpool(each.join, WARM_WITHIN_S) for each in warming))
        yield
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        with suppress(Exception):
            # Otherwise what is published now would be said some seconds later.
            leaving = run_in_threadpool(transact, lambda session: web_processes.leave(session, freshness.process))
            await asyncio.wait_for(leaving, LEAVES_WITHIN_S)
        await pages.stop()
        for process in apart:
            process.stop()
        await dispose_unused(engine)

    engine = _serving_engine(settings, database_url, 10)
    api = _make_api(settings, engine, readers, lifespan, freshness.heard_s)
    transact = api.state.plumbline.transact
    limit = RateLimit(settings.max_reads_per_minute) if settings.tells_addresses_apart else None
    pages = PublishedPages(
        ConcurrencyLimit(api),
        settings.max_cache_mib * MIB,
        freshness,
        max_stale_s=settings.max_stale_s,
        renderer=apart[0] if apart else None,
        explorers=apart[1:],
        sees_more=partial(sees_more, api),
    )
    return OuterMiddleware(OtherSites(pages, cors=settings.cors), limit, settings.forwarded_hops)


def _render_app(settings: Settings, database_url: str) -> FastAPI:
    """Return the app of a render process: one page at a time needs few connections."""
    return _make_api(settings, _serving_engine(settings, database_url, 2), Readers(settings), None)


def _serving_engine(settings: Settings, database_url: str, pool_size: int) -> Engine:
    """Return the engine for answering requests: through the pooler where there is one."""
    if settings.direct_database_url is None or settings.database_url is None:
        return make_engine(database_url, pool_size=pool_size, lane=REQUESTS)
    return make_engine(settings.database_url, pool_size=pool_size, is_pooled=True, lane=REQUESTS)


def _make_api(
    settings: Settings,
    engine: Engine,
    readers: Readers,
    lifespan: Lifespan[FastAPI] | None,
    heard_s: Callable[[], float] = lambda: math.inf,
) -> FastAPI:
    set_institution(institution_of(settings))
    factory = narrow_to_reader(make_session_factory(engine))
    app = DescribedApi(
        title="plumbline",
        description=SUMMARY,
        version=release(),
        lifespan=lifespan,
        default_response_class=Response,
        docs_url=None,
        redoc_url=None,
        max_body_size=SMALL_BODY,
        telemetry={"tracing": settings.tracing, "metrics": False},
    )
    own = settings.oidc
    provider = None if own is None else Provider(own)
    reads = RateLimit(settings.max_reads_per_minute)
    app.state.plumbline = State(
        settings,
        factory,
        QueuedJobs(),
        readers,
        provider=provider,
        reads=reads,
        heard_s=heard_s,
    )
    problems.install(app)
    app.router.routes.extend(_routes(settings))
    return app


@cache
def _routes(settings: Settings) -> list[BaseRoute]:
    """Return the routes of every app with these settings, built once per process, as FastAPI takes long to do so.

    Nothing in it belongs to one app: the database, the limits and the provider are in the app's state.
    """
    routes = APIRouter(default_response_class=Response, max_body_size=SMALL_BODY)
    routes.include_router(submissions.make_router(settings))
    routes.include_router(labels.make_router(settings))
    routes.include_router(labels.make_items_router(settings))
    routes.include_router(submit_page.make_router(settings))
    routes.include_router(new_benchmark.make_router(settings))
    for router in (
        benchmarks.router,
        benchmarks.making_router,
        benchmarks.snapshots_router,
        labels.disclosure_router,
        labels.exact_router,
        desk.router,
        drafts.router,
        benchmarks.life_router,
        syndication.router,
        leaderboards.router,
        entrants.router,
        entrants.file_router,
        entrants.one_router,
        entrants.forms_router,
        rows.router,
        people.roles_router,
        people.router,
        sessions.router,
        account.router,
        sessions.oidc_router,
        people.invitations_router,
        people.inviting_router,
        exports.router,
        exports.evaluations_router,
        preregs.router,
        preregs.form_router,
        preregs.attestations_router,
        preregs.registrations_router,
        preregs.reserved_router,
        tokens.router,
        submit_page.mine_router,
        submit_page.tries_router,
        submissions.disputes_router,
        notifications.router,
        audit.router,
        ops.figures_router,
        ops.router,
        ops.health_router,
        syndication.site_router,
        benchmarks.front_router,
    ):
        routes.include_router(router)
    return routes.routes
