"""/benchmarks/{slug}/leaderboards: a board, its further tables and pictures, and two entrants of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.boards.claims import claims_table
from app.boards.evidence import NOBODY
from app.boards.nouns import in_nouns
from app.boards.standing import caveats_of, letters_table
from app.boards.tables import MAX_COMPARED
from app.boards.task_values import differences_table, matrix_table, side_by_side, task_values
from app.boards.tradeoff import axes_of, is_compared, is_cost, offered, tradeoff_table, with_years
from app.db.engine import LONG_REQUESTS, allow
from app.errors import FieldRejected, NotFound, Problem
from app.jobs.evidence import refuse_too_many, snapshot_evidence
from app.kinds.registry import counted_rows, kind_of
from app.names import clip_for_message
from app.render.against import (
    PairRows,
    ahead_by,
    beside_baseline,
    chances,
    entrants_of,
    evidence_needed,
    examples_needed,
    find_pair,
    flagged,
    in_sums,
    lacking,
    measured_by,
    rows_of_pair,
    ruled_out,
    same_rows,
    tested,
    verdict,
)
from app.render.pages import AgainstPage
from app.render.table_page import Panel, RowChoice, TableView
from app.store import benchmark_rows, benchmarks, entrants, snapshots
from app.store.snapshots import board_history
from app.values.table import Table
from app.web import explore, items
from app.web.caller import PUBLIC
from app.web.checked_first import CheckedFirst
from app.web.description import TABLE, described, table_routes
from app.web.documents import TableDocument
from app.web.state import SessionDep, State, StateDep
from app.web.views import (
    PICTURES,
    FieldsTo,
    SnapshotNumber,
    WantedDep,
    around,
    framed,
    load_table,
    name_links,
    narrowed,
    page_answer,
    published,
    split_format,
    table_answer,
    view_of,
    with_entrant_fields,
)

router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["leaderboards"])

against_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC)

# Before the address of any further table, which would take `against` for the name of one.
router.include_router(against_router)

router.include_router(explore.router)

router.include_router(items.router)

pictures_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC)

router.include_router(pictures_router)


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
    fields_to: FieldsTo = None,
) -> Response:
    """Show a leaderboard of the current snapshot, or of the one asked for."""
    name, fmt = split_format(board)
    view = published(session, slug, snapshot, f"leaderboard/{name}")
    view = with_entrant_fields(session, view, snapshot, fields_to)
    base = (state.settings.base_url or "").rstrip("/")
    shown = f"/benchmarks/{slug}/leaderboards/{name}/embed.png?snapshot={view.snapshot.number}" if view.snapshot else ""
    card = f"{base}{shown}" if base and shown else ""
    view = _beside(request, session, replace(view, card=card), name, "leaderboard")
    return table_answer(request, view, fmt)


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
    return table_answer(request, _beside(request, session, view, board, name), fmt)


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


def _beside(request: Request, session: Session, view: TableView, board: str, kind: str) -> TableView:
    """Return the view in the frame of its board."""
    home = f"/benchmarks/{view.slug}/leaderboards/{board}"
    declared = benchmarks.find_declared(session, view.slug)
    name = "" if kind == "leaderboard" else kind
    shown = around(view, f"{home}/{name}" if name else home, (), name_links(declared))
    return framed(request, session, shown, declared, board, name)


# /benchmarks/{slug}/leaderboards/{board}/against: two entrants against each other, in a sentence and in rows.

AGAINST = "against"

EntrantName = Annotated[str, Query(max_length=200)]

ADDRESS = "/benchmarks/{slug}/leaderboards/{board}/against"


@dataclass(frozen=True)
class ComparedTables:
    """Two entrants with every table about them: the pairwise rows, every metric, the tests."""

    pair: PairRows
    sentences: Sequence[str]
    pairwise: Table
    comparisons: Table | None
    tests: Table | None

    @property
    def table(self) -> Table:
        """Return what CSV and JSON give: every metric of the two, or the pairwise row where there is nothing else."""
        shown = self.comparisons or self.pairwise
        title = f"{self.pair.a} against {self.pair.b}"
        notes = (*self.sentences, *caveats_of(self.pairwise), *shown.notes)
        return replace(shown, title=title, notes=tuple(dict.fromkeys(notes)))


@table_routes(against_router, ADDRESS, "A against B", 404, 422, answer=TableDocument, is_drawn=True)
def show_against(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    a: EntrantName = "",
    b: EntrantName = "",
    snapshot: SnapshotNumber = None,
) -> Response:
    """Compare two entrants: which is better and by how much, or that it is not settled; with the rows."""
    view = published(session, slug, snapshot, f"pairwise/{board}")
    fmt = split_format(request.url.path)[1]
    is_asked = bool(a and b) or fmt != "html"
    if is_asked:
        _refuse_unpaired(view, board, a, b)
    ranked = load_table(session, view, f"leaderboard/{board}")
    compared = _compare(session, view, board, (a, b), ranked) if is_asked else None
    is_drawn = compared is not None and fmt in ("html", *PICTURES)
    by_task = _by_task(session, view, board, (a, b)) if is_drawn else None
    if compared is not None and fmt != "html":
        drawn = None if by_task is None else by_task.table
        return table_answer(request, replace(view, table=compared.table, drawn=drawn), fmt)
    view = _beside(request, session, view, board, AGAINST)
    return _page(view, board, (a, b), compared, snapshot, by_task, ranked)


def _by_task(session: Session, view: TableView, board: str, pair: tuple[str, str]) -> Panel | None:
    """Return the difference on every task, the largest first; None where the evidence is no scores by task."""
    if view.snapshot is None:
        return None
    declared = benchmarks.find_declared(session, view.slug)
    allow(session, LONG_REQUESTS)
    beside = next((each.required_entrants() for each in declared.manifest.leaderboards if each.name == board), ())
    evidence = snapshot_evidence(session, declared.benchmark, view.snapshot, only={*pair, *beside})
    rows = None if kind_of(evidence.manifest).rows.are_packed else evidence.scores(NOBODY)
    if rows is None or not set(pair) <= set(rows.entrant.words):
        return None
    spec = evidence.manifest.leaderboard(board)
    values = task_values(evidence.manifest, spec, rows, counted_rows(evidence.manifest, spec))
    on_board = ahead_by(find_pair(view.table, *pair))
    table = differences_table(spec, evidence.manifest.metrics[values.metric], values, pair, on_board)
    return Panel(table.title, table, name_links(declared)) if table.rows else None


def _compare(
    session: Session, view: TableView, board: str, names: tuple[str, str], ranked: Table | None
) -> ComparedTables:
    """Return what is known of two entrants that the board compares."""
    a, b = names
    manifest = benchmarks.find_declared(session, view.slug).manifest
    pair = find_pair(view.table, a, b)
    comparisons, tests = (load_table(session, view, f"{kind}/{board}") for kind in ("comparisons", "tests"))
    metric = str(view.table.meta.get("metric"))
    pages = kind_of(manifest).pages
    measured = measured_by(view.table, manifest, pages.metric_words)
    return ComparedTables(
        pair,
        (
            verdict(pair, measured),
            *in_sums(pair),
            *chances(pair),
            *lacking(pair, ranked),
            *ruled_out(pair, ranked),
            *tested(pair, tests),
            *beside_baseline(pair),
            *flagged(pair, ranked),
            *(same_rows(pair, ranked) or evidence_needed(pair, ranked)),
            *examples_needed(pair, metric, comparisons, tests, pages.unit(manifest)),
        ),
        rows_of_pair(view.table, a, b, both_orders=False),
        None if comparisons is None else _some(rows_of_pair(comparisons, a, b, both_orders=False)),
        None if tests is None else _some(rows_of_pair(tests, a, b, both_orders=True)),
    )


def _refuse_unpaired(view: TableView, board: str, a: str, b: str) -> None:
    """Raise FieldRejected for one and the same, NotFound for an unknown one."""
    missing = [Problem("an entrant is required", column=name) for name, value in (("a", a), ("b", b)) if not value]
    if missing:
        raise FieldRejected("Give two entrants to compare: ?a=…&b=….", missing)
    known = entrants_of(view.table) if view.table.columns else []
    unknown = [clip_for_message(name) for name in dict.fromkeys((a, b)) if name not in known]
    if unknown:
        why = f" Only its best {MAX_COMPARED} are compared." if len(known) == MAX_COMPARED else ""
        raise NotFound(f"The board {board} of {view.slug} compares no entrant {' and no entrant '.join(unknown)}.{why}")
    if a == b:
        problem = Problem("must differ from a", column="b", value=clip_for_message(b))
        raise FieldRejected("An entrant cannot be compared with itself.", [problem])


def _some(table: Table) -> Table | None:
    return table if table.rows else None


def _page(
    view: TableView,
    board: str,
    names: tuple[str, str],
    compared: ComparedTables | None,
    snapshot: int | None,
    by_task: Panel | None,
    ranked: Table | None,
) -> Response:
    a, b = names
    has_items = view.frame is not None and any(address.endswith("/items") for _, address in view.frame.views)
    home = f"/benchmarks/{view.slug}/leaderboards/{board}"
    kept = [] if snapshot is None else [("snapshot", str(snapshot))]
    query = urlencode([("a", a), ("b", b), *kept])
    exports = [(word, f"{home}/against.{word.lower()}?{query}") for word in ("CSV", "JSON")]
    fixed = [] if view.snapshot is None else [("snapshot", str(view.snapshot.number))]
    chosen = [("a", a), ("b", b)] if compared else []
    against = AgainstPage(
        title=f"{a} against {b}, {board}" if compared else f"A against B, {board}",
        slug=view.slug,
        a=a,
        b=b,
        entrants=_by_rank(entrants_of(view.table) if view.table.columns else (), ranked),
        sentences=compared.sentences if compared else (),
        of_all=caveats_of(compared.pairwise) if compared else (),
        tables=_tables(compared) if compared else (),
        by_task=by_task,
        frame=view.frame,
        exports=exports if compared else (),
        turned=f"{home}/against?{urlencode([('a', b), ('b', a), *kept])}" if compared else "",
        items=f"{home}/items?{query}" if compared and has_items else "",
        hidden=kept,
        notes=view.table.notes,
        facts=view.facts,
        snapshot=view.snapshot,
        here=f"{home}/against{'?' if chosen else ''}{urlencode(chosen)}",
        permalink=f"{home}/against{'?' if chosen or fixed else ''}{urlencode([*chosen, *fixed])}",
    )
    return page_answer(against)


def _by_rank(names: Sequence[str], ranked: Table | None) -> list[str]:
    """Return entrants in the order of the board, any others after them."""
    order = [] if ranked is None or not ranked.rows else [str(row["entrant"]) for row in ranked.records()]
    known = set(names)
    return list(dict.fromkeys([*(name for name in order if name in known), *names]))


def _tables(compared: ComparedTables) -> list[Panel]:
    metrics = None if compared.comparisons is None else _headed_by_names(compared.comparisons, compared.pair)
    # What all comparisons rest on stands above.
    above = {*compared.sentences, *caveats_of(compared.pairwise)}
    titled = [(compared.pairwise, "The difference"), (metrics, "Every metric"), (compared.tests, "Tests")]
    return [
        Panel(title, replace(table, title=title, notes=tuple(note for note in table.notes if note not in above)))
        for table, title in titled
        if table is not None
    ]


def _headed_by_names(comparisons: Table, pair: PairRows) -> Table:
    """Return the rows of A and B with their names over their values instead of in every row."""
    names = {"a": pair.a, "b": pair.b}
    kept = [at for at, column in enumerate(comparisons.columns) if column.name not in ("entrant_a", "entrant_b")]
    columns = (comparisons.columns[at] for at in kept)
    return replace(
        comparisons,
        columns=tuple(replace(column, title=names.get(column.name, column.title)) for column in columns),
        rows=tuple(tuple(row[at] for at in kept) for row in comparisons.rows),
    )


# /benchmarks/{slug}/leaderboards/{board}/…: the pictures of a board, each with its table, from what is published.
#
# The matrix alone reads rows; it is made in the lane of explored boards.

HOME = "/benchmarks/{slug}/leaderboards/{board}"

ColumnName = Annotated[str | None, Query(max_length=200)]

MOST_SHOWN = 300


@table_routes(pictures_router, f"{HOME}/letters", "Who shares a letter", 404, answer=TableDocument, is_drawn=True)
def show_letters(
    slug: str, board: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show the entrants with letters: those that share one are not separable. Drawn as bars beside the scores."""
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    pairwise = load_table(session, view, f"pairwise/{board}")
    return _answer(request, session, replace(view, table=letters_table(view.table, pairwise)), board, "letters")


