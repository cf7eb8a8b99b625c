"""The form by which a reader filters a board and has it computed anew, without scripts. Made by `app.web.explore`.

Choices that are too many to offer can still be written into an address.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.boards.entrant_filter import WORDS, Wish, in_words, stated_values
from app.boards.reader_choice import Choice, listed_tasks
from app.manifest.declared_metadata import KNOWN, DescribedBy
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.manifest.tasks import Task
from app.values.table import Table

MOST_TASKS = 150
MOST_VALUES = 60
MOST_WEIGHED = 60
MOST_BASELINES = 400
OFFERED = (0.0, 0.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """A value that can be chosen, the words that it is shown in, and whether it is chosen."""

    value: str
    words: str
    is_chosen: bool


@dataclass(frozen=True)
class Weight:
    """Something that can be weighted: its name, and the weights offered, including the current one."""

    name: str
    offered: Sequence[Tick]


@dataclass(frozen=True, kw_only=True)
class ExploreForm:
    """The fields. `groups` are by the column that they are of, `named` the entrants that are chosen by name."""

    text: str
    among: bool
    groups: Sequence[tuple[str, Sequence[Tick]]]
    tasks: Sequence[Tick]
    weights: Sequence[Weight]
    baselines: Sequence[Tick]
    named: Collection[str]
    is_choice: bool
    wish: Wish = field(default_factory=Wish)
    facts: Mapping[str, Sequence[Tick]] = field(default_factory=dict)
    has_sizes: bool = False
    has_dates: bool = False
    declared: Sequence[tuple[str, Sequence[Tick]]] = ()
    ranges: Sequence[tuple[str, str]] = ()
    columns: Sequence[Tick] = ()
    hints: Sequence[str] = field(default_factory=tuple)

    @property
    def has_more(self) -> bool:
        """Say whether there is more to choose than entrants."""
        return bool(self.groups or self.tasks or self.weights or self.baselines)

    @property
    def is_open(self) -> bool:
        """Say whether anything is chosen."""
        ticks = [*self.tasks, *self.baselines, *(tick for _, group in self.groups for tick in group)]
        return any(tick.is_chosen for tick in ticks) or any(t.is_chosen for w in self.weights for t in w.offered)

    def with_facts(self, facts: Mapping[str, Mapping[str, Any]], wish: Wish) -> "ExploreForm":
        """Return the form with filters on the facts that are stated for any entrant."""
        chosen = {name: {value.casefold() for value in getattr(wish, name)} for name in WORDS}
        ticks = {name: [Tick(value, value, value.casefold() in chosen[name]) for value in values[:MOST_VALUES]]
                 for name, values in stated_values(facts).items() if values}  # fmt: skip
        return replace(
            self,
            wish=wish,
            facts=ticks,
            has_sizes=any("n_parameters" in own for own in facts.values()),
            has_dates=any("released" in own for own in facts.values()),
        )

    def with_declared(self, fields: Sequence[DescribedBy], facts: Mapping[str, Mapping[str, Any]]) -> "ExploreForm":
        """Return the form with the fields that the manifest declares: values to tick, and bounds to fill in."""
        own = [each for each in fields if each.name not in KNOWN]
        listed = [(each.words, _stated(each, facts, self.wish)) for each in own if each.type in ("text", "flag")]
        asked = [each for each in self.wish.fields if "<=" in each or ">=" in each]
        bounds = [(each.words, each.name) for each in own if each.type in ("number", "date")]
        filled = [(f"{words} (such as {name}>=1)", next((a for a in asked if a.startswith(f"{name}>=")), ""))
                  for words, name in bounds]  # fmt: skip
        return replace(self, declared=[(words, ticks) for words, ticks in listed if ticks], ranges=filled)

    def with_columns(self, table: Table, chosen: Collection[str]) -> "ExploreForm":
        """Return the form with the columns that can be shown."""
        return replace(self, columns=[Tick(c.name, c.title, c.name in chosen) for c in table.columns])


def _stated(field: DescribedBy, facts: Mapping[str, Mapping[str, Any]], wish: Wish) -> list[Tick]:
    stated = sorted({in_words(own[field.name]) for own in facts.values() if own.get(field.name) is not None})
    asked = {each.casefold() for each in wish.fields}
    return [Tick(f"{field.name}={value}", value, f"{field.name}={value}".casefold() in asked)
            for value in stated[:MOST_VALUES]]  # fmt: skip


def explore_form(
    manifest: Manifest, spec: Leaderboard, table: Table, text: str, choice: Choice, open_tasks: Sequence[Task] = ()
) -> ExploreForm:
    """Return the form of a board, filled in with the choice; `open_tasks` are the tasks where these are open."""
    tasks = listed_tasks(manifest, spec, open_tasks)
    groups = spec.groups_of_tasks(tasks)
    columns: dict[str, list[Tick]] = {}
    for name in groups:
        column, mark, value = name.partition(":")
        words = value if mark else name
        columns.setdefault(column if mark else "Group", []).append(
            Tick(name, f"{words} ({len(groups[name])})", name in choice.groups)
        )
    names = [task.id for task in tasks]
    weighed = _weighed(spec.weighable(tasks), names, list(groups))
    hints = [f"task= of {len(names):,}"] if len(names) > MOST_TASKS else []
    return ExploreForm(
        text=text,
        among=bool(choice.matching),
        groups=[(column.replace("_", " "), ticks) for column, ticks in columns.items()],
        tasks=[Tick(name, name, name in choice.tasks) for name in names] if 1 < len(names) <= MOST_TASKS else [],
        weights=[_weight(name, choice) for name in weighed[:MOST_WEIGHED]],
        baselines=_baselines(spec, table, choice),
        named=choice.entrants,
        is_choice=choice.is_made,
        hints=hints,
    )


def _weighed(weighable: Collection[str] | None, tasks: Sequence[str], groups: Sequence[str]) -> list[str]:
    """Return what can be weighted in the form: groups of tasks, few tasks, or the board's own components."""
    if weighable is None or set(weighable) == set(groups):
        return list(weighable or ())
    own = [] if set(weighable) == set(tasks) and len(tasks) > MOST_WEIGHED - len(groups) else list(weighable)
    return [*groups, *own]


