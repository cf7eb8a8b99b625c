"""What an upload would change on the boards if it were submitted now: the answer to a dry run. Computed by the boards'
own methods from the current snapshot with the upload's rows in it, and stored nowhere. Where labels are private it
answers nothing, because a dry run would be an uncounted attempt.
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.boards.evidence import NOBODY, BoardEvidence, board_without_gaps, rows_of
from app.boards.measured import EntrantEvidence, Measurement
from app.cache import Cache
from app.db.models import TABLE, Entry, Snapshot, Submission
from app.errors import BoardUnavailable, Busy
from app.jobs.evidence import snapshot_evidence
from app.jobs.faults import note_fault, said
from app.kinds.reader import Evidence
from app.kinds.registry import kind_of, measured_kind
from app.manifest.model import Explored, Leaderboard, Manifest
from app.names import count, first_few
from app.store import grids, snapshots, submissions
from app.store.benchmarks import Declared
from app.store.labels import load_labels, scoring_of
from app.store.series import diagnostic_names
from app.values.scores import ScoreTable
from app.values.table import Cell, Table, with_rows

MOST_CELLS, MOST_BOARDS = 200_000, 12
"""So many cells a board may have (`cells_of`), so that one takes two or three seconds: nothing stops it, and whoever
waits for a turn waits until it is done.
"""

FEW_RESAMPLES = 1_000

MOST_MOVES = 12

PRIVATE_LABELS = (
    "Its rank is told once it is submitted, which counts as an attempt: where labels are private, a dry run that told "
    "it would be an attempt that nobody counts."
)

NOTHING_YET = "Nothing is published yet."

TOO_LARGE = (
    "The ranks are not computed while you wait: that is done where the rows and the square of the number of entrants "
    f"are at most {MOST_CELLS:,} together, of fewer where a board draws more than {FEW_RESAMPLES:,} resamples. The "
    "boards show them once it is submitted."
)

LATER = f"Not computed while you wait: that is done for the first {MOST_BOARDS} boards."


Turn = Callable[[], AbstractContextManager[None]]
"""A wait for one's turn to compute one board. Raises Busy."""


def impact_of(
    session: Session, declared: Declared, evidence: Evidence, kept: Cache[ScoreTable], turn: Turn
) -> dict[str, Any]:
    """Return, for each board, the uploaded entrants' ranks and intervals, whom they move, and failures.

    `declared` is the newest version, with its grid as the upload would fill it: `as_it_would_stand`.
    Each board is computed in a turn of its own, so that nobody waits for all of somebody else's. Once one comes too
    late the further boards are not waited for. Raises Busy where the first one does.
    """
    benchmark = declared.benchmark
    shown = snapshots.find_snapshot(session, benchmark)
    current = None
    if shown is not None:
        current = replace(
            snapshot_evidence(session, benchmark, shown, kept, under=declared), manifest=declared.manifest
        )
    impact = _Impact(session, declared, evidence, shown, current)
    if scoring_of(impact.manifest) is not None:
        return {"reason": PRIVATE_LABELS, "boards": []}
    if impact.is_too_large():
        return {"reason": TOO_LARGE, "boards": []}
    first, later = impact.manifest.leaderboards[:MOST_BOARDS], impact.manifest.leaderboards[MOST_BOARDS:]
    boards = list(_in_turns(turn, first, impact.on_board, impact.untold))
    return {"reason": None, "boards": [*boards, *(impact.untold(spec, LATER) for spec in later)]}


def as_it_would_stand(session: Session, declared: Declared, submission: Submission) -> Declared:
    """Return a version of the manifest with its grid as it is filled once a submission, stored here, stands."""
    sent: dict[str, Entry] = {who.name: entry for who, entry in submissions.list_entries(session, [submission.id])}
    stood: dict[str, list[int]] = {}
    shown = snapshots.find_snapshot(session, declared.benchmark)
    for each in [] if shown is None else snapshots.load_refs(session, shown.id):
        newer = None if each.entrant not in sent else sent[each.entrant].task_ids
        if each.entrant not in sent or (newer is not None and set(each.ref.task_ids or ()) - set(newer)):
            stood.setdefault(each.entrant, []).append(each.ref.pair[0])
    for name in sent:
        stood.setdefault(name, []).append(submission.id)
    return replace(declared, manifest=grids.with_grids(session, declared, stood))


