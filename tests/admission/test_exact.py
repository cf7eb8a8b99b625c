"""Values that are exactly the best possible are told, of every kind, and keep nobody out."""

from collections.abc import Callable, Iterable, Sequence

import pytest

from app.admission.forensics import decided_by_one, exactly_best
from app.boards.example import benchmark
from app.boards.methods.mean import Mean
from app.boards.methods.skill_score import SkillScore
from app.boards.methods.weighted_rank.records import WeightedRank
from app.kinds.parse import parse_manifest
from app.manifest.model import Leaderboard, Manifest
from app.values.facts import Finding
from app.values.scores import ScoreTable
from tests.cases.admission import grid, table
from tests.cases.chamber import MANIFEST

ERRORS = Mean(name="main", method="mean", metric="error")
COMPONENTS = WeightedRank(name="main", method="weighted_rank", weights={"mae": 0.5, "error": 0.5})
SUCCESSES = parse_manifest(MANIFEST.replace(b"metrics: [success, violation]", b"metrics: [success]"))
Said = Callable[[Manifest, ScoreTable], Iterable[Finding]]


def findings_of(said: Said, spec: Leaderboard, values: Sequence[float], **metric: object) -> list[str]:
    """Return what is said of one entrant's values of a metric, smaller being better unless `metric` says otherwise."""
    declared = benchmark(spec)
    changed = declared.metrics["error"].model_copy(update=metric)
    scores = table([("mover", "place", None, 0, str(at)) for at in range(len(values))], ("error",))
    scores.values[:, 0] = values
    manifest = declared.model_copy(update={"metrics": {**declared.metrics, "error": changed}})
    return [finding.sentence for finding in said(manifest, scores)]


@pytest.mark.parametrize(
    ("spec", "values", "said"),
    [
        (ERRORS, [0.4, 0.0, 0.3], ["error of mover is 0 in 1 of 3 rows"]),
        (ERRORS, [0.4, 1e-300, 0.3], ["error of mover is 0 in 1 of 3 rows"]),
        (ERRORS, [0.4, 1e-6, 0.3], []),
        (ERRORS, [900.0, 1e-10, 1100.0], ["error of mover is 0 in 1 of 3 rows"]),
        (ERRORS, [0.4, 1e-10, 0.3], []),
        (COMPONENTS, [0.0, 0.3, 0.2], []),
        (COMPONENTS, [0.0, 0.0, 0.2], ["error of mover is 0 in 2 of 3 rows"]),
    ],
)
def test_errors_of_zero_are_told(spec: Leaderboard, values: list[float], said: list[str]) -> None:
    """A forecast that is right to the last digit, or labels that were copied; what counts as zero follows the middle
    of the errors, and of one component among several half must be zero: a drift may be one that nobody sees.
    """
    assert findings_of(exactly_best, spec, values, min=0.0, max=None) == said


def test_zero_is_the_best_error_of_ratios_without_a_declared_range() -> None:
    """A geometric mean has no error below it: zeros everywhere lead any board of skills, whatever the range says."""
    ratios = SkillScore(name="main", method="skill_score", metric="error", baseline="Fair")
    said = [findings_of(exactly_best, spec, [0.0, 0.0, -0.1], min=None, max=None) for spec in (ratios, ERRORS)]

    assert said == [["error of mover is 0 or less in 3 of 3 rows"], []]


def test_successes_are_told_only_where_all_of_eight_or_more_are() -> None:
    """A success is nothing strange; forty of forty may be."""
    scores = table(grid())
    every = [finding.sentence for finding in exactly_best(SUCCESSES, scores)]
    scores.values[3, 0] = 0.0
    few = [table([("mover", "place", None, 0, str(at)) for at in range(n)], ("success",)) for n in (7, 8)]

    assert every == ["success of mover is 1 in 40 of 40 rows"]
    assert list(exactly_best(SUCCESSES, scores)) == []
    assert [len(list(exactly_best(SUCCESSES, each))) for each in few] == [0, 1]


@pytest.mark.parametrize(
    ("direction", "values", "top", "told"),
    [
        ("maximize", [0, 1, 1e50, 0, 2], None, "1e+50"),
        ("minimize", [0, 1, -1e50, 0, 2], None, "-1e+50"),
        ("minimize", [0, 1, 1e50, 0, 2], None, None),
        ("maximize", [0, 1, -1e50, 0, 2], None, None),
        ("maximize", [0, 1, 1e50, 0], None, None),
        ("maximize", [0, 0.25, 0.75, 9.01, 0], None, "9.01"),
        ("maximize", [0, 0.25, 0.75, 9, 0], None, None),
        ("minimize", [0, 0.25, 0.75, -9.01, 0], None, "-9.01"),
        ("maximize", [0, -0.25, -0.75, 9, 0], None, None),
        ("maximize", [float("nan"), 1, 1e50, 0, 0], None, None),
        ("maximize", [0, 0, 1, 0, 0], 1.0, None),
        ("maximize", [0, 1, 7, 5, 2], None, None),
        ("maximize", [0, 0, 0, 0, 0], None, None),
    ],
)
def test_one_value_that_is_nearly_all_of_a_sum_without_a_limit_is_told(
    direction: str, values: list[float], top: float | None, told: str | None
) -> None:
    """On the good side alone: what harms its owner decides an average too, and nobody gains. Four rows, a declared best
    end, two large ones of five and all zero are no wonder.
    """
    sentence = f"one error of mover, {told}, is more than nine tenths of the sum of its 5 in size"

    assert findings_of(decided_by_one, ERRORS, values, min=None, max=top, direction=direction) == [sentence] * bool(
        told
    )


@pytest.mark.parametrize(
    ("said", "values", "limits", "sentence"),
    [
        (exactly_best, [900.0, 0.3, 1e-10, 1e-10, 1100.0, 0.4], {"min": 0.0}, "error of a is 0 in 1 of 3 rows"),
        (decided_by_one, [1, 1, 1, 1, 1, 1, 60, 6, 1, 1], {"min": None},
         "one error of a, 60, is more than nine tenths of the sum of its 5 in size"),
    ],
    ids=["as good as zero beside its own", "one of its own"],
)  # fmt: skip
def test_each_entrant_s_values_are_compared_with_its_own(
    said: Said, values: list[float], limits: dict[str, float | None], sentence: str
) -> None:
    """Two entrants, row about row: what is nothing beside 900 is a value beside 0.3, and sums are of one's own."""
    declared = benchmark(ERRORS)
    direction = "maximize" if said is decided_by_one else "minimize"
    metric = declared.metrics["error"].model_copy(update={"max": None, "direction": direction, **limits})
    scores = table([("ab"[at % 2], "place", None, 0, str(at)) for at in range(len(values))], ("error",))
    scores.values[:, 0] = values
    found = said(declared.model_copy(update={"metrics": {**declared.metrics, "error": metric}}), scores)

    assert [(finding.entrant, finding.sentence) for finding in found] == [("a", sentence)]
