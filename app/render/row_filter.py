"""Rows about some tasks, classes or entrants only: what ?task=, ?class= and ?entrant= leave of a table.

Called by the web for every further table of a board and for a submission's tables, whatever their format; pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.names import clip_for_message, first_few
from app.values.table import Table

COLUMNS = ("task", "class", "entrant")
SHOWN = 8

Wanted = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Choice:
    """One field of the form that narrows a table: every value of a column, and whether it was asked for.

    `shown_as` are the words of a value where they are others. Of one that `is_one` a value always holds.
    """

    name: str
    title: str
    values: Sequence[tuple[str, bool]]
    shown_as: Mapping[str, str] = field(default_factory=dict)
    is_one: bool = False

    @property
    def is_asked(self) -> bool:
        """Say whether some of the values were asked for."""
        return not self.is_one and any(is_chosen for _, is_chosen in self.values)


def narrow_table(table: Table, wanted: Wanted) -> Table:
    """Return the rows whose columns have one of the wanted values; a note says what no row has."""
    asked = {name: values for name, values in wanted.items() if values}
    places = {name: table.index(name) for name in asked if name in table.column_names()}
    notes = [_no_column(name) for name in asked if name not in places]
    notes += [note for name, at in places.items() for note in _unknown(table, name, at, asked[name])]
    kept = tuple(row for row in table.rows if all(row[at] in asked[name] for name, at in places.items()))
    return replace(table, rows=kept, notes=(*table.notes, *notes))


def _no_column(name: str) -> str:
    return f"This table does not tell one {name} from another: ?{name}= narrows nothing."


def _unknown(table: Table, name: str, at: int, asked: Sequence[str]) -> list[str]:
    known = dict.fromkeys(str(row[at]) for row in table.rows)
    few = first_few(list(known), SHOWN) or "no rows"
    return [
        f"No row has the {name} {clip_for_message(value)}; there are {few}."
        for value in dict.fromkeys(asked)
        if value not in known
    ]


def choices(table: Table, wanted: Wanted) -> list[Choice]:
    """Return the fields of the form: a column with one value alone leaves nothing to choose."""
    fields = []
    for column in table.columns:
        if column.name in COLUMNS:
            at = table.index(column.name)
            values = dict.fromkeys(str(row[at]) for row in table.rows)
            if len(values) > 1:
                asked = wanted.get(column.name, ())
                fields.append(Choice(column.name, column.title, [(value, value in asked) for value in values]))
    return fields
