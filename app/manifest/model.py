"""The benchmark manifest as values: metrics, tasks, admission rules, leaderboards.

`Metric` says what a metric of an upload means. Those that the server computes itself are in tables of their kind, such
as `app.kinds.predictions.metrics`. Keys of one kind of evidence are that kind's part of the manifest, and keys of a
ranking method are declared in the method's module in `app.boards`: `app.manifest.build` receives both.

Why: docs/adr/019-keys-of-a-manifest.md.
"""

import json
import re
from calendar import monthrange
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SerializeAsAny,
    StringConstraints,
    field_validator,
    model_validator,
)

from app.names import MAX_NAME, METRIC_PATTERN, NAME_RULE, SLUG_PATTERN, complain_about_name, is_name, plural
from app.prereg.fields import FailurePolicy

# Marks a key that no measurement depends on: changing only such keys keeps stored measurements.
NOT_MEASURED = "no measurement depends on it"

AnyPart = TypeVar("AnyPart", bound="KindPart")


# The base of every part of a manifest: immutable, no unknown keys, restricted names.


def refuse_no_name(text: str) -> str:
    """Return the text if it may be a name.

    Raises ValueError saying why it may not.
    """
    if not is_name(text):
        raise ValueError(complain_about_name(text))
    return text


# The validator also checks the length; description and length are given for readers of the schema.
_NAME_SCHEMA = {"minLength": 1, "maxLength": MAX_NAME}

Name = Annotated[str, AfterValidator(refuse_no_name), Field(description=NAME_RULE, json_schema_extra=_NAME_SCHEMA)]

MetricName = Annotated[str, StringConstraints(pattern=f"^{METRIC_PATTERN}$")]


class Part(BaseModel):
    """Base of every part of a manifest: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, strict=True)


class Claim(Part):
    """A contrast that the benchmark decides for every entrant: first minus second, compared with a threshold.

    A single name is an arm: an entrant, or a condition of each entrant, whose own mean is compared.
    """

    contrast: list[Name] = Field(
        min_length=1,
        max_length=2,
        description="first minus second, conditions or entrants; a single one is compared with the threshold itself",
    )
    metric: MetricName = Field(description="the metric that it concerns")
    threshold: float = Field(description="what the contrast is compared with")
    direction: Literal["greater", "less"] = Field("greater", description="the claimed side of the threshold")


# Only `app.kinds.registry` knows which kinds exist.
EvidenceKind = str

TaskName = Name

ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200)]

Title = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Task(Part):
    """One task of a closed list; `where` gives the value that each named column must have in its rows.

    `n_forecasts` is the number of forecasts in a run of it; a row may omit it but not contradict it.
    """

    id: TaskName = Field(description="the task's name, as rows give it")
    title: Title | None = Field(None, description="what pages call it")
    where: dict[ColumnName, Any] = Field(
        default_factory=dict,
        description="the value that each named column must have in the task's rows; others are refused",
    )
    about: dict[ColumnName, str | int | float] = Field(
        default_factory=dict,
        description="what is known of the task besides, such as its domain: it groups tasks as `where` does, and rows"
        " need not say it",
    )
    n_forecasts: int | None = Field(None, ge=1, le=2**53, description="how many forecasts one run of the task makes")
    family: Name | None = Field(
        None,
        description="the name of what it has in common with other tasks, such as their data set: tasks of one family"
        " count as one unit of intervals, ranks and pairs; by default each task is a family of its own",
    )

    @property
    def described(self) -> Mapping[str, Any]:
        """Return everything by which the task may be grouped with others; what its rows must have holds."""
        return {**self.about, **self.where}


Direction = Literal["minimize", "maximize"]


# How a manifest declares one metric: which way is better, its range, its unit, and the column it is read from.
#
# Part of `app.manifest.model`; read wherever values of a metric are oriented, bounded or shown.


class Metric(Part):
    """How to read one metric: which way is better, its range and its unit.

    `from` names its column if that is not its own name; with `above` the score is 1 where the column exceeds that
    value.
    """

    direction: Direction = Field(description="whether higher or lower is better")
    source: ColumnName | None = Field(None, alias="from", description="the column it is read from, if not its own name")
    above: float | None = Field(None, description="the score is 1 if the column is above this value, else 0")
    title: Title | None = Field(None, description="what pages call it")
    unit: str | None = Field(None, max_length=40, description="the unit of its values, such as ms")
    min: float | None = Field(None, description="the least possible value; anything below is refused")
    max: float | None = Field(None, description="the greatest possible value; anything above is refused")
    description: str | None = Field(None, max_length=2000, description="what it measures")

    @model_validator(mode="after")
    def _has_a_range(self) -> Self:
        if self.min is not None and self.max is not None and self.min >= self.max:
            raise ValueError(f"min must be below max: no score lies between {self.min:g} and {self.max:g}")
        return self

    @property
    def is_rate(self) -> bool:
        """Say whether the metric is the rate of an undesired event, such as a limit being exceeded."""
        return self.above is not None or (self.direction == "minimize" and (self.min, self.max) == (0.0, 1.0))

    @property
    def is_share(self) -> bool:
        """Say whether scores are 0/1 or shares: declared with `above`, or with the range 0 to 1."""
        return self.above is not None or (self.min, self.max) == (0.0, 1.0)

    def is_read_like(self, other: "Metric") -> bool:
        """Say whether a metric of the same name is read from the same column, with the same value to be above."""
        return (self.source, self.above) == (other.source, other.above)

    @property
    def worst(self) -> float | None:
        """Return the worst possible value; None where the declared range has no such end."""
        low, high = (self.min, self.max) if self.above is None else (0.0, 1.0)
        return low if self.direction == "maximize" else high

    @property
    def best(self) -> float | None:
        """Return the best possible value; None where the declared range has no such end."""
        low, high = (self.min, self.max) if self.above is None else (0.0, 1.0)
        return high if self.direction == "maximize" else low


Stream = Literal["independent", "fev", "chamber", "lrdbench"]


class Uncertainty(Part):
    """How a board's intervals are drawn; `n_resamples: 0` means no intervals, where the method allows it.

    `rng_seed` is the board's own; `seed` without the prefix is always an entrant's.
    """

    n_resamples: int = Field(
        1000, ge=0, le=100_000, description="how many resamples are drawn; 0: no intervals, if the method allows it"
    )
    level: float = Field(0.95, gt=0.5, lt=1.0, description="the confidence level")
    rng_seed: int = Field(0, ge=0, lt=2**63, description="the generator's seed")
    stream: Stream = Field(
        "independent",
        description="which random stream: an independent one, or that of another system, to reproduce its numbers",
    )

    @field_validator("n_resamples")
    @classmethod
    def _enough_or_none(cls, n_resamples: int) -> int:
        if 0 < n_resamples < FEWEST_RESAMPLES:
            raise ValueError(f"must be at least {FEWEST_RESAMPLES}, or 0 for no intervals")
        return n_resamples


@dataclass(frozen=True)
class Explored:
    """A reader's settings for a board, which is then computed without its pairs.

    `weights` multiply the board's weights of tasks, groups or components, by name; 0 leaves one out. `is_quick`: rank
    intervals may be wider than necessary, so that very many entrants are compared within a second. `beside` are
    entrants whom scores are relative to and who are not on the board, because the reader named others.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    is_quick: bool = False
    beside: tuple[str, ...] = ()


