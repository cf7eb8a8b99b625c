"""Tasks that a later version of a manifest adds were not asked of who was admitted before, and are no failures."""

import pytest

from tests.fixtures import Site

MANIFEST = """
schema_version: 1
slug: grown
title: Grown
evidence: evaluation_summary
metrics: {error: {direction: minimize, min: 0}}
tasks: [TASKS]
leaderboards:
  - {name: mean, method: mean, metric: error}
  - {name: skill, method: skill_score, metric: error, baseline: new, missing: impute}
  - {name: borda, method: borda, metric: error}
"""


def manifest(tasks: str) -> str:
    """Return the manifest with these tasks."""
    return MANIFEST.replace("TASKS", ", ".join(f"{{id: {task}}}" for task in tasks))


def submit(site: Site, entrant: str, tasks: str) -> None:
    """Send an error on each task, and publish."""
    rows = "task,error\n" + "".join(f"{task},{1 + at / 10}\n" for at, task in enumerate(tasks))
    sent = site.http.post("/benchmarks/grown/submissions", files=[("files", ("rows.csv", rows))],
                          data={"entrant": entrant}, headers=site.auth("steward"))  # fmt: skip
    assert sent.status_code == 202, sent.text
    site.work()


def grow(site: Site, later: str) -> None:
    """Submit `old` while four tasks are asked for, and `new` when it is these."""
    steward = site.auth("steward") | {"Content-Type": "application/yaml"}
    site.http.post("/benchmarks", content=manifest("abcd"), headers=steward)
    submit(site, "old", "abcd")
    site.http.put("/benchmarks/grown", content=manifest(later), headers=steward)
    submit(site, "new", later)


@pytest.mark.parametrize("board", ["mean", "skill"])
def test_what_was_not_asked_is_no_failure(site: Site, board: str) -> None:
    """Neither in the entrant's own row, which says nothing is absent, nor in the first note."""
    grow(site, "abcdef")
    shown = site.http.get(f"/benchmarks/grown/leaderboards/{board}.json").json()
    rows = {row["entrant"]: row for row in shown["rows"]}

    assert (rows["old"]["unranked_because"], rows["old"]["n_failed"]) == ("not asked", 0)
    assert {name: row["num_failures"] for name, row in rows.items()} == {"old": 0, "new": 0}
    assert shown["notes"][0] in ("2 entrants on 6 tasks; 0 failures.", "2 entrants on 6 tasks; no failures.")


def test_a_task_that_nobody_has_run_yet_is_nobodys_failure(site: Site) -> None:
    """It is in no row, so it is not missed among those that are: there were −1 failures."""
    steward = site.auth("steward") | {"Content-Type": "application/yaml"}
    site.http.post("/benchmarks", content=manifest("abcd"), headers=steward)
    for entrant in ("old", "new"):
        submit(site, entrant, "abcd")
    site.http.put("/benchmarks/grown", content=manifest("abcde"), headers=steward)
    site.work()
    shown = {board: site.http.get(f"/benchmarks/grown/leaderboards/{board}.json").json() for board in ("mean", "skill")}

    assert {row["num_failures"] for board in shown.values() for row in board["rows"]} == {0}
    assert site.http.get("/benchmarks/grown/leaderboards/borda.json").json()["meta"].get("unavailable") is None


def test_points_rank_nobody_who_was_not_asked(site: Site) -> None:
    """As every method: a task that it could not know of earns it no points, and is no fault of its own."""
    grow(site, "abcdef")
    submit(site, "newer", "abcdef")
    shown = site.http.get("/benchmarks/grown/leaderboards/borda.json").json()
    ranks = {row["entrant"]: (row["rank"], row["unranked_because"]) for row in shown["rows"]}

    assert ranks == {"new": (1, None), "newer": (1, None), "old": (None, "not asked")}
    assert shown["meta"]["statement"][0] == "new, newer lead with the same score."
    assert "Listed separately, without a rank, because tasks were added since: old." in shown["notes"]


def test_how_much_was_not_asked_is_a_column_of_data_and_page(site: Site) -> None:
    """A program reads it as a number, beside the other counts; so do the board's page and the entrant's own."""
    grow(site, "abcdef")
    home = "/benchmarks/grown/leaderboards/mean"
    rows = {row["entrant"]: row for row in site.http.get(f"{home}.json").json()["rows"]}
    header = site.http.get(f"{home}.csv").text.splitlines()[0].split(",")
    pages = [site.http.get(address, headers={"Accept": "text/html"}).text
             for address in (home, "/benchmarks/grown/entrants/old")]  # fmt: skip

    assert {name: row["n_not_asked"] for name, row in rows.items()} == {"old": 2, "new": 0}
    assert header[header.index("n_failed") + 1] == "n_not_asked"
    assert ">2 not asked</span>" in pages[0], "the total over the board"
    assert "Not asked" in pages[1]
    assert "Not asked" in site.http.get(f"{home}?detail=1", headers={"Accept": "text/html"}).text


def test_a_board_on_which_everything_was_asked_of_everybody_says_nothing_of_it(site: Site) -> None:
    """A column of zeros is no news."""
    grow(site, "abcd")
    page = site.http.get("/benchmarks/grown/leaderboards/mean", headers={"Accept": "text/html"}).text

    assert "ot asked<" not in page
