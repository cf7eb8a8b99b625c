"""What is found by a text: benchmarks, boards, groups of tasks, fields, states of submissions, entrants and tasks.

Every word of the text must be somewhere in a name, in any order and by its stem: "qwen3 8b" is in
Qwen/Qwen3-Embedding-8B, "forecasting" in "Forecasts of energy". Where nothing is, the most similar names are shown, by
the share of trigrams as Postgres' pg_trgm counts it, which an embedded Postgres does not have. Only what the reader may
see is looked at.
"""

import heapq
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from sqlalchemy import ColumnElement, Text, and_, cast, func, select, true
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import Benchmark, BenchmarkChange, Entrant, Entry, ManifestVersion, StoredTask, Submission
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.names import count
from app.store.benchmarks import is_newest, list_names, newest_text
from app.store.news import listed

MOST_MATCHES, MOST_WORDS = 30, 8
MOST_COMPARED, MOST_SIMILAR, SIMILAR = 20_000, 10, 0.5
"""So many names are compared with a text of which nothing was found, and so many shown of those that are so similar."""
ENDINGS = re.compile(r"(?<=\w{4})(ings?|ers?|ed|es|s)$")


@dataclass(frozen=True)
class SearchMatch:
    """Something found: what it is, its name, in which benchmark; `leads_to` its page within that."""

    kind: str
    name: str
    slug: str
    leads_to: str = ""


def search(session: Session, text: str) -> list[SearchMatch]:
    """Return what is found by a text, benchmarks first; of names that nothing was found in, the most similar."""
    words = [ENDINGS.sub("", word) for word in re.findall(r"\w+", text.casefold())][:MOST_WORDS]
    if not words:
        return []
    seen = select(Entry.entrant_id).where(Entry.state.in_(("current", "superseded")))
    of_entrants = _named(Entrant.name, Entrant.benchmark_id, words).where(Entrant.id.in_(seen))
    of_tasks = _named(StoredTask.name, StoredTask.benchmark_id, words)
    found = [
        *_in_manifests(session, words),
        *_in_states(session, words),
        *(SearchMatch("entrant", name, slug) for name, slug in session.execute(of_entrants)),
        *(SearchMatch("task", name, slug) for name, slug in session.execute(of_tasks)),
    ]
    return found or list(_similar(session, text))


def may_be_more(found: Sequence[SearchMatch]) -> bool:
    """Say whether as many of a kind were found as are listed, so that there may be more."""
    return max(Counter(match.kind for match in found).values(), default=0) >= MOST_MATCHES


def _named(name: InstrumentedAttribute[str], benchmark: InstrumentedAttribute[int], words: Sequence[str]) -> Any:
    query = select(name, Benchmark.slug).join(Benchmark, Benchmark.id == benchmark)
    query = query.where(_holds(name, words), Benchmark.id.in_(listed()))
    return query.order_by(name, Benchmark.slug).limit(MOST_MATCHES)


def _holds(text: ColumnElement[str] | InstrumentedAttribute[str], words: Sequence[str]) -> ColumnElement[bool]:
    return and_(true(), *(text.icontains(word, autoescape=True) for word in words))


def _in_manifests(session: Session, words: Sequence[str]) -> Iterator[SearchMatch]:
    """Yield the benchmarks whose manifest has every word, each followed by what has them in it."""
    yaml = func.convert_from(ManifestVersion.yaml, "UTF8")
    title, description = newest_text(BenchmarkChange.title), newest_text(BenchmarkChange.description)
    everything = func.concat_ws(" ", Benchmark.slug, cast(title, Text), cast(description, Text), yaml)
    query = select(Benchmark.slug, title, description, ManifestVersion.yaml).join(ManifestVersion, is_newest())
    query = query.where(_holds(everything, words), Benchmark.id.in_(listed())).order_by(Benchmark.slug)
    for slug, new_title, new_description, content in session.execute(query.limit(MOST_MATCHES)):
        manifest = parse_manifest(content)
        shown, about = new_title or manifest.title, new_description or manifest.description or ""
        parts = list(_parts(manifest, words))
        if parts or _all_in(f"{slug} {shown} {about}", words):
            yield SearchMatch("benchmark", shown, slug)
            yield from parts[:MOST_MATCHES]


