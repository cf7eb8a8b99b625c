"""Item by item: where one entrant is better than another, with whatever their rows carry of the item besides."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from app.manifest.model import Metric
from app.names import count
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

MOST_ITEMS = 20_000
"""A table has the largest differences of at most so many items; a page shows some of them at a time."""

MOST_TEXT = 2_000
"""Of a text that a row carries, such as a prompt or an answer, so many characters are shown."""

SIDES = ("a", "b", "tie")

PLAIN = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?")
"""A text that is a number and nothing else: `007` is a name."""

Key = tuple[str, str | None, str]


def items_table(
    name: str, metric: str, about: Metric, scores: ScoreTable, pair: tuple[str, str], better: str = ""
) -> Table:
    """Return the items that both entrants have, largest difference first, in favour of A where it is positive.

    A value is the mean over the seeds of an item, in the unit of the metric; null is none. What the rows record of an
    item stands once where both say the same, and for A and B otherwise. With `better` (`a`, `b` or `tie`) only those
    where that one is better are listed. Raises nothing. Source: none; it rearranges.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> about = benchmark(Mean(name="main", method="mean", metric="error")).metrics["error"]
    >>> table = items_table("main", "error", about, rows(), ("Good", "Poor"))
    >>> table.rows[0][2:5], table.rows[0][5] > 0, table.notes
    (('a', 0.1, 0.8), True, ('Of 3 items Good is better on 3, Poor on 0; 0 are equal.',))
    >>> turned = items_table("main", "error", about, rows(), ("Poor", "Good"), "b")
    >>> len(turned.rows), turned.meta["n_a"], turned.meta["n_b"]
    (3, 0, 3)
    """
    own = [_by_item(scores, metric, entrant) for entrant in pair]
    shared = [key for key in own[0] if key in own[1]]
    sign = 1.0 if about.direction == "maximize" else -1.0
    found = []
    for key in shared:
        (a, said_a), (b, said_b) = own[0][key], own[1][key]
        effect = None if a is None or b is None else sign * (a - b)
        side = "" if effect is None else "tie" if effect == 0 else "a" if effect > 0 else "b"
        found.append((key, a, b, effect, side, said_a, said_b))
    counts = {side: sum(each[4] == side for each in found) for side in SIDES}
    listed = [each for each in found if not better or each[4] == better]
    listed.sort(key=lambda each: (each[3] is None, -abs(each[3] or 0.0), each[0][0], each[0][1] or "", each[0][2]))
    shown = listed[:MOST_ITEMS]
    texts, extra = _texts([each[5] for each in shown], [each[6] for each in shown])
    unit = about.unit
    columns = (
        Column("task", "Task", "text"),
        Column("condition", "Condition", "text", optional=True),
        Column("item", "Item", "text"),
        Column("a", pair[0], unit=unit, digits=4),
        Column("b", pair[1], unit=unit, digits=4),
        Column("effect", "In favour of A", unit=unit, digits=4),
        *extra,
    )
    rows = tuple((*key, a, b, effect, *said) for (key, a, b, effect, *_), said in zip(shown, texts, strict=True))
    notes = _notes(pair, counts, len(found), len(listed))
    return Table(f"items/{name}", f"{pair[0]} against {pair[1]}, item by item", columns, rows, notes,
                 {"metric": metric, **{f"n_{side}": n for side, n in counts.items()}})  # fmt: skip


def _by_item(scores: ScoreTable, metric: str, entrant: str) -> dict[Key, tuple[float | None, dict[str, str]]]:
    """Return the mean of an entrant's values on each item, and what the first of its rows says of it besides."""
    if scores.item is None or entrant not in scores.entrant.words:
        return {}
    mine = scores.take(scores.entrant.codes == scores.entrant.words.index(entrant))
    if mine.item is None:
        return {}
    tasks, items = mine.task.to_list(), mine.item.to_list()
    conditions = [None] * len(mine) if mine.condition is None else mine.condition.to_list()
    seen: dict[Key, list[int]] = {}
    for at, (task, condition, item) in enumerate(zip(tasks, conditions, items, strict=True)):
        if item is not None:
            seen.setdefault((str(task), condition, item), []).append(at)
    values = mine.value(metric)
    reasons = [] if mine.reason is None else mine.reason.to_list()
    by_item = {}
    for key, rows in seen.items():
        known = values[rows][~np.isnan(values[rows])]
        said = {name: text for name, coded in mine.recorded.items() if (text := coded.at(rows[0])) is not None}
        if reasons and (reason := reasons[rows[0]]) is not None:
            said["reason"] = reason
        by_item[key] = (float(known.mean()) if len(known) else None, said)
    return by_item


def _texts(
    of_a: Sequence[Mapping[str, str]], of_b: Sequence[Mapping[str, str]]
) -> tuple[list[list[Cell]], list[Column]]:
    """Return what the rows say besides: a column where both say the same throughout, and otherwise one for each.

    A column of nothing but numbers has them as numbers: rows keep all as texts, and no CSV may guard -1.5.
    """
    names = list(dict.fromkeys(name for said in (*of_a, *of_b) for name in said))
    cells: list[list[Cell]] = [[] for _ in of_a]
    columns = []
    for name in names:
        a, b = ([_clipped(said.get(name)) for said in side] for side in (of_a, of_b))
        title = name.replace("_", " ").capitalize()
        sides = [(f"recorded_{name}", title, a)] if a == b else [
            (f"a_{name}", f"{title} of A", a), (f"b_{name}", f"{title} of B", b)]  # fmt: skip
        for column, words, texts in sides:
            are_numbers = any(texts) and all(text is None or PLAIN.fullmatch(text) for text in texts)
            columns.append(Column(column, words, "number" if are_numbers else "text", optional=True))
            for row, text in zip(cells, texts, strict=True):
                row.append(float(text) if are_numbers and text is not None else text)
    return cells, columns


def _clipped(text: str | None) -> str | None:
    if text is None:
        return None
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}…"


def _notes(pair: tuple[str, str], counts: Mapping[str, int], n_found: int, n_listed: int) -> tuple[str, ...]:
    if not n_found:
        return ("The two have no item in common, or their rows name none.",)
    a, b, ties = (counts[side] for side in SIDES)
    equal = f"{ties:,} {'is' if ties == 1 else 'are'} equal"
    said = f"Of {count(n_found, 'item')} {pair[0]} is better on {a:,}, {pair[1]} on {b:,}; {equal}."
    cut = (f"Listed are the {MOST_ITEMS:,} largest differences of {n_listed:,}.",) if n_listed > MOST_ITEMS else ()
    return (said, *cut)
