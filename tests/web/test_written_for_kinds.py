"""A metric that comes later, where a benchmark declares no grid of its own: predictions and series."""

import pytest

from tests.cases import publications, ydf_http
from tests.cases.grids import YAML
from tests.cases.publications import table
from tests.fixtures import Site

TRUTH = {f"i{at}": "yes" if at % 3 else "no" for at in range(12)}
CLASSES = "kind: classification, classes: ['no', 'yes']"


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


def test_predictions_lack_no_metric_that_came_later(site: Site) -> None:
    """The server computes it for everybody, of what was sent before it too."""
    labels = table(("item", "label"), list(TRUTH.items()))
    ydf_http.begin(site, ydf_http.manifest(CLASSES, ["accuracy"]), labels)
    sure = table(("item", "prediction"), [(item, 0.9 if label == "yes" else 0.1) for item, label in TRUTH.items()])
    ydf_http.submit(site, "before", sure)
    site.work()
    content = ydf_http.manifest(CLASSES, ["accuracy", "auc"])
    answer = site.http.put("/benchmarks/guess", content=content, headers=site.auth("steward") | YAML)
    assert answer.status_code in (200, 201), answer.text
    site.work()
    (row,) = ydf_http.records(site, "/benchmarks/guess/leaderboards/board.csv")

    assert (row["entrant"], row["rank"], float(row["auc"])) == ("before", "1", 1.0)


def run_without(metric: str, estimator: str) -> str:
    """Return an honest run whose files have no row of one metric."""
    lines = publications.good_run(estimator).splitlines(keepends=True)
    return "".join(line for line in lines if f",{metric}," not in line)


def test_a_run_of_series_is_not_asked_for_a_metric_that_came_later(site: Site) -> None:
    """Its board lists it without a rank, beside who was asked; the board of what was asked keeps both."""
    board = "{name: early, method: weighted_rank, weights: {mae: 1.0}, uncertainty: {n_resamples: 100}}"
    later = publications.SERIES.partition("leaderboards:")[0] + f"leaderboards:\n  - {board}\n"
    earlier = later.replace("[mae, rmse, bias", "[mae, bias")
    slug = publications.begin(site, earlier)
    publications.send(site, slug, "metrics.csv", run_without("rmse", "GPH"))
    site.work()
    content = (later + f"  - {board}\n".replace("early", "late").replace("mae: 1.0", "mae: 0.5, rmse: 0.5")).replace(
        "SLUG", slug
    )
    answer = site.http.put(f"/benchmarks/{slug}", content=content, headers=site.auth("steward") | YAML)
    assert answer.status_code in (200, 201), answer.text
    sent = publications.send(site, slug, "metrics.csv", publications.good_run("RS"))
    assert sent.json()["admitted"], sent.text
    site.work()
    early, late = (
        {row["entrant"]: row for row in site.http.get(f"/benchmarks/{slug}/leaderboards/{name}.json").json()["rows"]}
        for name in ("early", "late")
    )

    assert (early["GPH"]["rank"], early["RS"]["rank"]) == (1, 1)
    assert (late["GPH"]["rank"], late["GPH"]["unranked_because"]) == (None, "not asked")
    assert late["RS"]["rank"] == 1
