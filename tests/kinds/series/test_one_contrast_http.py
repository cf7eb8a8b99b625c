"""A board of weighted ranks, its pairs and the page of two of them say one thing of the same two."""

import re
from collections.abc import Callable
from functools import cache
from itertools import permutations

import pytest

from tests.cases.lrdbench_http import RUNS, make_benchmark, submit, table
from tests.fixtures import Site

BOARDS = {
    "rich_stress": "stress-robustness",
    "public_small_canonical_ground_truth": "canonical-accuracy",
    "public_small_stress_contamination": "stress-robustness",
}


@pytest.fixture(scope="module")
def slug_of(shared_site: Site) -> Callable[[str], str]:
    """The slug of the benchmark of a run, which is published once for all tests."""

    @cache
    def publish(run: str) -> str:
        slug = make_benchmark(shared_site, run)
        submit(shared_site, slug, RUNS[run].read_bytes())
        shared_site.work()
        return slug

    return publish


@pytest.mark.parametrize("run", BOARDS)
def test_who_is_separable_has_an_interval_without_zero(
    shared_site: Site, slug_of: Callable[[str], str], run: str
) -> None:
    """In the table of pairs, on the page of two and by the rank sets; a p-value below 0.05 as the interval says."""
    slug = slug_of(run)
    board = f"leaderboards/{BOARDS[run]}"
    pairs = {(row["entrant_a"], row["entrant_b"]): row for row in table(shared_site, slug, f"{board}/pairwise.csv")}
    sets = {row["entrant"]: (row["rank_low"], row["rank_high"]) for row in table(shared_site, slug, f"{board}.csv")}
    known = {pair: row for pair, row in pairs.items() if row["p_value"] and row["difference_lower"]}
    away = {(a, b): float(row["difference_lower"]) > 0.0 or float(row["difference_upper"]) < 0.0
            for (a, b), row in known.items()}  # fmt: skip

    assert {pair for pair, row in known.items() if row["separable"] == "True" and not away[pair]} == set()
    assert {pair: float(row["p_value"]) < 0.05 for pair, row in known.items()} == away
    for a, b in permutations(sets, 2):
        if (a, b) in known and known[a, b]["separable"] == "False":
            assert sets[a] != sets[b] or sets[a][0] != sets[a][1]


def test_the_page_of_two_and_a_table_in_lrdbenchs_stream_say_what_they_rest_on(
    shared_site: Site, slug_of: Callable[[str], str]
) -> None:
    """The page of which level its interval is; the table, whose bounds are lrdbench's to the digit, what moves them."""
    home = f"/benchmarks/{slug_of('rich_stress')}"
    pair = shared_site.http.get(f"{home}/leaderboards/stress-robustness/against.json?a=RS&b=DMA").json()
    shown = shared_site.http.get(f"{home}/tables/benchmark_uncertainty.json").json()

    assert re.search(r"\(95 % interval ", pair["notes"][0])
    assert [note[:62] for note in shown["notes"]] == ["Drawn as lrdbench draws them, from one generator in the order "]
