"""Records left out to come nearer to a nominal coverage, over HTTP, where what is absent counts as the worst."""

from tests.cases import grids, publications
from tests.cases.publications import FEW
from tests.cases.series_runs import COLUMNS
from tests.fixtures import Site

RECORDS = tuple(f"r{at}" for at in range(1, 21))
MANIFEST = f"""
schema_version: 1
slug: SLUG
title: Coverage
evidence: series_metrics
mode: ground_truth
metrics: {{catalog: lrdbench, use: [coverage@0.95, coverage_error@0.95]}}
tasks: {{open: true}}
grid: {{items: [{", ".join(RECORDS)}], absent: worst}}
leaderboards:
  - {{name: board, method: weighted_rank, weights: {{coverage_error@0.95: 1.0}}, uncertainty: {FEW}}}
  - {{name: covered, method: weighted_rank, weights: {{coverage@0.95: 1.0}}, uncertainty: {FEW}}}
"""


def send(site: Site, slug: str, name: str, covered: dict[str, int], who: str) -> None:
    """Send which records an estimator's interval covers."""
    values = {(record, "coverage@0.95"): str(value) for record, value in covered.items()}
    answer = publications.send(
        site, slug, "metrics.csv", publications.table(COLUMNS, publications.run_rows(name, values)), who
    )
    assert answer.status_code == 202, answer.text


def test_who_covers_too_much_comes_no_nearer_to_its_level_by_leaving_out(roomy_site: Site) -> None:
    """An absent record would count as not covered: 19 of 20 is 95 % to the digit, an error of 0 and the first rank."""
    slug = grids.declare(roomy_site, MANIFEST)
    send(roomy_site, slug, "most", {record: int(record != "r1") for record in RECORDS} | {"r2": 0}, "alice")
    send(roomy_site, slug, "sly", dict.fromkeys(RECORDS, 1), "bob")
    honest = grids.by_entrant(grids.board(roomy_site, slug))
    send(roomy_site, slug, "sly", dict.fromkeys(RECORDS[1:], 1), "bob")
    shown = grids.by_entrant(grids.board(roomy_site, slug))
    covered = grids.by_entrant(grids.board(roomy_site, slug, "covered"))

    assert honest["sly"]["metric__coverage_error@0.95"] > 0.04
    assert (shown["sly"]["rank"], shown["sly"]["unranked_because"]) == (None, "partial")
    assert (shown["sly"]["rank_if_worst"], shown["most"]["rank"]) == (2, 1)
    assert (covered["sly"]["rank"], covered["sly"]["metric__coverage@0.95"]) == (1, 0.95)
