"""The parts of a manifest that belong to one kind of evidence: episodes, series metrics, predictions, claims.

Read by `app.manifest`; each evidence kind and method reads its own part.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.manifest_base import ColumnName, MetricName, Name, Part

Mode = Literal["ground_truth", "stress_test", "observational"]
PredictionKind = Literal["classification", "regression", "ranking"]
ParameterValue = str | int | float | bool | None
ClassName = Annotated[str, StringConstraints(min_length=1, max_length=200)]


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


class Contamination(Part):
    """An operator that a stress test applies to its series, and the parameters it takes."""

    name: Name
    description: str = Field("", max_length=2000)
    params: dict[Name, list[ParameterValue]] = Field(default_factory=dict)


class SeriesUncertainty(Part):
    """How the aggregates of a series benchmark get their intervals; boards draw theirs from their own part.

    `metrics` None means every metric; `paired` adds the differences of every pair of estimators, in `paired_metrics` or
    else in `metrics`.
    """

    n_resamples: int = Field(200, ge=100, le=100_000)
    levels: list[float] = Field(default=[0.95], min_length=1, max_length=10)
    rng_seed: int = Field(0, ge=0, lt=2**63)
    metrics: list[MetricName] | None = None
    paired: bool = False
    paired_metrics: list[MetricName] | None = None
    stream: Literal["independent", "lrdbench"] = "independent"


class Predictions(Part):
    """What is predicted, and whose labels it is held against.

    `labels: private` are the benchmark's, never served; `submitted` come with each upload and are marked as such.
    `missing` says whether an item without a prediction fails the upload or counts as a failure.
    """

    kind: PredictionKind
    classes: list[ClassName] | None = Field(None, min_length=2, max_length=1000)
    positive: ClassName | None = None
    labels: Literal["private", "submitted"] = "private"
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
        return self
