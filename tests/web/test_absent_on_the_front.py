"""Score against cost, over HTTP: who leaves out what is hard gains nothing there, and copies break no page."""

import pytest

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


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


@pytest.mark.parametrize("tasks", [CLOSED, OPEN])
def test_who_leaves_out_the_slow_tasks_is_not_on_the_front(site: Site, tasks: str) -> None:
    """Nor does it keep the others off it: its time and its score are of two tasks of four.

    Also where nobody declared the tasks, so that it has a rank. Two at one place are both on it.
    """
    slug = grids.declare(site, TIMED.replace("TASKS", tasks))
    for who, name, own, error, seconds in (
        ("steward", "base", "abcd", 2.0, 5.0),
        ("steward", "fast", "abcd", 1.5, 2.0),
        ("steward", "good", "abcd", 1.0, 4.0),
        ("bob", "sly", "ab", 0.1, 0.5),
        ("bob", "sly copy", "abcd", 1.0, 4.0),
    ):
        rows = [(name, task, error + at / 100, 1.0, seconds) for at, task in enumerate(own)]
        sent = site.http.post(
            f"/benchmarks/{slug}/submissions",
            files=[("files", ("r.csv", table(HEAD, rows)))],
            headers=site.auth(who),
        )
        assert sent.status_code == 202, sent.text
    site.work()
    home = f"/benchmarks/{slug}/leaderboards/board/tradeoff"
    shown = {row["entrant"]: row["on_front"] for row in site.http.get(f"{home}.json").json()["rows"]}

    assert site.http.get(home, headers={"Accept": "text/html"}).status_code == 200
    assert shown == {"base": False, "fast": True, "good": True, "sly": None, "sly copy": True}


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
