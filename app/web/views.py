"""What the pages of published tables share: finding a table in a snapshot, and what is shown around it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Query
from sqlalchemy.orm import Session

from app.db.models import Snapshot
from app.kinds.contract import PageFacts
from app.kinds.registry import kind_of
from app.names import count
from app.render.table_page import Panel, TableView, Wanted, choices, narrow_table
from app.render.text import path_of_name
from app.store import benchmarks, row_exports, snapshots
from app.store.benchmarks import Declared, find_retirement
from app.values.table import Table

SnapshotNumber = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
MAX_WANTED = 100
FIRST_PLACES = 10
Names = Annotated[list[str] | None, Query(max_length=MAX_WANTED)]
RowLinks = Mapping[str, Callable[[str], str]]


def read_wanted(
    task: Names = None,
    class_: Annotated[list[str] | None, Query(alias="class", max_length=MAX_WANTED)] = None,
    entrant: Names = None,
) -> Wanted:
    """Return which rows were asked for; an empty field of a form asks for nothing."""
    asked = {"task": task, "class": class_, "entrant": entrant}
    return {name: [value for value in values or () if value] for name, values in asked.items()}


WantedDep = Annotated[Wanted, Depends(read_wanted)]


def narrowed(view: TableView, wanted: Wanted) -> TableView:
    """Return the view of the wanted rows, with the form that asks for others."""
    return replace(view, table=narrow_table(view.table, wanted), choices=choices(view.table, wanted))


def published(session: Session, slug: str, number: int | None, name: str) -> TableView:
    """Return a table of a snapshot, or an empty one that says why there is none. Raises NotFound."""
    declared = benchmarks.find_declared(session, slug)
    snapshot = snapshots.find_snapshot(session, declared.benchmark, number)
    table = None if snapshot is None else snapshots.load_table(session, snapshot.id, name)
    if snapshot is None or table is None:
        table = row_exports.explain_absence(declared.manifest, snapshot, name, declared.benchmark.publish_error)
    return view_of(session, declared, table, snapshot)


def view_of(session: Session, declared: Declared, table: Table, snapshot: Snapshot | None) -> TableView:
    """Return a table with the snapshot it belongs to, and what every page of its benchmark shows."""
    version = None if snapshot is None else snapshots.manifest_version_number(session, snapshot)
    return TableView(declared.benchmark.slug, "", table, snapshot, version, facts=facts_of(session, declared))


def facts_of(session: Session, declared: Declared) -> PageFacts:
    """Return what every page of a benchmark shows: what may be claimed from it, and that it is retired."""
    facts = kind_of(declared.manifest).pages.facts(declared.manifest)
    retired = find_retirement(session, declared.benchmark.id)
    if retired is None:
        return facts
    notice = f"Retired on {retired.at:%Y-%m-%d}: {retired.reason} It accepts no more submissions; its pages stay."
    return replace(facts, guide=f"{notice} {facts.guide or ''}".strip())


def around(view: TableView, address: str, links: Sequence[tuple[str, str]], row_links: RowLinks) -> TableView:
    """Return the view at its address, with the links beside it and in its rows."""
    trail = [(view.slug, f"/benchmarks/{view.slug}")]
    return replace(view, address=address, trail=trail, links=links, row_links=row_links)


def name_links(declared: Declared) -> RowLinks:
    """Return where the names in a table's cells lead: to the entrant, to the task, to the submission."""
    home = f"/benchmarks/{declared.benchmark.slug}"

    def entrant(name: str) -> str:
        return f"{home}/entrants/{path_of_name(name)}"

    return {
        "entrant": entrant,
        "entrant_a": entrant,
        "entrant_b": entrant,
        "task": lambda name: f"{home}/tasks/{path_of_name(name)}",
        "submission": _submission,
        "second_submission": _submission,
        "prereg": lambda digest: f"/preregs/{digest}",
    }


def first_places(session: Session, declared: Declared, snapshot: Snapshot | None) -> Panel | None:
    """Return the first places of the first board, None where there is none yet."""
    board = declared.manifest.leaderboards[0]
    table = None if snapshot is None else snapshots.load_table(session, snapshot.id, f"leaderboard/{board.name}")
    if table is None or not table.rows:
        return None
    n_rows = len(table.rows)
    caption = f"The first {FIRST_PLACES} of {n_rows:,} rows" if n_rows > FIRST_PLACES else count(n_rows, "entrant")
    first = replace(table, rows=table.rows[:FIRST_PLACES], notes=(caption,))
    return Panel(board.title or board.name, first, name_links(declared))


def _submission(number: str) -> str:
    return f"/submissions/{number.replace(',', '')}"
