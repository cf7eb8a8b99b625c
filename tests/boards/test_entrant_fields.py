"""What is said of entrants: read strictly however it is written, and found by conditions; what is not said matches
nothing.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.boards.entrant_fields import BOUNDS, Values, offered_bounds, offered_values, read_value, read_wish
from app.errors import FieldRejected
from app.manifest.model import STANDARD, EntrantField
from app.values.table import Cell

FIELDS = [EntrantField(**declared) for declared in STANDARD.values()]
BY_NAME = {field.name: field for field in FIELDS}
SAID: dict[str, Cell] = {
    "organisation": "A Lab", "licence": "Apache-2.0", "open_weights": True, "n_parameters": 7_000_000_000,
    "released": "2026-03-01", "price": 0.25,
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "written", "value"),
    [
        ("n_parameters", "7e9", 7_000_000_000),
        ("n_parameters", 7e9, 7_000_000_000),
        ("price", " .25 ", 0.25),
        ("open_weights", "Yes", True),
        ("open_weights", False, False),
        ("released", "2026-03-01", "2026-03-01"),
        ("url", "https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ("licence", " MIT ", "MIT"),
        ("licence", "x" * 500, "x" * 500),
        ("n_parameters", 2**53, 2**53),
        ("n_parameters", "9007199254740992", 2**53),
        ("n_parameters", "0", 0),
        ("price", "1e300", 1e300),
        ("licence", "  ", None),
        ("licence", None, None),
    ],
)
def test_a_value_is_the_same_however_it_is_written(field: str, written: Any, value: Cell) -> None:
    """As a cell of a CSV file, in a form, as JSON has it."""
    read = read_value(BY_NAME[field], written)

    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("n_parameters", "seven"), ("n_parameters", 1.5), ("n_parameters", True), ("n_parameters", "1_000"),
        ("n_parameters", "1e400"), ("n_parameters", "9" * 400), ("n_parameters", 10**400), ("n_parameters", "nan"),
        ("n_parameters", 2**53 + 1), ("n_parameters", "9007199254740994"), ("n_parameters", "-1"),
        ("price", "1.1e300"), ("price", f"0.{'0' * 499}"),
        ("n_parameters", float("nan")), ("price", float("inf")), ("price", "٣"),
        ("open_weights", "maybe"), ("open_weights", 1),
        ("released", "2026-02-30"), ("released", "20260301"), ("released", "2026-W01-1"), ("released", 2026),
        ("url", "javascript:alert(1)"), ("url", "https://"), ("url", "https://good.org@evil.org/"),
        ("url", "https://[::1"), ("url", "http://a b"), ("url", "data:text/html,x"),
        ("licence", "a\u202eb"), ("licence", "a\nb"), ("licence", "x" * 501), ("licence", ["mit"]), ("licence", 3),
    ],
)  # fmt: skip
def test_what_is_no_value_of_its_field_is_refused(field: str, written: Any) -> None:
    """With what is expected."""
    with pytest.raises(ValueError, match="expected"):
        read_value(BY_NAME[field], written)


def test_a_value_that_is_not_among_the_declared_ones_is_told_the_nearest() -> None:
    """As in a registration or a file: MIT was meant."""
    field = EntrantField(name="licence", type="text", values=["MIT", "Apache-2.0"])

    with pytest.raises(ValueError, match=r"^expected one of MIT, Apache-2\.0; did you mean Apache-2\.0\?$"):
        read_value(field, "Apache-2")


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(FIELDS), st.recursive(ANYTHING, st.lists, max_leaves=3))
def test_anything_is_read_or_refused_and_reads_as_itself_again(field: EntrantField, written: Any) -> None:
    """No other error whatever a stranger writes, and what was read is a value of the same field."""
    try:
        value = read_value(field, written)
    except ValueError:
        return

    assert read_value(field, value) == value


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        (["organisation=a lab"], True),
        (["organisation=B Lab"], False),
        (["licence=MIT", "licence=apache-2.0"], True),
        (["licence=Apache-2.0", "organisation=B Lab"], False),
        (["open_weights=yes"], True),
        (["open_weights=no"], False),
        (["n_parameters>=7e9", "n_parameters<=7e9"], True),
        (["n_parameters<=6e9"], False),
        (["n_parameters>=8e9"], False),
        (["released>=2026-03-01", "released<=2026-03-01"], True),
        (["released>=2026-03-02"], False),
        (["price<=0.25"], True),
        (["context_length>=1"], False),
    ],
    ids=str,
)
def test_everything_that_is_asked_must_be_said(asked: list[str], holds: bool) -> None:
    """Words in any case, numbers and days up to and with their ends."""
    wish = read_wish(FIELDS, asked)

    assert wish.holds(SAID) is holds
    assert wish.holds({}) is False


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("licence", "expected a field"),
        ("licnce=MIT", "did you mean licence?"),
        ("n_parameters<=small", "expected a whole number"),
        ("released>=spring", "expected a day"),
        ("licence>=MIT", "is equal to a value or not"),
        ("url>=https://a.org", "is equal to a value or not"),
        (f"licence={'x' * 493}", "expected a field"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: str, said: str) -> None:
    """With what was meant, or what is allowed."""
    with pytest.raises(FieldRejected) as refused:
        read_wish(FIELDS, [asked, "licence=MIT"])

    assert [said in each.message for each in refused.value.problems] == [True]


@given(st.lists(st.integers(-10, 2**53), min_size=1, max_size=9))
def test_bounds_that_are_offered_leave_somebody_and_leave_somebody_out(stated: list[int]) -> None:
    """Each of them lies within what is stated."""
    field = BY_NAME["n_parameters"]
    bounds = offered_bounds(field, {str(at): {field.name: value} for at, value in enumerate(stated)})

    assert all(min(stated) < bound < max(stated) for bound in bounds if isinstance(bound, int))
    assert len(bounds) <= 13


def test_nothing_asked_is_no_wish() -> None:
    """Everybody is as asked."""
    assert (read_wish(FIELDS, []).is_made, read_wish(FIELDS, ["licence= "]).holds({})) == (False, True)


def test_a_wish_is_said_as_it_is_asked_and_in_words() -> None:
    """Numbers in their shortest form in an address and with commas in words, with the unit; flags as yes and no."""
    asked = ["n_parameters<=7e9", "licence=MIT", "price>=0.25", "open_weights=true", "released>=2026-03-01"]
    wish = read_wish(FIELDS, asked)
    units = {field.name: f" {field.unit}" if field.unit else "" for field in FIELDS}
    labels = {field.name: field.label for field in FIELDS}

    assert [each.text for each in wish.conditions] == [
        "n_parameters<=7000000000", "licence=MIT", "price>=0.25", "open_weights=yes", "released>=2026-03-01"
    ]  # fmt: skip
    assert [read_wish(FIELDS, [each.text]).conditions[0].value for each in wish.conditions] == [
        each.value for each in wish.conditions
    ]
    assert wish.words == ", ".join([
        f"{labels['n_parameters']} {BOUNDS['<=']} 7,000,000,000{units['n_parameters']}",
        f"{labels['licence']} is MIT{units['licence']}",
        f"{labels['price']} {BOUNDS['>=']} 0.25{units['price']}",
        f"{labels['open_weights']} is yes{units['open_weights']}",
        f"{labels['released']} {BOUNDS['>=']} 2026-03-01{units['released']}",
    ])  # fmt: skip


OFFERED: dict[str, tuple[str, list[Cell], list[Cell]]] = {
    "whole numbers": ("n_parameters", [3, 12, 40], [5, 20]),
    "a bound that is a value": ("n_parameters", [1, 2, 5], [2]),
    "below one": ("n_parameters", [0, 1, 3], [2]),
    "the same": ("n_parameters", [7, 7], []),
    "one": ("n_parameters", [7], []),
    "none above zero": ("price", [-3.0, -1.0], []),
    "fractions": ("price", [0.03, 0.3, 3.0], [0.05, 0.5]),
    "days": ("released", ["2024-05-01", "2026-01-02", "2026-12-31"], ["2024-01-01", "2025-01-01", "2026-01-01"]),
}


@pytest.mark.parametrize("name", OFFERED)
def test_bounds_that_are_offered_are_round_and_tell_somebody_apart(name: str) -> None:
    """Steps of 1, 2 and 5 that are strictly within what is stated, each with somebody before it."""
    field, stated, bounds = OFFERED[name]
    values = {str(at): {field: value} for at, value in enumerate(stated)} | {"silent": {}}

    assert list(offered_bounds(BY_NAME[field], values)) == bounds


def test_years_that_are_offered_are_the_last_twelve_and_values_the_first_forty() -> None:
    """Of values the most frequent first, equal ones by name."""
    days: Values = {str(year): {"released": f"{year}-06-01"} for year in (1990, 2026)}
    many: Values = {f"{at:02}-{n}": {"licence": f"l{at:02}"} for at in range(50) for n in range(1 + (at == 30))}

    assert list(offered_bounds(BY_NAME["released"], days)) == [f"{year}-01-01" for year in range(2015, 2027)]
    assert offered_values(BY_NAME["licence"], many) == [("l30", 2), *((f"l{at:02}", 1) for at in range(40) if at != 30)]
