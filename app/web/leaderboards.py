"""/benchmarks/{slug}/leaderboards: a board, and every further table that its method makes."""

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.store import benchmarks, snapshots
from app.web.answers import TableView, split_format, table_answer
from app.web.problems import described
from app.web.state import SessionDep
from app.web.views import SnapshotNumber, around, name_links, published

router = APIRouter(tags=["leaderboards"])

TITLES = {"pairwise": "Pair by pair", "breakdown": "By task and condition", "score": "Term by term"}


@router.get("/benchmarks/{slug}/leaderboards/{board}", summary="A board (.csv, .json)", responses=described(404, 422))
def show_board(
    slug: str, board: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show a leaderboard of the current snapshot, or of the one asked for."""
    name, fmt = split_format(board)
    view = published(session, slug, snapshot, f"leaderboard/{name}")
    return table_answer(request, _beside(session, view, name, "leaderboard"), fmt)


@router.get(
    "/benchmarks/{slug}/leaderboards/{board}/{kind}",
    summary="A further table of a board: pairwise, profiles, breakdown, … (.csv, .json)",
    responses=described(404, 422),
)
def show_board_table(
    slug: str, board: str, kind: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show one of the tables that a board's method makes beside the board itself."""
    name, fmt = split_format(kind)
    view = published(session, slug, snapshot, f"{name}/{board}")
    return table_answer(request, _beside(session, view, board, name), fmt)


def _beside(session: Session, view: TableView, board: str, kind: str) -> TableView:
    """Return the view with links to the other tables of its board."""
    home = f"/benchmarks/{view.slug}/leaderboards/{board}"
    names = [] if view.snapshot is None else snapshots.table_names(session, view.snapshot.id)
    kinds = [name.split("/")[0] for name in names if name.split("/")[1:] == [board]]
    others = [(_title(other), _address(home, other)) for other in kinds if other != kind]
    declared = benchmarks.find_declared(session, view.slug)
    return around(view, _address(home, kind), others, name_links(declared))


def _title(kind: str) -> str:
    return "Board" if kind == "leaderboard" else TITLES.get(kind, kind.replace("_", " ").capitalize())


def _address(home: str, kind: str) -> str:
    return home if kind == "leaderboard" else f"{home}/{kind}"
