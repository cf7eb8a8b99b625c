"""Values that are exactly the best possible are told, of every kind, and keep nobody out."""

from app.admission.forensics import decided_by_one, exactly_best
from app.boards.example import benchmark
from app.boards.methods.mean import Mean
from app.boards.methods.weighted_rank.records import WeightedRank
from app.kinds.parse import parse_manifest
from app.manifest.model import Leaderboard
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
    assert findings_of(ERRORS, 0.4, 1e-300, 0.3) == ["error of mover is 0 in 1 of 3 rows"]
    assert findings_of(ERRORS, 0.4, 1e-6, 0.3) == []


def test_what_counts_as_zero_follows_the_middle_of_the_errors() -> None:
    """1e-10 beside errors of about a thousand is zero, also where another one is smaller; beside 0.4 it is not."""
    assert findings_of(ERRORS, 900.0, 1e-10, 1100.0) == ["error of mover is 0 in 1 of 3 rows"]
    assert findings_of(ERRORS, 0.4, 1e-10, 0.3) == []


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


def test_eight_successes_are_the_fewest_that_are_flagged() -> None:
    """Fewer are likely of a good entrant."""
    manifest = parse_manifest(MANIFEST.replace(b"metrics: [success, violation]", b"metrics: [success]"))
    rows = [[("mover", "place", None, 0, str(at)) for at in range(n)] for n in (7, 8)]
    tables = [table(each, ("success",)) for each in rows]
    for each in tables:
        each.values[:, 0] = 1.0

    assert [len(list(exactly_best(manifest, each))) for each in tables] == [0, 1]


def lone(direction: str, *values: float, top: float | None = None) -> list[str]:
    """Return what is said of one entrant's values of a metric without a range, but for its upper end where given."""
    declared = benchmark(ERRORS)
    metric = declared.metrics["error"].model_copy(update={"min": None, "max": top, "direction": direction})
    scores = table([("mover", "place", None, 0, str(at)) for at in range(len(values))], ("error",))
    scores.values[:, 0] = values
    manifest = declared.model_copy(update={"metrics": {**declared.metrics, "error": metric}})
    return [finding.sentence for finding in decided_by_one(manifest, scores)]


def test_one_value_that_is_nearly_all_of_a_sum_without_a_limit_is_told() -> None:
    """On the good side alone: what harms its owner decides an average too, and nobody gains."""
    assert lone("maximize", 0, 1, 1e50, 0, 2) == [
        "one error of mover, 1e+50, is more than nine tenths of the sum of its 5 in size"
    ]
    assert lone("minimize", 0, 1, -1e50, 0, 2) == [
        "one error of mover, -1e+50, is more than nine tenths of the sum of its 5 in size"
    ]
    assert lone("minimize", 0, 1, 1e50, 0, 2) == lone("maximize", 0, 1, -1e50, 0, 2) == []


def test_a_few_rows_a_limit_or_one_more_large_value_are_no_wonder() -> None:
    """Four rows; a declared best end; two large ones of five; all zero."""
    assert lone("maximize", 0, 1, 1e50, 0) == []
    assert lone("maximize", 0, 0, 1, 0, 0, top=1.0) == []
    assert lone("maximize", 0, 1, 7, 5, 2) == lone("maximize", 0, 0, 0, 0, 0) == []
