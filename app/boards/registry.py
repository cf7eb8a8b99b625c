"""The known ranking methods: a module for each, which defines METHOD.

METHOD is (manifest class, compute) for a method that looks at all rows together, or a MeasuredMethod for one whose
entrants are measured apart. Called by `app.store.benchmarks` to read manifests and by `app.jobs` to compute.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import Field, create_model

from app.boards.measured import MeasuredMethod
from app.boards.tables import BoardTables
from app.errors import ManifestRejected, Problem
from app.manifest.manifest import Leaderboard, Manifest, build_manifest
from app.values.registry import Registry
from app.values.scores import ScoreTable
from app.yaml.strict import read_yaml

MAX_MANIFEST_BYTES = 1024 * 1024

Compute = Callable[[Manifest, Any, ScoreTable], BoardTables]


class TableMethod(NamedTuple):
    """A ranking method that looks at all rows together, and the class of its boards in a manifest."""

    spec: type[Leaderboard]
    compute: Compute


Method = TableMethod | MeasuredMethod


@cache
def methods() -> Registry[Method]:
    """Return each method by its name. They are loaded when first asked for: most commands compute nothing."""
    from app.boards import mean
    from app.boards.estimate import method as estimate
    from app.boards.skill_score import method as skill_score
    from app.boards.weighted_rank import method as weighted_rank

    known: dict[str, Method] = {
        "estimate": estimate.METHOD,
        "mean": TableMethod(*mean.METHOD),
        "skill_score": TableMethod(*skill_score.METHOD),
        "weighted_rank": TableMethod(*weighted_rank.METHOD),
    }
    return Registry("ranking method", known)


def parse_manifest(yaml_bytes: bytes) -> Manifest:
    """Read a manifest. Raises Rejected with every problem of its YAML, or ManifestRejected of its meaning."""
    return _parse(yaml_bytes, frozenset(methods()))


@cache
def _parse(yaml_bytes: bytes, known_methods: frozenset[str]) -> Manifest:
    """Read a manifest with the methods that are known; what was read with others is read anew."""
    del known_methods
    document = read_yaml(yaml_bytes, max_bytes=MAX_MANIFEST_BYTES, what="manifest")
    manifest = build_manifest(document, {name: method.spec for name, method in methods().items()})
    problems = [
        Problem(complaint, column=f"leaderboards.{board.name}.metric")
        for board in manifest.leaderboards
        for metric in board.metric_names()
        if (complaint := board.check_metric(manifest.metrics[metric])) is not None
    ]
    if problems:
        raise ManifestRejected("The manifest breaks the rules below.", problems)
    return manifest


def compute_board(manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> BoardTables:
    """Compute one board of a method that looks at all rows. Raises BoardUnavailable with the reason in plain words."""
    method = methods()[spec.method]
    if isinstance(method, MeasuredMethod):
        raise TypeError(f"{spec.method} measures each entrant apart")
    return method.compute(manifest, spec, scores)


def measured_method(spec: Leaderboard) -> MeasuredMethod | None:
    """Return the method of a board that measures each entrant apart, None for a board of any other method."""
    method = methods()[spec.method]
    return method if isinstance(method, MeasuredMethod) else None


def manifest_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a manifest, with the boards of every known method."""
    specs = [method.spec for method in methods().values()]
    union: Any = specs[0]
    for spec in specs[1:]:
        union = union | spec
    boards: Any = list[Annotated[union, Field(discriminator="method")]]
    return create_model("Manifest", __base__=Manifest, leaderboards=(boards, ...)).model_json_schema()
