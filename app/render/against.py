"""Two entrants of a board compared: the rows about them, their tests, and the sentence that the data support."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from app.boards.measured import EQUAL_SEEDS
from app.boards.provenance import COPIED
from app.boards.standing import BY_BOTH, BY_RULE, RELATIVE_SKILL, log_points
from app.boards.statement import flags_in_words
from app.manifest.model import Direction, Manifest
from app.names import in_words
from app.render.text import format_number, format_p_value, plain_words, two_digits
from app.stats.rank_sets import times_the_units
from app.values.table import Cell, Column, Table

Record = Mapping[str, Cell]

# Win rates and probabilities are not effect sizes.
CHANCES = ("win_rate", "p_a_beats_b")

# These effects are in the unit of the metric, so a sentence says how much higher or lower; other effects are named.
IN_UNITS = ("advantage", "difference", "board_difference")

EVEN = 0.5

DIGITS, MOST_DIGITS = 3, 8

MAX_SENTENCES = 3

LEAST_P = 1e-4

MANY_TIMES = 1000.0

LEAST_SIZE = 1e-6
"""Of a difference in standard errors: below it is rounding, and no amount of data is enough."""


@dataclass(frozen=True)
class ComparedQuantity:
    """The compared quantity: its name in sentences and which way is better. `direction` is the metric's."""

    title: str
    direction: Direction


@dataclass(frozen=True)
class PairRows:
    """The rows of two entrants, A over B and B over A, and the `meta` of the pairwise table."""

    a: str
    b: str
    forth: Record
    back: Record
    table: Table

    @property
    def effect(self) -> str | None:
        """Return the column with the difference between A and B, where the table has one."""
        column = effect_column(self.table)
        return None if column is None else column.name


def effect_column(pairwise: Table) -> Column | None:
    """Return the column of a pairwise table by which the board compares two entrants: its contrast."""
    declared = pairwise.meta.get("contrast")
    candidates = (column for column in pairwise.columns if column.interval and column.name not in CHANCES)
    return next(iter(sorted(candidates, key=lambda column: column.name != declared)), None)


def measured_by(pairwise: Table, manifest: Manifest, metric_words: Callable[[str], str] = str) -> ComparedQuantity:
    """Return what a pairwise table compares: the score or the metric in its `meta`, by default the score.

    `metric_words` says how a metric is written in a sentence where the manifest has no title for it.
    """
    name, effect = pairwise.meta.get("metric"), effect_column(pairwise)
    if "score" in pairwise.meta or name not in manifest.metrics:
        direction = pairwise.meta.get("score_direction") or (effect and effect.direction) or "maximize"
        return ComparedQuantity(str(pairwise.meta.get("score", "score")), direction)
    metric = manifest.metrics[name]
    title = metric.title or metric_words(name)
    if "groups" in pairwise.meta:
        title = f"mean over groups of {title}"
    elif "advantage" in pairwise.column_names():
        title = f"mean {title}"
    return ComparedQuantity(title, metric.direction)


def entrants_of(pairwise: Table) -> list[str]:
    """Return the entrants that a pairwise table compares, in its order."""
    return list(dict.fromkeys(str(record["entrant_a"]) for record in pairwise.records()))


def find_pair(pairwise: Table, a: str, b: str) -> PairRows:
    """Return the rows of two entrants that the table compares."""
    records = {(record["entrant_a"], record["entrant_b"]): record for record in pairwise.records()}
    return PairRows(a, b, records[a, b], records[b, a], pairwise)


def rows_of_pair(table: Table, a: str, b: str, *, both_orders: bool) -> Table:
    """Return the rows of a table of pairs that compare A with B, and with `both_orders` those of B with A."""
    first, second = table.index("entrant_a"), table.index("entrant_b")
    wanted = [(a, b), (b, a)] if both_orders else [(a, b)]
    return replace(table, rows=tuple(row for row in table.rows if (row[first], row[second]) in wanted))


def verdict(pair: PairRows, measured: ComparedQuantity) -> str:
    """Return one sentence on A and B: which is better and by how much, or that it is not settled."""
    effect = pair.effect
    if effect is None:
        return _without_effect(pair, measured)
    if pair.forth.get("separable") is not True:
        return _not_separated(pair, measured, effect)
    if is_by_rule(pair.forth):
        return _by_rule(pair, measured, effect)
    said = f"{_difference(pair, measured, effect, 'is better than')}."
    if pair.forth.get("within") is True:
        least = f"{float(pair.table.meta['smallest_difference']):g}"
        said += f" That is shown to be less than {least}, which does not matter here."
    if pair.forth.get("decided_by") != BY_BOTH:
        return said
    first, then = map(in_words, _in_order(pair))
    return f"{said} The rule for missing results puts {first} before {then}, too."


