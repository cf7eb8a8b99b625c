"""How the top ranks of a board changed from snapshot to snapshot. Called by `app.web.pictures`.

No statistics: published ranks, reconstructed backwards from each snapshot's list of changes.
"""

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from app.db.models import Benchmark, Snapshot
from app.store import snapshots
from app.values.table import Cell, Column, Table

MOST_SNAPSHOTS = 200
FIRST = 10
ONLY_ONE = "There is one snapshot alone: nothing has moved yet."


def board_history(
    session: Session, benchmark: Benchmark, shown: Snapshot | None, board: Table, n: int = FIRST
) -> Table:
    """Return the ranks of a snapshot's top entrants, in it and in each earlier one since they entered."""
    listed = [each for each in snapshots.list_snapshots(session, benchmark.id)
              if shown is not None and each.number <= shown.number][:MOST_SNAPSHOTS]  # fmt: skip
    name = board.name.partition("/")[2]
    rows = [row for entrant, rank in _first(board, n) for row in walk_back(listed, name, entrant, rank)]
    ordered = sorted(rows, key=lambda row: (int(str(row[0])), int(str(row[3] or 0)), str(row[2])))
    columns = (
        Column("snapshot", "Snapshot", "integer"),
        Column("published_at", "Published", "time"),
        Column("entrant", "Entrant", "text"),
        Column("rank", "Rank", "integer"),
    )
    several = len({row[0] for row in rows}) > 1
    plot = {"kind": "lines", "x": "snapshot", "y": "rank", "by": "entrant", "falls": True, "direct": "end"}
    notes = (f"The first {n} of the board as it is in the last of these snapshots.",) if several else (ONLY_ONE,)
    title = f"{board.title}: ranks over time"
    return Table(f"history/{name}", title, columns, tuple(ordered), notes, {"plot": plot} if several else {})


def _first(board: Table, n: int) -> Iterator[tuple[str, Cell]]:
    if {"rank", "entrant"} <= set(board.column_names()):
        ranked = [record for record in board.records() if isinstance(record["rank"], int)]
        for record in sorted(ranked, key=lambda record: int(str(record["rank"])))[:n]:
            yield str(record["entrant"]), record["rank"]


def walk_back(listed: Sequence[Snapshot], board: str, entrant: str, rank: Cell) -> Iterator[tuple[Cell, ...]]:
    """Yield the rank in each snapshot, the newest first, until the one in which the entrant entered.

    Each row is the number and the time of the snapshot, the entrant and its rank.
    """
    for snapshot in listed:
        yield snapshot.number, snapshot.published_at.isoformat(), entrant, rank
        own = [change for change in snapshot.changes if change.get("entrant") == entrant]
        if any(change["kind"] == "entered" for change in own):
            return
        moved = [change for change in own if change["kind"] == "rank" and change["board"] == board]
        rank = moved[0]["from"] if moved else rank
