"""News: the latest changes of published boards, of benchmarks that everybody may read, as `listed` says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Snapshot
from app.names import count, first_few
from app.store.benchmarks import BenchmarkNames, list_names

MOST_SNAPSHOTS = 60
MOST_NAMED = 3


@dataclass(frozen=True)
class News:
    """Something that changed: when, in which benchmark and snapshot, in a sentence, and where it can be seen.

    `title` is the benchmark's.
    """

    at: datetime
    slug: str
    title: str
    snapshot: int
    kind: str
    text: str
    address: str


def listed() -> Select[int]:
    """Return the benchmarks that everybody may read."""
    return select(Benchmark.id)


def list_news(session: Session, slug: str | None = None, limit: int = 20) -> list[News]:
    """Return the latest changes, the newest first, of one benchmark or of all."""
    query = (
        select(Benchmark.slug, Snapshot)
        .join(Benchmark, Benchmark.id == Snapshot.benchmark_id)
        .where(Benchmark.id.in_(listed()))
        .order_by(Snapshot.published_at.desc())
        .limit(MOST_SNAPSHOTS)
    )
    if slug is not None:
        query = query.where(Benchmark.slug == slug)
    names = {each.slug: each for each in list_names(session)}
    changes = [news for of, snapshot in session.execute(query) for news in _news_of(names[of], snapshot)]
    return changes[:limit]


def _news_of(of: BenchmarkNames, snapshot: Snapshot) -> Iterator[News]:
    """Yield a sentence for each kind of change of a snapshot; of ranks that moved, those of the first places."""
    home = f"/benchmarks/{of.slug}"
    titles = {each["name"]: each["title"] for each in of.leaderboards}

    def news(kind: str, text: str, address: str) -> News:
        return News(snapshot.published_at, of.slug, of.title, snapshot.number, kind, text, address)

    for change in snapshot.changes:
        if change["kind"] == "rank" and change["to"] == 1:
            board = change["board"]
            was = "without a rank before" if change["from"] is None else f"from rank {change['from']}"
            text = f"{change['entrant']} has rank 1 on {titles.get(board, board)}, {was}"
            text += f": {change['statement'].removesuffix('.')}" if "statement" in change else ""
            yield news("first", text, f"{home}/leaderboards/{board}?snapshot={snapshot.number}")
    for kind, words in WORDS.items():
        names = [change["entrant"] for change in snapshot.changes if change["kind"] == kind]
        if names:
            text = f"{_some(names)} {words}{_reasons(snapshot, names) if kind == 'withdrawn' else ''}"
            yield news(kind, text, f"{home}/snapshots")
    if any(change["kind"] == "manifest" for change in snapshot.changes):
        yield news("manifest", "the manifest has a new version", f"{home}/snapshots")
    moves = [change for change in snapshot.changes if change["kind"] == "rank"]
    moved = [change["board"] for change in moves if None not in (change["from"], change["to"])]
    if moved:
        boards = set(moved)
        where = titles.get(moved[0], moved[0]) if len(boards) == 1 else count(len(boards), "board")
        yield news("ranks", f"{count(len(moved), 'rank change')} on {where}", f"{home}/snapshots")
    if snapshot.number == 1:
        yield news("new", "published for the first time", home)


WORDS: Mapping[str, str] = {
    "entered": "entered",
    "superseded": "has newer evidence",
    "extended": "has more evidence",
    "withdrawn": "withdrawn",
    "left": "left the boards",
}


def _some(names: Sequence[str]) -> str:
    return first_few(names, MOST_NAMED)


def _reasons(snapshot: Snapshot, names: Sequence[str]) -> str:
    withdrawn_here: list[dict[str, Any]] = [each for each in snapshot.withdrawals if set(each["entrants"]) & set(names)]
    reasons = list(dict.fromkeys(str(each["reason"]) for each in withdrawn_here))
    return f": {first_few(reasons, MOST_NAMED, between='; ')}" if reasons else ""
