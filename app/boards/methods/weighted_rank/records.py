"""Which records the estimators of a series benchmark have, so that nobody is ranked by a selection of records.

Called by `.method` and `app.kinds.series.contract_tables`; pure.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.open_grid import are_common
from app.boards.wording import names_in_words
from app.manifest.asked import EVERY_TASK, Asked
from app.stats.arrays import BoolArray
from app.stats.strata import Group
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

TABLE = "records"


@dataclass(frozen=True)
class HeldRecords:
    """Who has a row for which record: `held` is [n_contenders, n_records].

    `records` and `strata` are [n_records], indexed by the record numbers of groups. A row without a value counts, too:
    a failed record is held. `asked` [n_records] marks the records of the benchmark's grid, None if none is declared;
    then `owners` holds the contenders' owners, in their order.
    """

    contenders: tuple[str, ...]
    records: tuple[str, ...]
    strata: tuple[str, ...]
    held: BoolArray
    asked: BoolArray | None = None
    owners: tuple[Hashable, ...] = ()

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
        """Say which records ranks are over, [n_records]: those of the grid, or of at least half of the owners.

        So no single submitter decides what others lack; two owners who differ both need what either has.
        """
        if self.asked is not None:
            return self.asked
        return are_common(self.held, self.owners or self.contenders) if len(self.contenders) else self.known

    def lacking(self) -> Mapping[str, int]:
        """Return how many of the benchmark's records each contender has no row for, omitting those that have all."""
        counts = (self.of_benchmark & ~self.held).sum(axis=1).tolist()
        return {name: count for name, count in zip(self.contenders, counts, strict=True) if count}

    def holders_of_others(self) -> list[str]:
        """Return the contenders with rows for records outside the benchmark."""
        return [self.contenders[at] for at in np.flatnonzero((self.held & ~self.of_benchmark).any(axis=1)).tolist()]


def held_records(
    scores: ScoreTable,
    contenders: Sequence[str],
    asked: frozenset[str] | None = None,
    owners: Sequence[Hashable] = (),
) -> HeldRecords:
    """Return which contender has a row for which record; `asked` are the records of the grid, if it names any.

    Asked records that nobody has are included. `owners` lists the contenders' owners, in their order.
    Source: none; it arranges rows.

    >>> from app.boards.example import rows
    >>> held_records(rows({"A": [0.1, 0.2], "B": [0.3]}), ["A", "B"]).held.tolist()
    [[True, True, False], [True, False, False]]
    """
    words = () if scores.item is None else scores.item.words
    records = (*words, *sorted((asked or frozenset()) - set(words)))
    held = np.zeros((len(contenders), len(records)), dtype=np.bool_)
    strata = [""] * len(records)
    if scores.item is not None:
        place = {name: at for at, name in enumerate(contenders)}
        rows = np.array([place.get(name, -1) for name in scores.entrant.words], dtype=np.int64)[scores.entrant.codes]
        kept = (rows >= 0) & (scores.item.codes >= 0)
        held[rows[kept], scores.item.codes[kept]] = True
        for record, task in zip(scores.item.codes[kept].tolist(), scores.task.codes[kept].tolist(), strict=True):
            strata[record] = strata[record] or scores.task.words[task]
    of_grid = None if asked is None else np.array([record in asked for record in records], dtype=np.bool_)
    return HeldRecords(tuple(contenders), records, tuple(strata), held, of_grid, tuple(owners))


def on_tasks(
    scores: ScoreTable, asked: frozenset[str] | None, tasks: Collection[str] | None
) -> tuple[ScoreTable, frozenset[str] | None]:
    """Return the rows in some strata, and the asked records that anybody has there; all of both if `tasks` is None.

    A record that nobody has belongs to no stratum, so a board over some strata does not ask for it.
    Source: none; it selects.

    >>> from app.boards.example import rows
    >>> kept, asked = on_tasks(rows({"A": [0.1, 0.2, 0.3]}), frozenset("abcd"), ["b", "c"])
    >>> len(kept), sorted(asked)
    (2, ['b', 'c'])
    """
    if tasks is None:
        return scores, asked
    is_in = np.array([word in tasks for word in scores.task.words], dtype=np.bool_)
    kept = scores.take(is_in[scores.task.codes])
    if asked is None or kept.item is None:
        return kept, asked
    return kept, asked & {kept.item.words[code] for code in np.unique(kept.item.codes).tolist() if code >= 0}