def _difference(pair: PairRows, measured: ComparedQuantity, effect: str, is_before: str) -> str:
    """Return by how much the better one is ahead; `is_before` are the words for that of an effect that has a name."""
    # The row of the better entrant: its effect is in its favour, whatever the sign.
    row = pair.forth if _favours_first(pair, measured, effect) or not number_in(pair.forth, effect) else pair.back
    better, other = in_words(str(row["entrant_a"])), in_words(str(row["entrant_b"]))
    if effect not in IN_UNITS and not number_in(row, effect):
        return f"{better} and {other} have the same {measured.title} {_interval(pair, row, effect)}"
    if effect not in IN_UNITS:
        number, interval = format_number(number_in(row, effect), _digits(row, effect)), _interval(pair, row, effect)
        return f"{better} {is_before} {other} on {measured.title}: {plain_words(effect)} {number} {interval}"
    shown = _positive(row, effect)
    number = format_number(number_in(shown, effect), _digits(shown, effect))
    if not number_in(shown, effect):
        return f"{better} and {other} have the same {measured.title} {_interval(pair, shown, effect)}"
    word = "lower" if measured.direction == "minimize" else "higher"
    return f"{better}’s {measured.title} is {word} than {other}’s by {number} {_interval(pair, shown, effect)}"


def is_by_rule(row: Record) -> bool:
    """Say whether the rule for gaps decides a pair, and no test: in tables of before 0.2.0, where there is no p."""
    return row.get("decided_by") == BY_RULE or (row.get("separable") is True and row.get("p_value", 1.0) is None)


def is_before(row: Record, effect: Column | None) -> bool:
    """Say of a separable pair whether A is the better one; in tables of before 0.2.0 the effect says it."""
    if "verdict" in row:
        return row["verdict"] == "better"
    if effect is None or row.get(effect.name) is None:
        return number_in(row, "p_a_beats_b") > EVEN
    return (number_in(row, effect.name) > 0.0) != (effect.direction == "minimize")


def _in_order(pair: PairRows) -> tuple[str, str]:
    """Return the names of two that the board tells apart, the better one first."""
    return (pair.a, pair.b) if is_before(pair.forth, effect_column(pair.table)) else (pair.b, pair.a)


def _by_rule(pair: PairRows, measured: ComparedQuantity, effect: str) -> str:
    """Return who is before whom by the rule for missing results, and the difference of the board's scores."""
    first, then = map(in_words, _in_order(pair))
    said = f"{first} is before {then} on {measured.title} by the rule for missing results alone."
    if "verdict" not in pair.forth:
        return said
    return f"{said} By the scores of the board, {_difference(pair, measured, effect, 'is ahead of')}."


def _without_effect(pair: PairRows, measured: ComparedQuantity) -> str:
    """Return the sentence for a table without an effect size: only whether the two are separable."""
    chance = next((name for name in CHANCES if isinstance(pair.forth.get(name), float)), None)
    if pair.forth.get("separable") is not True or chance is None:
        return f"Not settled: the data do not tell {in_words(pair.a)} from {in_words(pair.b)} on {measured.title}."
    names = (pair.a, pair.b) if number_in(pair.forth, chance) > EVEN else (pair.b, pair.a)
    better, other = map(in_words, names)
    return f"{better} is better than {other} on {measured.title}."


def _not_separated(pair: PairRows, measured: ComparedQuantity, effect: str) -> str:
    row, name = pair.forth, plain_words(effect)
    a, b = in_words(pair.a), in_words(pair.b)
    if row.get(effect) is None:
        return f"The board does not compare {a} with {b} on {measured.title}: at least one of them has no rank there."
    number = format_number(number_in(row, effect), _digits(row, effect))
    if row.get("separable") is None:
        reason = pair.table.meta.get("interval_reason")
        why = f" ({plain_words(str(reason))})" if reason else ""
        return (
            f"{a} against {b} on {measured.title}: {name} {number}, without an interval{why}, "
            "so nothing can be concluded about other data."
        )
    if row.get("verdict") == "equivalent":
        least = f"{float(pair.table.meta['smallest_difference']):g}"
        measured_text = f"{name} {number} {_interval(pair, row, effect)}"
        return f"{a} and {b} differ by less than {least}, which does not matter, on {measured.title}: {measured_text}."
    return f"Not settled: {_difference(pair, measured, effect, 'is ahead of')}."


