"""/benchmarks/{slug}/leaderboards/{board}/against: two entrants against each other, in a sentence and in rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.task_values import differences_table, task_values
from app.db.engine import LONG_REQUESTS, allow
from app.errors import FieldRejected, NotFound, Problem
from app.jobs.choice_evidence import snapshot_evidence
from app.kinds.known import counted_rows, kind_of
from app.names import clip_for_message
from app.render.against import (
    Pair,
    chances,
    entrants_of,
    find_pair,
    measured_by,
    rows_of_pair,
    verdict,
)
from app.render.against_tests import examples_needed, tested
from app.render.pages import ShownTable
from app.render.panel import Panel
from app.render.table_view import TableView
from app.store import benchmarks, snapshots
from app.values.table import Table
from app.web.answers import PICTURES, page, split_format, table_answer
from app.web.checked_first import CheckedFirst
from app.web.documents.tables import TableDocument
from app.web.endpoint_answers import table_routes
from app.web.state import SessionDep, State, StateDep
from app.web.views import SnapshotNumber, name_links, published

router = APIRouter(route_class=CheckedFirst)

EntrantName = Annotated[str, Query(max_length=200)]
ADDRESS = "/benchmarks/{slug}/leaderboards/{board}/against"


@dataclass(frozen=True)
class Compared:
    """Two entrants with every table about them: the pairwise rows, every metric, the tests."""

    pair: Pair
    sentences: Sequence[str]
    pairwise: Table
    comparisons: Table | None
    tests: Table | None

    @property
    def table(self) -> Table:
        """Return what CSV and JSON give: every metric of the two, or the pairwise row where there is nothing else."""
        shown = self.comparisons or self.pairwise
        title = f"{self.pair.a} against {self.pair.b}"
        return replace(shown, title=title, notes=(*self.sentences, *shown.notes))


@table_routes(router, ADDRESS, "A against B", 404, 422, answer=TableDocument, is_drawn=True)
def show_against(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    a: EntrantName = "",
    b: EntrantName = "",
    snapshot: SnapshotNumber = None,
) -> Response:
    """Compare two entrants: which is better and by how much, or that the data do not separate them; with the rows."""
    view = published(session, slug, snapshot, f"pairwise/{board}")
    fmt = split_format(request.url.path)[1]
    is_asked = bool(a and b) or fmt != "html"
    compared = _compare(session, view, board, a, b) if is_asked else None
    by_task = _by_task(session, view, board, (a, b), state) if compared and fmt in ("html", *PICTURES) else None
    if compared is not None and fmt != "html":
        drawn = None if by_task is None else by_task.table
        return table_answer(request, replace(view, table=compared.table, drawn=drawn), fmt)
    return _page(view, board, (a, b), compared, snapshot, by_task)


def _by_task(session: Session, view: TableView, board: str, pair: tuple[str, str], state: State) -> Panel | None:
    """Return the difference on every task, the largest first; None where the evidence is no scores by task."""
    if view.snapshot is None:
        return None
    declared = benchmarks.find_declared(session, view.slug)
    allow(session, LONG_REQUESTS)
    evidence = snapshot_evidence(session, declared.benchmark, view.snapshot, state.rows)
    rows = evidence.rows(*pair)
    if rows is None or not set(pair) <= set(rows.entrant.words):
        return None
    spec = evidence.manifest.leaderboard(board)
    values = task_values(evidence.manifest, spec, rows, counted_rows(evidence.manifest, spec))
    table = differences_table(spec, evidence.manifest.metrics[values.metric], values, pair)
    return Panel("Task by task", table, name_links(declared)) if table.rows else None


def _compare(session: Session, view: TableView, board: str, a: str, b: str) -> Compared:
    """Return what is known of two entrants. Raises FieldRejected for one and the same, NotFound for an unknown one."""
    _refuse_unpaired(view, board, a, b)
    manifest = benchmarks.find_declared(session, view.slug).manifest
    pair = find_pair(view.table, a, b)
    comparisons, tests = (_load(session, view, f"{kind}/{board}") for kind in ("comparisons", "tests"))
    metric = str(view.table.meta.get("metric"))
    pages = kind_of(manifest).pages
    measured = measured_by(view.table, manifest, pages.metric_words)
    return Compared(
        pair,
        (
            verdict(pair, measured),
            *chances(pair, measured),
            *tested(pair, tests),
            *examples_needed(pair, metric, comparisons, tests, pages.unit(manifest)),
        ),
        rows_of_pair(view.table, a, b, both_orders=False),
        None if comparisons is None else _some(rows_of_pair(comparisons, a, b, both_orders=False)),
        None if tests is None else _some(rows_of_pair(tests, a, b, both_orders=True)),
    )


def _refuse_unpaired(view: TableView, board: str, a: str, b: str) -> None:
    missing = [Problem("an entrant is required", column=name) for name, value in (("a", a), ("b", b)) if not value]
    if missing:
        raise FieldRejected("Give two entrants to compare: ?a=…&b=….", missing)
    known = entrants_of(view.table) if view.table.columns else []
    unknown = [clip_for_message(name) for name in dict.fromkeys((a, b)) if name not in known]
    if unknown:
        raise NotFound(f"The board {board} of {view.slug} compares no entrant {' and no entrant '.join(unknown)}.")
    if a == b:
        problem = Problem("must differ from a", column="b", value=clip_for_message(b))
        raise FieldRejected("An entrant cannot be compared with itself.", [problem])


def _load(session: Session, view: TableView, name: str) -> Table | None:
    return None if view.snapshot is None else snapshots.load_table(session, view.snapshot.id, name)


def _some(table: Table) -> Table | None:
    return table if table.rows else None


def _page(
    view: TableView,
    board: str,
    names: tuple[str, str],
    compared: Compared | None,
    snapshot: int | None,
    by_task: Panel | None,
) -> Response:
    a, b = names
    home = f"/benchmarks/{view.slug}/leaderboards/{board}"
    kept = [] if snapshot is None else [("snapshot", str(snapshot))]
    query = urlencode([("a", a), ("b", b), *kept])
    exports = [(word, f"{home}/against.{word.lower()}?{query}") for word in ("CSV", "JSON")]
    turned = ("Swap A and B", f"{home}/against?{urlencode([('a', b), ('b', a), *kept])}")
    around = [("Board", home), ("Pair by pair", f"{home}/pairwise")]
    fixed = [] if view.snapshot is None else [("snapshot", str(view.snapshot.number))]
    return page(
        "against.html",
        title=f"{a} against {b}, {board}" if compared else f"A against B, {board}",
        slug=view.slug,
        a=a,
        b=b,
        entrants=entrants_of(view.table) if view.table.columns else (),
        sentences=compared.sentences if compared else (),
        tables=_tables(compared) if compared else (),
        by_task=by_task,
        trail=[(view.slug, f"/benchmarks/{view.slug}"), (board, home)],
        links=[*around, *((turned, *exports) if compared else ())],
        hidden=kept,
        notes=view.table.notes,
        facts=view.facts,
        snapshot=view.snapshot,
        permalink=f"{home}/against?{urlencode([('a', a), ('b', b), *fixed])}",
    )


def _tables(compared: Compared) -> list[ShownTable]:
    metrics = None if compared.comparisons is None else _headed_by_names(compared.comparisons, compared.pair)
    titled = [(compared.pairwise, "The difference"), (metrics, "Every metric"), (compared.tests, "Tests")]
    return [ShownTable(replace(table, title=title)) for table, title in titled if table is not None]


def _headed_by_names(comparisons: Table, pair: Pair) -> Table:
    """Return the rows of A and B with their names over their values instead of in every row."""
    names = {"a": pair.a, "b": pair.b}
    kept = [at for at, column in enumerate(comparisons.columns) if column.name not in ("entrant_a", "entrant_b")]
    columns = (comparisons.columns[at] for at in kept)
    return replace(
        comparisons,
        columns=tuple(replace(column, title=names.get(column.name, column.title)) for column in columns),
        rows=tuple(tuple(row[at] for at in kept) for row in comparisons.rows),
    )