@table_routes(pictures_router, f"{HOME}/tradeoff", "Score against cost", 404, answer=TableDocument, is_drawn=True)
def show_tradeoff(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    x: ColumnName = None,
    y: ColumnName = None,
    snapshot: SnapshotNumber = None,
    fields_to: FieldsTo = None,
) -> Response:
    """Show two columns of a board against each other, the cost across, with the entrants that none beats on both."""
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    view = with_entrant_fields(session, view, snapshot, fields_to)
    view = replace(view, table=with_years(view.table))
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
    is_ranked_by = axes is not None and axes.y.name == view.table.meta.get("rank_by")
    pairs = load_table(session, view, f"pairwise/{board}") if is_ranked_by else None
    view = replace(view, table=tradeoff_table(view.table, axes, pairs), choices=choices)
    return _answer(request, session, view, board, "tradeoff")


def _axis_choices(board: Table, chosen: dict[str, str]) -> list[RowChoice]:
    columns = offered(board)
    shown_as = {column.name: column.title for column in columns}
    choices = []
    for name, title, of_costs in (("x", "Across, the cost", True), ("y", "Up, the score", False)):
        listed = [each.name for each in columns if is_cost(board, each) == of_costs or each.name == chosen[name]]
        choices.append(RowChoice(name, title, [(each, each == chosen[name]) for each in listed], shown_as, is_one=True))
    return choices


