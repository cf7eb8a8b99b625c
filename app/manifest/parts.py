"""What the kinds' parts of a manifest are made of, and claims.

They stand here, below the kinds, only until no other room reads them through `app.manifest.manifest.Manifest`.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.manifest.base import ColumnName, MetricName, Name, Part

Mode = Literal["ground_truth", "stress_test", "observational"]
LabelSource = Literal["private", "submitted"]
PredictionKind = Literal["classification", "regression", "ranking"]
# Wider than a name, for classes such as `<=50K` and `-1`; still nothing that a spreadsheet takes for a formula.
CLASS_PATTERN = r"[A-Za-z0-9_<>][A-Za-z0-9 ._+()<>=/&:-]{0,99}|[-+]?[0-9]{1,9}"
ClassName = Annotated[str, StringConstraints(pattern=rf"^(?:{CLASS_PATTERN})$")]


class Columns(Part):
    """Which columns of an evaluation summary hold what; metrics are read from columns of their own name."""

    entrant: ColumnName | None = "entrant"
    task: ColumnName = "task"
    leaked: ColumnName | None = None
    training_time_s: ColumnName | None = None
    inference_time_s: ColumnName | None = None
    n_forecasts: ColumnName | None = None
    recorded: list[ColumnName] = Field(default_factory=list)


class Episodes(Part):
    """Where an episode says its condition and which columns tell its repetitions apart.

    A dotted name reads a nested object: `metadata.member`. Without `condition` every episode has the same one.
    """

    condition: ColumnName | None = "metadata.condition"
    item: list[ColumnName] = Field(default=["episode_idx", "initial_state_seed"], min_length=1)
    conditions: list[Name] | None = Field(None, min_length=1)
    task: ColumnName | None = None


class Claim(Part):
    """A contrast that the benchmark decides for every entrant: first minus second, against a threshold."""

    contrast: tuple[Name, Name] = Field(strict=False)
    metric: MetricName
    threshold: float
    direction: Literal["greater", "less"] = "greater"


class SeriesUncertainty(Part):
    """How the aggregates of a series benchmark get their intervals; boards draw theirs from their own part.

    `metrics` None means every metric; `paired` adds the differences of every pair of estimators, in `paired_metrics` or
    else in `metrics`.
    """

    n_resamples: int = Field(200, ge=100, le=100_000)
    levels: list[Annotated[float, Field(gt=0.0, lt=1.0)]] = Field(default=[0.95], min_length=1, max_length=10)
    rng_seed: int = Field(0, ge=0, lt=2**63)
    metrics: list[MetricName] | None = None
    paired: bool = False
    paired_metrics: list[MetricName] | None = None
    stream: Literal["independent", "lrdbench"] = "independent"


class Predictions(Part):
    """What is predicted, and whose labels it is held against.

    `labels: private` are the benchmark's, never served; `submitted` come with each upload and are marked as such.
    `missing` says whether an item without a prediction fails the upload or counts as a failure. `positive` is the
    class whose probability a binary prediction is, by default the second one. The probabilities of all classes sum
    to one within `sum_tolerance`.
    """

    kind: PredictionKind
    classes: list[ClassName] | None = Field(None, min_length=2, max_length=1000)
    positive: ClassName | None = None
    labels: LabelSource = "private"
    missing: Literal["refuse", "failure"] = "refuse"
    truncation: int = Field(5, ge=1, le=10_000)
    sum_tolerance: float = Field(1e-3, ge=0.0, le=0.1)

    @model_validator(mode="after")
    def _classes_agree(self) -> Self:
        if (self.kind == "classification") != (self.classes is not None):
            raise ValueError("classes are declared for classification, and only for it")
        if self.classes is not None and len(set(self.classes)) != len(self.classes):
            raise ValueError("a class is declared twice")
        if self.positive is not None and (self.classes is None or self.positive not in self.classes):
            raise ValueError("positive must be one of the classes")
        if self.positive is not None and self.positive_number is None:
            raise ValueError("positive is one of two classes; with more of them, each is held against the rest")
        return self

    @property
    def positive_number(self) -> int | None:
        """Return the position of the positive one of two classes; None where there are not two."""
        if self.classes is None or len(self.classes) != 2:
            return None
        return 1 if self.positive is None else self.classes.index(self.positive)

    @property
    def n_columns(self) -> int:
        """Return how many numbers make one prediction."""
        return 1 if self.classes is None or self.positive_number is not None else len(self.classes)

    def asks_the_same(self, other: "Predictions") -> bool:
        """Say whether stored labels and predictions mean the same under another version of the manifest."""
        return (self.kind, self.classes, self.positive_number, self.labels) == (
            other.kind,
            other.classes,
            other.positive_number,
            other.labels,
        )
