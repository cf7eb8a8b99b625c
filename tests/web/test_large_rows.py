"""Pages of rows on a benchmark of any size: what they read, and how much of it at a time."""

from itertools import chain

import pytest
from sqlalchemy import Engine, event

from app.render.csv_and_json import parts_to_csv, table_to_csv
from app.store.row_exports import read_sent
from app.values.table import Table
from tests.cases.walkthrough import BASE, BETTER, GOOD, declare, send
from tests.fixtures import Site, SiteAfter

PAGES = ("/benchmarks/tiny/tasks", "/benchmarks/tiny/tasks/t1", "/benchmarks/tiny/entrants/Good")


def two_entrants(site: Site) -> None:
    """Publish two entrants, one of which sent two of its three tasks anew."""
    declare(site)
    assert [send(site, rows)["http"] for rows in (BASE, GOOD, BETTER)] == [202, 202, 202]
    site.work()


@pytest.fixture
def loaded(site_after: SiteAfter) -> Site:
    """A copy of a server with both."""
    return site_after(two_entrants)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("ending", ["", ".json", ".csv"])
def test_pages_of_rows_read_blocks_instead_of_rows(loaded: Site, page: str, ending: str) -> None:
    """Rows are found by submission only: one task of a large benchmark would be all of its rows."""
    seen: list[str] = []

    def note(*arguments: object) -> None:
        seen.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        answer = loaded.http.get(page + ending)
    finally:
        event.remove(Engine, "before_cursor_execute", note)

    assert answer.status_code == 200
    assert [text for text in seen if "score" in text.replace("score_", "")] == []


def test_a_task_and_an_entrant_show_what_counts_now(loaded: Site) -> None:
    """A submission takes the place of the one before it, also where it has fewer tasks."""
    task = loaded.http.get("/benchmarks/tiny/tasks/t1.json").json()["rows"]
    entrant = loaded.http.get("/benchmarks/tiny/entrants/Good.json").json()["rows"]
    tasks = loaded.http.get("/benchmarks/tiny/tasks.json").json()["rows"]

    assert [(row["entrant"], row["MASE"], row["submission"]) for row in task] == [("Good", 0.25, 3), ("Base", 1.0, 1)]
    assert [(row["task"], row["MASE"], row["submission"]) for row in entrant] == [
        ("t1", 0.25, 3),
        ("t2", 0.5, 3),
    ]
    assert [(row["task"], row["n_entrants"]) for row in tasks] == [("t1", 2), ("t2", 2), ("t3", 1)]


@pytest.mark.parametrize("part_rows", [1, 2, 3, 4])
def test_the_rows_of_a_submission_come_in_parts(loaded: Site, part_rows: int) -> None:
    """No part is larger, and together they are the file, in the order of the upload."""
    parts = list(read_sent(loaded.sessions, 2, part_rows))
    whole = Table(parts[0].name, parts[0].title, parts[0].columns, tuple(chain.from_iterable(p.rows for p in parts)))

    assert max(len(part.rows) for part in parts) == min(part_rows, 3)
    assert [row[:3] for row in whole.rows] == [("Good", "t1", 0.5), ("Good", "t2", 1.0), ("Good", "t3", 2.0)]
    assert b"".join(parts_to_csv(parts)) == table_to_csv(whole) == loaded.http.get("/submissions/2/scores.csv").content
