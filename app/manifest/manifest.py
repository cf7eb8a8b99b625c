"""The benchmark manifest as values: metrics, tasks, admission rules, leaderboards.

Read by every room above. What a leaderboard's method needs to know is described by the method's own
file in `app.boards`, so a manifest is parsed with the table of known methods
(`app.boards.registry.parse_manifest`); this module knows the common part.
"""

import hashlib
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from app.errors import ManifestRejected, Problem
from app.manifest.base import ColumnName, Direction, MetricName, Name, Part, Slug, TaskName, Title
from app.manifest.parts import Claim, Contamination, Episodes, Mode, Predictions, SeriesUncertainty
from app.manifest.prediction_metrics import complaints_about
from app.manifest.series import (
    CatalogUse,
    EstimatorName,
    SeriesPart,
    expand_metrics,
    series_complaints,
    with_levels,
)
from app.names import clip_for_message
from app.prereg.values import FailurePolicy

Scalar = str | int | float | bool | None
Stream = Literal["independent", "fev", "chamber", "lrdbench"]
PreregForm = Literal["axis", "document", "evaluation"]
EvidenceKind = Literal["evaluation_summary", "episodes", "series_metrics", "predictions"]


class Metric(Part):
    """How to read one metric: which way is better, its range and its unit.

    `from` names the column it is read from where that is not its own name; with `above` the score is whether
    the column is above that value.
    """

    direction: Direction
    source: ColumnName | None = Field(None, alias="from")
    above: float | None = None
    title: Title | None = None
    unit: str | None = Field(None, max_length=40)
    min: float | None = None
    max: float | None = None
    description: str | None = Field(None, max_length=2000)

    @property
    def is_rate(self) -> bool:
        """Say whether the metric counts how often something happens that should not, such as a limit passed."""
        return self.above is not None or (self.direction == "minimize" and (self.min, self.max) == (0.0, 1.0))

    @property
    def worst(self) -> float | None:
        """Return the worst value there is; None where the declared range does not end there."""
        low, high = (self.min, self.max) if self.above is None else (0.0, 1.0)
        return low if self.direction == "maximize" else high


# Written out by name, or as a list of names in a catalog.
Metrics = Annotated[
    dict[MetricName, Metric],
    Field(min_length=1),
    BeforeValidator(expand_metrics, json_schema_input_type=dict[MetricName, Metric] | CatalogUse),
]


class Task(Part):
    """One task of a closed list; `where` gives the value that each named column must have in its rows."""

    id: TaskName
    title: Title | None = None
    where: dict[ColumnName, Any] = Field(default_factory=dict)


class OpenTasks(Part):
    """Tasks are whatever the evidence names."""

    open: Literal[True]


class Admission(Part):
    """The rules that a submission must meet before it can stand on a board.

    `report_within_days` is how long after its registration a run may take before it counts as overdue. `failure_policy`
    judges episodes without a score where no preregistration says how.
    """

    prereg: Literal["required", "optional"] = "optional"
    prereg_forms: list[PreregForm] = Field(default=["evaluation"])
    min_seeds: int | None = Field(None, ge=2)
    claims: Literal["optional", "required"] = "optional"
    dirty: Literal["refuse", "allow"] = "refuse"
    failure_policy: FailurePolicy = "strict"
    report_within_days: int | None = Field(None, ge=1, le=3650)


class Columns(Part):
    """Which columns of an evaluation summary hold what; metrics are read from columns of their own name."""

    entrant: ColumnName | None = "entrant"
    task: ColumnName = "task"
    leaked: ColumnName | None = None
    training_time_s: ColumnName | None = None
    inference_time_s: ColumnName | None = None
    n_forecasts: ColumnName | None = None
    recorded: list[ColumnName] = Field(default_factory=list)


