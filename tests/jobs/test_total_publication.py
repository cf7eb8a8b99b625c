"""No row stops a board: what one submission holds, or breaks, never keeps the others' rows from being published."""

import csv
import io
import itertools
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, text
from sqlalchemy.exc import DBAPIError

from app.db.models import SubmissionTable
from app.errors import TableRejected
from app.jobs.faults import MOST_ATTEMPTS, Outcome, find_failing
from app.store import current
from app.values.table import Column, Table
from tests.cases import publications as cases
from tests.cases.walkthrough import BASE, GOOD, board, declare, send
from tests.fixtures import Site

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "fev-bench"
BOARDS = ("sql", "mase", "wape", "wql", "sql-mini")


def results(name: str, model: str, rows: int | None = 1, **cells: str) -> bytes:
    """Return one of fev's files as another model's, with other cells in its first rows (None: in all of them)."""
    with (EXAMPLE / "results" / name).open(newline="") as file:
        result = list(csv.DictReader(file))
    for row in result:
        row["model_name"] = model
    for row in result[:rows]:
        row |= cells
    out = io.StringIO()
    written = csv.DictWriter(out, result[0])
    written.writeheader()
    written.writerows(result)
    return out.getvalue().encode()


def declare_fev(site: Site) -> None:
    """Make fev-bench, without its registrations, with the two models that its boards need."""
    manifest = (EXAMPLE / "manifest.yaml").read_text().replace("prereg: required", "prereg: optional")
    assert site.http.post("/benchmarks", content=manifest, headers=site.auth("steward")).status_code == 201
    for name, model in (("seasonal_naive.csv", "Seasonal Naive"), ("chronos-bolt.csv", "Chronos-Bolt")):
        assert send_fev(site, results(name, model), "steward").status_code == 202


def send_fev(site: Site, content: bytes, who: str = "alice", **form: str) -> Any:
    """Submit a file to fev-bench."""
    return site.http.post(
        "/benchmarks/fev-bench/submissions", files=[("files", ("r.csv", content))], data=form, headers=site.auth(who)
    )


EXTREME: dict[str, tuple[int | None, dict[str, str]]] = {
    "perfect once": (1, {"SQL": "0.0"}),
    "nearly so": (1, {"SQL": "1e-400"}),
    "slow": (None, {"training_time_s": "1e50", "inference_time_s": "1e50"}),
    "far off": (None, {"MASE": "1e50"}),
    "denormal": (None, {"SQL": "5e-324", "num_forecasts": ""}),
    "one": (None, {"SQL": "0"}),
    "two": (None, {"SQL": "0"}),
}
"""Rows of fev in the first row or in all of them, by the name of their model."""


def test_extreme_rows_of_fev_are_published_with_the_next_submission(roomy_site: Site) -> None:
    """All five boards show them and whoever comes after them, and nobody waits.

    An error of 0 is clipped as fev clips it; against itself, and another 0, it has the ratio 1.
    """
    declare_fev(roomy_site)
    odd = [send_fev(roomy_site, results("naive.csv", name, rows, **cells)) for name, (rows, cells) in EXTREME.items()]
    roomy_site.work()
    following = send_fev(roomy_site, results("drift.csv", "Next"), "bob")
    numbers = [each.json()["id"] for each in (*odd, following)]
    actual = cases.settle(roomy_site, "fev-bench", numbers, [*EXTREME, "Next"])

    assert {name: "unavailable" in shown["meta"] for name, shown in actual.items()} == dict.fromkeys(BOARDS, False)
    pairs = roomy_site.http.get("/benchmarks/fev-bench/leaderboards/sql/pairwise.json").json()["rows"]
    skill = {(row["entrant_a"], row["entrant_b"]): row["skill_score"] for row in pairs}

    assert (skill["one", "one"], skill["one", "two"]) == (0.0, 0.0)
    assert skill["one", "Seasonal Naive"] == pytest.approx(0.99)


