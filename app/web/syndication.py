"""What other sites and programs take from a benchmark: badges, pictures of boards, citations, metadata, feeds."""

from fastapi import APIRouter
from sqlalchemy.orm import Session
from starlette.responses import PlainTextResponse, Response

from app.boards.nouns import in_nouns
from app.db.models import Snapshot
from app.errors import NotFound
from app.render.html import institution
from app.render.saved import ICON
from app.render.syndication import atom_feed, badge, bibtex, board_picture, croissant, place_of, robots, sitemap
from app.render.text import name_in_path
from app.store import benchmarks, news, retention, snapshots
from app.store.benchmarks import Declared
from app.values.table import Table
from app.web.caller import PUBLIC
from app.web.checked_first import CheckedFirst
from app.web.description import described
from app.web.documents import CroissantDocument
from app.web.explore import AskedDep, ExploreQuery, board_as_asked
from app.web.state import SessionDep, State, StateDep
from app.web.views import SnapshotNumber, drawn_answer, find_shown, json_answer

router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["outside"])


@router.get(
    "/benchmarks/{slug}/leaderboards/{board}/badge/{entrant:path}",
    summary="An entrant's rank on a board as a badge (.svg)",
    responses=described(404, 422, also=("svg",)),
)
def show_badge(slug: str, board: str, entrant: str, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Return the rank set of an entrant; grey where the entrant, or the snapshot asked for, is no longer current."""
    if not entrant.endswith(".svg"):
        raise NotFound("A badge is a picture; its address ends in .svg.")
    name = name_in_path(entrant.removesuffix(".svg"))
    declared, shown, table = _board(session, slug, board, snapshot)
    is_current = shown.id == declared.benchmark.snapshot_id
    content = badge(place_of(table, name, is_current=is_current, snapshot=shown.number))
    return Response(content, media_type="image/svg+xml")


@router.get(
    "/benchmarks/{slug}/leaderboards/{board}/embed.svg",
    summary="The top of a board as a picture (.svg)",
    responses=described(404, 422, also=("svg",)),
)
def show_picture(
    slug: str, board: str, session: SessionDep, state: StateDep, asked: AskedDep, snapshot: SnapshotNumber = None
) -> Response:
    """Return the first places with their rank sets as a picture; of a reader's choice, if the query has one."""
    return drawn_answer(*_pictured(session, state, slug, board, snapshot, asked), "svg")


@router.get(
    "/benchmarks/{slug}/leaderboards/{board}/embed.png",
    summary="The top of a board as a picture (.png)",
    responses=described(404, 422, also=("png",)),
)
def show_preview(
    slug: str, board: str, session: SessionDep, state: StateDep, asked: AskedDep, snapshot: SnapshotNumber = None
) -> Response:
    """Return the same picture as PNG, for link previews, which take no SVG."""
    return drawn_answer(*_pictured(session, state, slug, board, snapshot, asked), "png")


def _pictured(
    session: Session, state: State, slug: str, board: str, number: int | None, asked: ExploreQuery
) -> tuple[bytes, tuple[float, float]]:
    """Return the picture of a board with its size: of the published one, or of what a reader asked for."""
    if not (asked.choice.is_made or asked.text or asked.fields):
        declared, shown, table = _board(session, slug, board, number)
        return board_picture(in_nouns(table, declared.manifest.nouns), declared.manifest.title, shown.number)
    chosen = board_as_asked(session, state, slug, board, number, asked)
    is_whole = len(chosen.rows.rows) == len(chosen.table.rows)
    title, filtered = chosen.declared.manifest.title, "" if is_whole else chosen.rows.notes[0]
    return board_picture(chosen.rows, title, chosen.snapshot.number, filtered)


@router.get(
    "/benchmarks/{slug}/cite.bib", summary="A snapshot as BibTeX", responses=described(404, 422, 429, also=("bib",))
)
def cite(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return a BibTeX entry of a snapshot, with its permanent address: from now on it is kept for ever."""
    declared, shown = find_shown(session, slug, snapshot)
    retention.cite(session, declared.benchmark, shown)
    board = declared.manifest.leaderboards[0].name
    base = state.settings.own_address
    address = f"{base}/benchmarks/{slug}/leaderboards/{board}?snapshot={shown.number}"
    text = bibtex(declared.manifest, "", shown.number, shown.input_digest, shown.published_at, address)
    return Response(text, media_type="application/x-bibtex; charset=utf-8")


@router.get(
    "/benchmarks/{slug}/croissant.json",
    summary="Metadata for dataset search (Croissant, schema.org)",
    responses=described(404, 422, answer=CroissantDocument),
)
def describe(slug: str, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None) -> Response:
    """Return the boards of a snapshot as Croissant and schema.org metadata."""
    declared, shown = find_shown(session, slug, snapshot)
    tables = [(b.name, snapshots.load_table(session, shown.id, f"leaderboard/{b.name}"))
              for b in declared.manifest.leaderboards]  # fmt: skip
    boards = [(name, [(c.name, c.kind) for c in table.columns]) for name, table in tables if table is not None]
    base = state.settings.own_address
    return json_answer(croissant(declared.manifest, base, boards, shown.number, shown.published_at))


@router.get("/benchmarks/{slug}/feed.atom", summary="Changes as a feed", responses=described(404, also=("atom",)))
def feed(slug: str, session: SessionDep, state: StateDep) -> Response:
    """Return the latest changes of a benchmark."""
    declared = benchmarks.find_declared(session, slug)
    base = state.settings.own_address
    content = atom_feed(news.list_news(session, slug), declared.manifest.title, base, f"/benchmarks/{slug}/feed.atom")
    return Response(content, media_type="application/atom+xml")


def _board(session: Session, slug: str, board: str, number: int | None) -> tuple[Declared, Snapshot, Table]:
    declared, shown = find_shown(session, slug, number)
    table = snapshots.load_table(session, shown.id, f"leaderboard/{board}")
    if table is None:
        raise NotFound(f"{slug} has no leaderboard {board}.")
    return declared, shown, table


# What crawlers and readers of feeds ask of the whole site: all benchmarks as a feed, the sitemap, robots.txt, the icon.

site_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["benchmarks"])

MOST_ADDRESSES = 50_000
"""A sitemap may have no more."""

FOR_A_WEEK = {"Cache-Control": "max-age=604800"}


@site_router.get("/feed.atom", summary="Changes of all benchmarks as a feed", responses=described(also=("atom",)))
def feed_of_all(session: SessionDep, state: StateDep) -> Response:
    """Return the latest changes of all benchmarks."""
    base = state.settings.own_address
    content = atom_feed(news.list_news(session, limit=50), institution().name, base, "/feed.atom")
    return Response(content, media_type="application/atom+xml")


@site_router.get("/sitemap.xml", include_in_schema=False)
def show_sitemap(session: SessionDep, state: StateDep) -> Response:
    """List the pages of every benchmark."""
    listed = benchmarks.list_names(session)
    homes = [f"/benchmarks/{each.slug}" for each in listed]
    boards = [f"{home}/leaderboards/{board['name']}"
              for home, each in zip(homes, listed, strict=True) for board in each.leaderboards]  # fmt: skip
    paths = ["/", "/glossary", *homes, *boards][:MOST_ADDRESSES]
    return Response(sitemap(paths, (state.settings.base_url or "").rstrip("/")), media_type="application/xml")


@site_router.get("/robots.txt", include_in_schema=False)
def show_robots(state: StateDep) -> Response:
    """Return what crawlers may read."""
    return PlainTextResponse(robots((state.settings.base_url or "").rstrip("/")))


@site_router.get("/favicon.ico", include_in_schema=False)
@site_router.get("/favicon.svg", include_in_schema=False)
def icon() -> Response:
    """Return the icon of the site."""
    return Response(ICON, media_type="image/svg+xml", headers=FOR_A_WEEK)