class Uncertainty(Part):
    """How a board's intervals are drawn. `rng_seed` is ours; a seed without the prefix is an entrant's."""

    n_resamples: int = Field(1000, ge=100, le=100_000)
    level: float = Field(0.95, gt=0.5, lt=1.0)
    rng_seed: int = Field(0, ge=0, lt=2**63)
    stream: Stream = "independent"


class Leaderboard(Part):
    """What every leaderboard declares, whatever its method; methods extend it in their own file.

    `evidence_kinds` are those that a method can read.
    """

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("evaluation_summary",)

    name: Slug
    title: Title | None = None
    description: str | None = Field(None, max_length=5000)
    method: str
    tasks: list[TaskName] | None = Field(None, min_length=1)
    uncertainty: Uncertainty = Field(default_factory=Uncertainty)

    def metric_names(self) -> tuple[str, ...]:
        """Return the metrics that the board reads; each must be declared by the manifest."""
        return ()

    def required_metrics(self) -> tuple[str, ...]:
        """Return the metrics without which the board cannot rank; the others may be missing."""
        return self.metric_names()

    def ranked_tasks(self) -> Collection[str] | None:
        """Return the tasks whose rows the board reads, None for all of them."""
        return self.tasks

    def check_metric(self, metric: Metric) -> str | None:
        """Return why a declared metric cannot be used by this board's method, or None when it can."""
        return None


class Manifest(Part):
    """A benchmark as its steward declared it. `leaderboards` hold the classes of their methods."""

    schema_version: Literal[1]
    slug: Slug
    title: Title
    description: str = Field("", max_length=50_000)
    evidence: EvidenceKind
    metrics: Metrics
    tasks: list[Task] | OpenTasks
    admission: Admission = Field(default_factory=Admission)
    columns: Columns = Field(default_factory=Columns)
    preset: Literal["fev"] | None = None
    episodes: Episodes | None = None
    mode: Mode | None = None
    contamination: list[Contamination] | None = None
    estimators: list[EstimatorName] | None = Field(None, min_length=1)
    uncertainty: SeriesUncertainty | None = None
    predictions: Predictions | None = None
    claims: dict[Name, Claim] = Field(default_factory=dict)
    leaderboards: list[Leaderboard] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        complaints = [
            *self._repeated_names(),
            *self._undeclared_names(),
            *self._foreign_methods(),
            *self._broken_series_rules(),
            *self._broken_prediction_rules(),
        ]
        if complaints:
            raise ValueError("; ".join(complaints))
        return self

    def task_ids(self) -> tuple[str, ...] | None:
        """Return the closed list of tasks, or None when tasks are open."""
        return None if isinstance(self.tasks, OpenTasks) else tuple(task.id for task in self.tasks)

    def leaderboard(self, name: str) -> Leaderboard:
        """Return the named board. Raises KeyError when there is none."""
        for board in self.leaderboards:
            if board.name == name:
                return board
        raise KeyError(name)

    def _repeated_names(self) -> list[str]:
        boards = [board.name for board in self.leaderboards]
        complaints = [f"leaderboards: the name {name} is used twice" for name in _repeats(boards)]
        return complaints + [f"tasks: the id {task} is used twice" for task in _repeats(list(self.task_ids() or ()))]

    def _foreign_methods(self) -> list[str]:
        return [
            f"leaderboards.{board.name}: the method {board.method} does not read evidence of kind {self.evidence}"
            for board in self.leaderboards
            if self.evidence not in board.evidence_kinds
        ]

    def _broken_series_rules(self) -> list[str]:
        if self.evidence != "series_metrics":
            declared = {"mode": self.mode, "contamination": self.contamination, "estimators": self.estimators}
            misplaced = [name for name, part in {**declared, "uncertainty": self.uncertainty}.items() if part]
            return [f"{name}: belongs to evidence of kind series_metrics" for name in misplaced]
        uncertain = self.uncertainty or SeriesUncertainty()
        part = SeriesPart(
            mode=self.mode,
            operators=[operator.name for operator in self.contamination or ()],
            metrics=self.metrics,
            uncertain_metrics=[*(uncertain.metrics or ()), *(uncertain.paired_metrics or ())],
            estimators=self.estimators or (),
        )
        return list(series_complaints(part))

    def _broken_prediction_rules(self) -> list[str]:
        if self.evidence == "predictions" and self.predictions is None:
            return [
                "predictions: a benchmark of predictions says what is predicted and whose labels it is held against"
            ]
        if self.evidence != "predictions" and self.predictions is not None:
            return ["predictions: belongs to evidence of kind predictions"]
        if self.predictions is None:
            return []
        directions = {name: metric.direction for name, metric in self.metrics.items()}
        return list(complaints_about(self.predictions, directions))

    def _undeclared_names(self) -> list[str]:
        complaints = []
        known_tasks = self.task_ids()
        for board in self.leaderboards:
            for metric in board.metric_names():
                if metric not in self.metrics:
                    complaints.append(f"leaderboards.{board.name}: {metric} is not among the declared metrics")
            for task in board.tasks or ():
                if known_tasks is not None and task not in known_tasks:
                    complaints.append(f"leaderboards.{board.name}.tasks: {task} is not among the declared tasks")
        return complaints


