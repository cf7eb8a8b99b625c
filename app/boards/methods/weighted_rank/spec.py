"""The declaration of a board of weighted ranks: rule, weights and the tie-breaking component.

Read by `.method` and the modules beside it.
"""

from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from app.boards.methods.weighted_rank.identity import levels_of
from app.manifest.base import MetricName
from app.manifest.explored import Explored
from app.manifest.leaderboard import EvidenceKind, Leaderboard
from app.manifest.manifest import KindPart
from app.manifest.tasks import Task

WEIGHT_TOLERANCE = 1e-6
NO_TIE_BREAK = "none"


class RankedPart(KindPart):
    """What the method needs from a kind's part of the manifest; kinds override the defaults."""

    def enrolled(self) -> Sequence[str] | None:
        """Return who is ranked; None for every entrant with rows."""
        return None

    def is_of_every_record(self, metric: str) -> bool:
        """Say whether every record can have a value of a metric; one that compares two records may have none."""
        del metric
        return True

    def asked_on(self, metric: str, estimator: str) -> Collection[str] | None:
        """Return the strata and records on which a metric exists for an estimator; None where nothing is declared."""
        del metric, estimator
        return None

    def is_of_pairs(self, metric: str) -> bool:
        """Say whether a metric compares a stressed series with its clean one, and so fails with either."""
        del metric
        return False

    def reason_of(self, metric: str) -> str | None:
        """Return which entry of a row's metadata declares a null of a metric although the estimate is valid."""
        del metric
        return None

    def are_stressed(self) -> bool:
        """Say whether records are contaminated versions of clean series, which are the units then."""
        return False

    def board_meta(self) -> dict[str, Any]:
        """Return the benchmark's entries for a board's `meta`."""
        return {}


class WeightedRank(Leaderboard):
    """A board of weighted ranks. Rule 2 shares ranks between ties; rule 1 breaks them by name, as lrdbench once did.

    A weighted metric with several levels (`coverage@0.5@0.95`) is the mean over them. Equal scores are ordered by the
    value of `tie_break`, by default the first component; under `none` they share a rank.
    """

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("series_metrics",)
    is_of_opponents = True

    method: Literal["weighted_rank"]
    ranking_rule: Literal[1, 2] = 2
    weights: dict[MetricName, float] = Field(min_length=1, max_length=50)
    tie_break: MetricName | None = None

    @model_validator(mode="after")
    def _weights_are_shares(self) -> Self:
        outside = [name for name, weight in self.weights.items() if not 0.0 <= weight <= 1.0]
        if outside:
            raise ValueError(f"weights: each is from 0 to 1; not so {', '.join(outside)}")
        total = sum(self.weights.values())
        if abs(total - 1.0) > WEIGHT_TOLERANCE:
            raise ValueError(f"weights: they sum to {total:g}; expected 1")
        if self.tie_break not in (None, NO_TIE_BREAK, *self.weights):
            raise ValueError(f"tie_break must be one of the weighted metrics, or {NO_TIE_BREAK}")
        return self

    def as_chosen(self, tasks: Collection[str] | None, explored: Explored) -> Self:
        """Return the board with a reader's own weights; a weight of 0 removes its metric."""
        chosen = super().as_chosen(tasks, explored)
        if not explored.weights:
            return chosen
        wanted = {name: weight for name, weight in {**self.weights, **explored.weights}.items() if weight}
        weights = {name: weight / sum(wanted.values()) for name, weight in wanted.items()}
        tie_break = self.tie_break if self.tie_break in (None, NO_TIE_BREAK, *weights) else None
        return chosen.model_copy(update={"weights": weights, "tie_break": tie_break})

    def weighable(self, tasks: Sequence[Task]) -> Collection[str]:
        """Return its components."""
        return list(self.weights)

    def metric_names(self) -> tuple[str, ...]:
        """Return the weighted metrics; a metric with a level includes it (`coverage_error@0.95`)."""
        return tuple(metric for component in self.weights for metric in levels_of(component))
