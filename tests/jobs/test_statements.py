"""How many statements jobs take: a publication as many for five submissions as for three, and so an evaluation."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from psycopg import Cursor
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.jobs.publish import publish
from app.jobs.refresh import evaluate_waiting
from app.store import benchmark_rows
from tests.cases import publications
from tests.fixtures import Site

MANIFESTS = {
    "summary": publications.SUMMARY.replace("TASKS", publications.DECLARED),
    "episodes": publications.EPISODES,
    "series": publications.SERIES,
}


def submit(site: Site, slug: str, kind: str, number: int) -> None:
    """Send honest evidence of one more entrant."""
    name = f"E{number}"
    if kind == "episodes":
        content = publications.good_episodes()
    else:
        content = publications.good_summary(name) if kind == "summary" else publications.good_run(name)
    answer = publications.send(
        site, slug, "metrics.csv", content, entrant=name if kind == "episodes" else None, who="alice"
    )
    assert answer.status_code == 202, answer.text


@contextmanager
def counted(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the statements of a block, those of bulk readers too."""
    seen: list[str] = []
    stream = Cursor.stream
    engine = site.sessions().get_bind()
    assert isinstance(engine, Engine)

    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        seen.append(statement)

    def note_stream(self: Cursor[object], query: str, *rest: object, **options: object) -> object:
        seen.append(query)
        return stream(self, query, *rest, **options)  # type: ignore[arg-type]

    event.listen(engine, "before_cursor_execute", note)
    monkeypatch.setattr(Cursor, "stream", note_stream)
    yield seen
    event.remove(engine, "before_cursor_execute", note)
    monkeypatch.undo()


@pytest.mark.parametrize("kind", MANIFESTS)
def test_a_publication_takes_as_many_statements_whoever_is_on_the_board(
    site: Site, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """One more entrant on a board of one, and on a board of three, is read and stored by the same statements."""
    slug = publications.begin(site, MANIFESTS[kind])
    with site.sessions() as session:
        number = benchmark_rows.find_benchmark(session, slug).id
    counts = []
    for upto in (2, 4):
        for entrant in range((counts and 3) or 1, upto):
            submit(site, slug, kind, entrant)
        site.work()
        submit(site, slug, kind, 10 * upto)
        site.work()
        with site.sessions.begin() as session:
            benchmark_rows.mark_data_changed(session, number)
        with counted(site, monkeypatch) as seen:
            publish(site.sessions, number)
        counts.append(seen)

    assert len(counts[0]) == len(counts[1]) > 5, sorted(set(counts[0]) ^ set(counts[1]))
    assert not [statement for seen in counts for statement in seen if "FROM score" in statement]


def test_an_evaluation_takes_as_many_statements_for_five_submissions_as_for_one(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Submissions that wait together are read, computed and given their places by the same statements."""
    slug = publications.begin(site, MANIFESTS["summary"])
    with site.sessions() as session:
        number = benchmark_rows.find_benchmark(session, slug).id
    counts = []
    for entrants in ([0], [1], range(2, 7)):
        for entrant in entrants:
            submit(site, slug, "summary", entrant)
        with counted(site, monkeypatch) as seen:
            assert evaluate_waiting(site.sessions, number)
        counts.append(seen)

    assert len(counts[1]) == len(counts[2]) > 5, sorted(set(counts[1]) ^ set(counts[2]))
