"""Entrants whose items are all of one class, beside others, in every order of arrival: nobody loses a rank by it."""

import itertools
from typing import Any, Literal
from unittest.mock import patch

import pytest

from app.boards.methods.mean import METHOD as MEAN
from app.boards.methods.mean import Mean
from app.boards.registry import methods
from app.boards.tables import Beside, BoardTables, TableMethod
from app.values.table import Table
from tests.cases.publications import CLASSES, predictions
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, give, send
from tests.fixtures import Site

NUMBERS = itertools.count()
HONEST = "item,prediction,label\n" + "".join(f"i{n},{0.2 + 0.03 * n:.2f},{('no', 'yes')[n % 2]}\n" for n in range(20))
ONE_ROW = "item,prediction,label\ni0,0.1,no\n"
ONE_CLASS = "item,prediction,label\n" + "".join(f"i{n},0.{n + 1},yes\n" for n in range(8))


def declare(site: Site) -> str:
    """Make a benchmark whose submitters bring their labels, with every metric and report of two classes, of a name of
    its own, and return the name.
    """
    part, slug = CLASSES[0].replace(", missing: failure", ", labels: submitted"), f"guess-{next(NUMBERS)}"
    manifest = predictions(part, CLASSES[1]).replace("SLUG", slug)
    assert site.http.post("/benchmarks", content=manifest, headers=site.auth("steward")).status_code == 201
    return slug


def arrive(site: Site, slug: str, content: str, who: str, *names: str) -> None:
    """Send a file for each of some entrants, and publish after each."""
    for name in names:
        sent = site.http.post(
            f"/benchmarks/{slug}/submissions",
            files=[("files", ("r.csv", content))],
            data={"entrant": name},
            headers=site.auth(who),
        )
        assert sent.status_code == 202, sent.text
        site.work()


def shown(site: Site, slug: str, table: str) -> Any:
    """Return a published table of the benchmark's first board."""
    return site.http.get(f"/benchmarks/{slug}/leaderboards/b0{table}.json").json()


@pytest.mark.parametrize("content", [ONE_ROW, ONE_CLASS])
@pytest.mark.parametrize(
    ("first", "n_honest", "n_odd"),
    [
        ("odd", 1, 1),
        ("honest", 3, 1),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("honest", 3, 10), ("odd", 3, 6))),
    ],
)
def test_entrants_of_one_class_take_nobody_off_a_board(
    shared_site: Site, content: str, first: str, n_honest: int, n_odd: int
) -> None:
    """Everybody is on the board whoever came first, with the curves of those that have some; no table is missing."""
    slug = declare(shared_site)
    honest, odd = [f"Honest{at}" for at in range(n_honest)], [f"Odd{at}" for at in range(n_odd)]
    arrivals = [(HONEST, "alice", honest), (content, "bob", odd)]
    for rows, who, names in arrivals if first == "honest" else reversed(arrivals):
        arrive(shared_site, slug, rows, who, *names)
    board, curves = shown(shared_site, slug, ""), shown(shared_site, slug, "/pr")

    assert {row["entrant"] for row in board["rows"]} == {*honest, *odd}
    assert "set_aside" not in board["meta"]
    assert {row["entrant"] for row in curves["rows"]} == set(honest)
    (level,) = curves["meta"]["plot"][0]["levels"]
    assert level["at"] == pytest.approx(0.5)


class Fragile(Mean):
    """A board of means whose further tables fail."""

    method: Literal["fragile"]  # type: ignore[assignment]


def compute_with_broken_tables(manifest: Any, spec: Fragile, scores: Any) -> BoardTables:
    """Compute the board with one further table that fails, one that cannot be stored and one that is well."""

    def fail() -> Table | None:
        raise IndexError("tuple index out of range")

    ours = MEAN.compute(manifest, spec, scores)
    foreign = Table(f"foreign/{spec.name}", "Foreign", (), (), (), {"is": {1, 2}})
    well = Table(f"well/{spec.name}", "Well", (), (), ("As it should be.",))
    beside = (
        Beside(f"broken/{spec.name}", fail),
        Beside(foreign.name, lambda: foreign),
        Beside(well.name, lambda: well),
    )
    return BoardTables(ours.leaderboard, beside)


def test_a_fault_in_a_further_table_takes_nobody_off_the_board(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """That table alone is missing, with a number by which the log has the exception; the exception is not published."""
    text = MANIFEST + "  - {name: odd, method: fragile, metric: MASE}\n"
    with patch.dict(methods(), fragile=TableMethod(Fragile, compute_with_broken_tables)):
        assert site.http.post("/benchmarks", content=text, headers=site.auth("steward")).status_code == 201
        give(site, "tiny", "Base")
        assert site.http.post("/preregs", content=PREREG, headers=site.auth()).status_code == 201
        for rows in (BASE, GOOD):
            assert send(site, rows)["http"] == 202
        site.work()
        home = "/benchmarks/tiny/leaderboards/odd"
        board = site.http.get(f"{home}.json").json()
        broken, foreign, well = (site.http.get(f"{home}/{kind}.json").json() for kind in ("broken", "foreign", "well"))
        page = site.http.get(f"{home}/broken", headers={"Accept": "text/html"})

    assert [(row["rank"], row["entrant"]) for row in board["rows"]] == [(1, "Good"), (2, "Base")]
    assert "set_aside" not in board["meta"]
    assert well["notes"] == ["As it should be."]
    for table in (broken, foreign):
        assert (table["rows"], table["meta"]["unavailable_reason"]) == ([], "fault")
        assert f"(fault {table['meta']['fault']})" in table["notes"][0]
        assert f"fault {table['meta']['fault']}" in caplog.text
    assert page.status_code == 200
    for text in (page.text, str(broken), str(board)):
        assert "IndexError" not in text
        assert "tuple index" not in text
    assert "tuple index out of range" in caplog.text
