"""What a new manifest would change on the boards: computed from the current evidence, and stored nowhere.

Called by `app.web.desk` before a steward uploads a version of the manifest.
"""

import difflib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sqlalchemy.orm import Session

from app.boards.registry import compute_board, measured_method
from app.errors import BoardUnavailable
from app.jobs.choice_evidence import KeptRows, SnapshotEvidence, snapshot_evidence
from app.jobs.measuring import Measuring
from app.kinds.known import kind_of, measured_evidence
from app.manifest.explored import Explored
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.receiving.impact import MOST_ENTRANTS, MOST_ROWS, NOTHING_YET, TOO_LARGE, moves_between
from app.store import snapshots
from app.store.benchmarks import Declared
from app.values.counts import count
from app.values.table import Table

MOST_BOARDS = 20
OTHER_KIND = "Which ranks would change is computed for scores and episodes alone."


def preview_of(session: Session, declared: Declared, manifest: Manifest, kept: KeptRows) -> dict[str, Any]:
    """Return, for each board of either manifest, whose rank changes, and which boards are added, removed or fail."""
    shown = snapshots.find_snapshot(session, declared.benchmark)
    if shown is None:
        return {"reason": NOTHING_YET, "boards": []}
    evidence = snapshot_evidence(session, declared.benchmark, shown, kept)
    if kind_of(manifest).rows.form != "scores":
        return {"reason": OTHER_KIND, "boards": []}
    if evidence.n_rows() > MOST_ROWS or len(evidence.entrants()) > MOST_ENTRANTS:
        return {"reason": TOO_LARGE, "boards": []}
    # The rows are read with the new manifest's metrics, so they must not be shared with other readers.
    changed = replace(evidence, declared=replace(evidence.declared, manifest=manifest), kept=KeptRows())
    boards = [_on_board(session, changed, spec) for spec in manifest.leaderboards[:MOST_BOARDS]]
    gone = {spec.name for spec in declared.manifest.leaderboards} - {spec.name for spec in manifest.leaderboards}
    return {
        "reason": None,
        "boards": [*boards, *({"board": name, "lines": ["It would be gone."]} for name in sorted(gone))],
    }


def _on_board(session: Session, evidence: SnapshotEvidence, spec: Leaderboard) -> dict[str, Any]:
    before = snapshots.load_table(session, evidence.snapshot.id, f"leaderboard/{spec.name}")
    try:
        after = _computed(session, evidence, spec.as_chosen(None, Explored({}, False)))
    except BoardUnavailable as error:
        return {"board": spec.name, "lines": [f"It would fail: {error}"]}
    return {"board": spec.name, "lines": list(_lines(before, after))}


def _computed(session: Session, evidence: SnapshotEvidence, spec: Leaderboard) -> Table:
    method, rows = measured_method(spec), evidence.rows()
    if method is None and rows is not None:
        return compute_board(evidence.manifest, spec, rows).leaderboard
    if method is None:
        raise TypeError(f"{spec.method} reads rows, and there are none")
    measured = Measuring(session, evidence.declared, evidence.pieces()).measure(spec)
    return method.assemble(evidence.manifest, spec, measured, measured_evidence(evidence.manifest)).leaderboard


def _lines(before: Table | None, after: Table) -> Iterator[str]:
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