@table_routes(pictures_router, f"{HOME}/history", "Ranks over time", 404, answer=TableDocument, is_drawn=True)
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


@table_routes(pictures_router, f"{HOME}/matrix", "Entrants by tasks", 404, answer=TableDocument, is_drawn=True)
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
    table = _matrix(session, state, view, board)
    return _answer(request, session, narrowed(replace(view, table=table), wanted), board, "matrix")


def _matrix(session: Session, state: State, view: TableView, board: str) -> Table:
    """Return everybody's values on every task, in the order of the board. Raises NotFound."""
    slug = view.slug
    if view.snapshot is None:
        raise NotFound(f"Nothing of {slug} is published yet, so there is no matrix.")
    allow(session, LONG_REQUESTS)
    evidence = snapshot_evidence(session, benchmark_rows.find_benchmark(session, slug), view.snapshot, state.rows)
    spec = evidence.manifest.leaderboard(board)
    rows = None
    if not kind_of(evidence.manifest).rows.are_packed:
        refuse_too_many(evidence, "a matrix")
        rows = evidence.scores(NOBODY)
    if rows is None or not len(rows):
        why = f"The evidence of {slug} has no scores by task, so there is no matrix."
        return Table(f"matrix/{board}", f"{view.table.title}: entrants by tasks", (), (), (why,), {"unavailable": why})
    counted = counted_rows(evidence.manifest, spec)
    values = task_values(evidence.manifest, spec, rows, counted)
    records = list(view.table.records()) if view.table.rows else []
    order = [str(record["entrant"]) for record in records]
    # Where a task is one row no value is of a part of it.
    has_parts = counted is not None or kind_of(evidence.manifest).rows.in_upload_order
    lacking = [] if not has_parts else [r for r in records if r.get("n_included") != r.get("n_attempted")]
    apart = [str(record["entrant"]) for record in lacking if not is_compared(record)]
    return matrix_table(spec, evidence.manifest.metrics[values.metric], values, order, apart)


