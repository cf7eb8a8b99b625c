"""The benchmark manifest as values: metrics, tasks, admission rules, leaderboards.

Read by every room above. Keys of one kind of evidence are that kind's part of it, and keys of a ranking method are
declared in the method's module in `app.boards`: `app.manifest.build` receives both.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, PrivateAttr, SerializeAsAny

from app.manifest.admission import Admission
from app.manifest.asked import NO_FACTS, Asked, GridFacts, KnownNames
from app.manifest.base import MetricName, Name, Part, Slug, Title
from app.manifest.declared_metadata import MOST_DECLARED, DescribedBy
from app.manifest.grid import Absent, Grid
from app.manifest.leaderboard import EvidenceKind, Leaderboard
from app.manifest.metric import Metric
from app.manifest.tasks import OpenTasks, Task

# Marks a key that no measurement depends on: changing only such keys keeps stored measurements.
NOT_MEASURED = "no measurement depends on it"
AnyPart = TypeVar("AnyPart", bound="KindPart")


class Claim(Part):
    """A contrast that the benchmark decides for every entrant: first minus second, compared with a threshold.

    A single name is an arm: an entrant, or a condition of each entrant, whose own mean is compared.
    """

    contrast: list[Name] = Field(min_length=1, max_length=2)
    metric: MetricName
    threshold: float
    direction: Literal["greater", "less"] = "greater"


class Common(Part):
    """The keys of a manifest that every kind of evidence has. `leaderboards` hold the classes of their methods."""

    schema_version: Literal[1]
    slug: Slug
    title: Annotated[Title, NOT_MEASURED]
    description: Annotated[str, NOT_MEASURED] = Field("", max_length=50_000)
    evidence: EvidenceKind
    metrics: dict[MetricName, Metric] = Field(min_length=1)
    tasks: list[Task] | OpenTasks
    grid: Grid | None = None
    admission: Annotated[Admission, NOT_MEASURED] = Field(default_factory=Admission)
    metadata: Annotated[list[DescribedBy], NOT_MEASURED] = Field(default_factory=list, max_length=MOST_DECLARED)
    claims: Annotated[dict[Name, Claim], NOT_MEASURED] = Field(default_factory=dict)
    leaderboards: Annotated[list[Leaderboard], NOT_MEASURED] = Field(min_length=1)

    def task_ids(self) -> tuple[str, ...] | None:
        """Return the closed list of tasks, or None when tasks are open."""
        return None if isinstance(self.tasks, OpenTasks) else tuple(task.id for task in self.tasks)

    def leaderboard(self, name: str) -> Leaderboard:
        """Return the named board. Raises KeyError when there is none."""
        for board in self.leaderboards:
            if board.name == name:
                return board
        raise KeyError(name)


def tasks_of_boards(common: Common) -> Collection[str] | None:
    """Return the tasks that count on some board; None where a board is over open tasks."""
    lists = [common.task_ids() or board.ranked_tasks() for board in common.leaderboards]
    return None if None in lists else {task for tasks in lists for task in tasks or ()}


class KindPart(Part):
    """The keys of a manifest that belong to one kind of evidence; a kind that has none of its own uses this class.

    `metrics_form` is a short form of `metrics` that its manifests may use, which `prepared` expands. `bound` says in
    words what a benchmark already has whose meaning another version of this part must not change. `axes` are those of
    a grid that rows of the kind can have.
    """

    axes: ClassVar[tuple[str, ...]] = ()
    metrics_form: ClassVar[type[Part] | None] = None
    bound: ClassVar[str] = "evidence that would come to mean something else"

    @classmethod
    def prepared(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the document with short forms expanded, malformed ones unchanged. Raises ManifestRejected."""
        return document

    @classmethod
    def vocabulary(cls) -> tuple[str, ...]:
        """Return the names that its keys and metrics may use now; if they change, stored manifests are parsed again."""
        return ()

    def complaints(self, common: Common) -> Iterator[str]:
        """Yield the broken rules over several keys, each as `key: what is wrong`."""
        del common
        return iter(())

    def open_axes(self, common: Common) -> Sequence[str]:
        """Return the axes of the grid that the manifest leaves open; any of them makes a board provisional."""
        return ("tasks",) if tasks_of_boards(common) is None else ()

    def asks_what_was_seen(self) -> bool:
        """Say whether rows are to tell if their entrant has seen the task's data; where not, nothing is known of it."""
        return False

    def means_the_same(self, other: Self) -> bool:
        """Say whether what was stored under this part has the same meaning under another version of it."""
        del other
        return True


class Manifest(Common):
    """A benchmark as its steward declared it. `part` is what its kind of evidence declares, see `part_of`."""

    part: SerializeAsAny[KindPart]
    _facts: GridFacts = PrivateAttr(default=NO_FACTS)
    _known_names: KnownNames = PrivateAttr(default_factory=dict)

    def deciding(self) -> dict[str, Any]:
        """Return, ready for JSON, the keys besides the board's own that decide what is measured from given rows."""
        shown = {name for name, field in type(self).model_fields.items() if NOT_MEASURED in field.metadata}
        of_labels = {} if self._facts.part is None else {"labels_of": self._facts.part}
        of_labels |= {"precision": "exact"} if self._facts.is_exact else {}
        return {**self.model_dump(mode="json", exclude=shown), "items": self._facts.digest, **of_labels}

    def with_grid_facts(self, facts: GridFacts) -> Self:
        """Return the manifest with the facts that determine its grid besides its own text."""
        filled = self.model_copy()
        filled._facts = facts
        return filled

    @property
    def asked(self) -> Asked:
        """Return what is asked of entrants; without a declared grid every axis but the tasks is open."""
        return Asked(self.grid or Grid(), self.task_ids(), self._facts, tuple(self.metrics), self._known_names)

    @property
    def absent(self) -> Absent:
        """Return how cells that an entrant lacks are treated."""
        return (self.grid or Grid()).absent


def part_of(manifest: Manifest, part: type[AnyPart]) -> AnyPart:
    """Return a manifest's own part of its kind.

    Raises TypeError for another kind's manifest.
    """
    if not isinstance(manifest.part, part):
        raise TypeError(f"a manifest of evidence {manifest.evidence} has no {part.__name__}")
    return manifest.part
