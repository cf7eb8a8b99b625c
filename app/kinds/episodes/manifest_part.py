"""What a benchmark of episodes declares beside the common keys."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from app.manifest.model import FILE, ColumnName, Common, Grid, KindPart, MetricName, Name, Part, tasks_of_boards


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
        description="the column of the seed; null: there are no seeds, every row has seed 0, which a grid need not"
        " name, and items are resampled",
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
    recorded: list[ColumnName] = Field(
        default_factory=list,
        max_length=20,
        description="columns that are stored and shown with an item, such as its text and the answer, never used in"
        " computations; of logs of evaluation harnesses `input`, `target` and `answer`",
    )

    @property
    def condition_paths(self) -> tuple[str, ...]:
        """Return the columns that may give an episode's condition; empty where there is only one condition."""
        if self.condition is None:
            return ()
        return (self.condition,) if isinstance(self.condition, str) else tuple(self.condition)


class Items(Part):
    """Which items belong together. The name of an item then begins with its cluster and a slash, as in `p1/q3`."""

    cluster: ColumnName = Field(
        description="the column that names what an item has in common with others of its task, such as the passage of"
        " its question: items of one cluster count as one unit of intervals, ranks and claims, and a passage in two"
        " tasks as two; needs `episodes: {seed: null}`, and a grid that names the items as cluster/item"
    )


UP_TO_SLASH = re.compile(r"(?:[^\\/]|\\.)*")
"""The first part of an item's name: a slash within a part is escaped, see `EpisodeCells.item`."""


class EpisodesPart(KindPart):
    """The columns of episodes; None means the default for every key."""

    axes: ClassVar[tuple[str, ...]] = ("seeds", "conditions", "items")
    episodes: Episodes | None = Field(None, description="which columns of an episode hold its condition, seed and item")
    seeds: Literal["own", "shared"] | None = Field(
        None,
        description="own: a seed is an entrant's own, such as that of its training, and says nothing of another"
        " entrant's seed of the same number; shared: a seed fixes what every entrant met with it, such as the"
        " environment, so that entrants are compared seed by seed, by numbers that a harness should give: who numbers"
        " seeds like a rival's, best by best, gains; own by default",
    )
    items: Items | None = Field(None, description="which items belong together, where there are no seeds")

    @classmethod
    def prepared(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the document with the only seed of a grid where there are none: every row has seed 0."""
        where, grid = document.get("episodes"), document.get("grid")
        has_none = isinstance(where, Mapping) and where.get("seed", ...) is None
        if not has_none or not isinstance(grid, Mapping) or grid.get("seeds") is not None:
            return document
        free = grid.get("registration_may_choose")
        is_chosen = isinstance(free, Mapping) and "seeds" in free
        return document if is_chosen else {**document, "grid": {**grid, "seeds": [0]}}

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

    @property
    def item_columns(self) -> list[str]:
        """Return the columns whose cells name an item, that of its cluster first."""
        own = self.where.item
        return (
            own if self.items is None else [self.items.cluster, *(name for name in own if name != self.items.cluster)]
        )

    @property
    def splits_items(self) -> bool:
        """Say whether one item could be said to be of two clusters: the cluster is a column beside those of an item."""
        return self.items is not None and self.items.cluster not in self.where.item

    def unit_of(self, item: str) -> str:
        """Return the cluster of an item, with which it is drawn where there are no seeds; itself without clusters."""
        found = None if self.items is None else UP_TO_SLASH.match(item)
        return item if found is None else found.group()

    def complain_about_item(self, item: str, clusters: dict[str, str]) -> str | None:
        """Return what is wrong with an item that the grid of a task names; see `KindPart`."""
        if self.items is None:
            return None
        cluster = self.unit_of(item)
        own = item[len(cluster) + 1 :]
        if not cluster or not own:
            return f"the item {item} names no cluster; expected {'/'.join(self.item_columns)}"
        if self.splits_items and (known := clusters.setdefault(own, cluster)) != cluster:
            return f"the item {own} is in two clusters, {known} and {cluster}; expected one"
        return None

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
        lacks = {"seeds": not self.has_seeds(), "conditions": not self.where.condition_paths}
        has = [axis for axis in self.axes if not lacks.get(axis)]
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
        yield from () if self.items is None else self._about_clusters(common, self.items.cluster)

    def _about_clusters(self, common: Common, cluster: str) -> Iterator[str]:
        """Yield why clusters cannot be drawn. Nobody but the steward may say which items belong together."""
        grid, tasks = common.grid or Grid(), tasks_of_boards(common) or ("",)
        if self.has_seeds():
            yield "items.cluster: seeds are drawn, which hold what items vary by; expected episodes.seed: null"
            return
        if self.item_columns == [cluster]:
            yield f"items.cluster: {cluster} alone is the item, so it is a cluster of its own; expected another column"
            return
        of_entrants = (axes.items for axes in grid.entrants.values() if axes.items is not None)
        listed = [*(grid.of(task, "").items for task in tasks), *of_entrants]
        if any(not isinstance(items, list) and items != FILE for items in listed):
            yield (
                "items.cluster: who sends rows could say which items belong together; expected grid.items as a list or "
                f"`file`, each item as {'/'.join(self.item_columns)}"
            )
        lists = {id(items): items for items in listed if isinstance(items, list)}.values()
        yield from (f"grid.items: {text}" for items in lists for text in self._wrong(items))

    def _wrong(self, items: Sequence[str]) -> Iterator[str]:
        clusters: dict[str, str] = {}
        complaints = [text for item in items if (text := self.complain_about_item(item, clusters))]
        yield from complaints[:1]
        if not complaints and (text := self.complain_about_items(items)):
            yield text
