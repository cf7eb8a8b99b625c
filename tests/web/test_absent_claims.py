"""Claims, over HTTP: whoever leaves out what speaks against a claim has it decided neither way."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import grids
from tests.cases.publications import table
from tests.fixtures import Site

MANIFEST = """
schema_version: 1
slug: SLUG
title: Gaps
evidence: episodes
episodes: {condition: side, item: [item]}
tasks: [{id: push}]
grid: {seeds: 35, conditions: [own, other], items: 20, absent: ABSENT}
metrics: {success: {direction: maximize, min: 0, max: 1}}
admission: {prereg: optional, failure_policy: best_effort}
claims:
  gap: {contrast: [own, other], metric: success, threshold: 0.2}
  high: {contrast: [own], metric: success, threshold: 0.7}
BEATSleaderboards:
  - {name: board, method: estimate, metrics: [success], statistic: mean, uncertainty: {n_resamples: 100}}
"""
HEAD = ("entrant", "seed", "side", "item", "success")
Row = tuple[str, int, str, str, int | str]


def episodes(entrant: str, own: int, other: int) -> list[Row]:
    """Return the episodes of who succeeds with its own partner on so many of twenty items, and with another's."""
    return [
        (entrant, seed, side, f"i{item:02}", int((item * step + seed) % 20 < n_right))
        for seed in range(35)
        for side, n_right, step in (("own", own, 7), ("other", other, 3))
        for item in range(20)
    ]


def pairs_that_fail(rows: list[Row]) -> set[tuple[int, str]]:
    """Return the seeds and items at which the own partner fails or the other one does not."""
    return {(seed, item) for _, seed, side, item, right in rows if bool(right) is (side == "other")}


ATTACKS: dict[str, Callable[[list[Row]], list[Row]]] = {
    "failures": lambda rows: [row for row in rows if row[2] == "other" or row[4]],
    "pairs": lambda rows: [row for row in rows if (row[1], row[3]) not in pairs_that_fail(rows)],
    "cells": lambda rows: [row if row[2] == "other" or row[4] else (*row[:4], "") for row in rows],
    "seed": lambda rows: [row for row in rows if row[1]],
}
"""What each leaves out: failures, the pairs in which it does not win, the values of failed cells, a whole seed."""
NAMES = (*ATTACKS, "whole")
BEATS = "".join(f"  beats_{name}: {{contrast: [{name}, good], metric: success, threshold: 0.2}}\n" for name in NAMES)


def send(site: Site, slug: str, rows: list[Row], who: str) -> None:
    """Submit episodes, which are admitted."""
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions", files=[("files", ("r.csv", table(HEAD, rows)))], headers=site.auth(who)
    )
    assert answer.json()["admitted"], answer.text


def claims(site: Site, slug: str) -> list[dict[str, Any]]:
    """Publish, and return the claims."""
    site.work()
    rows: list[dict[str, Any]] = site.http.get(f"/benchmarks/{slug}/claims.json").json()["rows"]
    return rows


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


@pytest.mark.parametrize("absent", ["unranked", "worst"])
def test_a_claim_is_decided_on_all_of_the_grid_alone(site: Site, absent: str) -> None:
    """Without its failures whoever is as good with either partner had a gap of one, without any width.

    Whoever sends all is decided, whatever that comes to.
    """
    slug = grids.declare(site, MANIFEST.replace("ABSENT", absent).replace("BEATS", BEATS), None)
    send(site, slug, episodes("good", 19, 10), "alice")
    send(site, slug, episodes("whole", 19, 2), "bob")
    for name, attack in ATTACKS.items():
        send(site, slug, attack(episodes(name, 12, 12)), "bob")
    shown = {(row["claim"], row["entrant"]): row for row in claims(site, slug)}
    decided = {key: row["verdict"] for key, row in shown.items() if row["verdict"] != "inconclusive"}

    assert decided == {
        ("gap", "good"): "supported", ("high", "good"): "supported", ("gap", "whole"): "supported",
        ("high", "whole"): "supported", ("beats_whole", "whole, good"): "not supported",
    }  # fmt: skip
    assert len(shown) == len(decided) + 3 * len(ATTACKS)
    assert all(shown["gap", name]["note"].startswith("partial: ") for name in ATTACKS)


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

    assert {row["claim"]: row["verdict"] for row in claims(site, slug)} == {"low": verdict, "lower": verdict}
