"""A board of weighted ranks, its pairs and the page of two of them say one thing of the same two."""

import json
import re
from itertools import permutations

import pytest

from tests.cases.lrdbench_http import RUNS, make_benchmark, submit, table
from tests.fixtures import Site

BOARDS = {
    "rich_stress": "stress-robustness",
    "public_small_canonical_ground_truth": "canonical-accuracy",
    "public_small_stress_contamination": "stress-robustness",
}


@pytest.mark.parametrize("run", BOARDS)
def test_who_is_separable_has_an_interval_without_zero(roomy_site: Site, run: str) -> None:
    """In the table of pairs, on the page of two and by the rank sets; a p-value below 0.05 as the interval says."""
    slug = make_benchmark(roomy_site, run)
    submit(roomy_site, slug, RUNS[run].read_bytes())
    roomy_site.work()
    board = f"leaderboards/{BOARDS[run]}"
    pairs = {(row["entrant_a"], row["entrant_b"]): row for row in table(roomy_site, slug, f"{board}/pairwise.csv")}
    sets = {row["entrant"]: (row["rank_low"], row["rank_high"]) for row in table(roomy_site, slug, f"{board}.csv")}
    known = {pair: row for pair, row in pairs.items() if row["p_value"] and row["difference_lower"]}
    away = {(a, b): float(row["difference_lower"]) > 0.0 or float(row["difference_upper"]) < 0.0
            for (a, b), row in known.items()}  # fmt: skip

    assert {pair for pair, row in known.items() if row["separable"] == "True" and not away[pair]} == set()
    assert {pair: float(row["p_value"]) < 0.05 for pair, row in known.items()} == away
    for a, b in permutations(sets, 2):
        if (a, b) in known and known[a, b]["separable"] == "False":
            assert sets[a] != sets[b] or sets[a][0] != sets[a][1]


def test_the_page_of_two_says_of_which_level_its_interval_is(roomy_site: Site) -> None:
    """As every other board's does."""
    slug = make_benchmark(roomy_site, "rich_stress")
    submit(roomy_site, slug, RUNS["rich_stress"].read_bytes())
    roomy_site.work()
    answer = roomy_site.http.get(f"/benchmarks/{slug}/leaderboards/stress-robustness/against.json?a=RS&b=DMA")

    assert re.search(r"\(95 % interval ", json.loads(answer.text)["notes"][0])


def test_a_table_in_lrdbenchs_stream_says_that_others_move_it(roomy_site: Site) -> None:
    """Its bounds are that program's to the digit; who reads them next to the board's must know what they rest on."""
    slug = make_benchmark(roomy_site, "rich_stress")
    submit(roomy_site, slug, RUNS["rich_stress"].read_bytes())
    roomy_site.work()
    shown = roomy_site.http.get(f"/benchmarks/{slug}/tables/benchmark_uncertainty.json").json()

    assert [note[:62] for note in shown["notes"]] == ["Drawn as lrdbench draws them, from one generator in the order "]
