"""A metric or a task that a steward adds breaks no file of yesterday: what came later is not asked of it."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.cases import grids
from tests.cases.grids import FEW, by_entrant
from tests.cases.publications import table
from tests.fixtures import Site

OLD = f"""
schema_version: 1
slug: SLUG
title: Speeds
evidence: evaluation_summary
columns: {{entrant: model, task: task}}
tasks: [{{id: t1}}, {{id: t2}}]
metrics: {{latency: {{direction: minimize, min: 0, max: 100}}}}
admission: {{prereg: optional}}
leaderboards:
  - {{name: speed, method: mean, metric: latency, uncertainty: {FEW}}}
"""
RAM = f"  - {{name: memory, method: mean, metric: ram, uncertainty: {FEW}}}\n"
MORE_METRICS = OLD.replace("max: 100}}", "max: 100}, ram: {direction: minimize, min: 0}}") + RAM
MORE_TASKS = OLD.replace("{id: t2}", "{id: t2}, {id: t3}")
YESTERDAY = ("model", "task", "latency")


def send(site: Site, slug: str, rows: list[Any], who: str = "alice", header: tuple[str, ...] = YESTERDAY) -> Any:
    """Send a table and return the answer."""
    files = [("files", ("r.csv", table(header, rows)))]
    return site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth(who))


def old_rows(model: str, latency: float = 5) -> list[Any]:
    """Return a file of yesterday."""
    return [(model, "t1", latency), (model, "t2", latency + 1)]


def new_rows(model: str, latency: float = 7) -> list[Any]:
    """Return a file with the metric that came later."""
    return [(*row, 64 + at) for at, row in enumerate(old_rows(model, latency))]


def add_version(site: Site, slug: str, manifest: str) -> None:
    """Add a version of the manifest."""
    content = manifest.replace("SLUG", slug)
    answer = site.http.put(f"/benchmarks/{slug}", content=content, headers=site.auth("steward") | grids.YAML)
    assert answer.status_code in (200, 201), answer.text


def extended(site: Site, manifest: str) -> str:
    """Return a benchmark with a submission by alice, to which a version was then added."""
    slug = grids.declare(site, OLD)
    assert send(site, slug, old_rows("first")).status_code == 202
    add_version(site, slug, manifest)
    return slug


def of_yesterday(site: Site, slug: str, rows: list[Any]) -> Mapping[str, Any]:
    """Send a file of yesterday today, which is taken, and return the answer."""
    answer = send(site, slug, rows)
    assert answer.status_code == 202, answer.text
    result: Mapping[str, Any] = answer.json()
    return result


def test_versions_of_another_benchmark_are_none_of_this_one(site: Site) -> None:
    """However many another benchmark had before: a file of yesterday is of this one's first."""
    other = grids.declare(site, OLD)
    for title in ("Speeds again", "Speeds once more", "Speeds for ever"):
        add_version(site, other, OLD.replace("title: Speeds", f"title: {title}"))
    slug = extended(site, MORE_METRICS)

    assert of_yesterday(site, slug, old_rows("second", 3))["id"]


def test_a_file_without_a_metric_that_came_later_is_taken_and_ranked_where_it_was(site: Site) -> None:
    """It is checked against the version that it was written for, and says so."""
    slug = extended(site, MORE_METRICS)
    sent = of_yesterday(site, slug, old_rows("second", 3))
    shown = by_entrant(grids.board(site, slug, "speed"))

    assert (shown["second"]["rank"], shown["first"]["rank"]) == (1, 2)
    assert "checked against version 1 of the manifest" in sent["warnings"][0]["message"]
    assert "ram" in sent["warnings"][0]["message"]


def test_the_new_board_lists_them_without_a_rank(site: Site) -> None:
    """Whoever was there before and whoever sends a file of yesterday today are not asked; who has the metric ranks."""
    slug = extended(site, MORE_METRICS)
    of_yesterday(site, slug, old_rows("second"))
    assert send(site, slug, new_rows("third"), "bob", (*YESTERDAY, "ram")).status_code == 202
    shown = by_entrant(grids.board(site, slug, "memory"))

    assert shown["third"]["rank"] == 1
    assert {name: (shown[name]["rank"], shown[name]["unranked_because"]) for name in ("first", "second")} == {
        "first": (None, "not asked"),
        "second": (None, "not asked"),
    }
    assert (shown["first"]["n_failed"], shown["first"]["n_absent"]) == (0, 0)


def test_the_new_board_is_there_although_nobody_has_its_metric_yet(site: Site) -> None:
    """It lists everybody who was not asked, instead of being empty."""
    slug = extended(site, MORE_METRICS)

    assert by_entrant(grids.board(site, slug, "memory"))["first"]["unranked_because"] == "not asked"