def test_a_number_beyond_the_limit_is_refused_where_it_stands(roomy_site: Site) -> None:
    """With the file, the row, the column, the value and what is allowed; claims of a form are numbers too."""
    declare_fev(roomy_site)
    for column, value in itertools.product(
        ("training_time_s", "num_forecasts", "MASE", "SQL"), ("1.7e308", "1.0000001e50")
    ):
        answer = send_fev(roomy_site, results("naive.csv", "huge", **{column: value}))
        (problem,) = answer.json()["problems"]

        assert answer.status_code == 422
        assert (problem["file"], problem["row"], problem["column"], problem["value"]) == ("r.csv", 2, column, value)
        assert "1e+50" in problem["message"]
    claimed = send_fev(roomy_site, results("naive.csv", "A"), claims='{"A": {"SQL": 1e51}}')

    assert (claimed.status_code, "1e+50" in claimed.text) == (422, True)


def test_one_submitters_count_of_forecasts_changes_nobodys_rank_and_shows_no_wrong_time(roomy_site: Site) -> None:
    """Without a declared count the second submitter is not refused, and the times are null with the counts named."""
    slug = cases.begin(roomy_site, cases.SUMMARY.replace("TASKS", cases.DECLARED))
    numbers = []
    for name, count, who in (("Base", 100, "alice"), ("Liar", 1, "bob")):
        rows = [[name, task, "False", 1, 1, 1, 10, 5, count] for task in cases.TASKS]
        sent = cases.send(roomy_site, slug, "r.csv", cases.table(cases.SUMMARY_COLUMNS, rows), who)
        numbers.append(sent.json()["id"])
    shown = cases.settle(roomy_site, slug, numbers, ["Base", "Liar"])["leaky"]

    assert [row["median_e2e_time_s_per100"] for row in shown["rows"]] == [None, None]
    assert shown["meta"]["time_reason"] == "forecast_counts_differ"
    assert any("t1 (1 by Liar, 100 by Base)" in note for note in shown["notes"])


def test_a_run_of_lrdbench_with_huge_errors_is_refused_row_by_row(roomy_site: Site) -> None:
    """Two records whose squares are beyond any float are two problems; 1e50 is published."""
    slug = cases.begin(roomy_site, cases.SERIES)
    values = {(record, "mae"): "1.7e308" if record in ("r1", "r2") else "1" for record in cases.RECORDS}
    answer = cases.send(roomy_site, slug, "metrics.csv", cases.table(cases.COLUMNS, cases.run_rows("Odd", values)))
    allowed = dict.fromkeys(values, "1e50")
    odd = cases.send(roomy_site, slug, "metrics.csv", cases.table(cases.COLUMNS, cases.run_rows("Odd", allowed)))
    good = cases.send(roomy_site, slug, "metrics.csv", cases.good_run("Next"), "bob")
    cases.settle(roomy_site, slug, [odd.json()["id"], good.json()["id"]], ["Next", "Odd"])

    assert [(p["row"], p["column"], p["value"]) for p in answer.json()["problems"]] == [
        (2, "value", "1.7e308"),
        (3, "value", "1.7e308"),
    ]


def spoil_rows(site: Site, number: int) -> None:
    """Leave the stored rows of a submission without their values, as no reader of the app does."""
    with site.as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("UPDATE score SET values = '{}' WHERE submission_id = :number"), {"number": number})
        session.execute(text("DELETE FROM evidence WHERE submission_id = :number"), {"number": number})


def test_a_board_publishes_without_the_submission_that_breaks_it(site: Site) -> None:
    """The others' rows are there, and the board names what was set aside and why."""
    declare(site, "bob")
    send(site, BASE, "bob")
    broken = send(site, GOOD)["id"]
    site.work()
    spoil_rows(site, broken)
    following = send(site, GOOD.replace(b"Good", b"Next"), "bob")["id"]
    site.work()
    shown = board(site)

    assert set(shown["by"]) == {"Base", "Next"}
    (aside,) = shown["meta"]["set_aside"]
    assert any(f"Good (submission {broken})" in note and f"(fault {aside['fault']})" in note for note in shown["notes"])
    assert aside["submission"] == broken
    assert "ValueError" not in str(shown)
    assert site.http.get(f"/submissions/{following}.json").json()["status"] == "published"


