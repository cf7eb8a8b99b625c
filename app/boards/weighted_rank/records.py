"""Which records the estimators of a series benchmark have, so that a mean over a chosen few is not ranked.

Called by `app.boards.weighted_rank.method` and `app.kinds.series.contract_tables`; pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.tables import sentences
from app.stats.arrays import BoolArray, IntArray
from app.stats.strata import Group
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

TABLE = "records"


@dataclass(frozen=True)
class HeldRecords:
    """Who has a row for which record: `held` is [n_contenders, n_records].

    `records` and `strata` are [n_records]; the numbers of a group's records are positions in them. A row counts
    whatever it says: a record that failed is held.
    """

    contenders: tuple[str, ...]
    records: tuple[str, ...]
    strata: tuple[str, ...]
    held: BoolArray

    @property
    def known(self) -> BoolArray:
        """Say which records any contender has, [n_records]."""
        return np.asarray(self.held.any(axis=0))

    @property
    def common(self) -> BoolArray:
        """Say which records every contender has, [n_records]."""
        return np.asarray(self.held.all(axis=0))

    @property
    def of_benchmark(self) -> BoolArray:
        """Say which records ranks are about, [n_records]: those that more than half of the contenders have.

        So one submission of other records does not redefine them. Where no record is so, they are all that anyone has.
        """
        by_most: BoolArray = 2 * self.held.sum(axis=0) > len(self.contenders)
        return by_most if by_most.any() else self.known

    def lacking(self) -> Mapping[str, int]:
        """Return how many of the benchmark's records each contender has no row for; nothing for those that have all."""
        counts = (self.of_benchmark & ~self.held).sum(axis=1).tolist()
        return {name: count for name, count in zip(self.contenders, counts, strict=True) if count}

    def holders_of_others(self) -> list[str]:
        """Return the contenders with rows on records that are not the benchmark's."""
        return [self.contenders[at] for at in np.flatnonzero((self.held & ~self.of_benchmark).any(axis=1)).tolist()]


@dataclass(frozen=True)
class Attempts:
    """Values of one estimator: asked for or sent, with a number, and asked for without any row."""

    n_attempted: int
    n_included: int
    n_absent: int


def held_records(scores: ScoreTable, contenders: Sequence[str]) -> HeldRecords:
    """Return who of the contenders has a row for which record."""
    records = () if scores.item is None else scores.item.words
    held = np.zeros((len(contenders), len(records)), dtype=np.bool_)
    strata = [""] * len(records)
    if scores.item is not None:
        place = {name: at for at, name in enumerate(contenders)}
        rows = np.array([place.get(name, -1) for name in scores.entrant.words], dtype=np.int64)[scores.entrant.codes]
        kept = (rows >= 0) & (scores.item.codes >= 0)
        held[rows[kept], scores.item.codes[kept]] = True
        for record, task in zip(scores.item.codes[kept].tolist(), scores.task.codes[kept].tolist(), strict=True):
            strata[record] = strata[record] or scores.task.words[task]
    return HeldRecords(tuple(contenders), records, tuple(strata), held)


def on_records(groups: Sequence[Group], wanted: BoolArray) -> Iterator[Group]:
    """Yield the groups with their rows on the wanted records alone, in the same order; empty ones are left out."""
    for group in groups:
        kept = wanted[group.records]
        if kept.all():
            yield group
        elif kept.any():
            below = None if group.denominators is None else group.denominators[kept]
            yield replace(group, values=group.values[kept], records=group.records[kept], denominators=below)


def count_attempts(groups: Sequence[Group], contenders: Sequence[str], metrics: Sequence[str]) -> dict[str, Attempts]:
    """Count values over the metrics, each held against the records for which more than half have a row of that metric.

    What most contenders have and one does not is attempted and absent: to leave a row out does not make fewer attempts.
    """
    counted = [group for group in groups if group.metric in set(metrics)]
    n_records = 1 + max((int(group.records.max()) for group in counted), default=0)
    attempted, absent, included = (np.zeros(len(contenders), dtype=np.int64) for _ in range(3))
    for metric in dict.fromkeys(group.metric for group in counted):
        has, n_values = _cells([g for g in counted if g.metric == metric], contenders, n_records)
        asked = 2 * has.sum(axis=0) > len(contenders)
        attempted += (has | asked).sum(axis=1)
        absent += (asked & ~has).sum(axis=1)
        included += n_values
    counts = zip(attempted.tolist(), included.tolist(), absent.tolist(), strict=True)
    return {name: Attempts(*each) for name, each in zip(contenders, counts, strict=True)}


def _cells(groups: Sequence[Group], contenders: Sequence[str], n_records: int) -> tuple[BoolArray, IntArray]:
    """Return who has a row of one metric for which record, [n_contenders, n_records], and how many have a number."""
    place = {name: at for at, name in enumerate(contenders)}
    has = np.zeros((len(contenders), n_records), dtype=np.bool_)
    n_values = np.zeros(len(contenders), dtype=np.int64)
    for group in groups:
        has[place[group.estimator], group.records] = True
        n_values[place[group.estimator]] += int(group.included.sum())
    return has, n_values


def record_notes(held: HeldRecords) -> Iterator[str]:
    """Yield what a board says of the records that its ranks are about, and of those who lack some of them."""
    yield _common_note(held)
    n_known, n_ranked = int(held.known.sum()), int(held.of_benchmark.sum())
    if others := held.holders_of_others():
        yield (
            f"Ranks are about the {n_ranked} records that more than half of the estimators have; rows on "
            f"{n_known - n_ranked} other records are left out: {sentences(others)}."
        )
    if lacking := [f"{name} lacks {count}" for name, count in held.lacking().items()]:
        yield f"Partial, so shown without a rank: {sentences(lacking)} of the {n_ranked} records."


def _common_note(held: HeldRecords) -> str:
    n_known, n_common = int(held.known.sum()), int(held.common.sum())
    return f"{len(held.contenders)} estimators; {n_common} of {n_known} records are common to all of them."


def records_table(held: HeldRecords) -> Table:
    """Return each record with its stratum, how many estimators have it, and who lacks it."""
    rows = tuple(_record_rows(held))
    columns = (
        Column("record_id", "Record", "text"),
        Column("task", "Stratum", "text"),
        Column("n_estimators", "Estimators", "integer"),
        Column("is_common", "Common to all", "flag"),
        Column("is_ranked", "Counts for ranks", "flag"),
        Column("lacking", "Lacked by", "text"),
    )
    notes = (
        _common_note(held),
        "A record counts for ranks where more than half of the estimators have a row for it; a row that says that the "
        "estimate failed is a row.",
    )
    return Table(TABLE, "Records", columns, rows, notes)


def _record_rows(held: HeldRecords) -> Iterator[tuple[Cell, ...]]:
    counts, is_common, is_ranked = held.held.sum(axis=0), held.common, held.of_benchmark
    for at in np.flatnonzero(held.known).tolist():
        absent = [name for name, has in zip(held.contenders, held.held[:, at].tolist(), strict=True) if not has]
        flags = (bool(is_common[at]), bool(is_ranked[at]))
        yield (held.records[at], held.strata[at], int(counts[at]), *flags, ", ".join(absent) or None)