def test_a_file_without_a_task_that_came_later_was_not_asked_for_it(site: Site) -> None:
    """The same benchmark with a third task: the file of yesterday is whole for its version, and has no rank today."""
    slug = extended(site, MORE_TASKS)
    of_yesterday(site, slug, old_rows("second", 3))
    shown = by_entrant(grids.board(site, slug, "speed"))["second"]

    assert (shown["rank"], shown["unranked_because"], shown["covered"]) == (None, "not asked", "2 of 2")


def test_a_row_of_the_new_task_makes_it_a_file_of_today(site: Site) -> None:
    """Of its three tasks one is absent."""
    slug = extended(site, MORE_TASKS)
    of_yesterday(site, slug, [("second", "t1", 5), ("second", "t3", 5)])
    shown = by_entrant(grids.board(site, slug, "speed"))["second"]

    assert (shown["unranked_because"], shown["covered"]) == ("partial", "2 of 3")


def test_who_comes_after_the_new_metric_cannot_leave_it_out(site: Site) -> None:
    """A submitter who sends the first file today reads today's manifest."""
    slug = extended(site, MORE_METRICS)
    answer = send(site, slug, old_rows("newcomer"), "bob")

    assert answer.status_code == 422
    assert [problem["column"] for problem in answer.json()["problems"]] == ["ram"]


def test_who_registered_before_the_new_metric_need_not_have_it(site: Site) -> None:
    """The registration was made under the version that its run is checked against."""
    slug = grids.declare(site, OLD)
    text = f"benchmark: {slug}\nentrants: [newcomer]\nmetrics: [latency]\ntasks: all\n"
    headers = site.auth("bob") | grids.YAML
    assert site.http.post(f"/preregs?benchmark={slug}", content=text, headers=headers).status_code == 201
    add_version(site, slug, MORE_METRICS)
    files = [("files", ("r.csv", table(YESTERDAY, old_rows("newcomer")))), ("prereg", ("p.yaml", text))]
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth("bob"))

    assert (answer.status_code, answer.json().get("admitted")) == (202, True), answer.text


def test_an_entrant_cannot_go_back_to_before_the_metric(site: Site) -> None:
    """Its poor memory is on the board, and a file without the column does not take it away again."""
    slug = extended(site, MORE_METRICS)
    assert send(site, slug, new_rows("first"), "alice", (*YESTERDAY, "ram")).status_code == 202
    answer = send(site, slug, old_rows("first", 1))

    assert answer.status_code == 422
    assert "first has evidence under a version" in answer.json()["problems"][0]["message"]


def test_the_same_file_again_is_the_same_submission(site: Site) -> None:
    """A job that sends its file every night does not make a new one of it because the manifest has changed."""
    slug = grids.declare(site, OLD)
    first = send(site, slug, old_rows("first")).json()
    add_version(site, slug, MORE_METRICS)
    again = send(site, slug, old_rows("first")).json()

    assert again["id"] == first["id"]


def test_another_problem_is_told_whatever_the_version(site: Site) -> None:
    """A file without the new metric and with a text for a number is refused for both."""
    slug = extended(site, MORE_METRICS)
    answer = send(site, slug, [("second", "t1", "fast"), ("second", "t2", 1)])

    assert {problem["column"] for problem in answer.json()["problems"]} == {"latency", "ram"}


def test_a_dry_run_says_against_which_version_it_was_held(site: Site) -> None:
    """As the submission itself does."""
    slug = extended(site, MORE_METRICS)
    files = [("files", ("r.csv", table(YESTERDAY, old_rows("second"))))]
    url = f"/benchmarks/{slug}/submissions?dry_run=true"
    answer = site.http.post(url, files=files, headers=site.auth("alice")).json()

    assert answer["admitted"]
    assert answer["warnings"][0]["message"].startswith("checked against version 1 of the manifest")


EPISODES_MORE = (
    grids.EPISODES.replace("max: 1}}", "max: 1}, grace: {direction: maximize, min: 0, max: 1}}")
    + f"  - {{name: grace, method: estimate, metrics: [grace], statistic: mean, uncertainty: {FEW}}}\n"
)


@pytest.mark.parametrize("grid", [grids.COUNTED, grids.COUNTED.replace("}", ", absent: worst}")])
def test_episodes_without_a_metric_that_came_later_are_not_asked_for_it(roomy_site: Site, grid: str) -> None:
    """Neither is it counted as the worst where a manifest says so of what is absent."""
    slug = grids.declare(roomy_site, grids.EPISODES.replace("GRID", grid))
    grids.send(roomy_site, slug, grids.rows("before", "good"))
    add_version(roomy_site, slug, EPISODES_MORE.replace("GRID", grid))
    grids.send(roomy_site, slug, grids.rows("today", "fair"))
    old, new = (by_entrant(grids.board(roomy_site, slug, name)) for name in ("board", "grace"))

    assert (old["before"]["rank"], old["today"]["rank"]) == (1, 2)
    assert [(new[name]["rank"], new[name]["unranked_because"]) for name in ("before", "today")] == [
        (None, "not asked"),
        (None, "not asked"),
    ]
