"""What a benchmark of episodes declares beside the common keys. Read by the modules beside it."""

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from app.manifest.model import ColumnName, Common, Grid, KindPart, MetricName, Name, Part, tasks_of_boards


class Episodes(Part):
    """Which columns of an episode give its condition and identify its repetitions.

    A dotted name reads a nested object: `metadata.member`. Of several names for the condition an episode has one.
    Without `condition` every episode has the same one. `entrant` and `seed` are the columns of these names where
    nothing else is stated; with `seed: null` there are no seeds, and intervals rest on items. `boolean` are metrics
    whose cells are only true or false, as `success` is in every file of CHAMBER.
    """

    entrant: ColumnName = Field("entrant", description="the column that names the entrant")
    seed: ColumnName | None = Field(
        "seed",
        description="the column of the seed; null: there are no seeds, every row has seed 0, and items are resampled",
    )

    condition: ColumnName | Annotated[list[ColumnName], Field(min_length=1, max_length=10)] | None = Field(
        "metadata.condition",
        description="the column of the condition, or several of which each row has one; null: only one condition",
    )
    item: list[ColumnName] = Field(
        default=["episode_idx", "initial_state_seed"],
        min_length=1,
        description="the columns that identify a row within a seed and task",
    )
    conditions: list[Name] | None = Field(None, min_length=1, description="the closed list of conditions")
    task: ColumnName | None = Field(None, description="the column that names the task")
    boolean: list[MetricName] = Field(
        default_factory=list, max_length=100, description="metrics whose cells must be true or false"
    )

    @property
    def condition_paths(self) -> tuple[str, ...]:
        """Return the columns that may give an episode's condition; empty where there is only one condition."""
        if self.condition is None:
            return ()
        return (self.condition,) if isinstance(self.condition, str) else tuple(self.condition)


class EpisodesPart(KindPart):
    """The columns of episodes; None means the default for every key."""

    axes: ClassVar[tuple[str, ...]] = ("seeds", "conditions", "items")
    episodes: Episodes | None = Field(None, description="which columns of an episode hold its condition, seed and item")
    seeds: Literal["own", "shared"] | None = Field(
        None,
        description="own: a seed is an entrant's own, such as that of its training, and says nothing of another"
        " entrant's seed of the same number; shared: a seed fixes what every entrant met with it, such as the"
        " environment, so that entrants are compared seed by seed; own by default",
    )

    @property
    def where(self) -> Episodes:
        """Return where an episode says what, whether it is declared or not."""
        return self.episodes or Episodes()

    def has_seeds(self) -> bool:
        """Say whether episodes have seeds."""
        return self.where.seed is not None

    def shares_seeds(self) -> bool:
        """Say whether units of the same name are the same for every entrant; items are, where there are no seeds."""
        return self.seeds == "shared" or not self.has_seeds()

    def conditions_of(self, common: Common) -> Collection[str] | None:
        """Return the closed list of conditions, empty where there is only one condition, None where any may come."""
        if not self.where.condition_paths:
            return ()
        grid = common.grid
        if self.where.conditions is not None or grid is None:
            return self.where.conditions
        if grid.conditions is None:
            return None
        lists = [axes.conditions or () for axes in (grid, *grid.tasks.values(), *grid.entrants.values())]
        return tuple(dict.fromkeys(name for names in lists for name in names))

    def open_axes(self, common: Common) -> Sequence[str]:
        """Return tasks, or what the grid of some task leaves open: seeds, conditions, items."""
        tasks, grid = tasks_of_boards(common), common.grid or Grid()
        if tasks is None:
            return ("tasks",)
        has = ("seeds", "conditions", "items") if self.where.condition_paths else ("seeds", "items")
        own = [grid.of(task, "") for task in tasks]
        chosen = grid.registration_may_choose
        return [axis for axis in has if axis not in chosen and any(getattr(axes, axis) is None for axes in own)]

    def complaints(self, common: Common) -> Iterator[str]:
        """Yield metrics that are declared boolean but are not the benchmark's, and seeds that there are none of."""
        if self.seeds is not None and self.where.seed is None:
            yield "seeds: there are none, for episodes.seed is null; items are the units, and leave this key out"
        for name in self.where.boolean:
            if name not in common.metrics:
                yield f"episodes.boolean: {name} is not among the declared metrics"