Slug = Annotated[str, StringConstraints(pattern=f"^{SLUG_PATTERN}$")]


# What every leaderboard declares and can be asked, whatever its method.
#
# A method extends it in its own module in `app.boards`: `app.manifest.build` receives those classes.


class Leaderboard(Part):
    """What every leaderboard declares, whatever its method; methods extend it in their own file.

    `evidence_kinds` are those that a method can read; `can_lack_intervals` means that it works without resamples,
    `needs_known_tasks` that it has no open list of tasks, `is_of_opponents` that scores depend on who is compared,
    `is_mean` that a score is a mean of `metric`, in its unit; `draws_tasks` that tasks, or families of them, are the
    units of its intervals and ranks.
    """

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("evaluation_summary",)
    can_lack_intervals: ClassVar[bool] = False
    needs_known_tasks: ClassVar[bool] = False
    is_of_opponents: ClassVar[bool] = False
    is_mean: ClassVar[bool] = False
    draws_tasks: ClassVar[bool] = True

    name: Slug = Field(description="the board's name in addresses")
    title: Title | None = Field(None, description="the title shown on pages; its name by default")
    description: str | None = Field(None, max_length=5000, description="what it shows, in Markdown")
    method: str = Field(description="how it ranks")
    tasks: list[TaskName] | None = Field(None, min_length=1, description="the tasks that count; all of them by default")
    uncertainty: Uncertainty = Field(default_factory=Uncertainty, description="how its intervals are drawn")
    smallest_difference: float | None = Field(
        None,
        gt=0.0,
        description="the smallest difference of two entrants that matters, in the unit of the board's pairs; ranked by "
        "skill score, the skill of the better one relative to the other: pairs are then better, worse, equivalent or "
        "undecided",
    )
    over_snapshots: bool = Field(
        False,
        description="whether ranks and pairs hold over all snapshots at once, however often somebody looks while the"
        " benchmark grows; by default each snapshot has the level by itself",
    )
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

    def relative_to(self) -> str | None:
        """Return the entrant without whose result a task has no score; None where scores need none."""
        return None

    def against(self, baseline: str) -> Self | None:
        """Return the board with scores relative to another entrant; None if its scores are not relative."""
        del baseline
        return None

    def imputes(self) -> bool:
        """Say whether an absent value is replaced by another entrant's, so that entrants with gaps are ranked."""
        return False

    def ranks_gaps(self) -> bool:
        """Say whether the method itself says what an absent value counts, so that entrants with gaps are ranked."""
        return self.imputes()

    def counts_for_leaks(self) -> str | None:
        """Return the entrant whose values count where another has seen a task's data; None where its own do."""
        return None

    def compares_ratios(self) -> bool:
        """Say whether two entrants are compared by the ratio of their values, not the difference."""
        return False

    def is_mean_over_tasks(self) -> bool:
        """Say whether a score orders two entrants as the mean over tasks of what they are compared by does."""
        return False

    def combines_metrics(self) -> bool:
        """Say whether the score is made of several metrics."""
        return False

    def groups_of_tasks(self, tasks: Sequence[Task]) -> Mapping[str, Collection[str]]:
        """Return the tasks of each group that a reader can choose or weigh, by the group's name."""
        return common_values((task.id, task.described) for task in tasks)

    def weighable(self, tasks: Sequence[Task]) -> Collection[str] | None:
        """Return the names that a reader may weight; None where the method has no weights."""
        return None

    @field_validator("tasks")
    @classmethod
    def _counts_once(cls, tasks: list[str] | None) -> list[str] | None:
        # Twice is refused in a new manifest; a stored one is read as if each were there once.
        return None if tasks is None else list(dict.fromkeys(tasks))

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


