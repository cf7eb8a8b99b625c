"""A benchmark without seeds over HTTP: a grid of items alone is a whole grid, on boards and at admission."""

from typing import Any

import pytest

from tests.cases import grids
from tests.fixtures import Site

MANIFEST = """\
schema_version: 1
slug: SLUG
title: Quiz
evidence: episodes
episodes: {entrant: model, item: [question], condition: null, seed: null, task: subject}
metrics: {acc: {direction: maximize, min: 0, max: 1}}
tasks: [{id: x}]
leaderboards:
  - {name: acc, method: estimate, metrics: [acc], statistic: mean, uncertainty: {n_resamples: 100}}
"""
PAIRS = [(f"p{at}", f"q{at}_{copy}") for at in range(10) for copy in range(2)]
LISTED = f"grid: {{items: [{', '.join(f'{passage}/{question}' for passage, question in PAIRS)}]}}\n"
GRIDS = {"as a number": "grid: {items: 20}\n", "in clusters": f"items: {{cluster: passage}}\n{LISTED}"}


@pytest.mark.parametrize("of_grid", GRIDS)
def test_a_grid_without_seeds_is_declared_where_there_are_none(site: Site, of_grid: str) -> None:
    """Boards are not provisional, the page names no seed, and rows beyond the grid are refused."""
    slug = grids.declare(site, MANIFEST + GRIDS[of_grid], None)
    page = site.http.get(f"/benchmarks/{slug}", headers={"Accept": "text/html"}).text
    ends = [
        sent(site, slug, "whole", PAIRS),
        sent(site, slug, "partial", PAIRS[:-1]),
        sent(site, slug, "more", [*PAIRS, ("p10", "q10_0")]),
        sent(site, slug, "splits", [("other" if at else passage, item) for at, (passage, item) in enumerate(PAIRS)]),
    ]
    board = site.http.get(f"/benchmarks/{slug}/leaderboards/acc.json").json()

    assert "provisional" not in page
    assert "asked for" in page
    assert "seed 0" not in page
    assert ends == ["published", "published", "not_admitted", *(["not_admitted"] if "clusters" in of_grid else
                                                               ["published"])]  # fmt: skip
    assert "provisional" not in str([board["notes"], board["meta"]])
    assert {row["entrant"]: row["n_attempted"] for row in board["rows"]}["partial"] == 20


def sent(site: Site, slug: str, model: str, pairs: list[tuple[str, str]]) -> str:
    """Submit the answers of a model and return where they ended."""
    rows = [f"{model},x,{passage},{question},{at % 2}" for at, (passage, question) in enumerate(pairs)]
    content = "\n".join(["model,subject,passage,question,acc", *rows]).encode()
    files = [("files", ("rows.csv", content))]
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth("bob"))
    site.work()
    ended: dict[str, Any] = site.http.get(f"/submissions/{answer.json()['id']}.json").json()
    return str(ended["status"])
