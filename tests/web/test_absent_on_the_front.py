"""Score against cost, over HTTP: who leaves out what is hard gains nothing there, and copies break no page."""

from typing import Any

from tests.cases import grids
from tests.cases.publications import table
from tests.fixtures import Site

TIMED = """
schema_version: 1
slug: SLUG
title: Timed
evidence: evaluation_summary
columns: {entrant: model, task: task, training_time_s: train, inference_time_s: infer}
metrics: {error: {direction: minimize, min: 0}}
tasks: TASKS
leaderboards:
  - {name: board, method: skill_score, metric: error, baseline: base, missing: impute}
"""
CLOSED, OPEN = "[{id: a}, {id: b}, {id: c}, {id: d}]", "{open: true}"
HEAD = ("model", "task", "error", "train", "infer")


def front(site: Site, tasks: str, *entrants: tuple[str, str, float, float]) -> dict[str, bool]:
    """Return who is on the front of a board: entrants with their tasks, error and time."""
    slug = grids.declare(site, TIMED.replace("TASKS", tasks), None)
    for name, own, error, seconds in [("base", "abcd", 2.0, 5.0), *entrants]:
        rows = [(name, task, error + at / 100, 1.0, seconds) for at, task in enumerate(own)]
        sent = site.http.post(
            f"/benchmarks/{slug}/submissions",
            files=[("files", ("r.csv", table(HEAD, rows)))],
            headers=site.auth("bob" if name.startswith("sly") else "steward"),
        )
        assert sent.status_code == 202, sent.text
    site.work()
    home = f"/benchmarks/{slug}/leaderboards/board/tradeoff"
    assert site.http.get(home, headers={"Accept": "text/html"}).status_code == 200
    rows: list[dict[str, Any]] = site.http.get(f"{home}.json").json()["rows"]
    return {row["entrant"]: row["on_front"] for row in rows}


def test_who_leaves_out_the_slow_tasks_is_not_on_the_front(site: Site) -> None:
    """Nor does it keep the others off it: its time and its score are of two tasks of four."""
    shown = front(site, CLOSED, ("fast", "abcd", 1.5, 2.0), ("good", "abcd", 1.0, 4.0), ("sly", "ab", 0.1, 0.5))

    assert shown == {"base": False, "fast": True, "good": True, "sly": False}


def test_who_ranks_behind_for_what_it_lacks_is_not_on_the_front(site: Site) -> None:
    """Also where nobody declared the tasks and it has a rank."""
    shown = front(site, OPEN, ("fast", "abcd", 1.5, 2.0), ("good", "abcd", 1.0, 4.0), ("sly", "ab", 0.1, 0.5))

    assert shown == {"base": False, "fast": True, "good": True, "sly": False}


def test_a_copy_of_who_is_on_the_front_breaks_no_page(site: Site) -> None:
    """Two at one place were compared by more than their names, which ended in an error of the server."""
    shown = front(site, CLOSED, ("good", "abcd", 1.0, 4.0), ("sly copy", "abcd", 1.0, 4.0))

    assert shown == {"base": False, "good": True, "sly copy": True}


def test_task_by_task_what_is_absent_counts_as_on_the_board(site: Site) -> None:
    """Where it is the worst there: right answers alone were ahead on every task of a better one."""
    slug = grids.declare(site, grids.EPISODES.replace("GRID", "grid: {seeds: 2, items: 20, absent: worst}"))
    grids.honest(site, slug)
    grids.send(site, slug, grids.only_right("sly"), "bob")
    site.work()
    home = f"/benchmarks/{slug}/leaderboards/board"
    of_sly = {row["value"] for row in site.http.get(f"{home}/matrix.json").json()["rows"] if row["entrant"] == "sly"}
    page = site.http.get(f"{home}/against?a=good&b=sly", headers={"Accept": "text/html"}).text

    assert of_sly == {0.25}
    assert "good is ahead on 2 of 2 tasks, sly on 0." in page


def test_task_by_task_who_has_no_rank_beats_nobody(site: Site) -> None:
    """Its values are there, of a part of each task, and take no place from the others."""
    slug = grids.declare(site, grids.EPISODES.replace("GRID", grids.COUNTED))
    grids.honest(site, slug)
    grids.send(site, slug, grids.only_right("sly"), "bob")
    site.work()
    table = site.http.get(f"/benchmarks/{slug}/leaderboards/board/matrix.json").json()
    shares = {row["entrant"]: (row["beats"], row["state"]) for row in table["rows"]}

    assert shares == {"good": (1.0, "value"), "fair": (0.0, "value"), "sly": (None, "partial")}
    assert table["notes"][-1] == "Without a place, for their values may be of a part of a task: sly."