# The tasks of a benchmark: a closed list of them, or an open one that submissions extend.


class OpenTasks(Part):
    """Tasks are whatever the evidence names."""

    open: Literal[True] = Field(description="true: any task that the evidence names is accepted")


# The grid of a benchmark as its manifest declares it: task × condition × seed × item, the denominator of every
# number.
#
# Part of `app.manifest.model`; `app.manifest.model` resolves it for one entrant. Cells of the grid that a
# submission lacks count as attempted and absent. Submitters never decide the grid.

FreeAxis = Literal["seeds", "conditions"]

Absent = Literal["worst", "unranked"]

Count = Annotated[int, Field(ge=1, le=10_000_000)]

Seed = Annotated[int, Field(ge=0, lt=2**63)]

Seeds = Annotated[list[Seed], Field(min_length=1, max_length=100_000)]

Conditions = Annotated[list[Name], Field(min_length=1, max_length=10_000)]

ItemName = Annotated[str, StringConstraints(min_length=1, max_length=200)]

Items = Annotated[list[ItemName], Field(min_length=1, max_length=100_000)]


class Axes(Part):
    """The axes of a grid besides its tasks; an axis that is not given is open.

    `seeds` is the number per task, the same for all of its conditions, or a list; `conditions` is a list. `items` is
    the number per task, condition and seed, or a list, or `file`: a steward uploads them as a table.
    """

    seeds: Count | Seeds | None = Field(None, description="which seeds, or how many")
    conditions: Conditions | None = Field(None, description="which conditions")
    items: Count | Items | Literal["file"] | None = Field(
        None, description="which items, how many, or `file`: the steward uploads them as a table"
    )

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

    at_least: Count = Field(description="the fewest that a registration must name")


class Grid(Axes):
    """What every entrant is asked for, and how missing cells are treated.

    `tasks` and `entrants` override axes for some of them: a task may have its own items, a pair trained together its
    own condition. `absent: worst` gives absent cells the worst value of the metric's range; `unranked` lists incomplete
    entrants separately, without a rank. `registration_may_choose` leaves an axis to registrations: its values are those
    named before the run, at least as many as required.
    """

    tasks: dict[TaskName, Axes] = Field(default_factory=dict, description="exceptions for some tasks")
    entrants: dict[Name, Axes] = Field(default_factory=dict, description="exceptions for some entrants")
    absent: Absent = Field(
        "unranked",
        description="unranked: entrants with absent cells are listed separately; worst: such cells count as the worst",
    )
    registration_may_choose: dict[FreeAxis, AtLeast] = Field(
        default_factory=dict,
        description=(
            "seeds or conditions that a registration names before the run, such as `{seeds: {at_least: 16}}`; needs"
            " `admission: {prereg: required}`"
        ),
    )

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
        known = frozenset(self.tasks if tasks is None else tasks)
        for task in self.tasks:
            if task not in known:
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


