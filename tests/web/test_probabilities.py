"""No page says of a share of resamples that it is 1 or 0: those are some of many."""

import re
from collections import deque
from typing import Any

import pytest

from tests.cases import grids
from tests.fixtures import Site

CERTAIN = re.compile(r'<td class="number[^>]*>\s*(?:1\.00|0\.00)\s*<')
BEATEN = "/matrix"
"""Scores by task, with the share of the entrants that each one beats there, which may be all."""
LINKED = re.compile(r'href="(/benchmarks/[^"#?]*)')
OTHER = re.compile(r"\.(csv|json|svg|yaml|zip|xml)$")


def pages_of(site: Site, slug: str) -> dict[str, str]:
    """Return every HTML page of a benchmark to which another one links, by its address."""
    waiting, read = deque([f"/benchmarks/{slug}"]), dict[str, str]()
    while waiting:
        address = waiting.popleft()
        answer = site.http.get(address)
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        read[address] = answer.text
        links = [to for to in LINKED.findall(answer.text) if to.startswith(f"/benchmarks/{slug}/")]
        fresh = [to for to in dict.fromkeys(links) if to not in read and to not in waiting and not OTHER.search(to)]
        waiting.extend(fresh)
    return read


def with_a_better_seed(entrant: str) -> list[Any]:
    """Return its rows with one item more in the second seed: seeds that are alike may be far off."""
    more = grids.ITEMS[grids.ITEMS.index("q15") - (5 if entrant == "fair" else 0)]
    rows = grids.rows(entrant, entrant)
    return [(*row[:4], 1) if (row[2], row[3]) == (1, more) else row for row in rows]


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


def test_no_page_of_a_benchmark_shows_a_probability_of_one_or_zero(site: Site) -> None:
    """One entrant is better in every resample: > 0.99 in the square and pair by pair, and no share on the board."""
    slug = grids.declare(site, grids.EPISODES.replace("GRID", grids.GRID))
    grids.send(site, slug, [*with_a_better_seed("good"), *with_a_better_seed("fair")])
    shown = grids.by_entrant(grids.board(site, slug))
    pages = pages_of(site, slug)

    assert (shown["good"]["first_resamples_share"], shown["fair"]["first_resamples_share"]) == (1.0, 0.0)
    assert sum("&gt; 0.99" in text for text in pages.values()) >= 1
    assert {a for a, text in pages.items() if not a.endswith(BEATEN) and CERTAIN.search(text)} == set()
