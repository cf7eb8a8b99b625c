"""/benchmarks/{slug}/leaderboards: a board, and every further table that its method makes."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.boards.claim_rows import claims_table
from app.errors import NotFound
from app.render.table_view import TableView
from app.store import benchmarks, entrants, snapshots
from app.web import against, explore, pictures
from app.web.answers import split_format, table_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.tables import TableDocument
from app.web.endpoint_answers import TABLE, described, table_routes
from app.web.pictures import picture_links
from app.web.state import SessionDep, StateDep
from app.web.views import SnapshotNumber, WantedDep, around, name_links, narrowed, published, view_of

router = APIRouter(route_class=CheckedFirst, tags=["leaderboards"])
# Before the address of any further table, which would take `against` for the name of one.
router.include_router(against.router)
router.include_router(explore.router)
router.include_router(pictures.router)

TITLES = {
    "leaderboard": "Board",
    "pairwise": "Pair by pair",
    "comparisons": "Every metric pair by pair",
    "tests": "Tests",
    "breakdown": "By task and condition",
    "score": "Term by term",
    "quantiles": "Quantiles",
    "intervals": "Intervals",
    "classes": "Classes",
    "roc": "ROC",
    "pr": "Precision and recall",
    "thresholds": "Thresholds",
    "confusion": "Confusion",
    "reliability": "Reliability",
    "residuals": "Residuals",
    "qq": "QQ",
    "conditional": "Conditional",
    "truncation": "Truncation",
}
AGAINST = "against"
RECORDS = "records"
PLACES = {kind: place for place, kind in enumerate(("leaderboard", "pairwise", AGAINST, *list(TITLES)[2:]))}
"""In which order the tables of a board are named; any other one comes last."""


@router.get(
    "/benchmarks/{slug}/leaderboards/{board}",
    summary="A board (.csv, .json)",
    responses=described(404, 422, answer=TableDocument, also=TABLE),
)
def show_board(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show a leaderboard of the current snapshot, or of the one asked for."""
    name, fmt = split_format(board)
    view = published(session, slug, snapshot, f"leaderboard/{name}")
    base = (state.settings.base_url or "").rstrip("/")
    shown = f"/benchmarks/{slug}/leaderboards/{name}/embed.png?snapshot={view.snapshot.number}" if view.snapshot else ""
    card = f"{base}{shown}" if base and shown else ""
    return table_answer(request, replace(_beside(session, view, name, "leaderboard"), card=card), fmt)


@router.get(
    "/benchmarks/{slug}/leaderboards/{board}/{kind}",
    summary="A further table of a board: pairwise, profiles, breakdown, … (.csv, .json)",
    responses=described(404, 422, answer=TableDocument, also=TABLE),
)
def show_board_table(
    slug: str,
    board: str,
    kind: str,
    request: Request,
    session: SessionDep,
    wanted: WantedDep,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show one of the tables that a board's method makes beside the board itself: all of it, or some of its rows."""
    name, fmt = split_format(kind)
    view = narrowed(published(session, slug, snapshot, f"{name}/{board}"), wanted)
    return table_answer(request, _beside(session, view, board, name), fmt)


@table_routes(router, "/benchmarks/{slug}/claims", "The registered claims", 404, answer=TableDocument)
def show_claims(slug: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Show every preregistered claim with its verdict (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    table = None if shown is None else snapshots.load_table(session, shown.id, "claims")
    if table is None:
        note = "There is no claim to decide: none is registered, or no submission has both sides of one."
        table = replace(claims_table(declared.manifest, ()), notes=(note,))
    links = name_links(declared)
    # A claim between two entrants names both: that is no page.
    known = set(entrants.names(session, declared.benchmark.id))
    row_links = {**links, "entrant": lambda name: links["entrant"](name) if name in known else ""}
    view = around(view_of(session, declared, table, shown), f"/benchmarks/{slug}/claims", [], row_links)
    return table_answer(request, view, split_format(request.url.path)[1])


PROFILES = "/benchmarks/{slug}/profiles"


@router.get(PROFILES, summary="Redirects to performance profiles", status_code=307, responses=described(404))
@router.get(f"{PROFILES}.csv", summary="Redirects to performance profiles", status_code=307, responses=described(404))
@router.get(f"{PROFILES}.json", summary="Redirects to performance profiles", status_code=307, responses=described(404))
def show_profiles(
    slug: str,
    session: SessionDep,
    request: Request,
    snapshot: SnapshotNumber = None,
    entrant: Annotated[str | None, Query(description="passed on")] = None,
) -> Response:
    """Lead to the profiles of the first board that has them, in the snapshot and with the query that was asked for."""
    del entrant  # the address that it leads to reads it
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    names = [] if shown is None else snapshots.table_names(session, shown.id)
    boards = [board.name for board in declared.manifest.leaderboards if f"profiles/{board.name}" in names]
    if not boards:
        raise NotFound(f"No board of {slug} has performance profiles.")
    ending = request.url.path.removeprefix(f"/benchmarks/{slug}/profiles")
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/benchmarks/{slug}/leaderboards/{boards[0]}/profiles{ending}{query}")


def _beside(session: Session, view: TableView, board: str, kind: str) -> TableView:
    """Return the view with links to the other tables of its board."""
    home = f"/benchmarks/{view.slug}/leaderboards/{board}"
    names = [] if view.snapshot is None else snapshots.table_names(session, view.snapshot.id)
    kinds = [name.split("/")[0] for name in names if name.split("/")[1:] == [board]]
    kinds += [AGAINST] if "pairwise" in kinds else []
    ordered = sorted(kinds, key=lambda other: PLACES.get(other, len(PLACES)))
    others = [(_title(other), _address(home, other)) for other in ordered if other != kind]
    others += [("Records", f"/benchmarks/{view.slug}/tables/{RECORDS}")] if RECORDS in names else []
    if kind == "leaderboard" and view.table.rows:
        others += picture_links(home)
    declared = benchmarks.find_declared(session, view.slug)
    shown = around(view, _address(home, kind), others, name_links(declared))
    return shown if kind == "leaderboard" else replace(shown, trail=[*shown.trail, (board, home)])


def _title(kind: str) -> str:
    return "A against B" if kind == AGAINST else TITLES.get(kind, kind.replace("_", " ").capitalize())


def _address(home: str, kind: str) -> str:
    return home if kind == "leaderboard" else f"{home}/{kind}"