# The keys of `admission`: what a manifest requires of submissions. Part of `app.manifest.model`.

PreregForm = Literal["axis", "document", "evaluation"]


class LeastSeeds(Part):
    """The fewest seeds of a run: a spike is registered in the axis form, an entry in another form or not at all."""

    spike: int = Field(ge=2, description="for a run registered in the axis form")
    entry: int = Field(ge=2, description="for a run registered in another form, or not at all")


class Registration(Part):
    """Tokens to submit here for anybody who asks: how many in 24 hours, and for how many days."""

    per_day: int = Field(ge=1, le=1000, description="how many tokens are issued in 24 hours")
    token_days: int = Field(ge=1, le=3650, description="after how many days each of them expires")


class Admission(Part):
    """The rules that a submission must meet before it can be on a board.

    `report_within_days` is how long after its registration a run may take before it counts as overdue. `failure_policy`
    applies to episodes without a score where no preregistration declares one. Where submissions are by invitation, only
    submitters of the benchmark may register and submit. `started_at` requires a run to state when it began: without it
    nobody can tell whether its registration came first.
    """

    prereg: Literal["required", "optional"] = Field(
        "optional", description="required: every run must be registered before it begins"
    )
    prereg_forms: list[PreregForm] = Field(
        default=["evaluation"], description="the forms of preregistration that are accepted"
    )
    min_seeds: Annotated[int, Field(ge=2)] | LeastSeeds | None = Field(None, description="the fewest seeds of a run")
    claims: Literal["optional", "required"] = Field(
        "optional", description="required: a run must state its intervals, and they must agree"
    )
    dirty: Literal["refuse", "allow"] = Field("refuse", description="whether a run with uncommitted code is admitted")
    failure_policy: FailurePolicy = Field(
        "strict", description="how rows without a score are judged if the registration does not say"
    )
    report_within_days: int | None = Field(
        None, ge=1, le=3650, description="how long after its registration a run becomes overdue"
    )
    submissions: Literal["open", "invited"] = Field(
        "open", description="invited: only those appointed submitters of the benchmark may register and submit"
    )
    registration: Registration | None = Field(
        None, description="anyone who asks gets a token to submit here; without it, stewards invite submitters"
    )
    started_at: Literal["optional", "required"] = Field(
        "optional", description="required: a run must state when it began, so that a later registration is detected"
    )

    def least_seeds(self, form: PreregForm | None) -> int | None:
        """Return the fewest seeds of a run that was registered in this form (None: not at all)."""
        if not isinstance(self.min_seeds, LeastSeeds):
            return self.min_seeds
        return self.min_seeds.spike if form == "axis" else self.min_seeds.entry


# What entrants are said to be, besides their rows: typed fields, which are never evidence and no part of a score.
#
# Values are read by `app.receiving.entrant_fields` and kept by `app.store.entrant_fields`; `app.boards.explore` filters
# boards by them. A submission states them of its entrant as metadata (`app.web.submissions`).

MOST_DECLARED = 40

FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]

FieldType = Literal["text", "number", "integer", "flag", "date", "url"]


class EntrantField(Part):
    """A field of entrants: name, type and unit, allowed values, whether a submission must state it.

    In the list of a manifest the name alone of one of the standard fields stands for the whole of it.
    """

    name: FieldName = Field(description="the field's name in files, in the metadata of a submission and as a column")
    type: FieldType = Field(
        description="the type of its values; a date is a day such as 2026-01-31, a url begins with https:// or http://"
    )
    title: Title | None = Field(None, description="its label on pages and in the form")
    unit: Annotated[str, StringConstraints(min_length=1, max_length=40)] | None = Field(
        None, description="the unit of its values, such as tokens"
    )
    values: list[Name] | None = Field(
        None, min_length=1, max_length=100, description="the values that a text may have; any by default"
    )
    direction: Direction | None = Field(None, description="which way is better, if any: a price is better when lower")
    shown: bool = Field(False, description="true: a column of every board without being asked for")
    required: bool = Field(False, description="true: a submission that does not state it is refused")
    description: str | None = Field(None, max_length=2000, description="what it means")

    @property
    def label(self) -> str:
        """Return what pages call it."""
        return self.title or self.name.replace("_", " ").capitalize()

    @property
    def words(self) -> str:
        """Return its label in a form."""
        unit = f", {self.unit}" if self.unit else ""
        listed = f" (one of {', '.join(self.values)})" if self.values else ""
        return f"{self.label}{unit}{listed}"