def _weight(name: str, choice: Choice) -> Weight:
    own = choice.weights.get(name)
    offered = sorted({*OFFERED, *([] if own is None else [own])})
    return Weight(name, [Tick(f"{name}={value:g}", f"{value:g}", own == value) for value in offered])


def _baselines(spec: Leaderboard, table: Table, choice: Choice) -> list[Tick]:
    if spec.against("") is None or "entrant" not in table.column_names():
        return []
    at = table.index("entrant")
    names = sorted({*(str(row[at]) for row in table.rows), *filter(None, [choice.baseline])})[:MOST_BASELINES]
    return [Tick(name, name, name == choice.baseline) for name in names]


def rows_matching(table: Table, text: str, within: Collection[str] | None = None, described: str = "") -> Table:
    """Return the rows with a text in the name of the entrant, of those who are as described; ranks are unchanged.

    A note says so.
    """
    if (not text and within is None) or "entrant" not in table.column_names():
        return table
    at, wanted = table.index("entrant"), text.casefold()
    kept = tuple(
        row for row in table.rows if wanted in str(row[at]).casefold() and (within is None or row[at] in within)
    )
    if len(kept) == len(table.rows):
        return table
    how = "; ".join([*([f"with “{text}” in the name"] if text else []), *([described] if described else [])])
    note = f"Shown are {len(kept):,} of {len(table.rows):,} rows, {how}; ranks are among all of them."
    return replace(table, rows=kept, notes=(note, *table.notes), meta={**table.meta, "n_rows": len(table.rows)})
