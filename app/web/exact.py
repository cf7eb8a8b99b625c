"""/benchmarks/{slug}/exact: after the close of private labels, its stewards' final boards with exact scores.

Pages round what rests on private labels, so that many share a rounded score; whoever gives marks needs the exact one.
"""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.evidence import board_of
from app.db.engine import LONG_REQUESTS, allow
from app.errors import BoardUnavailable, Conflict, NotFound
from app.jobs.evidence import current_evidence
from app.jobs.publish import finished, read_everything
from app.manifest.model import Leaderboard
from app.store import benchmarks, disclosure
from app.store.benchmarks import Declared
from app.store.publication import Inputs
from app.store.snapshots import with_names
from app.turns import owner_of_token
from app.values.table import Table
from app.web.answers import split_format, table_answer
from app.web.caller import Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import table_routes
from app.web.documents import TableDocument
from app.web.labels import PRIVATE
from app.web.state import SessionDep, StateDep
from app.web.views import around, name_links, view_of

router = APIRouter(route_class=CheckedFirst, tags=["labels"])
ADDRESS = "/benchmarks/{slug}/exact"
DIGITS = 10
"""Decimals on the page; CSV and JSON have all that a number has."""
NOTE = (
    "Exact: nothing here is rounded, so it is for stewards alone. Ranks are of the private part, as on the published "
    "board; the columns of the public part and of all items stand beside."
)
BoardName = Annotated[str | None, Query(max_length=200, description="the name of the board; by default the first")]


@table_routes(router, ADDRESS, "Exact final scores (stewards)", 403, 404, 409, answer=TableDocument)
def show_exact(
    slug: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    caller: Annotated[Caller, may("see exact scores")],
    board: BoardName = None,
) -> Response:
    """Show a final board of private labels without rounding, on either part and on all items (its steward).

    409 before the close.
    """
    declared = benchmarks.find_declared(session, slug)
    _refuse_unless_closed(session, declared)
    boards = {spec.name: spec for spec in declared.manifest.leaderboards}
    spec = _board(declared, boards, board)
    address, fmt = split_format(request.url.path)
    allow(session, LONG_REQUESTS)
    with state.computing.taken_in_thread(owner_of_token(caller.id)):
        table = exact_board(session, declared.benchmark.id, spec)
    view = view_of(session, declared, _in_full(table) if fmt == "html" else table, None)
    links = [("The published board", f"/benchmarks/{slug}/leaderboards/{spec.name}")]
    links += [("Disclosed", f"/benchmarks/{slug}/disclosed")]
    links += [(each.title or name, f"{ADDRESS.format(slug=slug)}?board={name}") for name, each in boards.items()
              if name != spec.name]  # fmt: skip
    answer = table_answer(request, around(view, address, links, name_links(declared)), fmt)
    answer.headers.update(PRIVATE)
    return answer


def _refuse_unless_closed(session: Session, declared: Declared) -> None:
    slug = declared.manifest.slug
    if disclosure.scoring_of(declared.manifest) is None:
        raise NotFound(f"{slug} has no private labels, so its boards are exact as they are.")
    if disclosure.find_close(session, declared.benchmark.id) is None:
        raise Conflict(f"{slug} must be closed first: until then exact scores would give private labels away.")


def _board(declared: Declared, boards: dict[str, Leaderboard], name: str | None) -> Leaderboard:
    if name is None:
        return declared.manifest.leaderboards[0]
    if name not in boards:
        raise NotFound(f"{declared.manifest.slug} has no leaderboard {name}.")
    return boards[name]


def _in_full(table: Table) -> Table:
    """Return a table whose scores are shown in full on a page; P(best) and counts stay as they are."""
    shown = [
        replace(column, digits=DIGITS) if column.kind == "number" and column.name != "p_best" else column
        for column in table.columns
    ]
    return replace(table, columns=tuple(shown))


# The board is the published computation, from the same current evidence: only the precision of its scores differs.


def exact_board(session: Session, benchmark_id: int, spec: Leaderboard) -> Table:
    """Return a board of a closed benchmark with exact scores: of the private part, the public part and all items.

    What was measured for it is kept, so that the next look at it is quick.
    """
    inputs = _exactly(read_everything(session, benchmark_id))
    try:
        board = _computed(session, inputs, spec)
    except BoardUnavailable as error:
        meta = {"method": spec.method, "unavailable": str(error), "unavailable_reason": error.reason.value}
        board = Table(f"leaderboard/{spec.name}", spec.title or spec.name, (), (), (str(error),), meta)
    title, notes = f"{spec.title or spec.name}, exact", (NOTE, *board.notes)
    return replace(board, name=f"exact/{spec.name}", title=title, notes=notes)


def _exactly(inputs: Inputs) -> Inputs:
    manifest = inputs.declared.manifest
    exact = manifest.with_grid_facts(replace(manifest.asked.facts, is_exact=True))
    return replace(inputs, declared=replace(inputs.declared, manifest=exact))


def _computed(session: Session, inputs: Inputs, spec: Leaderboard) -> Table:
    evidence, measuring = current_evidence(session, inputs)
    board = board_of(evidence, spec).leaderboard
    measuring.keep(session)
    return with_names(session, finished(inputs, board))
