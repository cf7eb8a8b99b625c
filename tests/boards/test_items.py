"""Item by item: who is better where, and what the rows say of an item besides."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards import items
from app.boards.items import items_table
from app.manifest.model import Metric
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

LATENCY = Metric(direction="minimize", unit="ms")


def rows(*given: tuple[str, str, float | None, dict[str, str | None]]) -> ScoreTable:
    """Return rows of entrant, item, value and what is recorded beside it, all of one task."""
    n = len(given)
    nothing = np.zeros(n, dtype=np.int64)
    names = {name for *_, said in given for name in said}
    recorded = {name: Coded.of([said.get(name) for *_, said in given]) for name in sorted(names)}
    return ScoreTable(
        entrant=Coded.of([entrant for entrant, *_ in given]),
        task=Coded(("qa",), nothing),
        columns=("latency",),
        values=np.array([[np.nan if value is None else value] for *_, value, _ in given]),
        leaked=nothing.astype(np.bool_),
        file=nothing,
        row=np.arange(n),
        item=Coded.of([item for _, item, *_ in given]),
        reason=recorded.pop("reason", None),
        recorded=recorded,
    )


def table(*given: tuple[str, str, float | None, dict[str, str | None]], better: str = "") -> Table:
    """Return the items of A and B."""
    return items_table("main", "latency", LATENCY, rows(*given), ("A", "B"), better)


SAID: dict[str, str | None] = {"question": "2 + 2?", "answer": "four", "length": "-1.5", "code": "007"}
GIVEN = (
    ("A", "i1", 1.0, SAID), ("A", "i1", 3.0, {"answer": "of another seed"}),
    ("B", "i1", 9.0, SAID | {"answer": "five"}),
    ("A", "i2", 5.0, {}), ("B", "i2", 4.0, {}),
    ("A", "i3", 5.0, {}), ("B", "i3", 5.0, {}),
    ("A", "i4", None, {"reason": "timeout"}), ("B", "i4", 5.0, {}),
    ("A", "only A", 5.0, {}),
)  # fmt: skip


def test_the_largest_difference_comes_first_and_an_item_without_a_value_last() -> None:
    """A value is the mean over the seeds of an item; where less is better a larger value is against its entrant."""
    found = table(*GIVEN)

    assert [row[2:6] for row in found.rows] == [
        ("i1", 2.0, 9.0, 7.0),
        ("i2", 5.0, 4.0, -1.0),
        ("i3", 5.0, 5.0, 0.0),
        ("i4", None, 5.0, None),
    ]
    assert found.notes == ("Of 4 items A is better on 1, B on 1; 1 is equal.",)
    assert found.meta == {"metric": "latency", "n_a": 1, "n_b": 1, "n_tie": 1}
    assert (found.title, {column.unit for column in found.columns[3:6]}) == ("A against B, item by item", {"ms"})


@pytest.mark.parametrize(("better", "expected"), [("a", ["i1"]), ("b", ["i2"]), ("tie", ["i3"])])
def test_items_of_one_side_are_listed_alone_and_all_are_counted(better: str, expected: list[str]) -> None:
    """The choice changes what is listed, not what is said of the two."""
    found = table(*GIVEN, better=better)

    assert [row[2] for row in found.rows] == expected
    assert found.notes == table(*GIVEN).notes


def test_what_both_say_stands_once_and_numbers_are_numbers() -> None:
    """The first row of an item speaks for it; what the two say differently, and why one has no value, stands twice."""
    found = table(*GIVEN)
    row = next(record for record in found.records() if record["item"] == "i1")
    kinds = {column.name: (column.title, column.kind) for column in found.columns[6:]}

    assert (row["recorded_question"], row["a_answer"], row["b_answer"]) == ("2 + 2?", "four", "five")
    assert (row["recorded_length"], row["recorded_code"]) == (-1.5, "007")
    assert kinds["recorded_length"] == ("Length", "number")
    assert kinds["recorded_code"] == ("Code", "text")
    assert kinds["a_answer"] == ("Answer of A", "text")
    assert [record["a_reason"] for record in found.records()] == [None, None, None, "timeout"]
    assert {record["b_reason"] for record in found.records()} == {None}


def test_a_long_text_is_cut_with_a_sign_that_it_is() -> None:
    """And one that just fits is whole."""
    text = "x" * items.MOST_TEXT
    found = table(("A", "i", 1.0, {"answer": text}), ("B", "i", 1.0, {"answer": text + "y"}))

    (row,) = found.records()
    assert (row["a_answer"], row["b_answer"]) == (text, text + "…")


def test_of_very_many_items_the_largest_differences_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """And it is said how many there are."""
    monkeypatch.setattr(items, "MOST_ITEMS", 2)
    found = table(*GIVEN)

    assert [row[2] for row in found.rows] == ["i1", "i2"]
    assert found.notes[1:] == ("Listed are the 2 largest differences of 4.",)


def test_of_who_has_no_row_and_of_rows_without_items_there_is_nothing() -> None:
    """A page says so instead of an empty table."""
    nobody = items_table("main", "latency", LATENCY, rows(*GIVEN), ("A", "C"))
    unnamed = items_table("main", "latency", LATENCY, replace(rows(*GIVEN), item=None), ("A", "B"))

    assert (nobody.rows, unnamed.rows) == ((), ())
    assert nobody.notes == unnamed.notes == ("The two have no item in common, or their rows name none.",)


def test_conditions_and_tasks_keep_items_of_one_name_apart() -> None:
    """What is compared has all three in common."""
    of_a, of_b = (("A", "i1", 1.0, {}), ("A", "i1", 2.0, {})), (("B", "i1", 3.0, {}),)
    conditioned = replace(rows(*of_a, *of_b), condition=Coded(("dark", "light"), np.array([0, 1, 1])))
    found = items_table("main", "latency", LATENCY, conditioned, ("A", "B"))

    assert [row[:5] for row in found.rows] == [("qa", "light", "i1", 2.0, 3.0)]