def test_a_fault_in_the_tables_beside_the_boards_keeps_no_board_away(roomy_site: Site) -> None:
    """Boards and tables are published without the run that breaks them, and a table says which and why."""
    slug = cases.begin(roomy_site, cases.SERIES)
    good = cases.send(roomy_site, slug, "metrics.csv", cases.good_run("Good"), "bob").json()["id"]
    broken = cases.send(roomy_site, slug, "metrics.csv", cases.good_run("Odd")).json()["id"]
    roomy_site.work()
    spoil_rows(roomy_site, broken)
    following = cases.send(roomy_site, slug, "metrics.csv", cases.good_run("Next"), "bob").json()["id"]
    roomy_site.work()
    reported = roomy_site.http.get(f"/benchmarks/{slug}/tables/unavailable.json").json()
    strata = roomy_site.http.get(f"/benchmarks/{slug}/tables/per_stratum_metrics.json").json()["rows"]

    assert {row["estimator_name"] for row in strata} == {"Good", "Next"}
    assert f"Odd (submission {broken})" in reported["meta"]["unavailable"]
    assert {roomy_site.http.get(f"/submissions/{number}.json").json()["status"] for number in (good, following)} == {
        "published"
    }


def spoil_publication(site: Site, number: int) -> None:
    """Give a submission a table of claims that cannot be read: no publication succeeds with it."""
    with site.sessions.begin() as session:
        session.add(SubmissionTable(submission_id=number, name="claims", content={"name": "claims"}))


def test_a_submission_that_stops_every_publication_is_set_aside_after_three_tries(site: Site) -> None:
    """The page and the JSON name the fault until then; its submitter reads the reason, and may send it again."""
    declare(site, "bob")
    send(site, BASE, "bob")
    older = send(site, GOOD)["id"]
    site.work()
    broken = send(site, GOOD.replace(b"0.5", b"0.4"))["id"]
    spoil_publication(site, broken)
    site.work()
    page = site.http.get("/benchmarks/tiny", headers={"Accept": "text/html"}).text
    about = site.http.get("/benchmarks/tiny.json").json()
    site.try_again()
    assert site.http.get(f"/submissions/{broken}.json").json()["status"] == "evaluated"
    site.try_again()
    with site.as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(delete(SubmissionTable).where(SubmissionTable.name == "claims"))
    aside = site.http.get(f"/submissions/{broken}.json").json()
    site.work()

    assert about["publish_error"].endswith(" of this server; its operators are told")
    assert about["publish_error"] in page
    assert about["publish_tries"] == 1
    assert f"3 tries, because of a fault of this server ({about['publish_error'][:14]})" in aside["reason"]
    assert aside["status"] == "set_aside"
    assert "KeyError" not in page + str(about) + str(aside)
    assert "Set aside: with it" in site.http.get(f"/submissions/{broken}", headers={"Accept": "text/html"}).text
    assert board(site)["by"]["Good"]["skill_score"] == pytest.approx(0.5)
    assert site.http.get(f"/submissions/{older}.json").json()["status"] == "published"
    assert site.http.get("/benchmarks/tiny.json").json()["publish_error"] is None

    again = send(site, GOOD.replace(b"0.5", b"0.4"))["id"]
    site.work()
    assert again != broken
    assert site.http.get(f"/submissions/{again}.json").json()["status"] == "published"


def test_a_publication_that_failed_waits_longer_each_time(site: Site) -> None:
    """The sweep does not ask again before: five seconds, then ten."""
    declare(site)
    spoil_publication(site, send(site, BASE)["id"])
    waits = []
    for work in (site.work, site.try_again):
        work()
        with site.sessions() as session:
            assert current.stale_benchmarks(session) == []
            waits.append(session.scalars(text("SELECT publish_retry_at - clock_timestamp() FROM benchmark")).one())

    assert 0 < waits[0].total_seconds() <= 5 < waits[1].total_seconds() <= 10


