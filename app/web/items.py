"""/benchmarks/{slug}/leaderboards/{board}/items: where A wins and B loses, item by item, from the rows of a snapshot.

Computed in the lane of explored boards. Of private labels nothing is shown of an item, not even who is right.
"""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.evidence import NOBODY
from app.boards.items import items_table
from app.boards.task_values import metrics_of_means
from app.db.engine import LONG_REQUESTS, allow
from app.errors import FieldRejected, NotFound, Problem
from app.jobs.evidence import refuse_too_many, snapshot_evidence
from app.kinds.registry import kind_of
from app.names import clip_for_message, nearest
from app.render.table_page import RowChoice, TableView
from app.store import benchmark_rows, benchmarks
from app.store.labels import scoring_of
from app.values.table import Table
from app.web.caller import PUBLIC
from app.web.checked_first import CheckedFirst
from app.web.description import table_routes
from app.web.documents import TableDocument
from app.web.state import SessionDep
from app.web.views import SnapshotNumber, around, framed, name_links, published, split_format, table_answer

router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC)

Name = Annotated[str, Query(max_length=200)]

PRIVATE = "The labels are private: of single items nothing is shown, not even who is right."

NO_ITEMS = "This benchmark has no results for single items."

PACKED = "Predictions are scored together and not handed out: there are no items to compare."


@table_routes(
    router, "/benchmarks/{slug}/leaderboards/{board}/items", "A against B, item by item", 404, 422, answer=TableDocument
)
def show_items(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    a: Name = "",
    b: Name = "",
    task: Name = "",
    better: Annotated[Literal["", "a", "b", "tie"], Query(description="only items on which this one is better")] = "",
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show the items of two entrants, the largest difference first; by default of the first two of the board."""
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    if view.snapshot is None:
        raise NotFound(f"Nothing of {slug} is published yet, so there are no items.")
    order = [str(record["entrant"]) for record in view.table.records()] if view.table.rows else []
    pair = (a or next((name for name in order if name != b), ""), "")
    pair = (pair[0], b or next((name for name in order if name != pair[0]), ""))
    view = _compared(session, view, board, order, pair, task, better)
    declared = benchmarks.find_declared(session, slug)
    view = around(view, f"/benchmarks/{slug}/leaderboards/{board}/items", (), name_links(declared))
    view = framed(request, session, view, declared, board, "items")
    return table_answer(request, view, split_format(request.url.path)[1])


def _compared(
    session: Session, view: TableView, board: str, order: list[str], pair: tuple[str, str], task: str,
    better: str,
) -> TableView:  # fmt: skip
    if view.snapshot is None:
        return view
    allow(session, LONG_REQUESTS)
    benchmark = benchmark_rows.find_benchmark(session, view.slug)
    evidence = snapshot_evidence(session, benchmark, view.snapshot, only=pair)
    spec = evidence.manifest.leaderboard(board)
    refused = PRIVATE if scoring_of(evidence.manifest) is not None else ""
    rows = kind_of(evidence.manifest).rows
    refused = refused or (PACKED if rows.are_packed else "" if rows.have_items else NO_ITEMS)
    if refused:
        table = Table(f"items/{board}", f"{view.table.title}: items", (), (), (refused,), {"unavailable": refused})
        return replace(view, table=table)
    _refuse(board, order, pair)
    refuse_too_many(evidence, "items")
    scores = evidence.scores(NOBODY)
    tasks = sorted(scores.task.words)
    if task and task not in tasks:
        near = nearest(task, tasks)
        said = f"neither has rows on this task{f'; did you mean {near}?' if near else ''}"
        raise FieldRejected("There are no such items.", [Problem(said, column="task", value=clip_for_message(task))])
    if task:
        scores = scores.take(scores.task.codes == scores.task.words.index(task))
    metrics = metrics_of_means(evidence.manifest, [spec])
    metric = next(name for name in (*metrics, *evidence.manifest.metrics) if name in scores.columns)
    table = items_table(board, metric, evidence.manifest.metrics[metric], scores, pair, better)
    sides = {"a": f"{pair[0]} is better", "b": f"{pair[1]} is better", "tie": "they are equal"}
    choices = [
        RowChoice("a", "A", [(name, name == pair[0]) for name in order], is_one=True),
        RowChoice("b", "B", [(name, name == pair[1]) for name in order], is_one=True),
        RowChoice("task", "Task", [(name, name == task) for name in tasks]),
        RowChoice("better", "Where", [(side, side == better) for side in sides], sides, all_of_them="all items"),
    ]
    return replace(view, table=table, choices=choices)


def _refuse(board: str, order: list[str], pair: tuple[str, str]) -> None:
    unknown = [clip_for_message(name) for name in dict.fromkeys(pair) if name not in order]
    if unknown:
        raise NotFound(f"The board {board} has no entrant {' and no entrant '.join(unknown)}.")
    if pair[0] == pair[1]:
        problem = Problem("must differ from a", column="b", value=clip_for_message(pair[1]))
        raise FieldRejected("An entrant cannot be compared with itself.", [problem])
