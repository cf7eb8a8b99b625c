"""A metric that comes later, in benchmarks whose files have no column for each: runs of series, and predictions."""

from tests.cases import lrdbench_http, ydf_http
from tests.cases.grids import YAML, by_entrant
from tests.cases.publications import table
from tests.conftest import Site

SERIES = """
schema_version: 1
slug: memory
title: Memory
evidence: series_metrics
mode: ground_truth
metrics: {catalog: lrdbench, use: [mae]}
tasks: {open: true}
admission: {prereg: optional}
leaderboards:
- {name: accuracy, method: weighted_rank, ranking_rule: 2, weights: {mae: 1.0}, uncertainty: {n_resamples: 100}}
"""
MORE_SERIES = (
    SERIES.replace("use: [mae]", "use: [mae, rmse]")
    + "- {name: squared, method: weighted_rank, ranking_rule: 2, weights: {rmse: 1.0}, "
    "uncertainty: {n_resamples: 100}}\n"
)
TRUTH = {f"i{at}": "yes" if at % 3 else "no" for at in range(12)}
CLASSES = "kind: classification, classes: ['no', 'yes']"


def run_of(estimator: str, *metrics: str) -> bytes:
    """Return a run of lrdbench by another name, with the rows of some metrics."""
    rows = [row for row in lrdbench_http.per_series("smoke_ground_truth") if row["metric_name"] in metrics]
    return lrdbench_http.archive_of([{**row, "estimator_name": estimator} for row in rows])


def add_version(site: Site, slug: str, manifest: str) -> None:
    """Add a version of the manifest."""
    answer = site.http.put(f"/benchmarks/{slug}", content=manifest, headers=site.auth("steward") | YAML)
    assert answer.status_code in (200, 201), answer.text


def test_a_run_of_series_is_not_asked_for_a_metric_that_came_later(roomy_site: Site) -> None:
    """Neither one that was there before it; who has it stands on the new board, whoever was there stays on the old."""
    made = roomy_site.http.post("/benchmarks", content=SERIES, headers=roomy_site.auth("steward") | YAML)
    assert made.status_code == 201, made.text
    lrdbench_http.submit(roomy_site, "memory", run_of("before", "mae"))
    add_version(roomy_site, "memory", MORE_SERIES)
    lrdbench_http.submit(roomy_site, "memory", run_of("today", "mae", "rmse"), "bob")
    roomy_site.work()
    boards = (lrdbench_http.table(roomy_site, "memory", f"leaderboards/{name}.csv") for name in ("accuracy", "squared"))
    old, new = (by_entrant({"rows": list(rows)}) for rows in boards)

    assert {name: bool(row["rank"]) for name, row in old.items()} == {"before": True, "today": True}
    assert (new["today"]["rank"], new["before"]["rank"], new["before"]["unranked_because"]) == ("1", "", "not asked")


def test_predictions_lack_no_metric_that_came_later(roomy_site: Site) -> None:
    """The server computes it for everybody, of what was sent before it too."""
    metrics = ["accuracy"]
    labels = table(("item", "label"), list(TRUTH.items()))
    ydf_http.begin(roomy_site, ydf_http.manifest(CLASSES, metrics), labels)
    sure = table(("item", "prediction"), [(item, 0.9 if label == "yes" else 0.1) for item, label in TRUTH.items()])
    ydf_http.submit(roomy_site, "before", sure)
    roomy_site.work()
    add_version(roomy_site, "guess", ydf_http.manifest(CLASSES, ["accuracy", "auc"]))
    roomy_site.work()
    (row,) = ydf_http.records(roomy_site, "/benchmarks/guess/leaderboards/board.csv")

    assert (row["entrant"], row["rank"], float(row["auc"])) == ("before", "1", 1.0)
