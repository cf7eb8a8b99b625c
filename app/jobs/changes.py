"""What differs between two published states of a benchmark.

Called by `app.jobs.publish` for a new snapshot and the one before it, and by `app.web.benchmarks` for any two.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from app.db.models import Snapshot
from app.store import snapshots
from app.values.table import Table

BOARD = "leaderboard/"


@dataclass(frozen=True)
class PublishedState:
    """What change lists need of a published state: each entrant's submissions, newest last, and rank per board.

    Versions of a manifest that have the same bytes, and so the same digest, are the same manifest.
    """

    manifest_digest: str
    manifest_version: int
    standings: Mapping[str, Sequence[int]]
    ranks: Mapping[str, Mapping[str, int]]
    withdrawn: Collection[str] = ()


def load_state(session: Session, snapshot: Snapshot) -> PublishedState:
    """Return what a snapshot published."""
    ranks = snapshots.load_ranks(session, snapshot.id, BOARD)
    return PublishedState(
        manifest_digest=snapshot.manifest_digest,
        manifest_version=snapshots.manifest_version_number(session, snapshot),
        standings=snapshots.load_standings(session, snapshot.id),
        ranks={name.removeprefix(BOARD): of_board for name, of_board in ranks.items()},
        withdrawn={name for tombstone in snapshot.withdrawals for name in tombstone["entrants"]},
    )


def list_changes(before: PublishedState | None, after: PublishedState) -> list[dict[str, Any]]:
    """Return what differs: the manifest, who entered, was superseded or withdrawn, and which ranks changed.

    An entrant with new evidence in addition to all that was current before is `extended`.
    """
    old = before or PublishedState(after.manifest_digest, after.manifest_version, {}, {})
    return [*_manifest_change(old, after), *_standing_changes(old, after), *_rank_moves(old, after)]


def _manifest_change(old: PublishedState, new: PublishedState) -> list[dict[str, Any]]:
    if old.manifest_digest == new.manifest_digest:
        return []
    return [{"kind": "manifest", "version": new.manifest_version, "was": old.manifest_version}]


def _standing_changes(old: PublishedState, new: PublishedState) -> list[dict[str, Any]]:
    before, after = old.standings, new.standings
    changes: list[dict[str, Any]] = []
    for entrant in sorted(after.keys() - before.keys()):
        changes.append({"kind": "entered", "entrant": entrant, "submission": after[entrant][-1]})
    for entrant in sorted(after.keys() & before.keys()):
        if after[entrant] != before[entrant]:
            kind = "extended" if set(before[entrant]) < set(after[entrant]) else "superseded"
            change = {"kind": kind, "entrant": entrant, "submission": after[entrant][-1], "was": before[entrant][-1]}
            changes.append(change)
    for entrant in sorted(before.keys() - after.keys()):
        kind = "withdrawn" if entrant in new.withdrawn else "left"
        changes.append({"kind": kind, "entrant": entrant, "was": before[entrant][-1]})
    return changes


def _rank_moves(old: PublishedState, new: PublishedState) -> list[dict[str, Any]]:
    moves: list[dict[str, Any]] = []
    for board, after in sorted(new.ranks.items()):
        before = old.ranks.get(board, {})
        moved = sorted(entrant for entrant in before.keys() & after.keys() if before[entrant] != after[entrant])
        moves += [{"kind": "rank", "board": board, "entrant": e, "from": before[e], "to": after[e]} for e in moved]
    return moves


def ranks_by_board(tables: Iterable[Table]) -> dict[str, dict[str, int]]:
    """Return each entrant's rank on each table that is a board."""
    return {table.name.removeprefix(BOARD): _ranks(table) for table in tables if table.name.startswith(BOARD)}


def _ranks(table: Table) -> dict[str, int]:
    if not {"rank", "entrant"} <= set(table.column_names()):
        return {}
    rank, entrant = table.index("rank"), table.index("entrant")
    return {str(row[entrant]): int(of_row) for row in table.rows if (of_row := row[rank]) is not None}