def _favours_first(pair: PairRows, measured: ComparedQuantity, effect: str) -> bool:
    """Say whether the effect is in favour of A: a difference has the metric's own sign, another its column's."""
    above = number_in(pair.forth, effect) > 0.0
    if effect == "difference":
        return above != (measured.direction == "minimize")
    column = effect_column(pair.table)
    return above != (column is not None and column.direction == "minimize")


def _positive(row: Record, effect: str) -> Record:
    """Return the row with the absolute value of its effect, and its interval accordingly."""
    low, high = f"{effect}_lower", f"{effect}_upper"
    if number_in(row, effect) > 0.0:
        return row
    known = isinstance(row.get(low), float)
    ends = {low: -number_in(row, high), high: -number_in(row, low)} if known else {}
    return {**row, effect: -number_in(row, effect), **ends}


def _interval(pair: PairRows, row: Record, effect: str) -> str:
    meta = pair.table.meta
    if row.get(f"{effect}_lower") is None:
        return "(without an interval)"
    digits = _digits(row, effect)
    low, high = (format_number(number_in(row, f"{effect}_{end}"), digits) for end in ("lower", "upper"))
    level = f"{100 * float(meta['level']):g} % " if "level" in meta else ""
    # The verdict allows for all pairs of the board, so it may leave open what this interval alone would not.
    alone = " of this pair alone" if _n_tested(pair.table) > 1 else ""
    # Of weighted ranks the interval is not that of the test beside it.
    how = (
        ", from percentiles of resamples and their mirror image"
        if str(meta.get("contrast_interval")).startswith("percentiles")
        else ""
    )
    return f"({level}interval{alone}{how}: {low} to {high})"


def chances(pair: PairRows) -> Sequence[str]:
    """Return the sentence on the p-value of the board's contrast: the test, what it tests, and over how many pairs."""
    p_value = pair.forth.get("p_value")
    if not isinstance(p_value, float):
        return ()
    n_all, level = _n_tested(pair.table), float(pair.table.meta.get("level", 0.95))
    test = f"p {format_p(p_value)}, {pair.table.meta.get('test', 'test')}, two-sided"
    if n_all < 2:
        return (
            f"This is the only pair of those with a rank: {test}. The test of the board, which says who is separable, "
            "is more cautious.",
        )
    pairs = f"all {n_all:,} pairs of the board"
    if pair.forth.get("separable") is True and not is_by_rule(pair.forth):
        if p_value > 1.0 - level:
            return (
                f"The two differ since the board shows one to be better than an entrant that is better than the other; "
                f"this pair alone would not show it ({test}).",
            )
        return (f"The two differ also with {pairs} tested at once (this pair alone: {test}).",)
    if p_value > 1.0 - level:
        return (f"Asked alone, the two would not be told apart either ({test}).",)
    more = "the board's test, which is more cautious also of a single pair, does not tell the two apart"
    return (f"This pair by itself: {test}; among {pairs} {more}.",)


def lacking(pair: PairRows, board: Table | None) -> Iterator[str]:
    """Yield what either of two lacks on the board, and that what stands for it is in the numbers of the pair."""
    parts = "its interval, its p and the win rate" if "win_rate" in pair.forth else "its interval and its p"
    for row in _on_board(pair, board):
        n_has, n_all = row.get("n_included"), row.get("n_attempted")
        if isinstance(n_has, int) and isinstance(n_all, int) and n_has < n_all:
            said = f"{in_words(str(row['entrant']))} lacks {n_all - n_has:,} of {n_all:,} results."
            if pair.effect is not None and pair.forth.get(pair.effect) is not None:
                said += f" What the board counts in their place is in the difference, {parts}."
            yield said


def in_sums(pair: PairRows) -> Iterator[str]:
    """Yield the difference in the unit of the board's column, where that is a sum over tasks and pairs are of means."""
    total, n_tasks = pair.table.meta.get("score_sum"), pair.table.meta.get("n_tasks")
    value = None if pair.effect is None else pair.forth.get(pair.effect)
    if isinstance(total, str) and isinstance(n_tasks, int) and n_tasks > 1 and isinstance(value, float) and value:
        yield f"As the board counts, over all {n_tasks:,} tasks: {format_number(n_tasks * abs(value), 1)} {total}."