STANDARD: Mapping[str, Mapping[str, Any]] = {
    each["name"]: each
    for each in (
        {"name": "organisation", "type": "text", "title": "Organisation"},
        {"name": "n_parameters", "type": "integer", "title": "Parameters", "direction": "minimize"},
        {"name": "licence", "type": "text", "title": "Licence", "description": "an SPDX name, or proprietary"},
        {"name": "open_weights", "type": "flag", "title": "Open weights"},
        {"name": "released", "type": "date", "title": "Released"},
        {"name": "url", "type": "url", "title": "Page"},
        {"name": "code", "type": "url", "title": "Code"},
        {"name": "price", "type": "number", "title": "Price", "unit": "USD / M tokens", "direction": "minimize"},
        {"name": "context_length", "type": "integer", "title": "Context length", "unit": "tokens"},
        {"name": "memory", "type": "number", "title": "Memory", "unit": "MB", "direction": "minimize"},
        {"name": "embedding_size", "type": "integer", "title": "Embedding size"},
        {"name": "purpose", "type": "text", "title": "Made for"},
    )
}
"""The fields that a manifest may name without declaring them."""


def _standard_field(given: Any) -> Any:
    """Return what is declared of a field that only its name stands for."""
    if not isinstance(given, str):
        return given
    if given not in STANDARD:
        raise ValueError(f"expected a mapping with name and type, or a standard field: {', '.join(STANDARD)}")
    return STANDARD[given]


Noun = Annotated[str, StringConstraints(pattern=r"^[^\W\d_]+([ -][^\W\d_]+)*$", max_length=30)]

IN_TEXT = re.compile(r"(?<![\w/.:=-])(an? )?(entrant|task)(s?)(?![\w/=-]|:\S)", re.IGNORECASE)
"""The house's own words where they are words, and no part of a name, an address or a key."""


class Nouns(Part):
    """What the field calls those who are compared, and what they are compared on: in the singular, as in a sentence."""

    entrant: Noun = Field("entrant", description="such as model, policy or estimator")
    task: Noun = Field("task", description="such as data set or environment")

    def say(self, text: str, names: Collection[str] = ()) -> str:
        """Return a text with the field's own nouns; `names` in it stay as they are, and so do nouns that are there.

        >>> Nouns(entrant="model", task="data set").say("Entrants by tasks; for an entrant a task. Task Nine leads.",
        ...                                             ["Task Nine"])
        'Models by data sets; for a model a data set. Task Nine leads.'
        >>> Nouns(task="forecasting task").say("Tasks. Forecasting tasks; a forecasting task.")
        'Forecasting tasks. Forecasting tasks; a forecasting task.'
        """
        if (self.entrant, self.task) == ("entrant", "task"):
            return text
        kept = [name for name in {*names, *self._spelt} if name in text and IN_TEXT.search(name)]
        longest_first = "|".join(map(re.escape, sorted(kept, key=len, reverse=True)))
        parts = re.split(rf"(?<!\w)({longest_first})(?!\w)", text) if kept else [text]
        return "".join(part if part in kept else IN_TEXT.sub(self._noun, part) for part in parts)

    @property
    def _spelt(self) -> Iterator[str]:
        """Yield nouns of several words as they may stand in a text: one with "task" in it is not replaced in there."""
        for noun in (self.entrant, self.task):
            for spelt in (noun, plural(noun)) if IN_TEXT.fullmatch(noun) is None else ():
                yield from (spelt, spelt[0].upper() + spelt[1:])

    def _noun(self, found: re.Match[str]) -> str:
        article, word, many = found.groups()
        noun = getattr(self, word.lower())
        shown = plural(noun) if many else noun
        shown = shown[0].upper() + shown[1:] if word[0].isupper() else shown
        if not article:
            return shown
        new = "an " if noun[0].lower() in "aeiou" else "a "
        return (new.capitalize() if article[0].isupper() else new) + shown


def is_day(text: str) -> bool:
    """Say whether a text is a day that there is, such as 2026-01-31."""
    try:
        year, month, day = (int(part) for part in text.split("-"))
        return year > 0 and 1 <= day <= monthrange(year, month)[1] and text == f"{year:04}-{month:02}-{day:02}"
    except ValueError:
        return False


def _as_day(text: str) -> str:
    if not is_day(text):
        raise ValueError("expected a day such as 2026-01-31")
    return text


