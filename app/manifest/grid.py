"""The grid of a benchmark as its manifest declares it: task × condition × seed × item, the denominator of every number.

Part of `app.manifest.manifest`; `app.manifest.asked` resolves it for one entrant. Cells of the grid that a submission
lacks count as attempted and absent. Submitters never decide the grid.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.manifest.base import Name, Part, TaskName

FILE = "file"
"""The value of `items` where a steward uploads them as a file."""

Count = Annotated[int, Field(ge=1, le=10_000_000)]
ItemName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Seeds = Annotated[list[Seed], Field(min_length=1, max_length=100_000)]
Conditions = Annotated[list[Name], Field(min_length=1, max_length=10_000)]
Items = Annotated[list[ItemName], Field(min_length=1, max_length=100_000)]
FreeAxis = Literal["seeds", "conditions"]
Absent = Literal["worst", "unranked"]


class Axes(Part):
    """The axes of a grid besides its tasks; an axis that is not given is open.

    `seeds` is the number per task, the same for all of its conditions, or a list; `conditions` is a list. `items` is
    the number per task, condition and seed, or a list, or `file`: a steward uploads them as a table.
    """

    seeds: Count | Seeds | None = None
    conditions: Conditions | None = None
    items: Count | Items | Literal["file"] | None = None

    @model_validator(mode="after")
    def _has_no_repeat(self) -> Self:
        for axis in ("seeds", "conditions", "items"):
            named = getattr(self, axis)
            if isinstance(named, list) and len(set(named)) < len(named):
                raise ValueError(f"{axis}: one is named twice")
        return self

    def or_else(self, other: "Axes") -> "Axes":
        """Return these axes, with those not given taken from another."""
        mine = {axis: getattr(self, axis) for axis in Axes.model_fields}
        # Both are already validated, and validating long lists of items again takes time.
        return Axes.model_construct(
            **{axis: getattr(other, axis) if given is None else given for axis, given in mine.items()}
        )


class AtLeast(Part):
    """How many values of an axis a registration must name where it may choose them."""

    at_least: Count


class Grid(Axes):
    """What every entrant is asked for, and how missing cells are treated.

    `tasks` and `entrants` override axes for some of them: a task may have its own items, a pair trained together its
    own condition. `absent: worst` gives absent cells the worst value of the metric's range; `unranked` lists incomplete
    entrants separately, without a rank. `registration_may_choose` leaves an axis to registrations: its values are those
    named before the run, at least as many as required.
    """

    tasks: dict[TaskName, Axes] = Field(default_factory=dict)
    entrants: dict[Name, Axes] = Field(default_factory=dict)
    absent: Absent = "unranked"
    registration_may_choose: dict[FreeAxis, AtLeast] = Field(default_factory=dict)

    def of(self, task: str, entrant: str) -> Axes:
        """Return the axes of a task for an entrant: the entrant's override the task's."""
        nothing = Axes()
        own = self.entrants.get(entrant, nothing).or_else(self.tasks.get(task, nothing))
        return own.or_else(self)

    @property
    def has_file(self) -> bool:
        """Say whether some items come from a file that a steward uploads."""
        return any(axes.items == FILE for axes in (self, *self.tasks.values(), *self.entrants.values()))

    def complaints(self, tasks: tuple[str, ...] | None, unbounded: Mapping[str, str]) -> Iterator[str]:
        """Yield what contradicts the rest of the manifest.

        `unbounded` are ranking metrics without a worst value, each with the name of the end that it lacks.
        """
        for task in self.tasks:
            if tasks is not None and task not in tasks:
                yield f"grid.tasks: {task} is not among the declared tasks"
        if self.absent == "worst":
            for metric, end in unbounded.items():
                yield (
                    f"grid.absent: worst needs the worst value that there is, and metrics.{metric} has no {end}; "
                    f"declare it, or say unranked"
                )
        for axis in self.registration_may_choose:
            if getattr(self, axis) is not None:
                yield f"grid.{axis}: is given here and also left to the registration; say one of them"
