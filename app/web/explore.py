"""/benchmarks/{slug}/leaderboards/{board}/explore: a board as a reader would have it, filtered or ranked anew.

Everything chosen is in the address. A filter keeps ranks; a choice has the board computed anew, in the lane that
`app.web.page_cache` keeps for it.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.boards.entrant_fields import Values, Wish, read_wish, with_fields
from app.boards.evidence import BoardEvidence
from app.boards.explore import LABEL, Choice, chosen_board
from app.boards.provenance import with_flags_of
from app.db.engine import LONG_REQUESTS, allow
from app.db.models import Snapshot
from app.errors import BoardUnavailable, FieldRejected, NotFound, Problem
from app.jobs.evidence import for_a_reader, snapshot_evidence
from app.manifest.model import Leaderboard, Manifest
from app.names import clip_for_message
from app.render.table_page import explore_form, field_filters, rows_matching
from app.store import benchmarks, entrant_fields, row_exports, snapshots
from app.store.benchmarks import Declared
from app.values.table import Table
from app.web.caller import PUBLIC
from app.web.checked_first import CheckedFirst
from app.web.description import table_routes
from app.web.documents import TableDocument
from app.web.state import SessionDep, State, StateDep
from app.web.views import (
    FieldsTo,
    SnapshotNumber,
    around,
    framed,
    name_links,
    split_format,
    table_answer,
    view_of,
)

router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC)

MOST_NAMED = 500

MOST_TEXT = 200

NAMED = Annotated[list[str] | None, Query(max_length=MOST_NAMED)]

NAMED_ENTRANTS = Annotated[list[str] | None, Query(max_length=MOST_NAMED, alias="entrant")]


@dataclass(frozen=True)
class ExploreQuery:
    """What the address says: text and fields that rows are filtered by, and the choice that a board is computed for.

    `change` is the last change of fields that counts, None for all there are, or all before the snapshot that is asked.
    """

    text: str
    choice: Choice
    fields: tuple[str, ...] = ()
    is_among: bool = False
    change: int | None = None


def read_asked(
    q: Annotated[str | None, Query(max_length=MOST_TEXT, description="text contained in the names of entrants")] = None,
    among: Annotated[
        Literal["", "matching"] | None, Query(description="`matching`: re-rank among the entrants that q matches")
    ] = None,
    # By another name here, as an address may have an entrant in its path as well.
    entrants: NAMED_ENTRANTS = None,
    task: NAMED = None,
    group: NAMED = None,
    weight: Annotated[list[str] | None, Query(max_length=MOST_NAMED, description="a name and a number: STS=2")] = None,
    baseline: Annotated[str | None, Query(max_length=MOST_TEXT)] = None,
    field: Annotated[
        list[str] | None, Query(max_length=100, description="of a declared field: licence=mit, n_parameters<=8e9")
    ] = None,
    fields_to: FieldsTo = None,
) -> ExploreQuery:
    """Return what was asked for; empty fields of a form ask for nothing. Raises FieldRejected for a bad weight."""
    text, named = (q or "").strip(), filled(entrants)
    # Who is named is who is ranked, whatever was searched for when the names were ticked.
    choice = Choice(
        entrants=named,
        matching=text if among == "matching" and not named else "",
        tasks=filled(task),
        groups=filled(group),
        weights=_weights(filled(weight)),
        baseline=baseline or None,
    )
    return ExploreQuery(text, choice, filled(field), among == "matching", fields_to)


def _weights(asked: tuple[str, ...]) -> dict[str, float]:
    weights: dict[str, float] = {}
    problems = []
    for text in asked:
        name, _, number = text.rpartition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            problems.append(Problem("expected a name, = and a number: STS=2", column="weight",
                                    value=clip_for_message(text)))  # fmt: skip
    if problems:
        raise FieldRejected("A weight must be a name and a number.", problems)
    return weights


AskedDep = Annotated[ExploreQuery, Depends(read_asked)]


@dataclass(frozen=True)
class ChosenBoard:
    """A board of a snapshot as a reader asked for it: computed anew where something was chosen, and with whom it shows.

    `table` has everybody who is ranked, `rows` those that what was looked for leaves.
    """

    declared: Declared
    snapshot: Snapshot
    spec: Leaderboard
    choice: Choice
    table: Table
    rows: Table
    wish: Wish
    values: Values
    evidence: BoardEvidence


def board_as_asked(
    session: Session, state: State, slug: str, board: str, number: int | None, asked: ExploreQuery
) -> ChosenBoard:
    """Return a board of the current snapshot, or of a numbered one, as it is asked for. Raises NotFound."""
    declared = benchmarks.find_declared(session, slug)
    shown = snapshots.find_snapshot(session, declared.benchmark, number)
    if shown is None:
        raise NotFound(f"Nothing of {slug} is published yet, so there is nothing to explore.")
    allow(session, LONG_REQUESTS)
    evidence = snapshot_evidence(session, declared.benchmark, shown, state.rows)
    spec = _board(evidence.manifest, board)
    manifest = declared.manifest if number is None else evidence.manifest
    wish = read_wish(manifest.entrant_fields, asked.fields)
    as_of = entrant_fields.as_of(session, declared.benchmark, None if number is None else shown, asked.change)
    values = entrant_fields.values_of(session, declared.benchmark, manifest.entrant_fields, shown, as_of)
    within = (
        frozenset(name for name in evidence.entrants() if wish.holds(values.get(name, {}))) if wish.is_made else None
    )
    choice = asked.choice
    if asked.is_among and within is not None and not choice.entrants:
        choice = replace(choice, within=within, described=wish.words)
    table = with_fields(_table(session, shown, evidence, spec, choice), manifest.entrant_fields, values)
    # Who is ranked anew is all shown: who has no part in what was asked was named, or is the baseline.
    rows = table if asked.is_among else rows_matching(table, asked.text, within, wish.words)
    return ChosenBoard(declared, shown, spec, choice, table, rows, wish, values, evidence)


ADDRESS = "/benchmarks/{slug}/leaderboards/{board}/explore"


@table_routes(router, ADDRESS, "A board recomputed for a reader's choice", 404, answer=TableDocument)
def explore_board(
    slug: str,
    board: str,
    request: Request,
    session: SessionDep,
    state: StateDep,
    asked: AskedDep,
    snapshot: SnapshotNumber = None,
) -> Response:
    """Show a board of the current snapshot, or of the one asked for, filtered or computed anew as the query says."""
    chosen = board_as_asked(session, state, slug, board, snapshot, asked)
    evidence, table, declared = chosen.evidence, chosen.table, chosen.declared
    form = explore_form(evidence.manifest, chosen.spec, table, asked.text, chosen.choice, evidence.open_tasks())
    manifest = declared.manifest if snapshot is None else evidence.manifest
    form = form.with_fields(manifest.entrant_fields, chosen.values, chosen.wish)
    seen = asked.change if snapshot is not None else entrant_fields.last_change(session, declared.benchmark.id)
    view = replace(
        view_of(session, declared, chosen.rows, chosen.snapshot),
        explore=form,
        fields_to=seen or None,
        filters=field_filters(manifest.entrant_fields, chosen.values),
    )
    home = f"/benchmarks/{slug}/leaderboards/{board}"
    view = around(view, f"{home}/explore", (), name_links(declared))
    view = framed(request, session, view, declared, board, "explore")
    return table_answer(request, view, split_format(request.url.path)[1])


def _board(manifest: Manifest, name: str) -> Leaderboard:
    try:
        return manifest.leaderboard(name)
    except KeyError:
        raise NotFound(f"{manifest.slug} has no leaderboard {name}.") from None


def _table(session: Session, shown: Snapshot, evidence: BoardEvidence, spec: Leaderboard, choice: Choice) -> Table:
    """Return the published board, or the one that a choice makes; where it cannot be computed, one that says why."""
    name = f"leaderboard/{spec.name}"
    published = snapshots.load_table(session, shown.id, name)
    if not choice.is_made:
        return published or row_exports.explain_absence(evidence.manifest, shown, name)
    try:
        chosen = chosen_board(spec, for_a_reader(evidence, spec), choice)
        return chosen if published is None else with_flags_of(chosen, published)
    except BoardUnavailable as error:
        why = f"{LABEL}; it cannot be computed. {error}"
        return Table(f"explore/{spec.name}", spec.title or spec.name, (), (), (why,), {"unavailable": str(error)})


def filled(values: list[str] | None) -> tuple[str, ...]:
    """Return the given values, each once; empty fields of a form are ignored."""
    return tuple(dict.fromkeys(value for value in values or () if value))
