"""Score rows into Postgres and back: numbers all at once, texts one by one, and all of them the same afterwards."""

import numpy as np
import pytest
from sqlalchemy import text

from app.store import benchmark_rows, benchmarks, entrants
from app.store.rows import RowKeys, copy_scores, read_scores
from app.values.scores import NONE, Coded, ScoreTable
from tests.cases.walkthrough import BASE, declare, send
from tests.fixtures import Site


def table(n_rows: int, *, with_texts: bool) -> ScoreTable:
    """Return rows of one entrant; every third has a text and a null where texts are wanted."""
    some = np.where(np.arange(n_rows) % 3 == 0, 0, NONE) if with_texts else np.full(n_rows, NONE)
    values = np.column_stack([np.arange(n_rows) / 7, -np.arange(n_rows, dtype=np.float64) * 1e300])
    values[some == 0, 0] = np.nan
    return ScoreTable(
        entrant=Coded(("Base",), np.zeros(n_rows, dtype=np.int64)),
        task=Coded(("t1", "t2"), np.arange(n_rows) % 2),
        columns=("MASE", "SQL"),
        values=values,
        leaked=np.arange(n_rows) % 5 == 0,
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows) + 2,
        seed=np.arange(n_rows) - 3,
        reason=Coded(("failed",), some) if with_texts else None,
    )


@pytest.mark.parametrize("with_texts", [True, False])
def test_rows_come_back_as_they_went_in(site: Site, with_texts: bool) -> None:
    """Numbers to the last bit, nulls, negative seeds, flags and reasons; by task, then as they were sent."""
    declare(site)
    submission = send(site, BASE)["id"]
    scores = table(20, with_texts=with_texts)
    with site.as_owner() as session:
        benchmark = benchmark_rows.find_benchmark(session, "tiny")
        entrant = entrants.find_entrant(session, benchmark.id, "Base")
        session.execute(text("ALTER TABLE score DISABLE TRIGGER keep_history"))
        session.execute(text("DELETE FROM score"))
        session.execute(text("DELETE FROM evidence"))
        session.execute(text("UPDATE submission SET columns = '{MASE,SQL}'"))
        tasks = benchmarks.ensure_tasks(session, benchmark.id, scores.task.words)
        copy_scores(session, scores, RowKeys(submission, {"Base": entrant.id}, tasks))
        back = read_scores(session, [(submission, entrant.id)], ["MASE", "SQL"])
    in_order = [*range(2, 22, 2), *range(3, 22, 2)]
    order = np.argsort(back.row)
    assert back.seed is not None
    assert scores.seed is not None

    assert back.row.tolist() == in_order
    assert np.array_equal(back.values[order], scores.values, equal_nan=True)
    assert (back.seed[order] == scores.seed).all()
    assert (back.leaked[order] == scores.leaked).all()
    assert [None if back.reason is None else back.reason.at(int(at)) for at in order] == [
        None if scores.reason is None else scores.reason.at(at) for at in range(20)
    ]