class NewsItem(Part):
    """What is new in a benchmark: a day, and what its steward says of it. It is shown, and no part of any score."""

    at: Annotated[str, AfterValidator(_as_day)] = Field(description="the day, such as 2026-01-31")
    text: Annotated[str, StringConstraints(min_length=1, max_length=500)] = Field(
        description="one plain sentence or two"
    )


class Common(Part):
    """The keys of a manifest that every kind of evidence has. `leaderboards` hold the classes of their methods."""

    schema_version: Literal[1] = Field(description="the version of this format: 1")
    slug: Slug = Field(description="the benchmark's name in addresses; it never changes")
    title: Annotated[Title, NOT_MEASURED] = Field(description="what pages call it")
    description: Annotated[str, NOT_MEASURED] = Field(
        "", max_length=50_000, description="what is measured, by whom and how, in Markdown"
    )
    evidence: EvidenceKind = Field(description="what is uploaded: the kind of evidence")
    metrics: dict[MetricName, Metric] = Field(
        min_length=1, description="the metrics by name, or a choice from a catalog"
    )
    tasks: list[Task] | OpenTasks = Field(
        description="the closed list of tasks, or `{open: true}` to accept any task that the evidence names"
    )
    nouns: Annotated[Nouns, NOT_MEASURED] = Field(
        default_factory=Nouns,
        description="what pages, sentences and titles of columns call entrants and tasks; keys of the data stay",
    )
    group_by: Annotated[ColumnName | None, NOT_MEASURED] = Field(
        None,
        description="a key of the tasks' `where` or `about`, such as `task_type`: the tasks with the same value are a"
        " group, and each group is a column of every board",
    )
    grid: Grid | None = Field(None, description="what every entrant must report, and how absent cells count")
    admission: Annotated[Admission, NOT_MEASURED] = Field(
        default_factory=Admission, description="the rules that a submission must meet to be admitted"
    )
    entrant_fields: Annotated[list[Annotated[EntrantField, BeforeValidator(_standard_field)]], NOT_MEASURED] = Field(
        default_factory=list,
        max_length=MOST_DECLARED,
        description="what entrants are said to be: columns, filters and axes of every board; names of standard fields, "
        "or fields of the benchmark's own",
    )
    news: Annotated[list[NewsItem], NOT_MEASURED] = Field(
        default_factory=list, max_length=100, description="what is new, shown with the newest day first"
    )
    claims: Annotated[dict[Name, Claim], NOT_MEASURED] = Field(
        default_factory=dict, description="contrasts that are decided for every entrant"
    )
    leaderboards: Annotated[list[Leaderboard], NOT_MEASURED] = Field(min_length=1, description="the boards")

    def newest(self) -> list[NewsItem]:
        """Return what is new, the newest day first."""
        return sorted(self.news, key=lambda each: each.at, reverse=True)

    def task_ids(self) -> tuple[str, ...] | None:
        """Return the closed list of tasks, or None when tasks are open."""
        return None if isinstance(self.tasks, OpenTasks) else tuple(task.id for task in self.tasks)

    def declared_groups(self) -> dict[str, list[str]]:
        """Return the tasks of each group that `group_by` makes, in the order of the tasks."""
        groups: dict[str, list[str]] = {}
        for task in () if isinstance(self.tasks, OpenTasks) else self.tasks:
            if isinstance(value := task.described.get(self.group_by or ""), str | int | float):
                groups.setdefault(str(value), []).append(task.id)
        return groups

    def families(self) -> dict[str, str]:
        """Return the declared family of each task that has one."""
        tasks = [] if isinstance(self.tasks, OpenTasks) else self.tasks
        return {task.id: task.family for task in tasks if task.family is not None}

    def leaderboard(self, name: str) -> Leaderboard:
        """Return the named board. Raises KeyError when there is none."""
        for board in self.leaderboards:
            if board.name == name:
                return board
        raise KeyError(name)


