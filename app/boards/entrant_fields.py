"""What entrants are said to be, by field of the manifest: values as strangers write them, columns of every table that
has entrants, and conditions by which a reader keeps some of them.

A value is of an entrant, not of a submission; it is never evidence and no part of a score. What is not stated is None,
and meets no condition.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.errors import FieldRejected, Problem
from app.manifest.model import EntrantField, is_day
from app.names import TEXT_RULE, clip_for_message, is_plain_text, nearest
from app.values.table import LARGEST, Cell, Column, Kind, Table

Values = Mapping[str, Mapping[str, Cell]]
"""By entrant and field."""

MOST_TEXT = 500

EXPECTED: Mapping[str, str] = {
    "text": f"text of at most {MOST_TEXT} characters",
    "number": "a number, such as 0.25",
    "integer": "a whole number, such as 7000000000",
    "flag": "true or false",
    "date": "a day, such as 2026-01-31",
    "url": "an address that begins with https:// or http://",
}

FLAGS: Mapping[str, bool] = {"true": True, "yes": True, "false": False, "no": False}

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


ADDRESS = re.compile(r"https?://[^\s/?#@:\[\]\\]+(:\d{1,5})?([/?#]\S*)?", re.ASCII)
"""A host, without a name and a password before it: they show another host than an address leads to."""


def read_value(field: EntrantField, given: Any) -> Cell:
    """Return a value of a field: from a cell of a CSV file or a form, which are texts, or as JSON and YAML have it.

    Empty text is None. Raises ValueError that says what is allowed.

    >>> field = EntrantField(name="n", type="integer")
    >>> read_value(field, " 7e9 "), read_value(field, 12.0), read_value(field, "")
    (7000000000, 12, None)
    """
    given = given.strip() if isinstance(given, str) else given
    if given is None or given == "":
        return None
    value = READ[field.type](given)
    if value is None:
        raise ValueError(f"expected {EXPECTED[field.type]}")
    if field.name == "n_parameters" and isinstance(value, int) and value < 0:
        raise ValueError("expected a number of at least 0")
    if field.values is not None and value not in field.values:
        near = nearest(str(value), field.values)
        hint = f"; did you mean {near}?" if near else ""
        raise ValueError(f"expected {expected(field)}{hint}")
    return value


def expected(field: EntrantField) -> str:
    """Say which values a field may have.

    >>> expected(EntrantField(name="n", type="flag")), expected(EntrantField(name="a", type="text", values=["x", "y"]))
    ('true or false', 'one of x, y')
    """
    return EXPECTED[field.type] if field.values is None else f"one of {', '.join(field.values)}"


def _text(given: Any) -> str | None:
    if not isinstance(given, str):
        return None
    if not is_plain_text(given):
        raise ValueError(f"expected {TEXT_RULE}")
    return given if len(given) <= MOST_TEXT else None


def _number(given: Any) -> float | None:
    if isinstance(given, str) and len(given) <= MOST_TEXT and NUMBER.fullmatch(given):
        given = float(given)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    # An integer of a thousand digits is no float; a number this large is nothing that anybody measured.
    return float(given) if is_number and abs(given) <= 1e300 else None


def _integer(given: Any) -> int | None:
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) > LARGEST:
        return None  # as a float it would be another number
    number = _number(given)
    return None if number is None or number % 1 or abs(number) > LARGEST else int(number)


def _flag(given: Any) -> bool | None:
    return FLAGS.get(given.lower()) if isinstance(given, str) else given if isinstance(given, bool) else None


def _day(given: Any) -> str | None:
    return given if isinstance(given, str) and is_day(given) else None


def _url(given: Any) -> str | None:
    text = _text(given)
    return text if text is not None and ADDRESS.fullmatch(text) else None


READ = {"text": _text, "number": _number, "integer": _integer, "flag": _flag, "date": _day, "url": _url}


def read_values(
    fields: Sequence[EntrantField],
    given: Mapping[str, Any],
    problems: list[Problem],
    at: Problem,
    beside: Iterable[str] = (),
) -> dict[str, Cell]:
    """Return the values of one entrant, those that cannot be read being added to the problems.

    `at` says where they stand: its file and row are those of each problem. `beside` are names that others read.

    >>> problems: list[Problem] = []
    >>> read_values([EntrantField(name="n", type="integer")], {"n": "3", "m": 1}, problems, Problem("", row=2))
    {'n': 3}
    >>> [(problem.row, problem.column) for problem in problems]
    [(2, 'm')]
    """
    declared = {field.name: field for field in fields}
    values: dict[str, Cell] = {}
    for name, value in given.items():
        if name not in declared:
            problems.append(
                replace(at, message=unknown_field(name, [*declared, *beside]), column=clip_for_message(name))
            )
            continue
        try:
            values[name] = read_value(declared[name], value)
        except ValueError as error:
            shown = clip_for_message(value if isinstance(value, str) else repr(value))
            problems.append(replace(at, message=str(error), column=name, value=shown))
    return values


def unknown_field(name: str, declared: Iterable[str]) -> str:
    """Return the message for a field that the manifest does not declare.

    >>> unknown_field("license", ["licence"])
    'no field of this benchmark; did you mean licence?; it has licence'
    """
    known = list(declared)
    near = nearest(name, known)
    hint = f"; did you mean {near}?" if near else ""
    return f"no field of this benchmark{hint}; it has {', '.join(known) or 'none: see entrant_fields in the manifest'}"


# Columns: what is said of entrants stands beside what was measured of them.

KINDS: Mapping[str, Kind] = {"integer": "integer", "number": "number", "flag": "flag"}


def with_fields(table: Table, fields: Sequence[EntrantField], values: Values) -> Table:
    """Return a table of entrants with a column for each field; any other table as it is.

    A column has the unit, the title and the direction that the manifest gives the field, and is a detail unless it is
    to be shown. Where the table has a column of that name it is called `entrant_…`. Null is what nobody states.

    >>> table = Table("leaderboard/b", "B", (Column("entrant", "Entrant", "text"),), (("A",), ("B",)))
    >>> with_fields(table, [EntrantField(name="n", type="integer")], {"A": {"n": 3}}).rows
    (('A', 3), ('B', None))
    """
    names = table.column_names()
    if not fields or "entrant" not in names:
        return table
    at, columns = table.index("entrant"), tuple(_column(field, names) for field in fields)
    stated = [values.get(str(row[at]), {}) for row in table.rows]
    cells = [tuple(own.get(field.name) for field in fields) for own in stated]
    rows = tuple((*row, *added) for row, added in zip(table.rows, cells, strict=True))
    about = {column.name: field.type for column, field in zip(columns, fields, strict=True)}
    meta = {**table.meta, "entrant_fields": about}
    return replace(table, columns=(*table.columns, *columns), rows=rows, meta=meta)


def _column(field: EntrantField, taken: Sequence[str]) -> Column:
    name = f"entrant_{field.name}" if field.name in taken else field.name
    # Two digits after the point are as many as anybody states of a price or a size.
    return Column(
        name, field.label, KINDS.get(field.type, "text"), unit=field.unit, direction=field.direction, optional=True,
        detail=not field.shown, digits=2 if field.type == "number" else None,
    )  # fmt: skip


def facts_table(name: str, fields: Sequence[EntrantField], stated: Mapping[str, Cell]) -> Table:
    """Return what one entrant is said to be, a field a row, in words; what nobody states is left out.

    >>> facts_table("A", [EntrantField(name="n", type="integer", unit="GB")], {"n": 4000}).rows
    (('N', '4,000 GB'),)
    """
    rows = tuple(
        (field.label, f"{f'{value:,}' if type(value) is int else in_words(value)} {field.unit or ''}".strip())
        for field in fields
        if (value := stated.get(field.name)) is not None
    )
    columns = (Column("what", "What", "text"), Column("value", "Value", "text"))
    return Table("facts", f"What {name} is", columns, rows, ("Stated by its owner or a steward; no evidence.",))


# Conditions: `licence=mit`, `n_parameters<=8e9`, `released>=2025-01-01`. Several values of one field are alternatives.

ASKED = re.compile(r"([a-z][a-z0-9_]{0,39})(>=|<=|=)(.+)")

BOUNDS = {">=": "from", "<=": "up to"}


@dataclass(frozen=True)
class Condition:
    """What a field must be: equal to a value, from it on, or up to it."""

    field: EntrantField
    sign: str
    value: Cell

    def holds(self, stated: Cell) -> bool:
        """Say whether a stated value meets it; texts are compared in any case, and what is not stated does not."""
        if stated is None:
            return False
        if self.sign == "=":
            return _key(stated) == _key(self.value)
        is_more, is_less = stated >= self.value, stated <= self.value  # type: ignore[operator]
        return is_more if self.sign == ">=" else is_less

    @property
    def text(self) -> str:
        """Return the condition as an address has it."""
        return f"{self.field.name}{self.sign}{in_words(self.value)}"

    @property
    def words(self) -> str:
        """Return the condition in words."""
        shown = f"{self.value:,.15g}" if isinstance(self.value, float) else in_words(self.value)
        shown = f"{self.value:,}" if type(self.value) is int else shown
        unit = f" {self.field.unit}" if self.field.unit else ""
        return f"{self.field.label} {BOUNDS.get(self.sign, 'is')} {shown}{unit}"


def _key(value: Cell) -> str:
    return in_words(value).casefold()


def in_words(value: Cell) -> str:
    """Return a value as an address has it: numbers in their shortest form, flags as yes and no, None as empty text.

    >>> in_words(8192.0), in_words(7000000000), in_words(True), in_words(None)
    ('8192', '7000000000', 'yes', '')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Wish:
    """The conditions of a filter: every field that is asked for must meet one of its values, and all of its bounds."""

    conditions: tuple[Condition, ...] = ()

    @property
    def is_made(self) -> bool:
        """Say whether there is any condition."""
        return bool(self.conditions)

    @property
    def words(self) -> str:
        """Return all conditions in words."""
        return ", ".join(condition.words for condition in self.conditions)

    def holds(self, stated: Mapping[str, Cell]) -> bool:
        """Say whether an entrant is as asked.

        >>> licence = EntrantField(name="licence", type="text")
        >>> wish = Wish((Condition(licence, "=", "MIT"), Condition(licence, "=", "bsd")))
        >>> wish.holds({"licence": "mit"}), wish.holds({"licence": "gpl"}), wish.holds({})
        (True, False, False)
        """
        alike: dict[str, bool] = {}
        for condition in self.conditions:
            name, is_met = condition.field.name, condition.holds(stated.get(condition.field.name))
            if condition.sign == "=":
                alike[name] = alike.get(name, False) or is_met
            elif not is_met:
                return False
        return all(alike.values())


