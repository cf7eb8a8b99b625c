"""What a single number or a word can do to a rank is told on its row, over HTTP; whoever is honest is not flagged."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.cases import grids, publications
from tests.fixtures import Site

TASKS = tuple(f"t{at}" for at in range(6))
MANIFEST = """
schema_version: 1
slug: SLUG
title: Small
evidence: evaluation_summary
columns: {entrant: model, task: task, leaked: leaked}
metrics: {E: {direction: minimize, min: 0}, S: {direction: maximize}}
tasks: [{id: t0}, {id: t1}, {id: t2}, {id: t3}, {id: t4}, {id: t5}]
admission: {prereg: optional}
leaderboards:
  - {name: mean, method: mean, metric: S, uncertainty: {n_resamples: 100, rng_seed: 1}}
  - {name: skill, method: skill_score, metric: E, baseline: Base, leakage_model: Seen, rank_by: RANK,
     uncertainty: {n_resamples: 100, rng_seed: 1}}
"""
NAIVE, GOOD, SEEN, BEST = (8.0,) * 6, (3.0,) * 6, (2.5,) * 6, (2.0,) * 6
SPECIALIST = (1.0, 1.0, 1.0, 9.0, 9.0, 9.0)
HARD = TASKS[3:]


def send(
    site: Site,
    slug: str,
    entrant: str,
    errors: Sequence[float],
    leaked: Sequence[str] = (),
    scores: Sequence[float] = (),
) -> dict[str, Any]:
    """Submit an entrant's errors and scores, with the tasks of which it says that it has seen the data."""
    each = zip(TASKS, errors, scores or [10 - error for error in errors], strict=True)
    rows = [[entrant, task, str(task in leaked), error, score] for task, error, score in each]
    content = publications.table(("model", "task", "leaked", "E", "S"), rows)
    files = [("files", (f"{entrant}.csv", content))]
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth("steward"))
    assert answer.status_code == 202, answer.text
    created: dict[str, Any] = answer.json()
    return created


def begin(site: Site, rank_by: str = "skill_score") -> str:
    """Declare the benchmark, send a naive, a good and the leakage model, and return its name."""
    slug = grids.declare(site, MANIFEST.replace("RANK", rank_by), None)
    for entrant, errors in (("Base", NAIVE), ("good", GOOD), ("Seen", SEEN)):
        send(site, slug, entrant, errors)
    return slug


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


def test_one_huge_value_of_an_average_without_a_limit_is_told(site: Site) -> None:
    """1e50 in one of six cells: first, and so says its row, its check and the sentence over the board."""
    slug = begin(site)
    sent = send(site, slug, "sly", GOOD, scores=(0, 0, 1e50, 0, 0, 0))
    shown = grids.by_entrant(grids.board(site, slug, "mean"))
    page = site.http.get(f"/benchmarks/{slug}/leaderboards/mean").text

    (check,) = [each for each in sent["checks"] if each["rule"] == "one_value"]
    assert (check["outcome"], "one S of sly, 1e+50, is more than nine tenths" in check["reason"]) == ("warned", True)
    assert (shown["sly"]["rank"], shown["sly"]["flags"]) == (1, "one_value")
    assert {shown[name]["flags"] for name in ("Base", "good", "Seen")} == {None}
    assert "sly (one value that is nearly all of an average without a limit)" in page


@pytest.mark.parametrize("rank_by", ["skill_score", "win_rate"])
def test_saying_that_hard_tasks_were_seen_is_told_where_it_lifts_a_rank(site: Site, rank_by: str) -> None:
    """Its own large errors would put it behind; the leakage model's, which stand for them, put it first."""
    slug = begin(site, rank_by)
    send(site, slug, "sly", SPECIALIST)
    honest = grids.by_entrant(grids.board(site, slug, "skill"))
    send(site, slug, "sly", SPECIALIST, HARD)
    shown = grids.by_entrant(grids.board(site, slug, "skill"))

    assert honest["sly"]["rank"] > shown["sly"]["rank"]
    assert (honest["sly"]["flags"], shown["sly"]["flags"]) == (None, "leak_serves")
    assert {shown[name]["flags"] for name in ("Base", "good", "Seen")} == {None}


