"""What a benchmark of predictions declares beside the common keys, and its rules."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.metrics import METRICS, complaints_about
from app.manifest.model import DEFAULTS, Common, Grid, KindPart, Manifest, Scoring, part_of, tasks_of_boards

NOT_DECLARED = "predictions: a benchmark of predictions says what is predicted and whose labels it is scored against"


class PredictionsPart(KindPart):
    """What is predicted, and whose labels it is scored against."""

    axes: ClassVar[tuple[str, ...]] = ("items",)
    bound: ClassVar[str] = "predictions and labels of another kind, of other classes or with another public share"

    predictions: Predictions = Field(description="what is predicted, and the classes")
    scoring: Scoring | None = Field(
        None, description="how private labels are scored in public: parts, quotas, and when they close"
    )

    @model_validator(mode="before")
    @classmethod
    def _says_what_is_predicted(cls, keys: Any) -> Any:
        if isinstance(keys, Mapping) and keys.get("predictions") is None:
            raise ValueError(NOT_DECLARED)
        return keys

    @classmethod
    def vocabulary(cls) -> tuple[str, ...]:
        """Return the known metrics."""
        return tuple(METRICS)

    def complaints(self, common: Common) -> Iterator[str]:
        """Yield which metrics are none of such predictions, and whose direction is the other one."""
        directions = {name: metric.direction for name, metric in common.metrics.items()}
        yield from complaints_about(self.predictions, directions)
        if self.scoring is not None and self.predictions.labels != "private":
            yield f"scoring: is about labels that are a secret; predictions.labels says {self.predictions.labels}"

    def open_axes(self, common: Common) -> Sequence[str]:
        """Return tasks, or items where neither the benchmark's own labels nor the grid name or number them."""
        tasks, grid = tasks_of_boards(common), common.grid or Grid()
        if tasks is None:
            return ("tasks",)
        is_open = self.predictions.labels == "submitted" and any(grid.of(task, "").items is None for task in tasks)
        return ("items",) if is_open else ()

    def means_the_same(self, other: Self) -> bool:
        """Say whether packed labels and predictions, which hold numbers of classes, mean the same under another one."""
        return self.predictions.asks_the_same(other.predictions) and self.rules.chooses_alike(other.rules)

    @property
    def rules(self) -> Scoring:
        """Return how private labels are scored: as the manifest says, or by the defaults."""
        return self.scoring or DEFAULTS


def holds_labels(manifest: Manifest) -> bool:
    """Say whether the labels are the benchmark's own, put once by its steward, secret or not."""
    return part_of(manifest, PredictionsPart).predictions.labels != "submitted"


def has_private_labels(manifest: Manifest) -> bool:
    """Say whether the labels are the benchmark's own and a secret."""
    return part_of(manifest, PredictionsPart).predictions.labels == "private"


def ranks_label_holders(manifest: Manifest) -> bool:
    """Say whether the manifest has entrants ranked that were sent by who can read its private labels."""
    return part_of(manifest, PredictionsPart).predictions.label_holders == "ranked"


def scoring_of(manifest: Manifest) -> Scoring | None:
    """Return what is disclosed of private labels; None where there are none."""
    return part_of(manifest, PredictionsPart).rules if has_private_labels(manifest) else None