def ruled_out(pair: PairRows, board: Table | None) -> Sequence[str]:
    """Return the sentence on one of two that are not told apart who may not be first, while the other may."""
    if board is None or not {"entrant", "may_be_first"} <= set(board.column_names()):
        return ()
    rows = {row["entrant"]: row for row in board.records()}
    may = {name: row["may_be_first"] for name, row in rows.items()}
    out = [name for name in (pair.a, pair.b) if may.get(name) is False]
    if pair.forth.get("separable") is not False or len(out) != 1 or True not in (may.get(pair.a), may.get(pair.b)):
        return ()
    who = in_words(out[0])
    if rows[out[0]].get("first_p", 1.0) is None:
        return (f"{who} is ruled out as first all the same: by the rule for missing results, not by a test.",)
    return (f"{who} is ruled out as first all the same: another entrant is shown to be better than it.",)


def same_rows(pair: PairRows, board: Table | None) -> Sequence[str]:
    """Return the sentence on two of which one repeats the other: no amount of the same data tells them apart."""
    if board is None or not {"entrant", "flags", "nearest"} <= set(board.column_names()):
        return ()
    rows = {row["entrant"]: row for row in board.records() if row["entrant"] in (pair.a, pair.b)}
    for name, other in ((pair.a, pair.b), (pair.b, pair.a)):
        flags = [flag for flag in str(rows[name]["flags"] or "").split() if flag in COPIED] if name in rows else []
        if flags and rows[name]["nearest"] == other:
            return (f"The two are flagged: {flags_in_words(' '.join(flags))}.",)
    return ()


def beside_baseline(pair: PairRows) -> Iterator[str]:
    """Yield why two intervals of one number differ, where one of two is what scores are relative to."""
    baseline = pair.table.meta.get("scored_against")
    if baseline in (pair.a, pair.b) and pair.effect == RELATIVE_SKILL:
        other = in_words(pair.b if baseline == pair.a else pair.a)
        yield (
            f"{other}’s score is its skill relative to {in_words(str(baseline))}. Where the interval of a score is "
            "widened for tasks that may be far off, it is not that of this comparison."
        )


def flagged(pair: PairRows, board: Table | None) -> Iterator[str]:
    """Yield the flags of either of two, but for those of `same_rows` where it says them."""
    if board is None or not {"entrant", "flags"} <= set(board.column_names()):
        return
    said = COPIED if same_rows(pair, board) else frozenset()
    for row in board.records():
        flags = [flag for flag in str(row["flags"] or "").split() if flag not in said]
        if flags and row["entrant"] in (pair.a, pair.b):
            yield f"{in_words(str(row['entrant']))} is flagged: {flags_in_words(' '.join(flags))}."


