"""What is wrong with a manifest is said with its line, in words, and with the word that was probably meant."""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest

from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest, parse_new_manifest
from app.manifest.build import as_asked_by
from app.yaml import read_yaml

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


def with_tasks(n: int, of_each: Mapping[str, Any] | None = None, **changed: Any) -> bytes:
    """Return the good manifest with many tasks, and with other keys changed."""
    document = read_yaml(GOOD.encode(), max_bytes=10_000, what="manifest")
    tasks = [{"id": f"t{at}", **(of_each or {})} for at in range(n)]
    return json.dumps({**document, "tasks": tasks, **changed}).encode()


def names(letter: str, n: int) -> list[str]:
    """Return many names."""
    return [f"{letter}{at}" for at in range(n)]


# Of episodes in clusters; its board is refused for its method beside all else.
CLUSTERS = {
    "evidence": "episodes",
    "episodes": {"seed": None, "item": ["q"], "condition": None, "task": "task"},
    "items": {"cluster": "p"},
}
IN_GROUPS = {"name": "main", "method": "group_mean", "metric": "acc"}

LARGE: Mapping[str, bytes] = {
    "names twice": with_tasks(20_000, tasks=[{"id": f"t{at // 2}"} for at in range(20_000)]),
    "exceptions of a grid": with_tasks(20_000, grid={"tasks": {name: {} for name in names("t", 20_000)}}),
    "values of no type": with_tasks(3_000, {"about": {"year": []}}),
    "axes of no type": with_tasks(3_500, grid={"tasks": {name: {"seeds": "x"} for name in names("t", 3_500)}}),
    "a group of many": with_tasks(20_000, leaderboards=[{**IN_GROUPS, "groups": {"all": names("t", 20_000)}}]),
    "claims without metrics": with_tasks(
        1,
        metrics={name: {"direction": "minimize"} for name in ("acc", *names("m", 4_000))},
        claims={name: {"contrast": ["a", "b"], "metric": "x", "threshold": 0} for name in names("c", 4_000)},
    ),
    "exceptions of clusters": with_tasks(
        1_000, **CLUSTERS, grid={"items": "file", "entrants": {name: {} for name in names("e", 1_000)}}
    ),
    "items of clusters": with_tasks(2_000, **CLUSTERS, grid={"items": [f"p/{name}" for name in names("q", 2_000)]}),
    "repeated levels": with_tasks(
        1,
        evidence="series_metrics",
        mode="ground_truth",
        metrics={"catalog": "lrdbench", "use": [f"coverage@{at / 10_000}" for at in range(1, 5_000)]},
        uncertainty={"metrics": ["coverage"] * 2_000},
    ),
}


@pytest.mark.parametrize("manifest", LARGE.values(), ids=LARGE.keys())
def test_a_large_manifest_is_judged_in_seconds(manifest: bytes) -> None:
    """Nothing is looked for in a list for each of a list; each of these took from 4 to 50 seconds."""
    began_s = time.process_time()
    with suppress(ManifestRejected):
        parse_new_manifest(manifest)
    assert time.process_time() - began_s < 4.0


def test_all_problems_are_counted_although_a_thousand_are_told() -> None:
    """Also of those found in the meaning, and not in the text."""
    with pytest.raises(ManifestRejected) as refusal:
        parse_manifest(with_tasks(1_500, {"nme": 1}))
    assert (len(refusal.value.problems), refusal.value.n_problems) == (1_000, 1_500)


def test_what_an_earlier_version_of_many_tasks_asked_is_known_at_once() -> None:
    """Rows that were written for it are looked at under it in each upload."""
    then, now = (parse_manifest(with_tasks(n)) for n in (19_999, 20_000))
    began_s = time.process_time()
    asked = as_asked_by(now, then)
    assert time.process_time() - began_s < 2.0
    assert len((asked or now).task_ids() or ()) == 19_999