def tasks_of_boards(common: Common) -> Collection[str] | None:
    """Return the tasks that count on some board; None where a board is over open tasks."""
    ids = common.task_ids()
    lists = [board.ranked_tasks() for board in common.leaderboards] if not ids else [ids]
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

    def has_seeds(self) -> bool:
        """Say whether the seeds of rows are units; where there are none, items are, or tasks."""
        return True

    def shares_seeds(self) -> bool:
        """Say whether a seed of the same number is the same unit for every entrant."""
        return True

    def unit_of(self, item: str) -> str:
        """Return the unit that an item of a task is drawn with where there are no seeds: itself, or its cluster."""
        return item

    def complain_about_item(self, item: str, clusters: dict[str, str]) -> str | None:
        """Return what is wrong with an item that the grid of a task names; None where nothing is.

        `clusters` has the clusters of the items before it, to which it is added.
        """
        del item, clusters
        return None

    def complain_about_items(self, items: Sequence[str]) -> str | None:
        """Return why the items that the grid of a task names cannot be drawn; None where they can."""
        units = {self.unit_of(item) for item in items}
        if len(units) > 1 or len(items) < 2:
            return None
        return (
            f"all {len(items):,} items are of the cluster {units.pop()}, so nothing can be drawn; expected two clusters"
        )

    def asks_what_was_seen(self) -> bool:
        """Say whether rows are to tell if their entrant has seen the task's data; where not, nothing is known of it."""
        return False

    def means_the_same(self, other: Self) -> bool:
        """Say whether what was stored under this part has the same meaning under another version of it."""
        del other
        return True


# What is asked of an entrant: the manifest's grid, with items uploaded by a steward and axes that were registered.
#
# Filled by `app.store.grids`, read by `app.boards.coverage` and by the
# admission rules. Pure values: nothing here knows who else submitted.

Chosen = Mapping[str, Sequence[Any]]
"""The values that a registration names for the axes it may choose, by axis."""


@dataclass(frozen=True)
class GridFacts:
    """What determines the grid besides the manifest's own text.

    `items` are those uploaded by a steward, by task (`EVERY_TASK`: the same for each), and `digest` is that of their
    bytes; None before the upload. `chosen` are the registered axes of entrants. `earlier` are the grids under which
    entrants were admitted, where they differ from today's: cells that they did not ask for are not absent. `owners` are
    the entrants' owners, and `arrivals` numbers the owner of each by when it sent its first entrant, which decides what
    an open axis is about. `part` is the part of private labels that decides now, see `PUBLIC_PART` and `PRIVATE_PART`;
    None where nothing is held back. `is_exact` leaves their scores as they are, for stewards alone. `label_holders` are
    the entrants of who can read these labels, whom only a manifest that says so has ranked.
    """

    items: Mapping[str, Sequence[str]] | None = None
    digest: str | None = None
    chosen: Mapping[str, Chosen] = field(default_factory=dict)
    earlier: Mapping[str, Sequence["RequiredGrid"]] = field(default_factory=dict)
    owners: Mapping[str, str] = field(default_factory=dict)
    arrivals: Mapping[str, int] = field(default_factory=dict)
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

    def arrivals_of(self, entrants: Sequence[str]) -> list[int]:
        """Return the number of each entrant's owner, the first to come being the least; who is not known came last."""
        return [self.arrivals.get(name, len(self.arrivals) + at) for at, name in enumerate(entrants)]


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
class GridCells:
    """The cells of one task: seeds and items by name or as a count, conditions by name. None where an axis is open."""

    seeds: int | tuple[int, ...] | None
    conditions: tuple[str, ...] | None
    items: int | tuple[str, ...] | None


@dataclass(frozen=True)
class RequiredGrid:
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

    def cells_of(self, task: str, entrant: str) -> GridCells:
        """Return the cells asked of an entrant in a task."""
        axes = self.grid.of(task, entrant)
        seeds = self._axis("seeds", axes.seeds, entrant)
        conditions = self._axis("conditions", axes.conditions, entrant)
        return GridCells(seeds, conditions, self._items(axes, task))

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

    def asks_the_same(self, other: "RequiredGrid", tasks: Sequence[str], entrant: str) -> bool:
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
        told = {} if isinstance(self.tasks, OpenTasks) else {"tasks": {"__all__": {"about"}}}
        left_out: dict[str, Any] = {**dict.fromkeys(shown, True), **told}
        return {**self.model_dump(mode="json", exclude=left_out), "items": self._facts.digest, **of_labels}

    def with_grid_facts(self, facts: GridFacts) -> Self:
        """Return the manifest with the facts that determine its grid besides its own text."""
        filled = self.model_copy()
        filled._facts = facts
        return filled

    @property
    def asked(self) -> RequiredGrid:
        """Return the cells that entrants must report; without a declared grid every axis but the tasks is open."""
        return RequiredGrid(self.grid or Grid(), self.task_ids(), self._facts, tuple(self.metrics), self._known_names)

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


FILE = "file"
"""The value of `items` where a steward uploads them as a file."""


# What a benchmark with private labels discloses: which items are scored at once, how often, and how precisely.
#
# Part of what a kind with private labels declares (`app.kinds.predictions.manifest_part`); pure. Every answer reveals
# something about the labels, so a manifest without these keys gets the defaults below: no limit is off unless
# declared.