def build_manifest(document: Any, methods: Mapping[str, type[Leaderboard]]) -> Manifest:
    """Validate a parsed YAML document. Raises ManifestRejected with every problem it has."""
    problems: list[Problem] = []
    boards: list[Leaderboard] = []
    if not isinstance(document, dict):
        raise ManifestRejected("The manifest is not a mapping.", [Problem("expected a mapping at the top level")])
    document = with_levels(document)
    declared = document.get("leaderboards")
    for position, board in enumerate(declared if isinstance(declared, list) else []):
        built = _build_board(board, f"leaderboards.{position}", methods, problems)
        boards += [] if built is None else [built]
    common = {**document, "leaderboards": boards if boards or problems == [] else []}
    if not isinstance(declared, list):
        common["leaderboards"] = declared
    manifest = None
    try:
        manifest = Manifest.model_validate(common)
    except ValidationError as error:
        hidden = ("leaderboards",) if problems else ()
        problems = [p for p in problems_from(error) if p.column not in hidden] + problems
    if problems or manifest is None:
        raise ManifestRejected("The manifest breaks the rules below.", problems)
    return manifest


def _build_board(
    board: Any, path: str, methods: Mapping[str, type[Leaderboard]], problems: list[Problem]
) -> Leaderboard | None:
    method = board.get("method") if isinstance(board, dict) else None
    if not isinstance(method, str) or method not in methods:
        known = ", ".join(sorted(methods))
        problems.append(Problem(f"method must be one of {known}", column=f"{path}.method", value=_shown(method)))
        return None
    try:
        return methods[method].model_validate(board)
    except ValidationError as error:
        problems += problems_from(error, prefix=f"{path}.")
        return None


# A path has several keys, and the message that follows must stay in sight.
MAX_KEY = 200


def problems_from(error: ValidationError, prefix: str = "") -> list[Problem]:
    """Turn pydantic's findings into problems whose column is the dotted path of the key."""
    return [
        Problem(
            e["msg"].removeprefix("Value error, "),
            column=prefix + ".".join(clip_for_message(str(step), MAX_KEY) for step in e["loc"]) or None,
            value=None if e["type"] == "missing" else _shown(e.get("input")),
        )
        for e in error.errors()
    ]


def _shown(value: Any) -> str | None:
    return None if value is None or isinstance(value, (dict, list, BaseModel)) else clip_for_message(str(value))


def _repeats(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def manifest_digest(yaml_bytes: bytes) -> str:
    """Return the SHA-256 of the manifest's bytes, in hexadecimal."""
    return hashlib.sha256(yaml_bytes).hexdigest()
