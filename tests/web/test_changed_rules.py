"""A version that changes what is asked, over HTTP: nobody admitted before keeps a rank that others cannot reach."""

from typing import Any

import pytest

from tests.cases import grids, publications
from tests.cases.grids import EPISODES, by_entrant
from tests.fixtures import Site

FREE = "grid: {items: 20, registration_may_choose: {seeds: {at_least: NUMBER}}}"
REQUIRED = EPISODES.replace("prereg: optional", "prereg: required")
PLAIN = "score: {direction: maximize, min: 0, max: 1}"
SCORE = "score: {direction: maximize, HOW}"
SUMMARY = """
schema_version: 1
slug: SLUG
title: Small
evidence: evaluation_summary
tasks: [{id: arithmetic}, {id: code}]
metrics: {METRIC}
leaderboards: [{name: board, method: mean, metric: score, uncertainty: {n_resamples: 100}}]
"""


def change(site: Site, slug: str, manifest: str) -> Any:
    """Add a version of the manifest and return the answer."""
    content = manifest.replace("SLUG", slug)
    return site.http.put(f"/benchmarks/{slug}", content=content, headers=site.auth("steward") | grids.YAML)


def free(number: int) -> str:
    """Return a manifest that leaves seeds to registrations, at least so many."""
    return REQUIRED.replace("GRID", FREE.replace("NUMBER", str(number)))


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


def test_more_seeds_to_be_chosen_were_not_asked_of_who_chose_fewer(site: Site) -> None:
    """Two lucky seeds were enough once: beside eight they have no rank, and nobody registers two anew."""
    slug = grids.declare(site, free(2))
    grids.send(site, slug, grids.rows("lucky", "good"), "bob", grids.register(site, slug, "lucky"))
    late = grids.register(site, slug, "late", seeds="4, 5")
    site.work()
    assert change(site, slug, free(8)).status_code == 200
    seeds = ", ".join(map(str, range(8)))
    honest = grids.register(site, slug, "honest", seeds=seeds, who="alice")
    grids.send(site, slug, grids.rows("honest", "fair", seeds=range(8)), "alice", honest)
    weak = grids.register(site, slug, "weak", seeds=seeds, who="alice")
    grids.send(site, slug, grids.rows("weak", seeds=range(8)), "alice", weak)
    refused = grids.send(site, slug, grids.rows("late", "good", seeds=(4, 5)), "bob", late)
    shown = by_entrant(grids.board(site, slug))

    assert (shown["honest"]["rank"], shown["weak"]["rank"]) == (1, 2)
    assert (shown["lucky"]["rank"], shown["lucky"]["unranked_because"]) == (None, "not asked")
    assert (shown["lucky"]["covered"], shown["lucky"]["n_absent"]) == ("80 of 80", 0)
    assert (refused["status"], "late" in shown) == ("not_admitted", False)


@pytest.mark.parametrize(("before", "score"), [("grid: {seeds: 2, items: 20}", 0.75), ("", None)])
def test_seeds_that_are_left_to_registrations_later_make_no_board_provisional(
    site: Site, before: str, score: float | None
) -> None:
    """Who has registered none was not asked; the others' first rank and chances stay what they are without it."""
    slug = grids.declare(site, EPISODES.replace("GRID", before))
    grids.send(site, slug, grids.rows("old", "good"), "bob")
    site.work()
    assert change(site, slug, free(3)).status_code == 200
    prereg = grids.register(site, slug, "new", seeds="1, 2, 3", who="alice")
    grids.send(site, slug, grids.rows("new", "fair", seeds=(1, 2, 3)), "alice", prereg)
    weak = grids.register(site, slug, "weak", seeds="1, 2, 3", who="alice")
    grids.send(site, slug, grids.rows("weak", seeds=(1, 2, 3)), "alice", weak)
    board = grids.board(site, slug)
    shown = by_entrant(board)

    assert (shown["new"]["rank"], shown["new"]["may_be_first"]) == (1, True)
    assert (shown["old"]["rank"], shown["old"]["unranked_because"]) == (None, "not asked")
    assert shown["old"]["score"] == score
    assert not any(note.startswith("Provisional") for note in board["notes"])


