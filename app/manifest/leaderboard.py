"""What every leaderboard declares and can be asked, whatever its method.

A method extends it in its own module in `app.boards`: `app.manifest.build` receives those classes.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Self

from pydantic import Field, PrivateAttr, field_validator

from app.manifest.base import Part, Slug, TaskName, Title
from app.manifest.explored import Explored, common_values
from app.manifest.metric import Metric
from app.manifest.tasks import Task
from app.manifest.uncertainty import FEWEST_RESAMPLES, Uncertainty

# Only `app.kinds.known` knows which kinds exist.
EvidenceKind = str


class Leaderboard(Part):
    """What every leaderboard declares, whatever its method; methods extend it in their own file.

    `evidence_kinds` are those that a method can read; `can_lack_intervals` means that it works without resamples,
    `needs_known_tasks` that it has no open list of tasks, `is_of_opponents` that scores depend on who is compared,
    `is_mean` that a score is a mean of `metric`, in its unit.
    """

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("evaluation_summary",)
    can_lack_intervals: ClassVar[bool] = False
    needs_known_tasks: ClassVar[bool] = False
    is_of_opponents: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False

    name: Slug
    title: Title | None = None
    description: str | None = Field(None, max_length=5000)
    method: str
    tasks: list[TaskName] | None = Field(None, min_length=1)
    uncertainty: Uncertainty = Field(default_factory=Uncertainty)
    _explored: Explored | None = PrivateAttr(default=None)

    @property
    def explored(self) -> Explored | None:
        """Return a reader's settings; None for the published board."""
        return self._explored

    def as_chosen(self, tasks: Collection[str] | None, explored: Explored) -> Self:
        """Return the board over some of its tasks (None: all) with a reader's settings."""
        chosen = self if tasks is None else self.over(tasks)
        chosen = chosen.model_copy()
        chosen._explored = explored
        return chosen

    def over(self, tasks: Collection[str]) -> Self:
        """Return the board over some of its tasks."""
        return self.model_copy(update={"tasks": sorted(tasks)})

    def required_entrants(self) -> tuple[str, ...]:
        """Return the entrants that every score of the board is relative to."""
        return ()

    def against(self, baseline: str) -> Self | None:
        """Return the board with scores relative to another entrant; None if its scores are not relative."""
        del baseline
        return None

    def imputes(self) -> bool:
        """Say whether an absent value is replaced by another entrant's, so that entrants with gaps are ranked."""
        return False

    def compares_ratios(self) -> bool:
        """Say whether two entrants are compared by the ratio of their values, not the difference."""
        return False

    def groups_of_tasks(self, tasks: Sequence[Task]) -> Mapping[str, Collection[str]]:
        """Return the tasks of each group that a reader can choose or weigh, by the group's name."""
        return common_values((task.id, task.where) for task in tasks)

    def weighable(self, tasks: Sequence[Task]) -> Collection[str] | None:
        """Return what a reader can weigh; None where the method has no weights."""
        return None

    @field_validator("uncertainty")
    @classmethod
    def _draws_if_it_must(cls, uncertainty: Uncertainty) -> Uncertainty:
        if not uncertainty.n_resamples and not cls.can_lack_intervals:
            raise ValueError(f"n_resamples must be at least {FEWEST_RESAMPLES}: this method has no board without them")
        return uncertainty

    def metric_names(self) -> tuple[str, ...]:
        """Return the metrics that the board reads; each must be declared by the manifest."""
        return ()

    def required_metrics(self) -> tuple[str, ...]:
        """Return the metrics without which the board cannot rank; the others may be missing."""
        return self.metric_names()

    def worst_of(self, metric: Metric) -> float | None:
        """Return the value that replaces an absent one of a ranking metric under `absent: worst`; None: none."""
        return metric.worst

    def ranked_tasks(self) -> Collection[str] | None:
        """Return the tasks whose rows the board reads, None for all of them."""
        return self.tasks

    def check_metric(self, metric: Metric) -> str | None:
        """Return why a declared metric cannot be used by this board's method, or None when it can."""
        return None