MOST_DIGITS = 6


class Scoring(Part):
    """What is disclosed of private labels.

    `public_share` of the items is scored at once, and nothing else is shown before the close; 1 holds nothing back.
    `per_day` submissions of an owner are scored in any 24 hours, of at most `entrants_per_submission` entrants. With
    `ladder` a score is shown only if it is better than the owner's best by more than its standard error. `digits` is
    the most significant digits of a number; its interval may allow fewer. From `closes_at` on nothing is accepted,
    and the private part is shown; without it a steward closes the benchmark.
    """

    public_share: float = Field(
        0.5, ge=0.05, le=1.0, description="the share of the items that is scored and shown before the close"
    )
    per_day: int = Field(5, ge=1, le=1000, description="how many submissions of one owner are scored in a day")
    entrants_per_submission: int = Field(1, ge=1, le=1000, description="how many entrants one submission may bring")
    ladder: bool = Field(
        True, description="a score is shown only if it beats the owner's best by more than its standard error"
    )
    digits: int = Field(3, ge=1, le=MOST_DIGITS, description="the most significant digits of a published number")
    closes_at: Annotated[AwareDatetime, Field(strict=False)] | None = Field(
        None, description="when submissions close and the private part is shown"
    )

    @field_validator("closes_at", mode="before")
    @classmethod
    def _is_written_out(cls, given: Any) -> Any:
        """Accept a time only as text: a number would be taken for seconds."""
        if given is not None and not isinstance(given, str):
            raise ValueError("expected a time with its zone, such as 2030-06-30T12:00:00Z")
        return given

    def chooses_alike(self, other: "Scoring") -> bool:
        """Say whether the same items are public under another version: what was shown cannot be withdrawn."""
        return self.public_share == other.public_share


DEFAULTS = Scoring()
"""The defaults where labels are private and the manifest declares nothing."""


# How a board's intervals are drawn, as its manifest declares it. Part of `app.manifest.model`.

FEWEST_RESAMPLES = 100

MOST_VALUES = 24
"""A column with more values than this does not define groups: nobody would choose among them."""


# A reader's settings for a board, beyond what a manifest can declare, and the groups of tasks to choose from.


def common_values(tasks: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, list[str]]:
    """Return the tasks with the same value in a column, by `column:value`, for columns that define groups.

    Each task is given as its name and its value in each column.
    """
    columns: dict[str, dict[str, list[str]]] = {}
    for name, where in tasks:
        for column, value in where.items():
            if isinstance(value, str | int | float) and value != "":
                columns.setdefault(column, {}).setdefault(str(value), []).append(name)
    return {
        f"{column}:{value}": members
        for column, values in columns.items()
        if 1 < len(values) <= MOST_VALUES and len(values) < sum(map(len, values.values()))
        for value, members in values.items()
    }


EVERY_TASK = ""
"""The key of a file's items that are the same for every task."""

PUBLIC_PART, PRIVATE_PART = "public", "private"
"""The parts of private labels: the public one decides until the benchmark closes, then the private one."""

COMMON_FIELDS: Mapping[str, FieldType] = {
    "version": "text", "organisation": "text", "url": "url", "licence": "text", "n_parameters": "integer",
    "open_weights": "flag", "released": "date", "purpose": "text", "code_commit": "text", "notes": "text",
}  # fmt: skip
"""Fields known to every benchmark, which a manifest may require, and restrict to some values."""

RESERVED = ("dirty", "started_at")

NO_FIELDS = ("entrant", "rank", "task", "owner")


def complaints_about(fields: Sequence[EntrantField]) -> Iterator[str]:
    """Yield contradictions among the declared fields, each as `key: what is wrong`."""
    names = [each.name for each in fields]
    for each in fields:
        if names.count(each.name) > 1 and names.index(each.name) == fields.index(each):
            yield f"entrant_fields: the field {each.name} is declared twice"
        if each.name in RESERVED:
            yield f"entrant_fields: {each.name} describes a run, not an entrant; see admission"
        known = COMMON_FIELDS.get(each.name, each.type)
        if each.type != known:
            yield f"entrant_fields: the field {each.name} is of type {known} in every benchmark, not {each.type}"
        if each.values is not None and each.type != "text":
            yield f"entrant_fields: the field {each.name} is a {each.type}; values are listed for text alone"
        if each.name in NO_FIELDS:
            yield f"entrant_fields: {each.name} is what a table of entrants calls something else"


def units_of(fields: Sequence[EntrantField]) -> dict[str, str]:
    """Return the unit of each field that has one."""
    return {field.name: field.unit for field in fields if field.unit}
