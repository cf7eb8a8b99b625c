"""Claims, over HTTP: whoever leaves out what speaks against a claim has it decided neither way."""

from collections.abc import Callable, Iterator

import pytest

from app.config import Settings
from tests.cases import grids
from tests.cases.publications import table
from tests.fixtures import Site, new_database, open_site

MANIFEST = """
schema_version: 1
slug: SLUG
title: Gaps
evidence: episodes
episodes: {condition: side, item: [item]}
tasks: [{id: push}]
grid: {seeds: 16, conditions: [own, other], items: 20, absent: ABSENT}
metrics: {success: {direction: maximize, min: 0, max: 1}}
admission: {prereg: optional, failure_policy: best_effort}
claims:
  gap: {contrast: [own, other], metric: success, threshold: 0.2}
  high: {contrast: [own], metric: success, threshold: 0.7}
  beats: {contrast: [sly, good], metric: success, threshold: 0.2}
leaderboards:
  - {name: board, method: estimate, metrics: [success], statistic: mean, uncertainty: {n_resamples: 100}}
"""
HEAD = ("entrant", "seed", "side", "item", "success")
Row = tuple[str, int, str, str, int | str]


def episodes(entrant: str, own: int, other: int) -> list[Row]:
    """Return the episodes of who succeeds with its own partner on so many of twenty items, and with another's."""
    return [
        (entrant, seed, side, f"i{item:02}", int((item * step + seed) % 20 < n_right))
        for seed in range(16)
        for side, n_right, step in (("own", own, 7), ("other", other, 3))
        for item in range(20)
    ]


def pairs_that_fail(rows: list[Row]) -> set[tuple[int, str]]:
    """Return the seeds and items at which the own partner fails or the other one does not."""
    return {(seed, item) for _, seed, side, item, right in rows if bool(right) is (side == "other")}


ATTACKS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "without failures": lambda rows: [row for row in rows if row[2] == "other" or row[4]],
    "without whole pairs": lambda rows: [row for row in rows if (row[1], row[3]) not in pairs_that_fail(rows)],
    "empty cells": lambda rows: [row if row[2] == "other" or row[4] else (*row[:4], "") for row in rows],
    "without a seed": lambda rows: [row for row in rows if row[1]],
}


@pytest.fixture(scope="module")
def site(postgres_url: str, migrated: str) -> Iterator[Site]:
    """One site for all of them: each makes a benchmark of its own."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings(max_stale_s=0)) as opened:
        yield opened


def verdicts(site: Site, absent: str, rows: list[Row]) -> dict[tuple[str, str], tuple[str, str | None]]:
    """Return the verdict and the note of each claim and entrant, after `good` and these rows were sent."""
    slug = grids.declare(site, MANIFEST.replace("ABSENT", absent), None)
    for who, sent in (("alice", episodes("good", 19, 10)), ("bob", rows)):
        answer = site.http.post(
            f"/benchmarks/{slug}/submissions", files=[("files", ("r.csv", table(HEAD, sent)))], headers=site.auth(who)
        )
        assert answer.json()["admitted"], answer.text
    site.work()
    shown = site.http.get(f"/benchmarks/{slug}/claims.json").json()["rows"]
    return {(row["claim"], row["entrant"]): (row["verdict"], row["note"]) for row in shown}


@pytest.mark.parametrize("absent", ["unranked", "worst"])
@pytest.mark.parametrize("name", list(ATTACKS))
def test_a_claim_on_a_part_of_the_grid_is_not_supported(site: Site, name: str, absent: str) -> None:
    """Without its failures whoever is as good with either partner had a gap of one, without any width."""
    shown = verdicts(site, absent, ATTACKS[name](episodes("sly", 12, 12)))

    assert {key: verdict for key, (verdict, _) in shown.items() if "sly" in key[1]} == {
        ("gap", "sly"): "inconclusive", ("high", "sly"): "inconclusive", ("beats", "sly, good"): "inconclusive"
    }  # fmt: skip
    assert str(shown["gap", "sly"][1]).startswith("partial: ")
    assert shown["gap", "good"] == ("supported", None)


def test_claims_on_all_of_the_grid_are_decided(site: Site) -> None:
    """Whatever they come to."""
    shown = verdicts(site, "unranked", episodes("sly", 20, 2))

    assert {key: verdict for key, (verdict, _) in shown.items()} == {
        ("gap", "good"): "supported", ("high", "good"): "supported", ("gap", "sly"): "supported",
        ("high", "sly"): "supported", ("beats", "sly, good"): "not supported",
    }  # fmt: skip


SUMMARY = """
schema_version: 1
slug: SLUG
title: Errors
evidence: evaluation_summary
columns: {entrant: model, task: task, leaked: null}
metrics: {error: {direction: minimize, min: 0}}
tasks: [{id: a}, {id: b}, {id: c}, {id: d}, {id: e}, {id: f}]
claims:
  low: {contrast: [sly], metric: error, threshold: 1.0, direction: less}
  lower: {contrast: [sly, good], metric: error, threshold: 0.5, direction: less}
leaderboards:
  - {name: board, method: mean, metric: error, missing: drop}
"""


@pytest.mark.parametrize(("tasks", "verdict"), [("abcd", "inconclusive"), ("abcdef", "supported")])
def test_a_claim_on_the_easy_tasks_is_not_supported(site: Site, tasks: str, verdict: str) -> None:
    """Neither that the own error is low nor that it is lower than another's, where two of six tasks are not there."""
    slug = grids.declare(site, SUMMARY, None)
    for who, name, own, error in (("alice", "good", "abcdef", 1.0), ("bob", "sly", tasks, 0.1)):
        rows = [(name, task, error * (1 + at / 10)) for at, task in enumerate(own)]
        content = table(("model", "task", "error"), rows)
        site.http.post(f"/benchmarks/{slug}/submissions", files=[("files", ("r.csv", content))], headers=site.auth(who))
    site.work()
    shown = site.http.get(f"/benchmarks/{slug}/claims.json").json()["rows"]

    assert {row["claim"]: row["verdict"] for row in shown} == {"low": verdict, "lower": verdict}