def _n_tested(table: Table) -> int:
    """Return how many pairs the board tests at once; the table has those of the best."""
    n_entrants = len(entrants_of(table))
    power = table.meta.get("power")
    known = power.get("n_pairs") if isinstance(power, Mapping) else None
    return int(known or n_entrants * (n_entrants - 1) // 2)


def format_p(p_value: float) -> str:
    """Return a p-value with = or ≤, since none is exactly zero."""
    return "≤ 0.0001" if p_value <= LEAST_P else f"= {format_p_value(p_value, 4)}"


def number_in(row: Record, name: str) -> float:
    """Return a number of a row, 0 where there is none."""
    value = row.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _digits(row: Record, effect: str) -> int:
    """Return how many decimals show two digits of the largest number, and that a settled interval excludes zero."""
    names = [name for name in (effect, f"{effect}_lower", f"{effect}_upper") if row.get(name) is not None]
    sizes = [abs(number_in(row, name)) for name in names]
    smallest = min(sizes) if row.get("separable") is True and not is_by_rule(row) else 1.0
    enough = (n for n in range(DIGITS, MOST_DIGITS) if max(sizes, default=0.0) * 10**n >= 10 and smallest * 10**n >= 1)
    return next(enough, MOST_DIGITS) if max(sizes, default=0.0) > 0.0 else DIGITS


def ahead_by(pair: PairRows) -> float | None:
    """Return by how much the board has A ahead of B, in the unit in which it tests; None where that is not known."""
    column = effect_column(pair.table)
    value = None if column is None else pair.forth.get(column.name)
    if column is None or not isinstance(value, float):
        return None
    if column.name == RELATIVE_SKILL:
        return float(log_points(np.array(value)))
    return -value if column.direction == "minimize" else value


def evidence_needed(pair: PairRows, board: Table | None) -> Sequence[str]:
    """Return how many times as much evidence would tell two apart that are not, as a range over the interval.

    Nothing is said where the board says no degrees of freedom: of scores that move in steps, over all snapshots, and of
    snapshots of before; nor of seeds that are all equal, or of who lacks a result on the `board`: what stands for it
    there spreads the difference as no result would. Source: `times_the_units`.
    """
    effect, power, row = pair.effect, pair.table.meta.get("power"), pair.forth
    if effect is None or not isinstance(power, Mapping) or row.get("separable") is not False:
        return ()
    point, low, high = (row.get(name) for name in (effect, f"{effect}_lower", f"{effect}_upper"))
    if not isinstance(point, float) or not isinstance(low, float) or not isinstance(high, float) or point == 0.0:
        return ()
    if not power.get("freedom") or pair.table.meta.get("over_snapshots"):
        return ()
    if _of_equal_seeds(pair) or any(row.get("n_included") != row.get("n_attempted") for row in _on_board(pair, board)):
        return ()
    if effect == RELATIVE_SKILL:
        point, low, high = log_points(np.array([point, low, high])).tolist()
    freedom, level = float(power["freedom"]), float(pair.table.meta.get("level", 0.95))
    # One end may be cut off at the largest difference that can be.
    error = max(point - low, high - point) / -float(stdtrit(freedom, (1.0 - level) / 2.0))

    def times(difference: float) -> float:
        size = max(abs(difference) / error, LEAST_SIZE)
        return times_the_units(size, float(power["critical"]), freedom, float(power["power"]))

    as_seen, least = times(point), times(max(abs(low), abs(high)))
    said = f"at least {'as much' if two_digits(least) == '1' else f'{two_digits(least)} times'}"
    said += "; if they do not differ, no amount is enough"
    if not low <= 0.0 <= high:
        most = times(min(abs(low), abs(high)))
        up_to = f"to {two_digits(most)} times" if most < MANY_TIMES else "times or far more"
        said = f"plausibly {two_digits(least)} {up_to}"
    how_much = {"1": "as much data as there is", "2": "twice the data"}
    return (
        f"To detect this difference with {100 * float(power['power']):g} % probability would take about "
        f"{how_much.get(two_digits(as_seen), f'{two_digits(as_seen)} times the data')} ({said}).",
    )


def _on_board(pair: PairRows, board: Table | None) -> Iterator[Record]:
    return (row for row in (() if board is None else board.records()) if row.get("entrant") in (pair.a, pair.b))


def _of_equal_seeds(pair: PairRows) -> bool:
    return not {pair.a, pair.b}.isdisjoint(pair.table.meta.get(EQUAL_SEEDS, ()))


# The sentences on the tests of two entrants, and on how many more examples would show a difference.


def tested(pair: PairRows, tests: Table | None) -> Sequence[str]:
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
        f"p {format_p(number_in(record, 'p_value'))}, one-sided, for {in_words(str(record['entrant_a']))} being better "
        f"(two-sided, by Holm's method among all pairs, p {format_p(number_in(record, 'p_holm'))})."
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
    pair: PairRows, metric: str, comparisons: Table | None, tests: Table | None, unit: str = "examples"
) -> Sequence[str]:
    """Return how many more of the unit would show the difference, where that is known and it is not shown already."""
    if pair.forth.get("separable") is not False:
        return ()
    tested = _records(tests, pair)
    counts = {str(record["task"]): _whole(record["n_items"]) for record in tested}
    for record in _records(comparisons, pair):
        if record["metric"] == metric and "examples_needed" in record:
            return _needed(_whole(record["examples_needed"]), sum(counts.values()), unit, ALONE)
    return [
        sentence
        for record in tested
        for sentence in _needed(_whole(record["examples_needed"]), _whole(record["n_items"]), unit, _by_test(record))
    ][:MAX_SENTENCES]


ALONE = "a difference of this size, by a two-sided test of this pair alone,"


def _records(table: Table | None, pair: PairRows) -> list[Record]:
    records = () if table is None else rows_of_pair(table, pair.a, pair.b, both_orders=True).records()
    # The requested order comes first.
    return sorted(records, key=lambda record: record["entrant_a"] != pair.a)


def _whole(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


def _by_test(record: Record) -> str:
    better = f"{in_words(str(record['entrant_a']))} is better on {record['task']}"
    return f"by the one-sided test {record['test']} that {better}"


def _needed(n_needed: int, n_given: int, unit: str, what: str) -> list[str]:
    if not n_needed or n_needed <= n_given:
        return []
    if not n_given:
        return [f"About {n_needed:,} {unit} would be needed to show {what} with 80 % power."]
    more = f"About {n_needed - n_given:,} more {unit} would be needed to show {what} with 80 % power"
    return [f"{more}: {n_needed:,} where there are {n_given:,}."]