def read_wish(fields: Sequence[EntrantField], asked: Sequence[str]) -> Wish:
    """Return the conditions of an address. Raises FieldRejected with every one that cannot be read.

    >>> wish = read_wish([EntrantField(name="n", type="integer")], ["n<=8"])
    >>> [(each.sign, each.value, each.holds(3)) for each in wish.conditions]
    [('<=', 8, True)]
    """
    declared = {field.name: field for field in fields}
    problems: list[Problem] = []
    conditions = []
    for text in asked:
        match, shown = ASKED.fullmatch(text), clip_for_message(text)
        if match is None or len(text) > MOST_TEXT:
            said = "expected a field, one of = >= <= and a value, such as licence=mit or n_parameters<=8e9"
            problems.append(Problem(said, column="field", value=shown))
            continue
        name, sign, given = match.groups()
        if name not in declared:
            problems.append(Problem(unknown_field(name, declared), column="field", value=shown))
            continue
        # A value that is not among those of the manifest is no mistake: nobody has it.
        field = declared[name].model_copy(update={"values": None})
        try:
            value = read_value(field, given)
        except ValueError as error:
            problems.append(Problem(f"{error}, after {name}{sign}", column="field", value=shown))
            continue
        if value is not None and sign != "=" and field.type in ("text", "flag", "url"):
            said = f"{name} is a {field.type}, which is equal to a value or not: {name}={in_words(value)}"
            problems.append(Problem(said, column="field", value=shown))
            continue
        conditions += [] if value is None else [Condition(field, sign, value)]
    if problems:
        raise FieldRejected("The filter on entrants cannot be read.", problems)
    return Wish(tuple(conditions))


