"""Entrants against each other on the same examples: paired differences of every metric, and tests, pair by pair. The
replicates of two entrants come from the same resampled examples, so their differences are paired; the tests need no
resamples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.boards.measured import Measurement
from app.boards.methods.estimate import EstimateBoard, drawn_meta, standing_by
from app.boards.standing import BoardStanding, Contrasts
from app.boards.tables import PAIR, VERDICT, Beside, contrast_field
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.manifest_part import PredictionsPart, holds_labels
from app.manifest.model import Manifest, part_of
from app.stats.arrays import FloatArray, IntArray
from app.stats.pairs import PairTests, examples_needed_of_all, holm_adjusted, mcnemar_pairs, paired_t_pairs
from app.values.table import CellColumn, Column, ColumnarRows, Rows, Table

Pair = tuple[NDArray[np.intp], ...]
"""The positions of A and of B, [n_pairs] each."""

OWN_LABELS = "Submitters bring their own labels here, so no two entrants have examples in common: nothing is paired."

AT_THRESHOLDS = (
    "The accuracy of each side is that at its threshold. Every two thresholds that the manifest declares (0.5 where it "
    "declares none) are compared; it declares them before anybody is measured."
)

MCNEMAR = "McNemar, accuracy"

PAIRED_T = {
    "classification": "paired t, weighted accuracy",
    "regression": "paired t, squared error",
    "ranking": "paired t, NDCG",
}


def pair_tables(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> tuple[Beside, ...]:
    """Return `comparisons/<board>` and `tests/<board>` of the contenders, who come first and from best to worst."""
    apart = {*spec.labels, *manifest.asked.facts.references}
    comparable = [m for m in measurements if m.entrant not in apart]
    contenders = comparable[:MAX_ENTRANTS]
    if len(contenders) < 2:
        return ()
    note = () if len(comparable) <= MAX_ENTRANTS else (f"The {MAX_ENTRANTS} best contenders are compared.",)
    return (
        Beside(f"comparisons/{spec.name}", partial(_compared, manifest, spec, comparable, standing, note)),
        Beside(f"tests/{spec.name}", partial(_tested, manifest, spec, contenders, note)),
    )


def _compared(
    manifest: Manifest,
    spec: EstimateBoard,
    comparable: Sequence[Measurement],
    standing: BoardStanding | None,
    note: tuple[str, ...],
) -> Table:
    return Table(
        f"comparisons/{spec.name}",
        f"{spec.title or spec.name}, every metric pair by pair",
        comparison_columns(part_of(manifest, PredictionsPart).predictions.kind),
        comparison_rows(manifest, spec, comparable, standing),
        (*note, *_how_paired(manifest), *_how_needed(manifest, spec)),
        drawn_meta(spec),
    )


def _tested(
    manifest: Manifest, spec: EstimateBoard, contenders: Sequence[Measurement], note: tuple[str, ...]
) -> Table | None:
    if not any(m.losses for m in contenders):
        return None
    part = part_of(manifest, PredictionsPart).predictions
    meta = {"level": spec.uncertainty.level, "power": POWER}
    notes = (
        *note,
        "p asks, one-sided, whether A is better than B, as YDF does; a small one among many is no verdict. "
        "Holm's value is two-sided, the same for A against B and B against A, and accounts for every pair and task of "
        f"this table. {_needed_title(part.kind)} are for the one-sided test of this pair alone.",
        *([AT_THRESHOLDS] if part.task_type == "binary" else []),
    )
    rows = _with_holm([_tests(part, spec, contenders, task) for task in _tasks(contenders)])
    title = f"{spec.title or spec.name}, tests"
    return Table(f"tests/{spec.name}", title, _test_columns(part), rows, notes, meta)


def _tasks(contenders: Sequence[Measurement]) -> Sequence[str]:
    return list(dict.fromkeys(task for m in contenders for task in m.losses))


@dataclass(frozen=True)
class _Tests:
    """One-sided tests of whether A is better than B on one task, a row for each ordered pair: its cells by column.

    `p_values` [n_pairs] are NaN where a test gives none, `two_sided` is the same for both orders of a pair, and
    `mirror` says in which row the other order is.
    """

    before: Sequence[CellColumn]
    p_values: FloatArray
    after: CellColumn
    two_sided: FloatArray
    mirror: IntArray

    def rows(self, p_holm: FloatArray) -> ColumnarRows:
        """Return the rows with what Holm makes of each p-value beside those of all other pairs."""
        p_values = [CellColumn.of_numbers(each) for each in (self.p_values, p_holm)]
        return ColumnarRows((*self.before, *p_values, self.after))


def _test_columns(part: Predictions) -> tuple[Column, ...]:
    kind = part.kind
    test, units = "mcnemar" if kind == "classification" else "paired_t", "Groups" if kind == "ranking" else "Examples"
    thresholds = (
        Column("threshold_a", "Threshold of A", digits=3, glossary="mcnemar"),
        Column("threshold_b", "Threshold of B", digits=3, glossary="mcnemar"),
    )
    return (
        Column("entrant_a", "A", "text"),
        Column("entrant_b", "B", "text"),
        Column("task", "Task", "text"),
        Column("test", "Test", "text", glossary=test),
        *(thresholds if part.task_type == "binary" else ()),
        Column("n_items", units, "integer", glossary="counts"),
        _right("n_a_only", "Right: A only", test),
        _right("n_b_only", "Right: B only", test),
        Column("mean_difference", "Mean difference", glossary=test, digits=4),
        Column("p_value", "p, one-sided", glossary=test, digits=4),
        Column("p_holm", "p, Holm, two-sided", glossary="holm", digits=4),
        needed_column(kind, "one-sided"),
    )


def _right(name: str, title: str, test: str) -> Column:
    return Column(name, title, "integer", optional=True, glossary=test)


def _how_paired(manifest: Manifest) -> tuple[str, ...]:
    return () if holds_labels(manifest) else (OWN_LABELS,)


def _how_needed(manifest: Manifest, spec: EstimateBoard) -> tuple[str, ...]:
    title = _needed_title(part_of(manifest, PredictionsPart).predictions.kind)
    level = f"{100 * spec.uncertainty.level:g} %"
    return (
        f"{title} are for a two-sided test of this pair alone, at {level}; more where all pairs are tested "
        "simultaneously, fewer by a one-sided test.",
    )


def _tests(part: Predictions, spec: EstimateBoard, contenders: Sequence[Measurement], task: str) -> _Tests:
    """Return the tests of one task: of every two entrants, at every two thresholds where there are two classes."""
    predicted = [at for at, m in enumerate(contenders) if task in m.losses]
    thresholds: Sequence[float | None] = part.thresholds if part.task_type == "binary" else [None]
    losses = _sides([contenders[at].losses[task] for at in predicted])
    # Weighted examples are no longer counts.
    are_counts = part.kind == "classification" and losses.dtype == np.int8
    pairs = mcnemar_pairs(losses.T) if are_counts else paired_t_pairs(_larger_better(losses.T, part.kind))
    whose = np.repeat(predicted, len(thresholds))
    pair = np.nonzero(whose[:, None] != whose)
    sides = _side_columns(contenders, whose, thresholds if part.task_type == "binary" else (), pair)
    words = (task, MCNEMAR if are_counts else PAIRED_T[part.kind])
    before = (*sides[:2], *(_all_of(word, len(pair[0])) for word in words), *sides[2:])
    counts = (_all_of(losses.shape[1], len(pair[0])), *_only(pairs, pair))
    mean, deviation = pairs.mean[pair], pairs.deviation[pair]
    at = np.zeros(pairs.p_value.shape, dtype=np.int64)
    at[pair] = np.arange(len(pair[0]))
    two_sided = np.minimum(1.0, 2.0 * np.minimum(pairs.p_value, pairs.p_value.T))
    return _Tests(
        (*before, *counts, CellColumn.of_numbers(mean)),
        pairs.p_value[pair],
        _needed(mean, deviation, spec.uncertainty.level),
        two_sided[pair],
        at.T[pair],
    )


def _sides(losses: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the losses of all, [n_sides, n_units], an entrant having a side at each threshold; as bytes if all are
    zeros and ones.
    """
    rows = [_flags(each.T if each.ndim > 1 else each[None, :]) for each in losses]
    return np.concatenate(rows)


