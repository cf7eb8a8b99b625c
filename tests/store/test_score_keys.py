"""What keys on `score` would guarantee: no row of a submission refers to nothing, and none is there twice."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.db.models import Score, SubmissionTable
from app.store import benchmark_rows, benchmarks, entrants, submissions
from app.store.rows import BrokenRows, RowKeys, copy_scores, refuse_repeated
from app.values.scores import NONE, Coded, ScoreTable
from app.values.table import Column, Table
from tests.cases.walkthrough import BASE, declare, send
from tests.fixtures import Site, SiteAfter

TASKS = ("t1", "t2")


def rows(n_rows: int) -> ScoreTable:
    """Return rows of one entrant, which differ in their seeds alone; every second one has a text."""
    return ScoreTable(
        entrant=Coded(("Base",), np.zeros(n_rows, dtype=np.int64)),
        task=Coded(TASKS, np.zeros(n_rows, dtype=np.int64)),
        columns=("MASE",),
        values=np.ones((n_rows, 1)),
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows) + 2,
        condition=Coded(("a", "b"), np.where(np.arange(n_rows) % 2 == 0, 0, NONE)),
        seed=np.arange(n_rows),
        item=Coded(("i",), np.full(n_rows, NONE)),
    )


def stored(site: Site) -> int:
    """Return how many score rows there are."""
    with site.sessions() as session:
        return session.scalars(select(func.count()).select_from(Score)).one()


def write(site: Site, scores: ScoreTable, spoil: Callable[[Session, RowKeys], RowKeys]) -> None:
    """Write rows to a submission that has none yet, with keys that were spoilt before."""
    with site.sessions.begin() as session:
        benchmark = benchmark_rows.find_benchmark(session, "tiny")
        number = session.execute(
            text(
                "INSERT INTO submission (benchmark_id, manifest_version_id, token_id, digest, status, run_purpose,"
                " columns, n_rows, description) SELECT benchmark_id, manifest_version_id, token_id, 'other', status,"
                " run_purpose, columns, n_rows, description FROM submission LIMIT 1 RETURNING id"
            )
        ).scalar_one()
        entrant = entrants.find_entrant(session, benchmark.id, "Base")
        keys = RowKeys(number, {"Base": entrant.id}, benchmarks.ensure_tasks(session, benchmark.id, TASKS))
        copy_scores(session, scores, spoil(session, keys))


def no_entrant(_session: Session, keys: RowKeys) -> RowKeys:
    """The number of an entrant that is nowhere."""
    return replace(keys, entrants={"Base": 999})


def no_task(_session: Session, keys: RowKeys) -> RowKeys:
    """The number of a task that is nowhere."""
    return replace(keys, tasks=dict.fromkeys(TASKS, 999))


def no_submission(_session: Session, keys: RowKeys) -> RowKeys:
    """The number of a submission that is nowhere."""
    return replace(keys, submission_id=999)


def of_another_benchmark(session: Session, keys: RowKeys) -> RowKeys:
    """The number of a task that another benchmark has."""
    other = session.execute(
        text("INSERT INTO benchmark (slug, created_by) SELECT 'other', created_by FROM benchmark LIMIT 1 RETURNING id")
    ).scalar_one()
    return replace(keys, tasks=benchmarks.ensure_tasks(session, other, TASKS))


def as_they_are(_session: Session, keys: RowKeys) -> RowKeys:
    """The numbers that belong to the rows."""
    return keys


def send_base(site: Site) -> None:
    """Declare a benchmark and send a submission of Base to it."""
    declare(site)
    send(site, BASE)


@pytest.fixture
def ready(site_after: SiteAfter) -> Site:
    """A benchmark with a submission of Base."""
    return site_after(send_base)


SPOILT = {
    no_entrant: "rows of entrant 999, which its benchmark does not have",
    no_task: "rows of task 999, which its benchmark does not have",
    no_submission: "submission 999 has rows of",
    of_another_benchmark: "rows of task",
}


def test_rows_that_refer_to_nothing_cannot_be_committed(ready: Site) -> None:
    """Nor those that refer to what another benchmark has: nothing of the submission is kept."""
    before = stored(ready)
    for spoil, message in SPOILT.items():
        with pytest.raises(BrokenRows, match=message):
            write(ready, rows(4), spoil)

    assert stored(ready) == before


def test_rows_without_a_name_and_rows_that_are_there_twice_cannot_be_committed(ready: Site) -> None:
    """A code that stands for no word must not become that of another one; rows that differ in a part are all kept."""
    scores, before = rows(4), stored(ready)
    for column, code in itertools.product(("entrant", "task"), (NONE, 2)):
        nameless = replace(getattr(scores, column), codes=np.array([0, 0, code, 0]))
        with pytest.raises(BrokenRows, match=f"1 rows have no {column}, the first at position 2"):
            write(ready, replace(scores, **{column: nameless}), as_they_are)
    with pytest.raises(BrokenRows, match="positions 1 and 3 have the same entrant, task, condition, seed and item"):
        write(ready, replace(scores, seed=np.array([0, 1, 2, 1])), as_they_are)
    assert stored(ready) == before

    write(ready, scores, as_they_are)
    assert stored(ready) == before + 4


FAR = np.array([-(2**63), 2**63 - 1, 0, -(2**63)])


@pytest.mark.parametrize("part", ["entrant", "task", "condition", "seed", "item"])
def test_every_part_of_the_key_tells_rows_apart(part: str) -> None:
    """Also beside seeds as far from each other as can be; without it two rows are the same."""
    apart = np.array([0, 0, 0, 1])
    same = np.zeros(4, dtype=np.int64)
    scores = replace(
        rows(4),
        seed=FAR if part != "seed" else np.array([-(2**63), 2**63 - 1, 0, 1]),
        condition=Coded(("a", "b"), apart if part == "condition" else same),
        item=Coded(("i", "j"), apart if part == "item" else same),
    )
    refuse_repeated(scores, apart if part == "entrant" else same, apart if part == "task" else same)

    repeated = replace(scores, seed=FAR, condition=Coded(("a",), same), item=Coded(("i",), same))
    with pytest.raises(BrokenRows, match="positions 0 and 3"):
        refuse_repeated(repeated, same, same)


def test_no_rows_are_fine() -> None:
    """Evidence of predictions alone has none."""
    refuse_repeated(rows(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def test_a_submissions_rows_are_found_without_reading_the_others(ready: Site) -> None:
    """By the primary key, from any position on, also before Postgres has seen how the rows lie."""
    submission = 1_000_001
    with ready.sessions.begin() as session:
        session.execute(
            text(
                "INSERT INTO score (submission_id, position, file, row, entrant_id, task_id, leaked, values)"
                " SELECT 1000000 + g % 50, g, 0, 0, 1, 1, false, '{1}' FROM generate_series(1, 20000) AS g"
            )
        )
        query = "SELECT * FROM score WHERE submission_id = :number AND position > 9 ORDER BY position LIMIT 500"
        plan = session.scalars(text(f"EXPLAIN {query}"), {"number": submission}).all()

    assert any("pk_score" in line for line in plan)
    assert not any("Seq Scan" in line for line in plan)


def test_the_first_table_of_a_name_stays(ready: Site) -> None:
    """A table of a submission is a record: what is computed once more, by whatever version, does not replace it."""
    first, second = (Table("mine", title, (Column("n", "N", "integer"),), ((1,),)) for title in ("First", "Second"))
    for table in (first, second):
        with ready.sessions.begin() as session:
            number = session.scalars(select(func.min(Score.submission_id))).one()
            submissions.write_tables(session, [(number, table)])
    with ready.sessions() as session:
        kept = session.scalars(select(SubmissionTable.content).where(SubmissionTable.name == "mine")).one()

    assert kept["title"] == "First"


def test_checks_tables_and_rows_cannot_be_rewritten(ready: Site) -> None:
    """The database itself refuses it."""
    changes = ("DELETE FROM {}", "TRUNCATE {}", "UPDATE {} SET submission_id = submission_id")
    for table, change in itertools.product(("submission_check", "submission_table", "score"), changes):
        with pytest.raises(DBAPIError, match=f"{table} is a record") as refused, ready.as_owner() as session:
            session.execute(text(change.format(table)))
        assert isinstance(refused.value.orig, psycopg.errors.RestrictViolation)