def on_records(groups: Sequence[Group], wanted: BoolArray) -> Iterator[Group]:
    """Yield the groups with only their rows on the wanted records [n_records], in the same order, without empty groups.

    NaN stays null.
    Source: none; it selects.

    >>> group = Group("GPH", "mae", "n=128", np.array([0.1, np.nan]), np.arange(2))
    >>> [each.values.tolist() for each in on_records([group], np.array([True, False]))]
    [[0.1]]
    """
    for group in groups:
        kept = wanted[group.records]
        if kept.all():
            yield group
        elif kept.any():
            below = None if group.denominators is None else group.denominators[kept]
            yield replace(group, values=group.values[kept], records=group.records[kept], denominators=below)


def record_notes(held: HeldRecords) -> Iterator[str]:
    """Yield the notes on which records the ranks are over.

    >>> held = HeldRecords(("A", "B"), ("r1", "r2"), ("x", "x"), np.array([[True, True], [True, False]]))
    >>> list(record_notes(held))
    ['2 estimators; 1 of 2 records are common to all of them.']
    """
    yield _common_note(held)
    n_ranked = int(held.of_benchmark.sum())
    n_others = int((held.known & ~held.of_benchmark).sum())
    if others := held.holders_of_others():
        yield (
            f"Ranks are about the {n_ranked} records of the benchmark; rows on {n_others} other records are left out: "
            f"{names_in_words(others)}."
        )


def strata_of_grid(asked: Asked) -> dict[str, str]:
    """Return the stratum of each record that the grid of a benchmark names: in its lists, or in a steward's file.

    Source: the manifest's grid.

    >>> from app.manifest.grid import Grid
    >>> strata_of_grid(Asked(Grid.model_validate({"tasks": {"easy": {"items": ["r1"]}}}), ("easy",)))
    {'r1': 'easy'}
    """
    lists = {task: axes.items for task, axes in asked.grid.tasks.items() if isinstance(axes.items, list)}
    put = asked.facts.items if asked.grid.has_file else None
    of_file = {task: items for task, items in (put or {}).items() if task != EVERY_TASK}
    return {record: task for task, items in (lists | of_file).items() for record in items}


def strata_note(held: HeldRecords, named: Collection[str]) -> Iterator[str]:
    """Yield a note on how many records have strata stated only by a submitter; `named` are those in the grid.

    >>> held = HeldRecords(("A",), ("r1", "r2"), ("x", "x"), np.array([[True, True]]))
    >>> [note[:32] for note in strata_note(held, ["r1"])], list(strata_note(held, ["r1", "r2"]))
    (['The strata of 1 of 2 records are'], [])
    """
    known = [record for record, is_known in zip(held.records, held.known.tolist(), strict=True) if is_known]
    if n_stated := sum(record not in named for record in known):
        yield (
            f"The strata of {n_stated} of {len(known)} records are as the first submission of each states them, and "
            "whoever states others is not admitted. The benchmark's grid does not name them."
        )


def _common_note(held: HeldRecords) -> str:
    n_known, n_common = int(held.known.sum()), int(held.common.sum())
    return f"{len(held.contenders)} estimators; {n_common} of {n_known} records are common to all of them."


def records_table(held: HeldRecords) -> Table:
    """Return each record with its stratum, how many estimators have it, and who lacks it (None if nobody).

    >>> held = HeldRecords(("A", "B"), ("r1", "r2"), ("x", "x"), np.array([[True, True], [True, False]]))
    >>> records_table(held).rows
    (('r1', 'x', 2, True, True, None), ('r2', 'x', 1, False, True, 'B'))
    """
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
        "A record counts for ranks where the benchmark's grid has it; without one, where half of the submitters do.",
    )
    return Table(TABLE, "Records", columns, rows, notes)


def _record_rows(held: HeldRecords) -> Iterator[tuple[Cell, ...]]:
    counts, is_common, is_ranked = held.held.sum(axis=0), held.common, held.of_benchmark
    for at in np.flatnonzero(held.known | held.of_benchmark).tolist():
        absent = [name for name, has in zip(held.contenders, held.held[:, at].tolist(), strict=True) if not has]
        flags = (bool(is_common[at]), bool(is_ranked[at]))
        yield (held.records[at], held.strata[at], int(counts[at]), *flags, ", ".join(absent) or None)