SIDE_BY_SIDE = 8
"""More entrants than these are no longer read beside each other."""

FIRST_COMPARED = 3


@table_routes(pictures_router, f"{HOME}/compare", "Some entrants side by side", 404, 422, answer=TableDocument)
def show_compared(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    wanted: WantedDep,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show some entrants side by side, the first ones where none is named: their places, and their value on each task.

    Above them stands which of them the data tell apart.
    """
    view = published(session, slug, snapshot, f"leaderboard/{board}")
    known = [str(record["entrant"]) for record in view.table.records()] if view.table.rows else []
    named = list(dict.fromkeys(wanted.get("entrant") or known[:FIRST_COMPARED]))
    problems = [Problem("no entrant of this board", column="entrant", value=clip_for_message(name))
                for name in named if name not in known]  # fmt: skip
    if len(named) > SIDE_BY_SIDE:
        problems.append(Problem(f"at most {SIDE_BY_SIDE}", column="entrant", value=str(len(named))))
    if problems:
        raise FieldRejected("These entrants cannot stand side by side.", problems)
    pairwise = load_table(session, view, f"pairwise/{board}")
    kept = set(named)
    ranked = replace(view.table, rows=tuple(row for row in view.table.rows if row[view.table.index("entrant")] in kept))
    table = side_by_side(_matrix(session, state, view, board), [name for name in known if name in kept], pairwise)
    ticks = [(name, name in kept) for name in known]
    choice = RowChoice("entrant", view.facts.nouns.say("Entrant"), ticks, is_shown=not wanted.get("entrant"))
    shown = replace(view, table=table, choices=[choice], ranked=ranked)
    return _answer(request, session, shown, board, "compare")


def _answer(request: Request, session: Session, view: TableView, board: str, name: str) -> Response:
    view = replace(view, table=in_nouns(view.table, view.facts.nouns))
    shown = replace(_beside(request, session, view, board, name), most_rows=MOST_SHOWN)
    return table_answer(request, shown, split_format(request.url.path)[1])
