"""What is asked of an entrant: the manifest's grid, with items uploaded by a steward and axes that were registered.

Provided by `app.manifest.manifest.Manifest`; filled by `app.store.grids`, read by `app.boards.coverage` and by the
admission rules. Pure values: nothing here knows who else submitted.
"""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from app.manifest.grid import Axes, FreeAxis, Grid

EVERY_TASK = ""
"""The key of a file's items that are the same for every task."""

PUBLIC_PART, PRIVATE_PART = "public", "private"
"""The parts of private labels: the public one decides until the benchmark closes, then the private one."""

Chosen = Mapping[str, Sequence[Any]]
"""The values that a registration names for the axes it may choose, by axis."""


@dataclass(frozen=True)
class GridFacts:
    """What determines the grid besides the manifest's own text.

    `items` are those uploaded by a steward, by task (`EVERY_TASK`: the same for each), and `digest` is that of their
    bytes; None before the upload. `chosen` are the registered axes of entrants. `earlier` are the grids under which
    entrants were admitted, where they differ from today's: cells that they did not ask for are not absent. `owners` are
    the entrants' owners, which matter where an axis is open. `part` is the part of private labels that decides now, see
    `PUBLIC_PART` and `PRIVATE_PART`; None where nothing is held back. `is_exact` leaves their scores as they are, for
    stewards alone. `label_holders` are the entrants of who can read these labels, whom only a manifest that says so has
    ranked.
    """

    items: Mapping[str, Sequence[str]] | None = None
    digest: str | None = None
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    earlier: Mapping[str, Sequence["Asked"]] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    part: str | None = None
    is_exact: bool = False
    label_holders: frozenset[str] = frozenset()
    ranks_label_holders: bool = False

    @property
    def references(self) -> frozenset[str]:
        """Return the entrants that are shown for comparison, without a rank, because who sent them has the labels."""
        return frozenset() if self.ranks_label_holders else self.label_holders

    def owners_of(self, entrants: Sequence[str]) -> list[Hashable]:
        """Return the owner of each entrant; an entrant without a known owner counts as its own."""
        return [self.owners.get(name, (name,)) for name in entrants]


NO_FACTS = GridFacts()


class ItemNames(tuple[str, ...]):
    """Items by name, as a shared object: the set of a million names is needed for every entrant and task."""

    @cached_property
    def known(self) -> frozenset[str]:
        """Return the names as a set."""
        return frozenset(self)

    @cached_property
    def _common(self) -> dict[int, tuple["ItemNames", "ItemNames"]]:
        return {}

    def common(self, other: "ItemNames") -> "ItemNames":
        """Return the names that `other` has too, in this order; the same object for the same `other`."""
        if self is other:
            return self
        of, names = self._common.get(id(other), (None, self))
        if of is not other:
            names = ItemNames(name for name in self if name in other.known)
            self._common[id(other)] = (other, names)
        return names


KnownNames = dict[int, tuple[Sequence[str], ItemNames]]
"""Lists of items by `id()`, each with its names."""


@dataclass(frozen=True)
class Cells:
    """The cells of one task: seeds and items by name or as a count, conditions by name. None where an axis is open."""

    seeds: int | tuple[int, ...] | None
    conditions: tuple[str, ...] | None
    items: int | tuple[str, ...] | None


@dataclass(frozen=True)
class Asked:
    """A grid with all that it is made of. `tasks` is the closed list of tasks, None where tasks are open.

    `metrics` are those that the manifest has. `known_names` is the manifest's own, which outlives this value.
    """

    grid: Grid
    tasks: tuple[str, ...] | None
    facts: GridFacts = NO_FACTS
    metrics: tuple[str, ...] = ()
    known_names: KnownNames = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def text(self) -> str:
        """Return everything that determines the grid except owners, as JSON text, with items as their digest."""
        parts = [self.grid.model_dump(mode="json"), self.tasks, self.facts.digest, self.metrics]
        return json.dumps(parts, sort_keys=True)

    def has_asked(self, entrant: str, metrics: Iterable[str]) -> bool:
        """Say whether every one of some metrics was asked of an entrant when it was admitted."""
        earlier = self.facts.earlier.get(entrant, ())
        return not earlier or any(set(metrics) <= set(asked.metrics) for asked in earlier)

    def cells_of(self, task: str, entrant: str) -> Cells:
        """Return the cells asked of an entrant in a task."""
        axes = self.grid.of(task, entrant)
        seeds = self._axis("seeds", axes.seeds, entrant)
        conditions = self._axis("conditions", axes.conditions, entrant)
        return Cells(seeds, conditions, self._items(axes, task))

    @cached_property
    def named_items(self) -> frozenset[str] | None:
        """Return the names of all items of the grid; None where they are not named, or not yet uploaded."""
        grid = self.grid
        given = [axes.items for axes in (grid, *grid.tasks.values()) if axes.items is not None]
        put = self.facts.items
        lists = [items for items in given if isinstance(items, list)]
        if not given or any(isinstance(items, int) for items in given) or (grid.has_file and put is None):
            return None
        of_file = [] if put is None or not grid.has_file else put.values()
        return frozenset(name for names in (*lists, *of_file) for name in names)

    def asks_the_same(self, other: "Asked", tasks: Sequence[str], entrant: str) -> bool:
        """Say whether another grid asks the same of an entrant in some tasks."""
        return all(self.cells_of(task, entrant) == other.cells_of(task, entrant) for task in tasks)

    def fewest(self, axis: FreeAxis) -> int:
        """Return how many values of an axis registrations must name; 0 where they choose none."""
        free = self.grid.registration_may_choose.get(axis)
        return 0 if free is None else free.at_least

    def _axis(self, axis: str, given: Any, entrant: str) -> Any:
        if axis in self.grid.registration_may_choose:
            given = self.facts.chosen.get(entrant, {}).get(axis)
        return tuple(given) if isinstance(given, (list, tuple)) else given

    def _items(self, axes: Axes, task: str) -> int | tuple[str, ...] | None:
        if not isinstance(axes.items, str):
            return self._names(axes.items) if isinstance(axes.items, list) else axes.items
        put = self.facts.items
        return None if put is None else self._names(put.get(task, put.get(EVERY_TASK, ())))

    def _names(self, items: Sequence[str]) -> ItemNames:
        """Return the names of a list of items, the same object for the same list."""
        of, names = self.known_names.get(id(items), (None, ItemNames()))
        if of is not items:
            names = ItemNames(items)
            self.known_names[id(items)] = (items, names)
        return names
