"""Entrants against each other on the same examples: paired differences of every metric, and tests, pair by pair.

Called by `app.kinds.predictions.kind`. The replicates of two entrants come from the
same resampled examples, so their differences are paired; the tests need no resamples.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.measured import Measurement
from app.boards.methods.estimate.spec import EstimateBoard, drawn_meta
from app.boards.standing import BoardStanding
from app.kinds.predictions.comparisons import (
    MAX_ENTRANTS,
    POWER,
    comparison_columns,
    comparison_rows,
    needed_column,
)
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.part import PredictionsPart, holds_labels
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import FloatArray
from app.stats.comparison import examples_needed, holm
from app.stats.paired_tests import PairTests, mcnemar_pairs, paired_t_pairs
from app.values.frame import Field, Frame
from app.values.table import Column, Table

OWN_LABELS = "Submitters bring their own labels here, so no two entrants have examples in common: nothing is paired."

AT_THRESHOLDS = (
    "The accuracy of each side is that at its threshold. Every two thresholds that the manifest declares are compared; "
    "it declares them before anybody is measured."
)
MCNEMAR = "McNemar, accuracy"
PAIRED_T = {
    "classification": "paired t, weighted accuracy",
    "regression": "paired t, squared error",
    "ranking": "paired t, NDCG",
}


def pair_tables(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], standing: BoardStanding | None
) -> tuple[Table, ...]:
    """Return `comparisons/<board>` and `tests/<board>` of the contenders, who come first and from best to worst."""
    contenders = [m for m in measurements if m.entrant not in spec.labels][:MAX_ENTRANTS]
    if len(contenders) < 2:
        return ()
    part = part_of(manifest, PredictionsPart).predictions
    title = spec.title or spec.name
    note = () if len(measurements) <= MAX_ENTRANTS else (f"The {MAX_ENTRANTS} best contenders are compared.",)
    compared = Table(
        f"comparisons/{spec.name}",
        f"{title}, every metric pair by pair",
        comparison_columns(part.kind),
        comparison_rows(manifest, spec, [m for m in measurements if m.entrant not in spec.labels], standing),
        (*note, *_how_paired(manifest)),
        drawn_meta(spec),
    )
    if not any(m.losses for m in contenders):
        return (compared,)
    meta = {"level": spec.uncertainty.level, "power": POWER}
    notes = (
        *note,
        "Each row asks whether A is better than B. "
        "Holm's value accounts for every pair and task of this table, each counted once.",
        *([AT_THRESHOLDS] if part.task_type == "binary" else []),
    )
    tasks = dict.fromkeys(task for m in contenders for task in m.losses)
    unadjusted = [test for task in tasks for test in _tests(part, spec, contenders, task)]
    tests = _with_holm(unadjusted, [m.entrant for m in contenders])
    return (compared, _test_frame(part).table(f"tests/{spec.name}", f"{title}, tests", tests, notes, meta))


@dataclass(frozen=True)
class _Test:
    """A one-sided test of whether A is better than B on one task; `only` are right of A alone and of B alone."""

    a: str
    b: str
    thresholds: tuple[float | None, float | None]
    task: str
    test: str
    n_units: int
    only: tuple[int | None, int | None]
    mean_difference: float
    p_value: float | None
    examples_needed: int | None
    p_holm: float | None = None


def _test_frame(part: Predictions) -> Frame[_Test]:
    kind = part.kind
    test, units = "mcnemar" if kind == "classification" else "paired_t", "Groups" if kind == "ranking" else "Examples"
    thresholds: tuple[Field[_Test], ...] = (
        Field(Column("threshold_a", "Threshold of A", digits=3, glossary="mcnemar"), lambda row: row.thresholds[0]),
        Field(Column("threshold_b", "Threshold of B", digits=3, glossary="mcnemar"), lambda row: row.thresholds[1]),
    )
    return Frame(
        [
            Field(Column("entrant_a", "A", "text"), lambda row: row.a),
            Field(Column("entrant_b", "B", "text"), lambda row: row.b),
            Field(Column("task", "Task", "text"), lambda row: row.task),
            Field(Column("test", "Test", "text", glossary=test), lambda row: row.test),
            *(thresholds if part.task_type == "binary" else ()),
            Field(Column("n_items", units, "integer", glossary="counts"), lambda row: row.n_units),
            Field(_right("n_a_only", "Right: A only", test), lambda row: row.only[0]),
            Field(_right("n_b_only", "Right: B only", test), lambda row: row.only[1]),
            Field(
                Column("mean_difference", "Mean difference", glossary=test, digits=4), lambda row: row.mean_difference
            ),
            Field(Column("p_value", "p", glossary=test, digits=4), lambda row: row.p_value),
            Field(Column("p_holm", "p, Holm", glossary="holm", digits=4), lambda row: row.p_holm),
            Field(needed_column(kind), lambda row: row.examples_needed),
        ]
    )


def _right(name: str, title: str, test: str) -> Column:
    return Column(name, title, "integer", optional=True, glossary=test)


def _how_paired(manifest: Manifest) -> tuple[str, ...]:
    return () if holds_labels(manifest) else (OWN_LABELS,)


@dataclass(frozen=True)
class _Side:
    """What one column of losses is of: an entrant, at a threshold where there are two classes."""

    entrant: str
    threshold: float | None


def _tests(part: Predictions, spec: EstimateBoard, contenders: Sequence[Measurement], task: str) -> Iterator[_Test]:
    predicted = [m for m in contenders if task in m.losses]
    thresholds: Sequence[float | None] = part.thresholds if part.task_type == "binary" else [None]
    sides = [_Side(m.entrant, threshold) for m in predicted for threshold in thresholds]
    losses = np.column_stack([m.losses[task] for m in predicted])
    # Weighted examples are no longer counts.
    are_counts = part.kind == "classification" and bool(np.isin(losses, (0.0, 1.0)).all())
    pairs = mcnemar_pairs(losses) if are_counts else paired_t_pairs(_larger_better(losses, part.kind))
    test = MCNEMAR if are_counts else PAIRED_T[part.kind]
    for a, side in enumerate(sides):
        for b, other in enumerate(sides):
            if side.entrant != other.entrant:
                yield _test((side, other), task, test, pairs, (a, b), len(losses), spec.uncertainty.level)


def _with_holm(tests: Sequence[_Test], order: Sequence[str]) -> list[_Test]:
    """Return the tests with what Holm makes of each p-value beside those of all other pairs.

    Each pair counts once: the tests of whether the one that ranks higher is better are one family, the tests of
    whether it is worse another.
    """
    place = {name: at for at, name in enumerate(order)}
    corrected = list(tests)
    for is_forth in (True, False):
        ordered = [at for at, test in enumerate(tests) if (place[test.a] < place[test.b]) == is_forth]
        family = [at for at in ordered if tests[at].p_value is not None]
        for at, adjusted in zip(family, holm([float(tests[at].p_value or 0.0) for at in family]), strict=True):
            corrected[at] = replace(tests[at], p_holm=adjusted)
    return corrected


def _larger_better(losses: FloatArray, kind: str) -> FloatArray:
    return -losses if kind == "regression" else losses


def _test(
    sides: tuple[_Side, _Side], task: str, test: str, pairs: PairTests, at: tuple[int, int], n_units: int, level: float
) -> _Test:
    """Return the test of whether the first of two is better, without Holm's value."""
    a, b = sides
    only: tuple[int | None, int | None] = (None, None)
    if pairs.only is not None:
        only = (int(pairs.only[at]), int(pairs.only[at[::-1]]))
    mean, deviation = float(pairs.mean[at]), float(pairs.deviation[at])
    p_value = None if np.isnan(pairs.p_value[at]) else float(pairs.p_value[at])
    needed = _examples_for_test(mean, deviation, level)
    thresholds = (a.threshold, b.threshold)
    return _Test(a.entrant, b.entrant, thresholds, task, test, n_units, only, mean, p_value, needed)


def _examples_for_test(mean: float, deviation: float, level: float) -> int | None:
    """Return the examples that a one-sided test needs at this level; None when A is not the better one."""
    if mean <= 0.0 or deviation == 0.0:
        return None
    return examples_needed(mean, deviation, level, POWER, two_sided=False)
