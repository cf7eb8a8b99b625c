"""Entrants against each other on the same examples: paired differences of every metric, and tests, pair by pair.

Called by `app.kinds.predictions.kind`. The replicates of two entrants come from the
same resampled examples, so their differences are paired; the tests need no resamples.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from app.boards.estimate.spec import EstimateBoard, drawn_meta
from app.boards.measured import Measurement
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.comparison import examples_needed, holm
from app.stats.interval import TIE, percentile_interval
from app.stats.paired_tests import PairTests, mcnemar_pairs, paired_t_pairs
from app.values.table import Cell, Column, Table

MAX_ENTRANTS = 50
"""The best are compared: the square of all pairs, times metrics, is larger than anyone reads."""
POWER = 0.8
OWN_LABELS = "Submitters bring their own labels here, so no two entrants have examples in common: nothing is paired."

PAIR = (Column("entrant_a", "A", "text"), Column("entrant_b", "B", "text"))
COMPARISONS = (
    *PAIR,
    Column("metric", "Metric", "text", glossary="estimate"),
    Column("a", "Of A", glossary="estimate", digits=4),
    Column("b", "Of B", glossary="estimate", digits=4),
    Column("difference", "A minus B", interval=("difference_lower", "difference_upper"), glossary="difference",
           digits=4),
    Column("difference_lower", "A minus B, low", detail=True, glossary="difference", digits=4),
    Column("difference_upper", "A minus B, high", detail=True, glossary="difference", digits=4),
    Column("p_a_beats_b", "P(A beats B)", glossary="p_a_beats_b", digits=2),
    Column("separable", "Separable", "flag", glossary="separable"),
)  # fmt: skip
MCNEMAR = "McNemar"
PAIRED_T = {
    "classification": "paired t, weighted accuracy",
    "regression": "paired t, squared error",
    "ranking": "paired t, NDCG",
}


def pair_tables(manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement]) -> tuple[Table, ...]:
    """Return `comparisons/<board>` and `tests/<board>` of the contenders, who come first and from best to worst."""
    contenders = [m for m in measurements if m.entrant not in spec.labels][:MAX_ENTRANTS]
    if len(contenders) < 2:
        return ()
    kind = "" if manifest.predictions is None else manifest.predictions.kind
    title = spec.title or spec.name
    note = () if len(measurements) <= MAX_ENTRANTS else (f"The {MAX_ENTRANTS} best contenders are compared.",)
    compared = Table(f"comparisons/{spec.name}", f"{title}, every metric pair by pair", (*COMPARISONS, _needed(kind)),
                     tuple(_comparisons(manifest, spec, contenders)), (*note, *_how_paired(manifest)),
                     drawn_meta(spec))  # fmt: skip
    if not any(m.losses for m in contenders):
        return (compared,)
    meta = {"level": spec.uncertainty.level, "power": POWER}
    notes = (*note, "Each row asks whether A is better than B. Holm's value accounts for every test of this table.")
    tested = Table(f"tests/{spec.name}", f"{title}, tests", _test_columns(kind), tuple(_tests(kind, spec, contenders)),
                   notes, meta)  # fmt: skip
    return (compared, tested)


def _needed(kind: str) -> Column:
    unit = "Groups" if kind == "ranking" else "Examples"
    return Column("examples_needed", f"{unit} needed", "integer", glossary="examples_needed")


def _test_columns(kind: str) -> tuple[Column, ...]:
    test = "mcnemar" if kind == "classification" else "paired_t"
    return (
        *PAIR,
        Column("task", "Task", "text"),
        Column("test", "Test", "text", glossary=test),
        Column("n_items", "Groups" if kind == "ranking" else "Examples", "integer", glossary="counts"),
        Column("n_a_only", "Right: A only", "integer", optional=True, glossary=test),
        Column("n_b_only", "Right: B only", "integer", optional=True, glossary=test),
        Column("mean_difference", "Mean difference", glossary=test, digits=4),
        Column("p_value", "p", glossary=test, digits=4),
        Column("p_holm", "p, Holm", glossary="holm", digits=4),
        _needed(kind),
    )


def _how_paired(manifest: Manifest) -> tuple[str, ...]:
    own = manifest.predictions is not None and manifest.predictions.labels == "submitted"
    return (OWN_LABELS,) if own else ()


def _comparisons(
    manifest: Manifest, spec: EstimateBoard, contenders: Sequence[Measurement]
) -> Iterator[tuple[Cell, ...]]:
    for metric in spec.metrics:
        there = [m for m in contenders if metric in m.estimates and m.estimates[metric].point is not None]
        sign = -1.0 if manifest.metrics[metric].direction == "minimize" else 1.0
        for a in there:
            for b in there:
                if a is not b:
                    yield (a.entrant, b.entrant, metric, *_compared(a, b, metric, sign, spec.uncertainty.level))


def _compared(a: Measurement, b: Measurement, metric: str, sign: float, level: float) -> tuple[Cell, ...]:
    points = [float(m.estimates[metric].point or 0.0) for m in (a, b)]
    difference = points[0] - points[1]
    drawn = [m.replicates.get(metric) for m in (a, b)]
    if drawn[0] is None or drawn[1] is None:
        return (*points, difference, None, None, None, None, None)
    differences = drawn[0] - drawn[1]
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return (*points, difference, None, None, None, None, None)
    low, high = (float(end[0]) for end in percentile_interval(differences[:, None], level))
    margin = sign * differences
    beats = float((margin > TIE).mean() + 0.5 * (np.abs(margin) <= TIE).mean())
    n_items = int(a.facts.get("n_groups") or a.facts.get("n_items") or 0)
    deviation = float(differences.std(ddof=1)) * np.sqrt(n_items)
    needed = examples_needed(difference, deviation, level, POWER) if deviation > 0 else None
    return (*points, difference, low, high, beats, bool(low > 0.0 or high < 0.0), needed)


def _tests(kind: str, spec: EstimateBoard, contenders: Sequence[Measurement]) -> list[tuple[Cell, ...]]:
    tasks = dict.fromkeys(task for m in contenders for task in m.losses)
    rows: list[tuple[Cell, ...]] = []
    for task in tasks:
        there = [m for m in contenders if task in m.losses]
        losses = np.column_stack([m.losses[task] for m in there])
        # Weighted examples are no longer counts.
        are_counts = kind == "classification" and bool(np.isin(losses, (0.0, 1.0)).all())
        found = mcnemar_pairs(losses) if are_counts else paired_t_pairs(_larger_better(losses, kind))
        test = MCNEMAR if are_counts else PAIRED_T[kind]
        rows += _test_rows([m.entrant for m in there], task, test, found, len(losses), spec.uncertainty.level)
    known = [at for at, row in enumerate(rows) if row[8] is not None]
    adjusted = dict(zip(known, holm([float(rows[at][8] or 0.0) for at in known]), strict=True))
    return [(*row[:9], adjusted.get(at), *row[9:]) for at, row in enumerate(rows)]


def _larger_better(losses: FloatArray, kind: str) -> FloatArray:
    return -losses if kind == "regression" else losses


def _test_rows(
    names: Sequence[str], task: str, test: str, found: PairTests, n_units: int, level: float
) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each ordered pair, without Holm's value."""
    for a, name in enumerate(names):
        for b, other in enumerate(names):
            if a == b:
                continue
            only: tuple[Cell, Cell] = (None, None)
            if found.only is not None:
                only = (int(found.only[a, b]), int(found.only[b, a]))
            mean, deviation = float(found.mean[a, b]), float(found.deviation[a, b])
            p_value = None if np.isnan(found.p_value[a, b]) else float(found.p_value[a, b])
            needed = _examples_for_test(mean, deviation, level)
            yield (name, other, task, test, n_units, *only, mean, p_value, needed)


def _examples_for_test(mean: float, deviation: float, level: float) -> int | None:
    """Return the examples that a one-sided test needs at this level; None when A is not the better one."""
    if mean <= 0.0 or deviation == 0.0:
        return None
    return examples_needed(mean, deviation, level, POWER, two_sided=False)
