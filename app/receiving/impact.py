"""What an upload would change on the boards if it were submitted now. Called by `app.web.submissions` in a dry run.

Computed by the boards' own methods from the current snapshot with the upload's rows in it, and stored nowhere. Where
labels are private it answers nothing, because a dry run would be an uncounted attempt.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.boards.measured import EntrantEvidence
from app.boards.registry import compute_board, measured_method
from app.boards.rows_of_entrants import rows_of
from app.errors import BoardUnavailable
from app.jobs.choice_evidence import KeptRows, SnapshotEvidence, snapshot_evidence
from app.jobs.measuring import Measuring
from app.kinds.known import kind_of, measured_evidence
from app.manifest.explored import Explored
from app.manifest.leaderboard import Leaderboard
from app.names import first_few
from app.receiving.receive import Sent
from app.store import snapshots
from app.values.joined import with_rows
from app.values.scores import ScoreTable
from app.values.table import Cell, Table

MOST_ROWS, MOST_ENTRANTS, MOST_BOARDS = 300_000, 400, 12
MOST_MOVES = 12
OTHER_KIND = (
    "What it would change is computed for scores alone; for this kind of evidence the boards show it once "
    "it is submitted."
)
NOTHING_YET = "Nothing is published yet: it would be among the first."
TOO_LARGE = "The benchmark is too large for its boards to be computed while you wait."


def impact_of(session: Session, sent: Sent, kept: KeptRows) -> dict[str, Any]:
    """Return, for each board, the uploaded entrants' ranks and intervals, whom they move, and failures."""
    benchmark = sent.declared.benchmark
    shown = snapshots.find_snapshot(session, benchmark)
    if shown is None:
        return {"reason": NOTHING_YET, "boards": []}
    current = snapshot_evidence(session, benchmark, shown, kept)
    if kind_of(current.manifest).rows.form != "scores":
        return {"reason": OTHER_KIND, "boards": []}
    if current.n_rows() + len(sent.run.evidence.scores) > MOST_ROWS or len(current.entrants()) > MOST_ENTRANTS:
        return {"reason": TOO_LARGE, "boards": []}
    boards = current.manifest.leaderboards[:MOST_BOARDS]
    return {"reason": None, "boards": [_on_board(session, current, spec, sent.run.evidence.scores) for spec in boards]}


def _on_board(session: Session, current: SnapshotEvidence, spec: Leaderboard, scores: ScoreTable) -> dict[str, Any]:
    before = snapshots.load_table(session, current.snapshot.id, f"leaderboard/{spec.name}")
    document: dict[str, Any] = {"board": spec.name, "title": spec.title or spec.name, "fails": None, "lines": []}
    document |= {"entrants": [], "moves": []}
    try:
        after = _computed(session, current, spec.as_chosen(None, Explored({}, False)), scores)
    except BoardUnavailable as error:
        return {**document, "fails": str(error)}
    names = set(scores.entrant.words)
    entrants = [_place(row) for row in after.records() if row.get("entrant") in names]
    moves = list(moves_between(before, after, names))
    return {**document, "entrants": entrants, "moves": moves, "lines": list(_lines(entrants, moves))}


def _computed(session: Session, current: SnapshotEvidence, spec: Leaderboard, scores: ScoreTable) -> Table:
    method = measured_method(spec)
    if method is None:
        stored = current.rows()
        return compute_board(
            current.manifest, spec, scores if stored is None else _merged(current, stored, scores)
        ).leaderboard
    evidence = measured_evidence(current.manifest)
    others = {name: own for name, own in current.pieces().items() if name not in scores.entrant.words}
    known = Measuring(session, current.declared, others).measure(spec)
    new = [evidence.measure(current.manifest, spec, EntrantEvidence(name, rows_of(scores, {name})))
           for name in scores.entrant.words]  # fmt: skip
    measured = sorted([*known, *new], key=lambda each: each.entrant)
    return method.assemble(current.manifest, spec, measured, evidence).leaderboard


def _merged(current: SnapshotEvidence, stored: ScoreTable, scores: ScoreTable) -> ScoreTable:
    return with_rows(stored, scores, by_task=kind_of(current.manifest).rows.by_task(current.manifest))


def _place(row: dict[str, Cell]) -> dict[str, Cell]:
    names = ("entrant", "rank", "rank_low", "rank_high", "may_be_first", "unranked_because")
    return {name: row.get(name) for name in names}


def moves_between(before: Table | None, after: Table, names: Collection[str]) -> Iterator[dict[str, Cell]]:
    """Yield entrants other than `names` whose rank would change, in the order of the board."""
    was = {} if before is None or not before.rows else {row["entrant"]: row.get("rank") for row in before.records()}
    for row in after.records():
        entrant = row.get("entrant")
        if entrant in was and entrant not in names and was[entrant] != row.get("rank"):
            yield {"entrant": entrant, "before": was[entrant], "after": row.get("rank")}


def _lines(entrants: Sequence[dict[str, Cell]], moves: Sequence[dict[str, Cell]]) -> Iterator[str]:
    for each in entrants:
        if each["rank"] is None:
            why = f": {str(each['unranked_because']).replace('_', ' ')}" if each["unranked_because"] else ""
            yield f"{each['entrant']} would have no rank{why}."
        else:
            low, high = each["rank_low"], each["rank_high"]
            between = "" if low is None else f", with ranks {low} to {high} possible"
            yield f"{each['entrant']} would have rank {each['rank']}{between}."
    shown = first_few(moves, MOST_MOVES, _move, between="; ")
    yield f"It would move {shown}." if moves else "Nobody else would have another rank."


def _move(each: dict[str, Cell]) -> str:
    return f"{each['entrant']} from {each['before'] or 'none'} to {each['after'] or 'none'}"