def refuse_rows(site: Site, table: str, state: str) -> None:
    """Let the database refuse every row of a table, with an error of that code."""
    with site.as_owner() as session:
        session.execute(
            text(
                "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION 'no room for this' USING ERRCODE = '{state}'; END $$"
            )
        )
        session.execute(text(f"CREATE TRIGGER refuse BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION refuse()"))


@pytest.mark.parametrize(("state", "n_tries"), [("22003", 1), ("XX000", 3)])
def test_an_evaluation_that_the_database_refuses_ends_with_the_reason(site: Site, state: str, n_tries: int) -> None:
    """Numbers that it cannot hold are a fault of the computation; anything else is tried three times."""
    declare(site)
    number = send(site, BASE)["id"]
    refuse_rows(site, "submission_table", state)
    statuses = []
    for work in (site.work, site.try_again, site.try_again)[:n_tries]:
        work()
        statuses.append(site.http.get(f"/submissions/{number}.json").json())

    assert [stored["status"] for stored in statuses] == ["received"] * (n_tries - 1) + ["not_admitted"]
    assert statuses[-1]["reason"].startswith("Nothing was computed, because of a fault of this server (fault ")
    assert "no room for this" not in str(statuses)
    rows = site.http.get("/health.json", headers=site.auth("admin")).json()["rows"]
    (told,) = [row for row in rows if row["what"] == "fault: not admitted"]
    assert (told["submission"], "no room for this" in told["reason"]) == (number, True)


def test_a_full_disk_is_no_fault_of_what_is_published(site: Site) -> None:
    """It counts as no try, after some of which a submission would be set aside; once there is room, it is published."""
    declare(site)
    number = send(site, BASE)["id"]
    refuse_rows(site, "snapshot", "53100")
    with pytest.raises(DBAPIError, match="no room for this"):
        site.work()
    about = site.http.get("/benchmarks/tiny.json").json()
    with site.as_owner() as session:
        session.execute(text("DROP TRIGGER refuse ON snapshot"))
    site.work()

    assert (about["publish_error"], about["publish_tries"]) == (None, 0)
    assert site.http.get(f"/submissions/{number}.json").json()["status"] == "published"


def test_an_incomplete_entrant_does_not_take_the_others_off_a_board(roomy_site: Site) -> None:
    """Who lacks some results ranks behind, and who has none but others is named in a note."""
    slug = cases.begin(roomy_site, cases.SUMMARY.replace("TASKS", cases.OPEN))
    numbers = [
        cases.send(roomy_site, slug, "r.csv", cases.good_summary(name)).json()["id"] for name in ("Base", "Good")
    ]
    for name, task in (("Partial", "t1"), ("Foreign", "elsewhere")):
        rows = [[name, task, "False", 1, 1, 1, 1, 1, 1]]
        sent = cases.send(roomy_site, slug, "r.csv", cases.table(cases.SUMMARY_COLUMNS, rows), "bob")
        numbers.append(sent.json()["id"])
    actual = cases.settle(roomy_site, slug, numbers, ["Base", "Good"])

    ranks = {row["entrant"]: row["rank"] for row in actual["mean"]["rows"]}

    assert [ranks["Base"], ranks["Good"]] == [1, 1]
    assert ranks["Partial"] == 3
    assert any("Foreign" in note for note in actual["mean"]["notes"])


@pytest.mark.parametrize(
    ("columns", "rows", "meta", "words"),
    [
        (("a",), ((float("nan"),),), {}, "row 1 of t has nan in column a"),
        (("a", "b"), ((1.0, 2.0), (1.0, float("inf"))), {}, "row 2 of t has inf in column b"),
        (("a", "b"), ((1.0,),), {}, "row 1 of t has 1 cells for 2 columns"),
        (("a", "a"), (), {}, "t has two columns a"),
        (("a",), (), {"levels": [0.5, float("nan")]}, "not finite"),
    ],
)
def test_a_table_refuses_what_no_table_may_hold(
    columns: tuple[str, ...], rows: tuple[tuple[float, ...], ...], meta: dict[str, Any], words: str
) -> None:
    """Numbers that are not finite, rows of another length, a column twice."""
    with pytest.raises(TableRejected, match=words):
        Table("t", "T", tuple(Column(name, name) for name in columns), rows, (), meta)