# What a form offers: every value of what has few, and round bounds of what has many.

MOST_VALUES = 40

MOST_STEPS = 12


def offered_values(field: EntrantField, values: Values) -> list[tuple[str, int]]:
    """Return the values of a field that are stated, with how many entrants have each, the most frequent first.

    >>> offered_values(EntrantField(name="by", type="text"), {"A": {"by": "x"}, "B": {"by": "y"}, "C": {"by": "y"}})
    [('y', 2), ('x', 1)]
    """
    counted: dict[str, int] = {}
    for own in values.values():
        if (value := own.get(field.name)) is not None:
            counted[in_words(value)] = counted.get(in_words(value), 0) + 1
    return sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:MOST_VALUES]


def offered_bounds(field: EntrantField, values: Values) -> Sequence[Cell]:
    """Return round values within those that are stated, with about as many entrants between each two of them.

    Of days they are the firsts of January.

    >>> offered_bounds(EntrantField(name="n", type="integer"), {"A": {"n": 3}, "B": {"n": 12}, "C": {"n": 40}})
    [5, 20]
    """
    stated = [value for own in values.values() if (value := own.get(field.name)) is not None]
    if len(set(stated)) < 2:
        return []
    if field.type == "date":
        years = sorted({int(str(value)[:4]) for value in stated})
        return [f"{year:04}-01-01" for year in range(years[0], years[-1] + 1)][-MOST_STEPS:]
    numbers = [float(value) for value in stated if isinstance(value, int | float) and value > 0]
    if not numbers:
        return []
    powers = range(math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers))) + 1)
    is_whole = field.type == "integer"
    rounded = [step * 10.0**power for power in powers for step in (1, 2, 5)]
    bounds = [bound for bound in rounded if min(numbers) < bound < max(numbers) and (bound >= 1 or not is_whole)]
    kept: list[Cell] = []
    n_left, least = len(numbers), len(numbers) / MOST_STEPS
    for bound in bounds:
        n_above = sum(number > bound for number in numbers)
        # A bound before which hardly anybody comes tells nobody apart.
        if n_left - n_above >= least:
            kept.append(int(bound) if is_whole else bound)
            n_left = n_above
    return kept