def test_seeds_that_were_asked_and_are_chosen_by_now_still_count(site: Site) -> None:
    """Three seeds were asked of everybody, and a registration names three: nobody had it easier."""
    slug = grids.declare(site, EPISODES.replace("GRID", "grid: {seeds: 3, items: 20}"))
    grids.send(site, slug, grids.rows("old", "good", seeds=(1, 2, 3)), "bob")
    site.work()
    assert change(site, slug, free(3)).status_code == 200

    assert by_entrant(grids.board(site, slug))["old"]["rank"] == 1


def rewards(entrant: str, reward: float) -> str:
    """Return a table of the same reward, and half of it, on every item."""
    of_seeds = grids.rows(entrant, "good", seeds=range(8))
    rows = [(*row[:-1], reward if row[-1] else reward / 2, 1) for row in of_seeds]
    return publications.table((*grids.COLUMNS[:-1], "reward", "other"), rows)


@pytest.mark.parametrize(
    ("before", "after"),
    [("from: reward, above: 0.5", "from: reward, above: 0.8"), ("from: other, min: 0", "from: reward, min: 0")],
)
def test_a_metric_that_is_read_in_another_way_was_not_asked_before(site: Site, before: str, after: str) -> None:
    """Success above a half is none above four fifths: stored scores keep the old meaning, and so have no rank."""
    manifest = EPISODES.replace("GRID", "grid: {seeds: 8, items: 20}")
    slug = grids.declare(site, manifest.replace(PLAIN, SCORE.replace("HOW", before)))
    publications.send(site, slug, "r.csv", rewards("old", 0.7), "bob")
    site.work()
    assert change(site, slug, manifest.replace(PLAIN, SCORE.replace("HOW", after))).status_code == 200
    publications.send(site, slug, "r.csv", rewards("new", 0.9), "alice")
    publications.send(site, slug, "r.csv", rewards("weak", 0.1), "alice")
    shown = by_entrant(grids.board(site, slug))

    assert (shown["new"]["rank"], shown["weak"]["rank"]) == (1, 2)
    assert (shown["old"]["rank"], shown["old"]["unranked_because"]) == (None, "not asked")
    publications.send(site, slug, "r.csv", rewards("old", 0.7), "bob")
    assert by_entrant(grids.board(site, slug))["old"]["rank"] == 2


def test_a_summary_s_metric_that_is_read_in_another_way_was_not_asked_before(site: Site) -> None:
    """The same where a row is a task."""
    slug = grids.declare(site, SUMMARY.replace("METRIC", "score: {direction: maximize, from: easy}"))
    for who, name, easy in (("bob", "old", 9), ("alice", "new", 5)):
        rows = [(name, task, easy, 1) for task in grids.TASKS]
        publications.send(site, slug, "r.csv", publications.table(("entrant", "task", "easy", "hard"), rows), who)
        site.work()
        change(site, slug, SUMMARY.replace("METRIC", "score: {direction: maximize, from: hard}"))
    shown = by_entrant(grids.board(site, slug))

    assert (shown["old"]["rank"], shown["old"]["unranked_because"]) == (None, "not asked")
    assert (shown["new"]["rank"], shown["new"]["mean_score"]) == (1, 1)


@pytest.mark.parametrize("evidence", [EPISODES.replace("GRID", grids.COUNTED), SUMMARY.replace("METRIC", PLAIN)])
def test_a_range_is_not_narrowed_below_what_is_on_the_boards(site: Site, evidence: str) -> None:
    """Percent among shares would lead for good; the steward is told whose they are, and withdraws them first."""
    slug = grids.declare(site, evidence.replace(", min: 0, max: 1", ""))
    is_summary = "evaluation_summary" in evidence
    rows = [("sly", task, 93) for task in grids.TASKS] if is_summary else [(*r[:-1], 93) for r in grids.rows("sly")]
    header = ("entrant", "task", "score") if is_summary else grids.COLUMNS
    sent = publications.send(site, slug, "r.csv", publications.table(header, rows), "bob").json()
    refused = [change(site, slug, evidence)]
    site.work()
    refused.append(change(site, slug, evidence))
    site.http.post(f"/submissions/{sent['id']}/withdraw", json={"reason": "percent"}, headers=site.auth("steward"))

    assert [answer.status_code for answer in refused] == [409, 409]
    assert "sly has a score of 93" in refused[0].json()["detail"]
    assert change(site, slug, evidence).status_code == 200
