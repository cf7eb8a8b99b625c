"""Values that are exactly the best possible are told, of every kind, and keep nobody out."""

from app.admission.exact import exactly_best
from app.boards.example import benchmark
from app.boards.methods.mean import Mean
from app.boards.methods.weighted_rank.spec import WeightedRank
from app.kinds.parse import parse_manifest
from app.manifest.manifest import Leaderboard
from tests.cases.admission import grid, table
from tests.cases.chamber import MANIFEST

ERRORS = Mean(name="main", method="mean", metric="error")


def findings_of(spec: Leaderboard, *values: float, metric: str = "error") -> list[str]:
    """Return what is said of one entrant's values of a metric from zero on, smaller being better."""
    declared = benchmark(spec)
    result = declared.metrics[metric].model_copy(update={"min": 0.0, "max": None})
    scores = table([("mover", "place", None, 0, str(at)) for at in range(len(values))], (metric,))
    scores.values[:, 0] = values
    manifest = declared.model_copy(update={"metrics": {**declared.metrics, metric: result}})
    return [finding.sentence for finding in exactly_best(manifest, scores)]


def test_one_error_of_zero_is_told_where_errors_rank() -> None:
    """A forecast that is right to the last digit, or labels that were copied."""
    assert findings_of(ERRORS, 0.4, 0.0, 0.3) == ["error of mover is 0 in 1 of 3 rows"]
    assert findings_of(ERRORS, 0.4, 1e-300, 0.3) == []


def test_among_several_components_half_of_the_errors_must_be_zero() -> None:
    """A drift under noise that an estimator does not see is zero, in some records."""
    both = WeightedRank(name="main", method="weighted_rank", weights={"mae": 0.5, "error": 0.5})

    assert findings_of(both, 0.0, 0.3, 0.2) == []
    assert findings_of(both, 0.0, 0.0, 0.2) == ["error of mover is 0 in 2 of 3 rows"]


def test_successes_are_told_only_where_all_are() -> None:
    """A success is nothing strange; forty of forty may be."""
    manifest = parse_manifest(MANIFEST.replace(b"metrics: [success, violation]", b"metrics: [success]"))
    scores = table(grid())
    every = [finding.sentence for finding in exactly_best(manifest, scores)]
    scores.values[3, 0] = 0.0

    assert every == ["success of mover is 1 in 40 of 40 rows"]
    assert list(exactly_best(manifest, scores)) == []
