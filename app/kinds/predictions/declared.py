"""What is predicted, as a manifest declares it under `predictions`."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.kinds.contract import LabelSource
from app.manifest.model import Part

TaskType = Literal["binary", "multiclass", "regression", "ranking"]
PredictionKind = Literal["classification", "regression", "ranking"]
# Wider than a name, for classes such as `<=50K` and `-1`; still nothing that a spreadsheet takes for a formula.
CLASS_PATTERN = r"[A-Za-z0-9_<>][A-Za-z0-9 ._+()<>=/&:-]{0,99}|[-+]?[0-9]{1,9}"
Truncation = Annotated[int, Field(ge=1, le=10_000)]
Threshold = Annotated[float, Field(gt=0.0, lt=1.0)]
MOST_THRESHOLDS = 5
ClassName = Annotated[str, StringConstraints(pattern=rf"^(?:{CLASS_PATTERN})$")]


class Truncations(Part):
    """How many items from the top of each ranking count, metric by metric."""

    ndcg: Truncation = Field(5, description="the depth of NDCG")
    mrr: Truncation = Field(5, description="the depth of MRR")
    map: Truncation = Field(5, description="the depth of MAP")


class Predictions(Part):
    """What is predicted, and whose labels it is scored against.

    `labels: private` are the benchmark's, never served, and scored as `scoring` says; `public` are the benchmark's too
    and no secret, so that everything is shown at once; `submitted` come with each upload and are marked as such.
    `label_holders` says whether entrants of who can read private labels are ranked: by default they are references,
    listed without a rank. `missing` says whether an item without a prediction fails the upload or counts as a failure.
    `positive` is the class whose probability a binary prediction is, by default the second one. The probabilities of
    all classes sum to one within `sum_tolerance`. `truncation` is one number for every metric of rankings, or one for
    each. `thresholds` are where a score begins to call the class: reports mark them, and tests of two classes compare
    them.
    """

    kind: PredictionKind = Field(description="classification, regression or ranking")
    classes: list[ClassName] | None = Field(
        None, min_length=2, max_length=1000, description="the classes, in the order of the columns"
    )
    positive: ClassName | None = Field(None, description="the positive class, of two")
    labels: LabelSource = Field(
        "private", description="private: the steward uploads them, and no endpoint returns them"
    )
    label_holders: Literal["reference", "ranked"] = Field(
        "reference", description="entrants of who can read private labels: reference, listed without a rank, or ranked"
    )
    missing: Literal["refuse", "failure"] = Field("refuse", description="how an item without a prediction is treated")
    truncation: Truncation | Truncations = Field(5, description="the depth of the metrics of a ranking")
    sum_tolerance: float = Field(
        1e-3, ge=0.0, le=0.1, description="how far the sum of an item's probabilities may be from 1"
    )
    thresholds: list[Threshold] = Field(
        [0.5],
        min_length=1,
        max_length=MOST_THRESHOLDS,
        description="decision thresholds: marked in reports, compared by the tests",
    )

    @model_validator(mode="after")
    def _classes_agree(self) -> Self:
        if (self.kind == "classification") != (self.classes is not None):
            raise ValueError("classes are declared for classification, and only for it")
        if self.classes is not None and len(set(self.classes)) != len(self.classes):
            raise ValueError("a class is declared twice")
        if self.positive is not None and (self.classes is None or self.positive not in self.classes):
            raise ValueError("positive must be one of the classes")
        if self.positive is not None and self.positive_number is None:
            raise ValueError("positive is one of two classes; with more of them, each is compared with the rest")
        if self.classes is None and "thresholds" in self.model_fields_set:
            raise ValueError("thresholds are declared for classification, and only for it")
        if "label_holders" in self.model_fields_set and self.labels != "private":
            raise ValueError(f"label_holders is about labels that are a secret; labels says {self.labels}")
        if len(set(self.thresholds)) != len(self.thresholds):
            raise ValueError("a threshold is declared twice")
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

    @property
    def task_type(self) -> TaskType:
        """Return which metrics there are: two classes and several have different ones."""
        if self.kind == "classification":
            return "multiclass" if self.positive_number is None else "binary"
        return self.kind

    def truncation_of(self, metric: str) -> int:
        """Return how many items from the top count for a metric of rankings; one at the first rank looks at all."""
        n_items: int = self.truncation if isinstance(self.truncation, int) else getattr(self.truncation, metric, 1)
        return n_items

    @property
    def units(self) -> str:
        """Return what a resample draws, in words."""
        return "groups" if self.kind == "ranking" else "examples"

    def asks_the_same(self, other: "Predictions") -> bool:
        """Say whether stored labels and predictions mean the same under another version of the manifest."""
        return (self.kind, self.classes, self.positive_number, self.labels) == (
            other.kind,
            other.classes,
            other.positive_number,
            other.labels,
        )