@pytest.mark.parametrize("rank_by", ["skill_score", "win_rate"])
def test_who_gains_on_one_such_task_and_loses_more_on_others_is_not_flagged(site: Site, rank_by: str) -> None:
    """The replacement as a whole costs it: that one error of its own is larger serves nobody."""
    slug = begin(site, rank_by)
    send(site, slug, "fair", (4.0, *[1.0] * 5), TASKS)
    shown: Mapping[str, Any] = grids.by_entrant(grids.board(site, slug, "skill"))

    assert (shown["fair"]["n_leaked"], shown["fair"]["flags"]) == (6, None)


def test_who_says_it_to_its_own_cost_is_not_flagged(site: Site) -> None:
    """Its own errors are smaller than those that stand for them."""
    slug = begin(site)
    send(site, slug, "fair", BEST, HARD)
    shown: Mapping[str, Any] = grids.by_entrant(grids.board(site, slug, "skill"))

    assert (shown["fair"]["rank"], shown["fair"]["n_leaked"], shown["fair"]["flags"]) == (1, 3, None)


CROWDED = """
schema_version: 1
slug: SLUG
title: Crowded
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {S: {direction: maximize}}
tasks: [TASKS]
admission: {prereg: optional}
leaderboards:
  - {name: borda, method: borda, metric: S, uncertainty: {n_resamples: 100, rng_seed: 1}}
  - {name: pool, method: borda, metric: S, opponents: [h0, h1, h2, h3], uncertainty: {n_resamples: 100, rng_seed: 1}}
""".replace("TASKS", ", ".join(f"{{id: u{at}}}" for at in range(10)))


def test_many_entrants_of_one_owner_make_every_test_more_cautious_and_that_is_told(site: Site) -> None:
    """Five bad ones hide who is worse than the first, also where they are nobody's opponents; a choice without them
    shows it again.
    """
    slug = grids.declare(site, CROWDED, None)
    rng = np.random.default_rng(3)
    of_task = rng.normal(size=10)
    scores = {f"h{at}": 5 - 0.62 * at + of_task + 0.55 * rng.normal(size=10) for at in range(4)}
    bad = {f"bad{at}": 1 + of_task + 0.5 * rng.normal(size=10) for at in range(5)}
    before = crowd(site, slug, scores, "steward")
    after = crowd(site, slug, bad, "alice")
    chosen = "&".join(f"entrant={name}" for name in scores)
    address = f"/benchmarks/{slug}/leaderboards/borda"
    without = site.http.get(f"{address}/explore.json?{chosen}").json()
    told = "5 of the 9 entrants with a rank have the same owner. All pairs are tested at once, so these make the tests "

    assert [may_be_first(board) for board in before] == [2, 2]
    assert [may_be_first(board) for board in after] == [9, 9]
    assert may_be_first(without) == 2
    assert [any(note.startswith(told) for note in board["notes"]) for board in (*before, *after)] == [0, 0, 1, 1]


def crowd(site: Site, slug: str, scores: Mapping[str, Any], who: str) -> list[Mapping[str, Any]]:
    """Submit entrants, each by itself, and return both boards."""
    for entrant, values in scores.items():
        content = publications.table(("model", "task", "S"), [[entrant, f"u{at}", s] for at, s in enumerate(values)])
        files = [("files", (f"{entrant}.csv", content))]
        answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth(who))
        assert answer.status_code == 202, answer.text
    return [grids.board(site, slug, name) for name in ("borda", "pool")]


def may_be_first(board: Mapping[str, Any]) -> int:
    """Return how many may be first."""
    return sum(row["rank_low"] == 1 for row in board["rows"])
