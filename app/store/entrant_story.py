"""One entrant's history: where it ranks, how its ranks moved, and every attempt.

No statistics: what snapshots published and what submissions state.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.boards.standing import score_column
from app.db.models import Entrant, Entry, Snapshot, Submission, SubmissionEvent, Token
from app.manifest.model import Manifest
from app.names import sentences
from app.store import snapshots
from app.store.snapshots import walk_back
from app.values.table import Cell, Column, Table

MOST_SNAPSHOTS = 200
MOST_ATTEMPTS = 200
DESCRIBED_BY = ("version", "organisation", "url", "code_commit", "notes")

COUNTED = (
    "may_be_first", "first_p", "covered", "n_failed", "n_not_asked", "unranked_because", "rank_if_worst",
    "rank_if_best",
)  # fmt: skip
"""The columns of a board that an entrant's page has under the same names, in this order."""


def standing_table(session: Session, manifest: Manifest, snapshot: Snapshot, name: str) -> Table:
    """Return an entrant's rank on every board of a snapshot; null on a board that it is not on."""
    columns = (
        Column("board", "Board", "text"),
        Column("rank", "Rank", "integer", interval=("rank_low", "rank_high"), glossary="rank_interval"),
        Column("rank_low", "Rank, low", "integer", detail=True),
        Column("rank_high", "Rank, high", "integer", detail=True),
        Column("among", "Among", "integer"),
        Column("metric", "Score of", "text"),
        Column("score", "Score", interval=("score_low", "score_high"), digits=3),
        Column("score_low", "Score, low", detail=True, digits=3),
        Column("score_high", "Score, high", detail=True, digits=3),
        Column("may_be_first", "May be first", "flag", glossary="may_be_first"),
        Column("first_p", "p (first)", glossary="first_p", digits=3),
        Column("covered", "Covered", "text", glossary="coverage"),
        Column("n_failed", "Without a value", "integer", glossary="n_failed"),
        Column("n_not_asked", "Not asked", "integer", optional=True, glossary="n_not_asked"),
        Column("unranked_because", "No rank because", "text", optional=True, glossary="unranked_because"),
        Column("rank_if_worst", "Rank if worst", "integer", optional=True, glossary="rank_if"),
        Column("rank_if_best", "Rank if best", "integer", optional=True, glossary="rank_if"),
    )
    loaded = {
        b.name: snapshots.load_table(session, snapshot.id, f"leaderboard/{b.name}") for b in manifest.leaderboards
    }
    boards = {board: table for board, table in loaded.items() if table is not None}
    rows = [row for board, table in boards.items() for row in _on_board(board, table, name)]
    titles = {board.name: board.title for board in manifest.leaderboards if board.title}
    about = {"shown_as": {"board": titles}} if titles else {}
    notes = (f"Snapshot {snapshot.number}.", *_on_first(rows, columns, titles))
    return Table("standing", f"{name} on the boards", columns, tuple(rows), notes, about)


def _on_first(rows: Sequence[tuple[Cell, ...]], columns: Sequence[Column], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield on which boards no test, but the rule for gaps, says that it may not be first."""
    records = [dict(zip((column.name for column in columns), row, strict=True)) for row in rows]
    out = (str(each["board"]) for each in records if each["may_be_first"] is False and each["first_p"] is None)
    if ruled := [titles.get(board, board) for board in out]:
        yield f"Excluded as first by the rule for missing results: {sentences(ruled)}."


def _on_board(board: str, table: Table, name: str) -> Iterator[tuple[Cell, ...]]:
    if not table.rows:
        return
    # Of many rows one is wanted: no mapping is made of the others.
    names, rank, entrant = table.column_names(), table.index("rank"), table.index("entrant")
    ranked = sum(row[rank] is not None for row in table.rows)
    score = score_column(table)
    for cells in table.rows:
        if cells[entrant] == name:
            row = dict(zip(names, cells, strict=True))
            low, high = score.interval or ("", "") if score else ("", "")
            points = (row.get(score.name) if score else None, row.get(low), row.get(high))
            counted = tuple(row.get(column) for column in COUNTED)
            places = (row.get("rank"), row.get("rank_low"), row.get("rank_high"))
            yield board, *places, ranked, score.title if score else None, *points, *counted


def history_table(session: Session, benchmark_id: int, standing: Table, name: str) -> Table:
    """Return an entrant's rank on each board in each snapshot, reconstructed from the snapshots' changes."""
    listed = list(snapshots.list_snapshots(session, benchmark_id))[:MOST_SNAPSHOTS]
    now = {str(row["board"]): row["rank"] for row in standing.records()}
    rows = [
        (number, at, board, moved)
        for board, rank in now.items()
        for number, at, _, moved in walk_back(listed, board, name, rank)
    ]
    columns = (
        Column("snapshot", "Snapshot", "integer"),
        Column("published_at", "Published", "time"),
        Column("board", "Board", "text"),
        Column("rank", "Rank", "integer"),
    )
    plot = {
        "kind": "lines",
        "x": "snapshot",
        "y": "rank",
        "by": "board",
        "falls": True,
        "direct": "end",
        "title": "Rank by snapshot, 1 being the best",
    }
    meta = {"plot": plot} if len({row[0] for row in rows}) > 1 else {}
    ordered = sorted(rows, key=lambda row: (int(str(row[0])), str(row[2])))
    return Table("history", f"Ranks of {name}", columns, tuple(ordered), meta=meta)


def attempts_table(session: Session, entrant: Entrant) -> Table:
    """Return every submission of an entrant, the newest first, with its outcome and why."""
    described = [Submission.description[key].astext for key in DESCRIBED_BY]
    why = select(SubmissionEvent.reason).where(SubmissionEvent.submission_id == Submission.id)
    reason = why.order_by(SubmissionEvent.id.desc()).limit(1).scalar_subquery()
    query = (
        select(Submission.id, Submission.status, Entry.state, Entry.n_rows, Submission.received_at, Token.name,
               Submission.prereg_sha256, reason, *described)
        .join(Entry, Entry.submission_id == Submission.id)
        .join(Token, Token.id == Submission.token_id)
        .where(Entry.entrant_id == entrant.id)
        .order_by(Submission.id.desc())
        .limit(MOST_ATTEMPTS)
    )  # fmt: skip
    columns = (
        Column("submission", "Submission", "integer"),
        Column("status", "State", "text"),
        Column("state", "Evidence", "text"),
        Column("n_rows", "Rows", "integer"),
        Column("received_at", "Received", "time"),
        Column("submitted_by", "By", "text"),
        Column("prereg", "Registered as", "text", optional=True, glossary="prereg"),
        Column("reason", "Why", "text"),
        *(Column(key, key.replace("_", " ").capitalize(), "text", optional=True) for key in DESCRIBED_BY),
    )
    rows = tuple(
        (number, status, state, n_rows, received.isoformat(), *rest)
        for number, status, state, n_rows, received, *rest in session.execute(query)
    )
    return Table("attempts", f"Submissions of {entrant.name}", columns, rows)
