"""/benchmarks/{slug}/tasks and /entrants: the rows behind the boards, by task and by entrant."""

from dataclasses import replace
from datetime import UTC
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.entrant_fields import facts_table
from app.boards.evidence import NOBODY
from app.boards.explore import listed_tasks
from app.boards.nouns import in_nouns
from app.boards.statement import flags_in_words
from app.boards.task_values import metrics_of_means, places_table, standing_on_task, task_values
from app.db.models import Entrant, Snapshot, Token
from app.jobs.evidence import snapshot_evidence
from app.kinds.contract import ROWS_FILE
from app.kinds.registry import counted_rows, kind_of
from app.render.table_page import Panel
from app.render.text import name_in_path, path_of_name
from app.rights import tokens
from app.store import (
    audit,
    benchmark_rows,
    benchmarks,
    entrant_fields,
    entrant_story,
    entrants,
    reservations,
    row_exports,
    snapshots,
)
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.store.disclosed import entrants_of_holders
from app.store.entrants import Ownership
from app.store.labels import ranks_label_holders, scoring_of
from app.store.preregs import unreported_table
from app.values.facts import LABEL_HOLDER
from app.values.table import Table
from app.web.caller import PUBLIC, Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import TABLE, described, table_routes
from app.web.documents import OwnerDocument, TableDocument
from app.web.requests import Body, Number, Reason
from app.web.state import SessionDep, State, StateDep
from app.web.views import (
    PICTURES,
    SnapshotNumber,
    around,
    json_answer,
    name_links,
    outside,
    split_format,
    split_name,
    table_answer,
    view_of,
)

MOST_RESULTS = 1000
router = APIRouter(route_class=CheckedFirst, tags=["rows"])


@table_routes(router, "/benchmarks/{slug}/tasks", "The tasks", 404, answer=TableDocument, dependencies=PUBLIC)
def list_tasks(slug: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """List the tasks with how many entrants have a result (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    table = row_exports.tasks_table(session, declared.manifest, declared.benchmark.id, shown)
    has_file = shown is not None and kind_of(declared.manifest).rows.file == ROWS_FILE
    links = [("Every row (CSV)", f"/benchmarks/{slug}/rows.csv")] if has_file else []
    view = around(view_of(session, declared, table, shown), f"/benchmarks/{slug}/tasks", links, name_links(declared))
    return table_answer(request, view, split_format(request.url.path)[1])


@router.get(
    "/benchmarks/{slug}/tasks/{task:path}",
    summary="One task",
    responses=described(404, 422, answer=TableDocument, also=TABLE),
    dependencies=PUBLIC,
)
def show_task(slug: str, task: str, request: Request, session: SessionDep, snapshot: SnapshotNumber = None) -> Response:
    """Show every entrant's scores on one task (.csv, .json)."""
    name, fmt = split_name(task)
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    table = _published_part(session, declared, shown, "task", name) or row_exports.task_table(
        session, declared.manifest, declared.benchmark.id, shown, name
    )
    address = f"/benchmarks/{slug}/tasks/{path_of_name(name)}"
    links = [("Tasks", f"/benchmarks/{slug}/tasks")]
    if kind_of(declared.manifest).pages.item_column is not None:
        board = declared.manifest.leaderboards[0].name
        asked = urlencode({"task": name})
        links.append(("Item by item", f"/benchmarks/{slug}/leaderboards/{board}/items?{asked}"))
    view = around(view_of(session, declared, table, shown), address, links, name_links(declared))
    metrics = metrics_of_means(declared.manifest, declared.manifest.leaderboards)
    seen = any(board.counts_for_leaks() for board in declared.manifest.leaderboards)
    standing = standing_on_task(table, metrics, without_leaks=seen) if fmt in ("html", *PICTURES) else None
    if standing is not None:
        panel = Panel("Who wins", standing, name_links(declared), is_folded=True)
        view = replace(view, panels=[panel], panel_rest="Every result", most_rows=MOST_RESULTS)
    return table_answer(request, view, fmt)


@router.get(
    "/benchmarks/{slug}/entrants/{entrant:path}",
    summary="One entrant",
    responses=described(404, 422, answer=TableDocument, also=TABLE),
    dependencies=PUBLIC,
)
def show_entrant(
    slug: str, entrant: str, request: Request, session: SessionDep, state: StateDep, snapshot: SnapshotNumber = None
) -> Response:
    """Show one entrant's scores on every task, and its submissions (.csv, .json)."""
    name, fmt = split_name(entrant)
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, snapshot)
    row = entrants.find_entrant(session, declared.benchmark.id, name)
    table = _published_part(session, declared, shown, "entrant", name) or row_exports.entrant_table(
        session, declared.manifest, shown, row
    )
    table = _with_ownership(table, entrants.read_ownership(session, row))
    table = _with_holding(session, declared, shown, table, name)
    history = [
        (f"Submission {e.submission_id} ({e.state.replace('_', ' ')})", f"/submissions/{e.submission_id}")
        for e in entrants.entries_of(session, row.id)
    ]
    address = f"/benchmarks/{slug}/entrants/{path_of_name(name)}"
    if declared.manifest.entrant_fields:
        history.append(("Wrong? Its owner can correct it", f"/edit/{slug}/{path_of_name(name)}"))
    view = around(view_of(session, declared, table, shown), address, history, name_links(declared))
    if fmt in ("html", *PICTURES):
        # What it is and where it stands come first, what was sent and changed last.
        said, sent = _said(session, declared, shown, row), _panels(session, declared, shown, row)
        n_standing = sum(panel.title in STANDING for panel in sent)
        places = _places(session, state, declared, shown, name)
        panels = [*said[:1], *sent[:n_standing], *places, *sent[n_standing:], *said[1:]]
        nouns = declared.manifest.nouns
        panels = [replace(panel, table=in_nouns(panel.table, nouns)) for panel in panels]
        flags = _flags(session, declared, shown, name)
        view = replace(view, table=replace(view.table, notes=(*flags, *view.table.notes)))
        view = replace(view, panels=panels, panel_rest="Task by task")
    return table_answer(request, view, fmt)