def _parts(manifest: Manifest, words: Sequence[str]) -> Iterator[SearchMatch]:
    """Yield the boards, groups of tasks and fields of a benchmark that have every word."""
    slug, first = manifest.slug, manifest.leaderboards[0]
    for board in manifest.leaderboards:
        if _all_in(f"{board.name} {board.title or ''} {board.description or ''}", words):
            yield SearchMatch("board", board.title or board.name, slug, f"/leaderboards/{board.name}")
    tasks = manifest.tasks if isinstance(manifest.tasks, list) else []
    for name, members in first.groups_of_tasks(tasks).items():
        column, _, value = name.rpartition(":")
        if _all_in(f"{column} {value}", words):
            shown = f"{value} ({column.replace('_', ' ')}, {count(len(members), 'task')})" if column else value
            yield SearchMatch("group", shown, slug, f"/leaderboards/{first.name}/explore?group={quote(name)}")
    for field in manifest.entrant_fields:
        if _all_in(f"{field.name} {field.title or ''} {' '.join(field.values or ())}", words):
            yield SearchMatch("field", field.title or field.name, slug)


TOLD_BY = {"withdrawn": "withdrawn withdraw withdrew withdrawal", "not_admitted": "not admitted refused"}
"""The words by which one looks for the submissions in a state."""


def _in_states(session: Session, words: Sequence[str]) -> Iterator[SearchMatch]:
    """Yield how many submissions of each benchmark are in a state that is asked for, those with the most first."""
    for status, told_by in TOLD_BY.items():
        if not _all_in(told_by, words):
            continue
        n = func.count(Submission.id)
        ours = and_(Submission.benchmark_id == Benchmark.id, Submission.status == status)
        query = select(Benchmark.slug, n).outerjoin(Submission, ours).where(Benchmark.id.in_(listed()))
        query = query.group_by(Benchmark.slug).order_by(n.desc(), Benchmark.slug).limit(MOST_MATCHES)
        for slug, n_such in session.execute(query):
            shown = f"{n_such:,} {status.replace('_', ' ')}"
            yield SearchMatch("submissions", shown, slug, f"?status={status}#submissions")


def _all_in(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _similar(session: Session, text: str) -> Iterator[SearchMatch]:
    """Yield the names that are most like a text, the most similar first."""
    asked = [_trigrams(word) for word in re.findall(r"\w+", text.casefold())[:MOST_WORDS]]
    scored = ((_likeness(asked, match.name), match) for match in _names(session))
    close = (each for each in scored if each[0] >= SIMILAR)
    yield from (match for _, match in heapq.nsmallest(MOST_SIMILAR, close, key=lambda each: (-each[0], each[1].name)))


def _names(session: Session) -> Iterator[SearchMatch]:
    yield from (SearchMatch("benchmark", each.title, each.slug) for each in list_names(session))
    yield from (match for match in _in_manifests(session, ()) if match.kind != "benchmark")
    seen = select(Entry.entrant_id).where(Entry.state.in_(("current", "superseded")))
    entrants = _named(Entrant.name, Entrant.benchmark_id, ()).where(Entrant.id.in_(seen)).limit(MOST_COMPARED)
    yield from (SearchMatch("entrant", name, slug) for name, slug in session.execute(entrants))
    tasks = _named(StoredTask.name, StoredTask.benchmark_id, ()).limit(MOST_COMPARED)
    yield from (SearchMatch("task", name, slug) for name, slug in session.execute(tasks))


def _likeness(asked: Sequence[frozenset[str]], name: str) -> float:
    """Return how much of each word that was asked for is in the word of a name most like it, on average: 0 to 1."""
    own = [_trigrams(word) for word in re.findall(r"[^\W_]+", name.casefold())]
    best = [max((len(word & each) / len(word) for each in own), default=0.0) for word in asked]
    return sum(best) / len(best) if best else 0.0


def _trigrams(word: str) -> frozenset[str]:
    padded = f"  {word} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))
