"""/search, the feed of all benchmarks, and what crawlers ask for: robots.txt, the sitemap, the icon."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import PlainTextResponse, Response

from app.render.assets import ICON
from app.render.feed import atom_feed, robots, sitemap
from app.store import benchmark_list, news
from app.web.answers import page
from app.web.checked_first import CheckedFirst
from app.web.endpoint_answers import described
from app.web.state import SessionDep, StateDep

router = APIRouter(route_class=CheckedFirst, tags=["benchmarks"])
MOST_ADDRESSES = 50_000
"""A sitemap may have no more."""
FOR_A_WEEK = {"Cache-Control": "max-age=604800"}


@router.get("/search", include_in_schema=False)
def search(session: SessionDep, q: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show the benchmarks, entrants and tasks with a text in their names."""
    text = q.strip()
    wanted = text.casefold()
    everything = benchmark_list.list_names(session) if text else []
    named = [each for each in everything if wanted in f"{each.slug} {each.title}".casefold()]
    matches = news.search(session, text)
    shown = named[: news.MOST_MATCHES]
    return page("search.html", title="Search", text=text, benchmarks=shown, n_benchmarks=len(named), matches=matches)


@router.get("/feed.atom", summary="Changes of all benchmarks as a feed", responses=described(also=("atom",)))
def feed(session: SessionDep, state: StateDep) -> Response:
    """Return the latest changes of all benchmarks."""
    base = (state.settings.base_url or "").rstrip("/")
    content = atom_feed(news.list_news(session, limit=50), "plumbline", base, "/feed.atom")
    return Response(content, media_type="application/atom+xml")


@router.get("/sitemap.xml", include_in_schema=False)
def show_sitemap(session: SessionDep, state: StateDep) -> Response:
    """List the pages of every benchmark."""
    listed = benchmark_list.list_names(session)
    homes = [f"/benchmarks/{each.slug}" for each in listed]
    boards = [f"{home}/leaderboards/{board['name']}"
              for home, each in zip(homes, listed, strict=True) for board in each.leaderboards]  # fmt: skip
    paths = ["/", "/glossary", *homes, *boards][:MOST_ADDRESSES]
    return Response(sitemap(paths, (state.settings.base_url or "").rstrip("/")), media_type="application/xml")


@router.get("/robots.txt", include_in_schema=False)
def show_robots(state: StateDep) -> Response:
    """Return what crawlers may read."""
    return PlainTextResponse(robots((state.settings.base_url or "").rstrip("/")))


@router.get("/favicon.ico", include_in_schema=False)
@router.get("/favicon.svg", include_in_schema=False)
def icon() -> Response:
    """Return the icon of the site."""
    return Response(ICON, media_type="image/svg+xml", headers=FOR_A_WEEK)