def _flags(losses: NDArray[Any]) -> NDArray[Any]:
    is_byte = losses.dtype == np.int8 or bool(np.isin(losses, (0.0, 1.0)).all())
    return losses.astype(np.int8, copy=False) if is_byte else losses


def _side_columns(
    contenders: Sequence[Measurement], whose: IntArray, thresholds: Sequence[float | None], pair: Pair
) -> list[CellColumn]:
    """Return the columns of A and of B, and of their thresholds where there are some."""
    names = tuple(m.entrant for m in contenders)
    own = np.tile(np.array(thresholds, dtype=np.float64), len(whose) // max(len(thresholds), 1))
    return [
        *(CellColumn(whose[side], names) for side in pair),
        *(CellColumn.of_numbers(own[side]) for side in pair if thresholds),
    ]


def _all_of(word: str | int, n_rows: int) -> CellColumn:
    return CellColumn(np.zeros(n_rows, dtype=np.int64), (word,))


def _only(pairs: PairTests, pair: Pair) -> list[CellColumn]:
    """Return how many examples only A has right, and only B; nothing but for McNemar."""
    if pairs.only is None:
        return [CellColumn(np.zeros(len(pair[0]), dtype=np.int64), (None,))] * 2
    return [CellColumn(each[pair]) for each in (pairs.only, pairs.only.T)]


def _needed(means: FloatArray, deviations: FloatArray, level: float) -> CellColumn:
    """Return the examples that a one-sided test needs at this level; None when A is not the better one."""
    is_better = means > 0.0
    needed = np.full(len(means), np.nan)
    needed[is_better] = examples_needed_of_all(means[is_better], deviations[is_better], level, POWER, two_sided=False)
    return CellColumn.of_cells([None if np.isnan(n) else int(n) for n in needed.tolist()])


def _with_holm(tests: Sequence[_Tests]) -> ColumnarRows:
    """Return the rows of all tests, each with what Holm makes of it among all pairs.

    A pair counts once, with min(1, 2p) of the smaller of its two one-sided p-values. One-sided p-values of those alone
    who rank higher were rejected: who ranks higher is seen in the same data, which doubles the error.
    """
    starts = np.cumsum([0, *(len(each.mirror) for each in tests)])
    p_values = np.concatenate([each.two_sided for each in tests])
    mirror = np.concatenate([each.mirror + start for each, start in zip(tests, starts, strict=False)])
    family = np.flatnonzero((np.arange(len(mirror)) < mirror) & ~np.isnan(p_values))
    p_holm = np.full(len(p_values), np.nan)
    p_holm[family] = p_holm[mirror[family]] = holm_adjusted(p_values[family].tolist())
    ends = starts[1:-1]
    return ColumnarRows.joined([each.rows(own) for each, own in zip(tests, np.split(p_holm, ends), strict=True)])


def _larger_better(losses: NDArray[Any], kind: str) -> FloatArray:
    values = np.ascontiguousarray(losses, dtype=np.float64)
    return -values if kind == "regression" else values


# Entrants against each other by every metric: paired differences, pair by pair, and how many examples would tell. The
# replicates of two entrants come from the same resampled examples, so their differences are paired. The table is made
# column by column, as all squares of entrants are.

MAX_ENTRANTS = 50
"""The best are compared: the square of all pairs, times metrics, is larger than anyone reads."""

POWER = 0.8


def needed_column(kind: str, sides: str) -> Column:
    """Return the column of how many examples, or groups of a ranking, would show a difference by a test of `sides`."""
    return Column("examples_needed", f"{_needed_title(kind)}, {sides}", "integer", glossary="examples_needed")


def _needed_title(kind: str) -> str:
    return f"{'Groups' if kind == 'ranking' else 'Examples'} needed"


def comparison_columns(kind: str) -> tuple[Column, ...]:
    """Return the columns of `comparison_rows`."""
    difference = Column("difference", "A minus B", glossary="difference", digits=4)
    return (
        *(field.column for field in PAIR),
        Column("metric", "Metric", "text", glossary="estimate"),
        Column("a", "Of A", glossary="estimate", digits=4),
        Column("b", "Of B", glossary="estimate", digits=4),
        *(field.column for field in (*contrast_field(difference), *VERDICT)),
        needed_column(kind, "two-sided"),
    )


def comparison_rows(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> Rows:
    """Return the ordered pairs of each metric; who is separable takes account of all with a value, as on a board.

    `standing` is that of the contenders, who come first, by the metric that ranks; it is not computed twice.
    """
    parts = list(_by_metric(manifest, spec, measurements, standing))
    return ColumnarRows.joined(parts) if parts else ()


def _by_metric(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> Iterator[ColumnarRows]:
    for metric in spec.metrics:
        scored = [m for m in measurements if metric in m.estimates and m.estimates[metric].point is not None]
        shown = scored[:MAX_ENTRANTS]
        if len(shown) < 2:
            continue
        is_known = metric == spec.ranked and standing is not None and len(standing.points) == len(scored)
        of_all = standing if is_known and standing is not None else standing_by(manifest, spec, metric, scored)
        # Which difference matters is said of the metric that ranks: the table of pairs has that verdict.
        contrasts = of_all.contrasts(range(len(shown)))
        is_turned = manifest.metrics[metric].direction == "minimize"
        yield ColumnarRows(tuple(_columns(spec, metric, shown, contrasts, is_turned=is_turned)))


def _columns(
    spec: EstimateBoard, metric: str, shown: Sequence[Measurement], contrasts: Contrasts, *, is_turned: bool
) -> Iterator[CellColumn]:
    """Yield the columns of one metric, of every ordered pair of two."""
    first, second = np.nonzero(~np.eye(len(shown), dtype=np.bool_))
    names = tuple(m.entrant for m in shown)
    points = np.array([float(m.estimates[metric].point or 0.0) for m in shown])
    yield CellColumn(first, names)
    yield CellColumn(second, names)
    yield CellColumn(np.zeros(len(first), dtype=np.int64), (metric,))
    yield CellColumn.of_numbers(points[first])
    yield CellColumn.of_numbers(points[second])
    pairs = first * len(shown) + second
    yield from (CellColumn(cells.values[pairs], cells.words) for cells in contrasts.cells(is_turned=is_turned))
    n_items = np.array([float(m.facts.get("n_groups") or m.facts.get("n_items") or 0) for m in shown])
    deviations = contrasts.errors[first, second] * np.sqrt(n_items[first])
    needed = examples_needed_of_all(points[first] - points[second], deviations, spec.uncertainty.level, POWER)
    yield CellColumn.of_cells([None if np.isnan(n) else int(n) for n in needed.tolist()])