def _flags(session: Session, declared: Declared, shown: Snapshot | None, name: str) -> list[str]:
    """Return what the evidence of an entrant is flagged for, as a note."""
    board = f"leaderboard/{declared.manifest.leaderboards[0].name}"
    table = None if shown is None else snapshots.load_table(session, shown.id, board)
    if table is None or not {"flags", "entrant"} <= set(table.column_names()):
        return []
    at, flags = table.index("entrant"), table.index("flags")
    return [f"Flagged: {flags_in_words(str(row[flags]))}." for row in table.rows if row[at] == name and row[flags]]


STANDING = ("On the boards", "Ranks over time")


def _panels(session: Session, declared: Declared, shown: Snapshot | None, entrant: Entrant) -> list[Panel]:
    """Return where an entrant ranks, how its ranks moved and the outcome of each of its submissions."""
    home = f"/benchmarks/{declared.benchmark.slug}"
    names = {board.title: board.name for board in declared.manifest.leaderboards}
    links = {**name_links(declared), "board": lambda shown: f"{home}/leaderboards/{names.get(shown, shown)}"}
    panels = [Panel("Submissions", entrant_story.attempts_table(session, entrant), links)]
    silent = unreported_table(session, declared, entrant)
    panels += [Panel("Registered without a report", silent, links)] if silent.rows else []
    if shown is None:
        return panels
    standing = entrant_story.standing_table(session, declared.manifest, shown, entrant.name)
    if standing.rows:
        panels.insert(0, Panel("On the boards", standing, links))
        moved = entrant_story.history_table(session, declared.benchmark.id, standing, entrant.name)
        if shown.id == declared.benchmark.snapshot_id and moved.meta:
            panels.insert(1, Panel("Ranks over time", moved, links, is_folded=True))
    return panels


MOST_ROWS_OF_CARD = 200_000
"""Places by task are found from everybody's rows, which of more than these takes longer than a page may."""

MOST_TASKS_OF_CARD = 5


def _places(session: Session, state: State, declared: Declared, shown: Snapshot | None, name: str) -> list[Panel]:
    """Return an entrant's places by group of tasks, and its best and worst tasks, beside its neighbours' values."""
    kind = kind_of(declared.manifest)
    if shown is None or kind.rows.are_packed:
        return []
    evidence = snapshot_evidence(session, declared.benchmark, shown, state.rows)
    spec = evidence.manifest.leaderboards[0]
    board = snapshots.load_table(session, shown.id, f"leaderboard/{spec.name}")
    if board is None or "entrant" not in board.column_names() or evidence.n_rows() > MOST_ROWS_OF_CARD:
        return []
    scores = evidence.scores(NOBODY)
    if not len(scores) or name not in scores.entrant.words:
        return []
    order = [str(row[board.index("entrant")]) for row in board.rows]
    at = order.index(name) if name in order else None
    above, below = ([], []) if at is None else (order[max(0, at - 1) : at], order[at + 1 : at + 2])
    beside = {other: f"{words}: {other}" for words, some in (("Next above", above), ("Next below", below))
              for other in some}  # fmt: skip
    values = task_values(evidence.manifest, spec, scores, counted_rows(evidence.manifest, spec))
    metric = evidence.manifest.metrics[values.metric]
    listed = spec.groups_of_tasks(listed_tasks(evidence.manifest, spec, evidence.open_tasks()))
    groups = spec.groups_of_tasks(()) or evidence.manifest.declared_groups() or listed
    # What an entrant is said to have seen is no place of its own.
    values = replace(values, values=values.as_counted(spec))
    by_group = places_table(spec, metric, values, groups, name, beside, title="Task group")
    by_task = places_table(spec, metric, values, {task: [task] for task in values.tasks}, name, beside)
    rows, n = by_task.rows, MOST_TASKS_OF_CARD
    links = {**name_links(declared), "part": name_links(declared)["task"], "best": name_links(declared)["entrant"]}
    panels = [Panel("Groups of tasks", by_group, {"best": links["best"]})] if by_group.rows else []
    # How places count is said once.
    by_task = replace(by_task, notes=() if panels else by_task.notes)
    if len(rows) > 2 * n:
        ends = (("Best tasks", rows[:n]), ("Worst tasks", rows[-n:]))
        said = (by_task.notes, ())
        return [*panels, *(Panel(title, replace(by_task, rows=some, notes=notes), links)
                           for (title, some), notes in zip(ends, said, strict=True))]  # fmt: skip
    return [*panels, *([Panel("Tasks, the best first", by_task, links)] if len(rows) > 1 else [])]


