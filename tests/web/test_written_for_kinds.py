"""A metric that comes later, in benchmarks whose files have no column for it: predictions."""

from tests.cases import ydf_http
from tests.cases.grids import YAML
from tests.cases.publications import table
from tests.conftest import Site

TRUTH = {f"i{at}": "yes" if at % 3 else "no" for at in range(12)}
CLASSES = "kind: classification, classes: ['no', 'yes']"


def test_predictions_lack_no_metric_that_came_later(roomy_site: Site) -> None:
    """The server computes it for everybody, of what was sent before it too."""
    labels = table(("item", "label"), list(TRUTH.items()))
    ydf_http.begin(roomy_site, ydf_http.manifest(CLASSES, ["accuracy"]), labels)
    sure = table(("item", "prediction"), [(item, 0.9 if label == "yes" else 0.1) for item, label in TRUTH.items()])
    ydf_http.submit(roomy_site, "before", sure)
    roomy_site.work()
    content = ydf_http.manifest(CLASSES, ["accuracy", "auc"])
    answer = roomy_site.http.put("/benchmarks/guess", content=content, headers=roomy_site.auth("steward") | YAML)
    assert answer.status_code in (200, 201), answer.text
    roomy_site.work()
    (row,) = ydf_http.records(roomy_site, "/benchmarks/guess/leaderboards/board.csv")

    assert (row["entrant"], row["rank"], float(row["auc"])) == ("before", "1", 1.0)