@pytest.mark.parametrize("failing", [{30}, {1}, {17}, {2, 29}, {5, 6, 20}, set(range(3, 31))])
def test_culprits_are_found_in_few_computations(failing: set[int]) -> None:
    """One among thirty, or nearly all, wherever they stand."""
    tried: list[frozenset[int]] = []

    def attempt(shown: frozenset[int]) -> Outcome:
        tried.append(shown)
        return Outcome.FAILED if failing & shown else Outcome.COMPUTED

    assert find_failing(range(30, 0, -1), attempt) == failing
    assert len(tried) <= 1 + min(10 * len(failing), 60)


def test_who_fails_only_beside_others_is_no_culprit() -> None:
    """Neither of a pair that fails together, nor anybody where all fail, or where what is required fails by itself."""
    pair = lambda shown: Outcome.FAILED if {3, 9} <= shown else Outcome.COMPUTED  # noqa: E731

    assert find_failing(range(10, 0, -1), pair) == frozenset()
    assert find_failing(range(10, 0, -1), lambda shown: Outcome.FAILED if shown else Outcome.NOTHING) == frozenset()
    assert find_failing(range(10, 0, -1), lambda _: Outcome.FAILED) == frozenset()


def test_whose_gaps_prevent_a_computation_hides_no_culprit() -> None:
    """Where there is nothing to show it is looked on, as far as single submissions."""

    def attempt(shown: frozenset[int]) -> Outcome:
        return Outcome.NOTHING if 8 in shown else Outcome.FAILED if 7 in shown else Outcome.COMPUTED

    assert find_failing(range(10, 0, -1), attempt) == {7}


def test_the_search_for_culprits_ends() -> None:
    """After some attempts those that were found are the answer."""
    tried: list[frozenset[int]] = []

    def attempt(shown: frozenset[int]) -> Outcome:
        tried.append(shown)
        return Outcome.FAILED if shown - {1} else Outcome.COMPUTED

    found = find_failing(range(2000, 0, -1), attempt)
    assert 100 < len(found) < MOST_ATTEMPTS
    assert len(tried) <= MOST_ATTEMPTS + 1


def test_withdrawn_evidence_leaves_boards_that_cannot_be_published(site: Site) -> None:
    """What is withdrawn is not shown on for as long as a fault lasts: the boards are taken down with the reason."""
    declare(site, "bob")
    send(site, BASE, "bob")
    good = send(site, GOOD)["id"]
    site.work()
    spoil_publication(site, good)
    site.http.post(f"/submissions/{good}/withdraw", json={"reason": "wrong"}, headers=site.auth())
    site.work()
    page = site.http.get("/benchmarks/tiny", headers={"Accept": "text/html"}).text
    shown = board(site)

    assert shown["rows"] == []
    assert shown["meta"]["unavailable"].endswith(" of this server; its operators are told.")
    assert "of this server; its operators are told" in page
    assert "No boards are shown until it succeeds." in page


def test_a_benchmark_whose_first_board_waits_for_its_baseline_has_its_page(site: Site) -> None:
    """The ranks on all boards lead to entrants and boards, though the first has no rows to take the addresses from."""
    slug = cases.begin(site, cases.SUMMARY.replace("TASKS", cases.DECLARED))
    assert cases.send(site, slug, "g.csv", cases.good_summary("Honest"), "bob").status_code == 202
    site.work()
    page = site.http.get(f"/benchmarks/{slug}")

    assert page.status_code == 200
    assert f'href="/benchmarks/{slug}/entrants/Honest"' in page.text
    assert f'href="/benchmarks/{slug}/leaderboards/dropped"' in page.text