def _in_turns(
    turn: Turn,
    specs: Sequence[Leaderboard],
    computed: Callable[[Leaderboard], dict[str, Any]],
    untold: Callable[[Leaderboard, str], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield what is said of each board, computed in its turn until one comes too late."""
    for at, spec in enumerate(specs):
        try:
            with turn():
                said_of_it = computed(spec)
        except Busy as error:
            if at == 0:
                raise
            yield from (untold(each, f"Not computed: {error}") for each in specs[at:])
            return
        yield said_of_it


def cells_of(n_rows: int, n_entrants: int, boards: Sequence[Leaderboard]) -> int:
    """Return the cells of the largest of some boards: those of rows and those of pairs, which cost about the same.

    Beyond FEW_RESAMPLES each costs as many times more as there are more resamples.
    """
    most = max((spec.uncertainty.n_resamples for spec in boards), default=0)
    return (n_rows + n_entrants**2) * max(FEW_RESAMPLES, most) // FEW_RESAMPLES


class _Impact:
    """An upload beside what stands in the current snapshot; None before anything is published."""

    def __init__(
        self,
        session: Session,
        declared: Declared,
        evidence: Evidence,
        snapshot: Snapshot | None,
        current: BoardEvidence | None,
    ) -> None:
        self._session, self._snapshot, self._current, self._evidence = session, snapshot, current, evidence
        self._benchmark_id = declared.benchmark.id
        self.manifest: Manifest = declared.manifest
        self._names = self._own(evidence.scores).entrant.words

    def is_too_large(self) -> bool:
        """Say whether computing every board would take too long for somebody who waits."""
        n_rows = max(len(self._evidence.scores), sum(len(block.values) for block in self._evidence.predictions))
        stored = 0 if self._current is None else self._current.n_rows()
        n_entrants = 0 if self._current is None else len(self._current.entrants())
        boards = self.manifest.leaderboards[:MOST_BOARDS]
        return cells_of(stored + n_rows, n_entrants + len(self._names), boards) > MOST_CELLS

    def untold(self, spec: Leaderboard, *lines: str) -> dict[str, Any]:
        """Return that nothing is known of a board, and why."""
        about = {"board": spec.name, "title": spec.title or spec.name, "fails": None}
        return {**about, "lines": list(lines), "entrants": [], "moves": []}

    def on_board(self, spec: Leaderboard) -> dict[str, Any]:
        """Return what would change on a board, or why that is not known."""
        document = self.untold(spec)
        try:
            after = self._computed(spec)
        except BoardUnavailable as error:
            return {**document, "fails": str(error)}
        except DBAPIError:
            raise
        except Exception as error:
            fault = note_fault(error, TABLE, f"board {spec.name} of {self.manifest.slug} in a dry run", spec.name)
            return {**document, "lines": [f"Not computed because of {said(fault)}."]}
        entrants = [_place(row) for row in after.records() if row.get("entrant") in self._names]
        moves = list(moves_between(self._before(spec), after, self._names))
        lines = list(_lines(entrants, moves, self._unlisted(after)))
        return {**document, "entrants": entrants, "moves": moves, "lines": lines}

    def _unlisted(self, board: Table) -> Iterator[str]:
        """Yield what becomes of the uploaded entrants that the board does not list."""
        reasons = {each["entrant"]: each["reason"] for each in board.meta.get("set_aside", ())}
        listed = {row.get("entrant") for row in board.records()}
        for name in self._names:
            if name in reasons:
                yield f"{name} would be set aside on this board: {reasons[name]}"
            elif name not in listed:
                yield f"{name} would not be listed on this board."

    def _before(self, spec: Leaderboard) -> Table | None:
        if self._snapshot is None:
            return None
        return snapshots.load_table(self._session, self._snapshot.id, f"leaderboard/{spec.name}")

    def _computed(self, spec: Leaderboard) -> Table:
        current = self._current or replace(
            BoardEvidence.of_rows(self.manifest, rows_of(self._evidence.scores, ())),
            measured=kind_of(self.manifest).measured,
        )
        return ranks_of(current.with_newer(self._names, self._beside, self._measured), spec)

    def _beside(self, stored: ScoreTable) -> ScoreTable:
        """Return everybody's rows, with the sent ones in place of what they supersede."""
        rows, sent = kind_of(self.manifest).rows, self._evidence.scores
        if self._current is None:
            return sent
        if not rows.in_upload_order:
            return with_rows(stored, sent, by_task=rows.by_task(self.manifest), extra_columns=rows.beside)
        if set(self._own(stored).entrant.words) <= set(self._names):
            return sent
        # What a run measured between its own estimators says nothing beside those of others.
        own = self._own(sent)
        return with_rows(self._own(stored), own, by_task=rows.by_task(self.manifest), extra_columns=own.columns)

    def _own(self, scores: ScoreTable) -> ScoreTable:
        between = diagnostic_names(scores)
        return rows_of(scores, set(scores.entrant.words) - between) if between else scores

    def _measured(self, spec: Leaderboard) -> list[Measurement]:
        kind, scores, labels = measured_kind(self.manifest), self._evidence.scores, {}
        if self._evidence.predictions:
            labels = load_labels(self._session, self._benchmark_id)
        elif self._current is not None and kind_of(self.manifest).rows.by_task(self.manifest):
            scores = self._beside(self._current.among(self._names).scores(NOBODY))
        measured = []
        for name in self._names:
            blocks = [block for block in self._evidence.predictions if block.entrant == name]
            own = EntrantEvidence(name, rows_of(scores, {name}), blocks, labels)
            measured.append(kind.measure(self.manifest, spec, own))
        return measured


def _place(row: dict[str, Cell]) -> dict[str, Cell]:
    names = ("entrant", "rank", "rank_low", "rank_high", "may_be_first", "unranked_because")
    return {name: row.get(name) for name in names}


def ranks_of(evidence: BoardEvidence, spec: Leaderboard) -> Table:
    """Return the ranks of a board as a publication computes them; what only pages of the board say is left out."""
    return board_without_gaps(evidence, spec.as_chosen(None, Explored({}, False))).leaderboard


def moves_between(before: Table | None, after: Table, names: Collection[str]) -> Iterator[dict[str, Cell]]:
    """Yield entrants other than `names` whose rank would change, in the order of the board."""
    was = {} if before is None else {row["entrant"]: row.get("rank") for row in before.records()}
    for row in after.records():
        entrant = row.get("entrant")
        if entrant in was and entrant not in names and was[entrant] != row.get("rank"):
            yield {"entrant": entrant, "before": was[entrant], "after": row.get("rank")}


def _lines(
    entrants: Sequence[dict[str, Cell]], moves: Sequence[dict[str, Cell]], unlisted: Iterable[str]
) -> Iterator[str]:
    yield from unlisted
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


# What a new manifest would change on the boards: computed from the current evidence, and stored nowhere.

MOST_PREVIEWED_BOARDS = 20

OTHER_KIND = "Which ranks would change is computed for scores and episodes alone."


def preview_of(session: Session, declared: Declared, new: Declared, turn: Turn) -> dict[str, Any]:
    """Return, for each board of either version, whose rank changes, and which boards are added, removed or fail.

    In turns, as `impact_of`. Raises Busy.
    """
    shown, manifest = snapshots.find_snapshot(session, declared.benchmark), new.manifest
    if shown is None:
        return {"reason": NOTHING_YET, "boards": []}
    if not kind_of(manifest).rows.are_plain:
        return {"reason": OTHER_KIND, "boards": []}
    evidence = snapshot_evidence(session, declared.benchmark, shown, under=new)
    first = manifest.leaderboards[:MOST_PREVIEWED_BOARDS]
    if cells_of(evidence.n_rows(), len(evidence.entrants()), first) > MOST_CELLS:
        return {"reason": TOO_LARGE, "boards": []}
    boards = _in_turns(
        turn,
        first,
        lambda spec: _on_board(session, shown, evidence, spec),
        lambda spec, why: {"board": spec.name, "lines": [why]},
    )
    gone = {spec.name for spec in declared.manifest.leaderboards} - {spec.name for spec in manifest.leaderboards}
    return {
        "reason": None,
        "boards": [
            *boards,
            *({"board": name, "lines": ["No longer a board."]} for name in sorted(gone)),
        ],
    }


def _on_board(session: Session, shown: Snapshot, evidence: BoardEvidence, spec: Leaderboard) -> dict[str, Any]:
    before = snapshots.load_table(session, shown.id, f"leaderboard/{spec.name}")
    try:
        after = ranks_of(evidence, spec)
    except BoardUnavailable as error:
        return {"board": spec.name, "lines": [f"It would fail: {error}"]}
    return {"board": spec.name, "lines": list(_preview_lines(before, after))}


def _preview_lines(before: Table | None, after: Table) -> Iterator[str]:
    if before is None or not before.rows:
        yield f"It is new: {count(len(after.rows), 'entrant')}."
        return
    moves = list(moves_between(before, after, set()))
    if not moves:
        yield "No rank would change."
    for move in moves:
        yield f"{move['entrant']} from {move['before'] or 'no rank'} to {move['after'] or 'no rank'}"


def diff_of(before: bytes, after: bytes) -> list[tuple[str, str]]:
    """Return the differing lines and some around them, each with `added`, `removed` or `same`."""
    old, new = (content.decode("utf-8", "replace").splitlines() for content in (before, after))
    kinds = {"+": "added", "-": "removed"}
    lines = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    return [(kinds.get(line[:1], "same"), line) for line in lines]
