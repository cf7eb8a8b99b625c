"""Whoever leaves out what is hard in series and summaries gains nothing, over HTTP, with a registration or without."""

from typing import Any

import pytest

from tests.cases import grids, lrdbench_http, publications, walkthrough
from tests.cases.grids import by_entrant
from tests.fixtures import Site

CANONICAL = "public_small_canonical_ground_truth"


@pytest.mark.parametrize("is_registered", [False, True])
def test_an_empty_error_of_a_series_has_no_rank(roomy_site: Site, is_registered: bool) -> None:
    """DFA leaves all records but one empty, or registers and sends one stratum alone: the others keep their ranks."""
    slug = lrdbench_http.make_benchmark(roomy_site, CANONICAL)
    all_rows = lrdbench_http.per_series(CANONICAL)
    records = sorted({row["record_id"] for row in all_rows})
    manifest = roomy_site.http.get(f"/benchmarks/{slug}.yaml").text + f"\ngrid: {{items: [{', '.join(records)}]}}\n"
    put = roomy_site.http.put(f"/benchmarks/{slug}", content=manifest, headers=roomy_site.auth("steward") | grids.YAML)
    lrdbench_http.submit(roomy_site, slug, lrdbench_http.part_of(CANONICAL, ["RS", "DMA"]))
    before = by_entrant(grids.board(roomy_site, slug, "canonical-accuracy"))
    emptied = [
        {**row, "value": ""} if row["metric_name"] == "mae" and row["record_id"] != records[0] else row
        for row in all_rows
        if row["estimator_name"] == "DFA"
    ]
    stratum = emptied[0]["stratum_json"]
    of_one = [row for row in all_rows if row["estimator_name"] == "DFA" and row["stratum_json"] == stratum]
    sent = lrdbench_http.archive_of(of_one if is_registered else emptied)
    send_registered(roomy_site, slug, sent, "metrics: [mae]" if is_registered else None, "run.zip")
    after = by_entrant(grids.board(roomy_site, slug, "canonical-accuracy"))
    shown = ("rank", "rank_low", "rank_high", "first_resamples_share")

    assert put.status_code == 200, put.text
    n_failed = 0 if is_registered else len(records) - 1
    assert (after["DFA"]["rank"], after["DFA"]["unranked_because"], after["DFA"]["n_failed"]) == (
        None,
        "partial",
        n_failed,
    )
    assert [[after[name][column] for column in shown] for name in before] == [
        [before[name][column] for column in shown] for name in before
    ]


@pytest.mark.parametrize("is_registered", [False, True])
def test_only_the_easy_tasks_of_a_summary_are_never_first(roomy_site: Site, is_registered: bool) -> None:
    """One of three tasks, also where it is the one registered: apart, but where failures have a rule.

    Where a failure counts as the baseline's error it has fev's rank, and with the worst error there it would be behind
    Good, so it may not be first, and the board says so. The others keep their scores.
    """
    slug = publications.begin(roomy_site, publications.SUMMARY.replace("TASKS", publications.DECLARED))
    for name in ("Base", "Good"):
        publications.send(roomy_site, slug, "r.csv", publications.good_summary(name))
    before = by_entrant(grids.board(roomy_site, slug, "mean"))
    row = ["sly", "t1", "False", 0.1, 99, 0.1, 1, 1, 1]
    content = publications.table(publications.SUMMARY_COLUMNS, [row]).encode()
    send_registered(roomy_site, slug, content, "metrics: [E]\ntasks: [t1]" if is_registered else None)
    boards = {name: by_entrant(grids.board(roomy_site, slug, name)) for name in ("mean", "impute", "error")}

    by_rule = boards["impute"]["sly"]

    assert [shown["sly"]["rank"] for shown in boards.values()] == [None, 1, None]
    assert (by_rule["rank_low"], by_rule["may_be_first"], by_rule["first_resamples_share"]) == (2, False, 0.0)
    assert {shown["sly"]["covered"] for shown in boards.values()} == {"1 of 3"}
    assert {name: boards["mean"][name] for name in before} == before


def send_registered(site: Site, slug: str, content: bytes, more: str | None, name: str = "r.csv") -> None:
    """Send a file of bob's with a registration that says no more than this; None sends it without one."""
    files: list[Any] = [("files", (name, content))]
    if more is not None:
        prereg = f"benchmark: {slug}\n{more}\n".encode()
        created = site.http.post(f"/preregs?benchmark={slug}", content=prereg, headers=site.auth("bob") | grids.YAML)
        assert created.status_code == 201, created.text
        files.append(("prereg", ("prereg.yaml", prereg)))
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth("bob"))
    assert answer.status_code == 202, answer.text


def test_who_does_not_say_what_it_was_trained_on_has_no_overlap(roomy_site: Site) -> None:
    """Stored and published: the share is over the tasks of which it is known, and the board names who is silent."""
    text = publications.SUMMARY.replace("TASKS", publications.DECLARED).replace("preset: null", "preset: fev")
    slug = publications.begin(roomy_site, text if "preset" in text else f"preset: fev\n{text}")
    publications.send(roomy_site, slug, "r.csv", publications.good_summary("Base"))
    for name, flags in (("Silent", ["", "", ""]), ("Half", ["True", "False", ""])):
        rows = [[name, f"t{at + 1}", flag, 0.1, 99, 0.1, 1, 1, 1] for at, flag in enumerate(flags)]
        publications.send(roomy_site, slug, "r.csv", publications.table(publications.SUMMARY_COLUMNS, rows))
    shown = by_entrant(grids.board(roomy_site, slug, "impute"))

    assert {name: row["training_corpus_overlap"] for name, row in shown.items()} == {
        "Base": 0.0,
        "Half": 0.5,
        "Silent": None,
    }


def test_a_benchmark_that_does_not_ask_what_was_seen_shows_no_overlap(site: Site) -> None:
    """Null on the board, as for whoever is silent: a share of 0 would say that nobody has seen the data."""
    walkthrough.declare(site, "steward")
    walkthrough.send(site, walkthrough.BASE + walkthrough.GOOD.split(b"\n", 1)[1], "steward")
    site.work()
    shown = walkthrough.board(site)["by"]

    assert {name: row["training_corpus_overlap"] for name, row in shown.items()} == {"Base": None, "Good": None}
