"""/benchmarks/{slug}/leaderboards/{board}/…: the pictures of a board, each with its table, from what is published.

The matrix alone reads rows; it is made in the lane of explored boards.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.letters import letters_table
from app.boards.task_values import matrix_table, task_values
from app.boards.tradeoff import axes_of, is_compared, offered, tradeoff_table
from app.db.engine import LONG_REQUESTS, allow
from app.errors import FieldRejected, NotFound, Problem
from app.jobs.choice_evidence import snapshot_evidence
from app.kinds.known import counted_rows, kind_of
from app.names import clip_for_message
from app.render.row_filter import Choice
from app.render.table_view import TableView
from app.store import benchmark_rows, benchmarks, snapshots
from app.store.board_history import board_history
from app.store.entrant_metadata import described_entrants
from app.values.table import Column, Table
from app.web.answers import split_format, table_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.tables import TableDocument
from app.web.endpoint_answers import table_routes
from app.web.state import SessionDep, StateDep
from app.web.views import SnapshotNumber, WantedDep, around, name_links, narrowed, published

router = APIRouter(route_class=CheckedFirst)
HOME = "/benchmarks/{slug}/leaderboards/{board}"
ColumnName = Annotated[str | None, Query(max_length=200)]
DRAWN_PAGES = (
    ("letters", "Who cannot be told apart"),
    ("tradeoff", "Score against cost"),
    ("matrix", "Entrants by tasks"),
    ("history", "Ranks over time"),
)
MOST_SHOWN = 300


@table_routes(router, f"{HOME}/letters", "Who shares a letter", 404, answer=TableDocument, is_drawn=True)
def show_letters(
    slug: str, board: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show the entrants with letters: those that share one are not separable. Drawn as bars beside the scores."""
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    pairwise = None if view.snapshot is None else snapshots.load_table(session, view.snapshot.id, f"pairwise/{board}")
    return _answer(request, session, replace(view, table=letters_table(view.table, pairwise)), board, "letters")


@table_routes(router, f"{HOME}/tradeoff", "Score against cost", 404, answer=TableDocument, is_drawn=True)
def show_tradeoff(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    x: ColumnName = None,
    y: ColumnName = None,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show two columns of a board against each other, the cost across, with the entrants that none beats on both."""
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    view = replace(view, table=_with_sizes(session, view))
    known = [column.name for column in offered(view.table)] if view.table.rows else []
    problems = [
        Problem(f"expected one of {', '.join(known)}", column=name, value=clip_for_message(value))
        for name, value in (("x", x), ("y", y))
        if value and value not in known
    ]
    if problems:
        raise FieldRejected(f"The board {board} has no such numeric column.", problems)
    axes = axes_of(view.table, x, y) if view.table.rows else None
    choices = [] if axes is None else _axis_choices(view.table, {"x": axes.x.name, "y": axes.y.name})
    view = replace(view, table=tradeoff_table(view.table, axes), choices=choices)
    return _answer(request, session, view, board, "tradeoff")


def _with_sizes(session: Session, view: TableView) -> Table:
    """Return the board with how many parameters its entrants have, where anybody says it."""
    table = view.table
    if view.snapshot is None or "entrant" not in table.column_names():
        return table
    facts = described_entrants(session, view.snapshot.id)
    at = table.index("entrant")
    sizes = [facts.get(str(row[at]), {}).get("n_parameters") for row in table.rows]
    if all(size is None for size in sizes):
        return table
    column = Column("n_parameters", "Parameters", direction="minimize", digits=0)
    rows = tuple((*row, size) for row, size in zip(table.rows, sizes, strict=True))
    return replace(table, columns=(*table.columns, column), rows=rows)


def _axis_choices(board: Table, chosen: dict[str, str]) -> list[Choice]:
    columns = offered(board)
    shown_as = {column.name: column.title for column in columns}
    return [
        Choice(name, title, [(column.name, column.name == chosen[name]) for column in columns], shown_as, is_one=True)
        for name, title in (("x", "Across, the cost"), ("y", "Up, the score"))
    ]


@table_routes(router, f"{HOME}/history", "Ranks over time", 404, answer=TableDocument, is_drawn=True)
def show_history(
    slug: str, board: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show the ranks of the first places in each snapshot."""
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    benchmark = benchmark_rows.find_benchmark(session, slug)
    return _answer(
        request, session, replace(view, table=board_history(session, benchmark, view.snapshot, view.table)), board,
        "history",
    )  # fmt: skip


@table_routes(router, f"{HOME}/matrix", "Entrants by tasks", 404, answer=TableDocument, is_drawn=True)
def show_matrix(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    wanted: WantedDep,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show every entrant's place on every task, and what failed, is absent, imputed or was leaked."""
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    if view.snapshot is None:
        raise NotFound(f"Nothing of {slug} is published yet, so there is no matrix.")
    allow(session, LONG_REQUESTS)
    evidence = snapshot_evidence(session, benchmark_rows.find_benchmark(session, slug), view.snapshot, state.rows)
    spec = evidence.manifest.leaderboard(board)
    rows = evidence.rows()
    if rows is None or not len(rows):
        why = f"The evidence of {slug} has no scores by task, so there is no matrix."
        table = Table(f"matrix/{board}", f"{view.table.title}: entrants by tasks", (), (), (why,), {"unavailable": why})
    else:
        counted = counted_rows(evidence.manifest, spec)
        values = task_values(evidence.manifest, spec, rows, counted)
        records = list(view.table.records()) if view.table.rows else []
        order = [str(record["entrant"]) for record in records]
        # Where a task is one row no value is of a part of it.
        has_parts = counted is not None or kind_of(evidence.manifest).rows.form == "records"
        lacking = [] if not has_parts else [r for r in records if r.get("n_included") != r.get("n_attempted")]
        apart = [str(record["entrant"]) for record in lacking if not is_compared(record)]
        table = matrix_table(spec, evidence.manifest.metrics[values.metric], values, order, apart)
    return _answer(request, session, narrowed(replace(view, table=table), wanted), board, "matrix")


def _answer(request: Request, session: Session, view: TableView, board: str, name: str) -> Response:
    declared = benchmarks.find_declared(session, view.slug)
    home = f"/benchmarks/{view.slug}/leaderboards/{board}"
    view = around(view, f"{home}/{name}", [*picture_links(home, name)], name_links(declared))
    view = replace(view, trail=[*view.trail, (board, home)], most_rows=MOST_SHOWN)
    return table_answer(request, view, split_format(request.url.path)[1])


def picture_links(home: str, but: str = "") -> Sequence[tuple[str, str]]:
    """Return where the pictures of a board are."""
    return [(words, f"{home}/{name}") for name, words in DRAWN_PAGES if name != but]
