"""The sentences on the tests of two entrants, and on how many more examples would show a difference.

Called by `app.web.against`, beside `app.render.against`.
"""

from collections.abc import Sequence

from app.names import in_words
from app.render.against import EVEN, MAX_SENTENCES, Pair, Record, format_p, number_in, rows_of_pair
from app.values.table import Cell, Table


def tested(pair: Pair, tests: Table | None) -> Sequence[str]:
    """Return the sentences on the tests of each task: the test with its metric, its p-value and Holm's."""
    records = [record for record in _records(tests, pair) if isinstance(record.get("p_value"), float)]
    # Of the two directions, the one that the data favour.
    likelier = [r for r in records if number_in(r, "p_value") <= EVEN or r["entrant_a"] == pair.a]
    by_task = {
        (record["task"], _thresholds(record, a=pair.a)): record
        for record in sorted(likelier, key=lambda r: -number_in(r, "p_value"))
    }
    return [
        f"{record['test']}{_at_thresholds(record)}, on {task}: "
        f"p {format_p(number_in(record, 'p_value'))} that {in_words(str(record['entrant_a']))} is better "
        f"(one-sided; two-sided, by Holm's method among all pairs, p {format_p(number_in(record, 'p_holm'))})."
        for (task, _), record in by_task.items()
    ][:MAX_SENTENCES]


def _thresholds(record: Record, a: str) -> tuple[Cell, Cell]:
    """Return the thresholds of A and B, whichever of them the row has first; None for a test without any."""
    first, second = record.get("threshold_a"), record.get("threshold_b")
    return (first, second) if record["entrant_a"] == a else (second, first)


def _at_thresholds(record: Record) -> str:
    at = [f"{number_in(record, name):g}" for name in ("threshold_a", "threshold_b") if record.get(name) is not None]
    return f" at {at[0]}" if len(set(at)) == 1 else f" at {' against '.join(at)}" if at else ""


def examples_needed(
    pair: Pair, metric: str, comparisons: Table | None, tests: Table | None, unit: str = "examples"
) -> Sequence[str]:
    """Return how many more of the unit would show the difference, where that is known and it is not shown already."""
    if pair.forth.get("separable") is not False:
        return ()
    tested = _records(tests, pair)
    counts = {str(record["task"]): _whole(record["n_items"]) for record in tested}
    for record in _records(comparisons, pair):
        if record["metric"] == metric and "examples_needed" in record:
            return _needed(_whole(record["examples_needed"]), sum(counts.values()), unit, "a difference of this size")
    return [
        sentence
        for record in tested
        for sentence in _needed(_whole(record["examples_needed"]), _whole(record["n_items"]), unit, _by_test(record))
    ][:MAX_SENTENCES]


def _records(table: Table | None, pair: Pair) -> list[Record]:
    records = () if table is None else rows_of_pair(table, pair.a, pair.b, both_orders=True).records()
    # The requested order comes first.
    return sorted(records, key=lambda record: record["entrant_a"] != pair.a)


def _whole(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


def _by_test(record: Record) -> str:
    return f"by the test {record['test']} that {in_words(str(record['entrant_a']))} is better on {record['task']}"


def _needed(n_needed: int, n_given: int, unit: str, what: str) -> list[str]:
    if not n_needed or n_needed <= n_given:
        return []
    if not n_given:
        return [f"About {n_needed:,} {unit} would be needed to show {what} with 80 % power."]
    more = f"About {n_needed - n_given:,} more {unit} would be needed to show {what} with 80 % power"
    return [f"{more}: {n_needed:,} where there are {n_given:,}."]
