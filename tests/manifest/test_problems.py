"""What is wrong with a manifest is said with its line, in words, and with the word that was probably meant."""

import pytest

from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest

GOOD = """\
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
metrics:
  acc: {direction: maximize, min: 0, max: 1}
tasks: [{id: a}, {id: b}]
admission: {prereg: optional}
leaderboards:
  - {name: main, method: mean, metric: acc}
"""


def problems_of(old: str, new: str) -> list[tuple[int | None, str | None, str]]:
    """Return line, key and message of everything that is wrong after a change of the good manifest."""
    assert old in GOOD
    with pytest.raises(ManifestRejected) as refusal:
        parse_manifest(GOOD.replace(old, new).encode())
    return [(problem.row, problem.column, problem.message) for problem in refusal.value.problems]


@pytest.mark.parametrize(
    ("old", "new", "row", "column", "outcome"),
    [
        ("title: Tiny", "titel: Tiny", 3, "titel", "did you mean title?"),
        ("title: Tiny", "title: 5", 3, "title", "expected text; put it in quotes"),
        ("slug: tiny", "slug: Ti_ny", 2, "slug", "expected lower-case letters, digits and inner hyphens"),
        ("evaluation_summary", "evaluation_sumary", 4, "evidence", "did you mean 'evaluation_summary'?"),
        ("max: 1", "mx: 1", 6, "metrics.acc.mx", "did you mean max?"),
        ("direction: maximize", "direction: up", 6, "metrics.acc.direction", "expected 'minimize' or 'maximize'"),
        ("min: 0, max: 1", "min: 2, max: 1", 6, "metrics.acc", "min must be below max: no score lies between 2 and 1"),
        ("max: 1", 'max: "1"', 6, "metrics.acc.max", "expected a number"),
        ("{id: b}", "{name: b}", 7, "tasks.1.id", "this key is missing"),
        ("prereg: optional", "prereg: requird", 8, "admission.prereg", "did you mean 'required'?"),
        ("prereg: optional", "min_seeds: 1", 8, "admission.min_seeds", "must be at least 2"),
        ("prereg: optional", "min_seeds: few", 8, "admission.min_seeds", "expected a whole number or a mapping"),
        ("method: mean", "method: meen", 10, "leaderboards.0.method", "did you mean mean?"),
        ("metric: acc", "metric: ac", 10, "leaderboards.main", "ac is not among the declared metrics"),
        ("admission: {", "group_by: area\nadmission: {", 8, "group_by", "no task's where or about has area"),
        ("{id: b}]", "{id: b, where: {area: x}}]\ngroup_by: arae", 8, "group_by", "did you mean area?"),
        ("direction: maximize", "direction: TODO", 6, "metrics.acc.direction", "an answer is missing here"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(old: str, new: str, row: int, column: str, outcome: str) -> None:
    """And nothing of it in the words of the validating library."""
    actual = problems_of(old, new)

    assert any((r, c) == (row, column) and outcome in message for r, c, message in actual), actual
    assert not any(
        word in message for _, _, message in actual for word in ("Input", "valid ", "Field required", " dict")
    )


def test_a_value_of_several_types_is_one_problem() -> None:
    """Not one for each type that it is not."""
    assert [c for _, c, _ in problems_of("tasks: [{id: a}, {id: b}]", "tasks: 5")] == ["tasks"]


def test_what_is_meant_of_several_types_is_what_is_judged() -> None:
    """A mapping is judged as one, although a list could stand there too."""
    actual = problems_of("tasks: [{id: a}, {id: b}]", "tasks: {opne: true}")

    assert {column for _, column, _ in actual} == {"tasks.open", "tasks.opne"}
