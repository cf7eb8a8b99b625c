"""How a manifest declares a board of method `estimate`. Read by the modules that measure and assemble it."""

from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from app.manifest.base import MetricName, Name, Part, TaskName, Title
from app.manifest.leaderboard import EvidenceKind, Leaderboard
from app.manifest.metric import Metric
from app.manifest.uncertainty import Uncertainty

Statistic = Literal["iqm", "mean"]
Weight = Annotated[float, Field(gt=0.0, le=1000.0)]
Quantiles = Annotated[list[Annotated[float, Field(ge=0.0, le=1.0)]], Field(min_length=1, max_length=20)]


class EstimateUncertainty(Uncertainty):
    """How the intervals are drawn; `method` says what is resampled within what. A pooled iid bootstrap is not allowed.

    Predictions resample examples (groups for a ranking) whatever `method` says.
    """

    n_resamples: int = Field(2000, ge=100, le=100_000)
    method: Literal["cluster", "hierarchical"] = "cluster"


class OptimalityGap(Part):
    """The mean shortfall of scores below `threshold`; scores above it count as reaching it."""

    threshold: float = 1.0


class Profile(Part):
    """The grid of a performance profile: `n_points` thresholds from the metric's `min` to its `max`, or from `low` to
    `high`.
    """

    metric: MetricName | None = None
    low: float | None = None
    high: float | None = None
    n_points: int = Field(21, ge=2, le=201)


class Composite(Part):
    """A weighted mean over the tasks that have a score, such as CHAMBER's HRS over its axes.

    `conditions` names the condition of each task that counts, as HRS uses the heterogeneous side of an axis; for tasks
    not listed every condition counts. The breakdown shows all conditions. `against` names the condition to compare
    with, such as the homogeneous side of an axis: components then show the gap, that condition minus the counted one.
    """

    title: Title = "Composite"
    weights: dict[TaskName, Weight] = Field(min_length=1)
    conditions: dict[TaskName, Name] = Field(default_factory=dict)
    against: dict[TaskName, Name] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _conditions_are_weighed(self) -> Self:
        if unknown := sorted(set(self.conditions) - set(self.weights)):
            raise ValueError(f"conditions: not among weights: {', '.join(unknown)}")
        if alone := sorted(set(self.against) - set(self.conditions)):
            raise ValueError(f"against: not among conditions: {', '.join(alone)}")
        if same := sorted(task for task, name in self.against.items() if self.conditions[task] == name):
            raise ValueError(f"against: the counted condition itself: {', '.join(same)}")
        return self


class EstimateBoard(Leaderboard):
    """A board of metrics with intervals. `labels` names entrants that are shown but not ranked.

    `statistic` is how episodes become a score: their interquartile mean or their mean; both are published. By default a
    metric from 0 to 1 uses the mean, because the interquartile mean of 0/1 scores is 1 from a rate of three quarters
    on; any other uses the interquartile mean. A rate that does not rank is always a mean, unless `statistics` declares
    otherwise for it. `quantiles` are shown in a table of their own, of any declared metric; 1 is the maximum.
    """

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("episodes", "predictions")

    method: Literal["estimate"]
    metrics: list[MetricName] = Field(min_length=1, max_length=100)
    rank_by: MetricName | None = None
    statistic: Statistic | None = None
    statistics: dict[MetricName, Statistic] = Field(default_factory=dict)
    labels: dict[Name, Title] = Field(default_factory=dict)
    quantiles: dict[MetricName, Quantiles] = Field(default_factory=dict)
    optimality_gap: OptimalityGap | None = None
    profile: Profile | None = None
    composite: Composite | None = None
    uncertainty: EstimateUncertainty = Field(default_factory=EstimateUncertainty)

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if len(set(self.metrics)) != len(self.metrics):
            raise ValueError("metrics: one is named twice")
        if self.rank_by is not None and self.rank_by not in self.metrics:
            raise ValueError("rank_by must be one of metrics")
        if unknown := sorted(set(self.statistics) - set(self.metrics)):
            raise ValueError(f"statistics: not among metrics: {', '.join(unknown)}")
        return self

    @property
    def ranked(self) -> str:
        """Return the metric that ranks: the declared one, or the first."""
        return self.rank_by or self.metrics[0]

    def statistic_of(self, metric: str, declared: Metric) -> Statistic:
        """Return the statistic that turns episodes into the score of a metric."""
        if metric in self.statistics:
            return self.statistics[metric]
        if declared.is_rate and metric != self.ranked:
            return "mean"
        return self.statistic or ("mean" if declared.is_share else "iqm")

    def metric_names(self) -> tuple[str, ...]:
        """Return the metrics of the board, and those whose quantiles it shows."""
        return tuple(dict.fromkeys([*self.metrics, *self.quantiles]))

    def required_metrics(self) -> tuple[str, ...]:
        """Return the metric that ranks."""
        return (self.ranked,)

    def ranked_tasks(self) -> Collection[str] | None:
        """Return the tasks of the board; for a composite, those with a weight."""
        return self.tasks if self.composite is None else self.composite.weights


def drawn_meta(spec: EstimateBoard) -> dict[str, Any]:
    """Return how the intervals of a board's tables were computed, for their `meta`.

    >>> drawn_meta(EstimateBoard(name="main", method="estimate", metrics=["success"]))["n_resamples"]
    2000
    """
    drawn = spec.uncertainty
    return {
        "method": spec.method,
        "interval": "percentile bootstrap",
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
    }
