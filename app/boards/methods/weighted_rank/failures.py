"""Which failures the runs of a board declare: estimates that are invalid, intervals and comparisons that failed.

Called by `.method`; pure. A null that nothing declares is absent, however it came about.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.boards.methods.weighted_rank.records import HeldRecords
from app.boards.methods.weighted_rank.resampling import clean_series
from app.boards.methods.weighted_rank.spec import RankedPart
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import ScoreTable

VALIDITY = "validity_rate"
INVALID = frozenset({"False", "false", "FALSE", "0", "0.0"})
"""How the flag of an estimate may say that it is invalid."""
MISSING = '"missing_'


@dataclass(frozen=True)
class Failures:
    """The declared failures of each metric, each [n_contenders, n_records]; a metric that is not there has none."""

    by_metric: Mapping[str, BoolArray] = field(default_factory=dict)

    def of(self, metric: str, shape: tuple[int, ...]) -> BoolArray:
        """Return those of a metric."""
        return self.by_metric.get(metric, np.zeros(shape, dtype=np.bool_))


NO_FAILURES = Failures()


def declared_failures(scores: ScoreTable, held: HeldRecords, part: RankedPart, metrics: Sequence[str]) -> Failures:
    """Return the failures that rows declare of each of the metrics.

    An estimate is invalid where its validity is 0 or, without a validity, where its flag says so; every metric of it is
    then. What compares a stressed series with its clean one fails with either. Otherwise the metadata of a null say
    why, and `part` knows which of them may be said of a metric.
    Source: lrdbench 2.0, its per-series rows.

    >>> from dataclasses import replace
    >>> from app.boards.example import rows
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> table = replace(rows({"A": [1.0, 0.0]}), columns=(VALIDITY,))
    >>> declared_failures(table, held_records(table, ["A"]), RankedPart(), ["mae"]).by_metric["mae"].tolist()
    [[False, True, False]]
    """
    rows, records = _places(scores, held)
    failed = np.zeros(held.held.shape, dtype=np.bool_)
    at = np.flatnonzero(_are_invalid(scores) & (rows >= 0))
    failed[rows[at], records[at]] = True
    place = {record: number for number, record in enumerate(held.records)}
    clean = clean_series(scores) if part.are_stressed() else {}
    origin = np.array(
        [place.get(clean.get(record, record), n) for n, record in enumerate(held.records)], dtype=np.int64
    )
    with_clean = failed | failed[:, origin]
    stated = {metric: (with_clean if part.is_of_pairs(metric) else failed).copy() for metric in metrics}
    for metric, at_row in _reasons(scores, part, metrics):
        if rows[at_row] >= 0:
            stated[metric][rows[at_row], records[at_row]] = True
    return Failures(stated)


def _places(scores: ScoreTable, held: HeldRecords) -> tuple[IntArray, IntArray]:
    place = {name: at for at, name in enumerate(held.contenders)}
    rows = np.array([place.get(name, -1) for name in scores.entrant.words], dtype=np.int64)[scores.entrant.codes]
    records = np.full(len(scores), -1) if scores.item is None else scores.item.codes
    return np.where(records >= 0, rows, -1), records


def _are_invalid(scores: ScoreTable) -> BoolArray:
    rate = scores.value(VALIDITY) if VALIDITY in scores.columns else np.full(len(scores), np.nan)
    flag = scores.recorded.get("valid")
    says = (
        np.zeros(len(scores), dtype=np.bool_)
        if flag is None
        else np.array([*(word in INVALID for word in flag.words), False])[flag.codes]
    )
    invalid: BoolArray = np.where(np.isnan(rate), says, rate == 0.0)
    return invalid


def _reasons(scores: ScoreTable, part: RankedPart, metrics: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield each metric and row whose metadata say why it is null, as far as that may be said of it."""
    allowed = {metric: reason for metric in metrics if (reason := part.reason_of(metric)) is not None}
    lists, metadata = scores.recorded.get("missing_ci"), scores.recorded.get("metadata")
    if lists is not None:
        wanted = [[m for m in word.split() if allowed.get(m) == "missing_ci"] for word in lists.words]
        for at in np.flatnonzero(lists.codes >= 0).tolist():
            yield from ((metric, at) for metric in wanted[lists.codes[at]])
    others = {metric: reason for metric, reason in allowed.items() if reason != "missing_ci"}
    if metadata is None or not others:
        return
    said = {
        code: [metric for metric, reason in others.items() if _says(about.get(metric), reason)]
        for code, word in enumerate(metadata.words)
        if MISSING in word
        for about in [json.loads(word)]
    }
    for at in np.flatnonzero(np.isin(metadata.codes, list(said))).tolist():
        yield from ((metric, at) for metric in said[int(metadata.codes[at])])


def _says(about: object, reason: str) -> bool:
    return isinstance(about, dict) and (bool(about.get(reason)) or about.get("missing_reason") == reason)