def _said(session: Session, declared: Declared, shown: Snapshot | None, entrant: Entrant) -> list[Panel]:
    """Return what an entrant is said to be, and every change of that, by whom and when."""
    fields = declared.manifest.entrant_fields
    values = entrant_fields.values_of(session, declared.benchmark, fields, shown) if fields else {}
    facts = facts_table(entrant.name, fields, values.get(entrant.name, {}))
    changes = entrant_fields.history_table(session, entrant, fields)
    said = [Panel("What it is", facts, {"value": outside})] if fields else []
    return [*said, *([Panel("Changes of what it is", changes, is_folded=True)] if changes.rows else [])]


def _with_ownership(table: Table, ownership: Ownership) -> Table:
    """Return an entrant's table with its owner and transfers, in words and as data."""
    owner = ownership.owner
    moves = [
        {"at": m.at.isoformat(), "from": _holder(m.before), "to": _holder(m.to), "by": m.by.name, "reason": m.reason}
        for m in ownership.moves
    ]
    notes = ["Nobody owns this entrant." if owner is None else f"Owner: {owner.name}."]
    notes += [
        f"Moved from {'nobody' if m.before is None else m.before.name} to {m.to.name} by {m.by.name}, "
        f"{m.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC. Reason: {m.reason}"
        for m in ownership.moves
    ]
    about = {"owner": _holder(owner), "transfers": moves}
    return replace(table, notes=(*notes, *table.notes), meta={**table.meta, **about})


def _with_holding(session: Session, declared: Declared, shown: Snapshot | None, table: Table, name: str) -> Table:
    """Return an entrant's table with the note that who sent it can read the private labels, where that is so."""
    if shown is None or scoring_of(declared.manifest) is None:
        return table
    stood = {name: snapshots.load_standings(session, shown.id).get(name, [])}
    if name not in entrants_of_holders(session, declared, stood):
        return table
    place = "ranked all the same" if ranks_label_holders(declared.manifest) else "listed without a rank"
    note = f"Who sent this entrant can read the private labels; it is {place}."
    return replace(table, notes=(note, *table.notes), meta={**table.meta, LABEL_HOLDER: True})


def _holder(token: Token | None) -> dict[str, Any] | None:
    return None if token is None else {"token": token.id, "name": token.name}


def _published_part(
    session: Session, declared: Declared, snapshot: Snapshot | None, column: str, name: str
) -> Table | None:
    """Return a board's breakdown for one entrant or task, where it has one; rows could be too many."""
    kind = kind_of(declared.manifest).pages.breakdown
    for board in declared.manifest.leaderboards:
        table = None if snapshot is None else snapshots.load_table(session, snapshot.id, f"{kind}/{board.name}")
        if table is not None and any(row[table.index(column)] == name for row in table.rows):
            return row_exports.filter_published(table, column, name)
    return None


class Transfer(Body):
    """A steward's order to move an entrant to another owner."""

    token_id: Number
    reason: Reason


@router.put(
    "/benchmarks/{slug}/entrants/{entrant:path}/owner",
    summary="Move an entrant to another owner",
    responses=described(403, 404, 409, answer=OwnerDocument),
)
def move_owner(
    slug: str, entrant: str, order: Transfer, session: SessionDep, caller: Annotated[Caller, may("move an entrant")]
) -> Response:
    """Move an entrant, a reserved name, or a reference entrant's, to another owner; the reason is stored and shown.

    Naming its own owner changes nothing.
    """
    entrant = name_in_path(entrant)
    benchmark = benchmark_rows.find_benchmark(session, slug)
    reserved = reservations.find_open(session, slug, entrant)
    is_reserved = reserved is not None and reserved.reservation.name == entrant
    if is_reserved or entrant in entrants.newest_references(session, benchmark).names:
        entrants.lock_entrants(session, benchmark.id, [entrant])
    row = entrants.lock_entrant(session, benchmark.id, entrant)
    to, by = tokens.get_token(session, order.token_id), tokens.get_token(session, caller.id)
    change = Change({"owner": row.owner_id}, {"owner": to.id}, order.reason)
    entrants.transfer(session, row, to, by, order.reason)
    audit.record(session, caller.act, 200, change)
    benchmark_rows.mark_pages_changed(session, benchmark.id)
    return json_answer({"entrant": entrant, "owner": to.id, "owner_name": to.name})
