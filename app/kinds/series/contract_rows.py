"""The rows of a series benchmark as the contract's tables want them: groups, aggregates, and each stratum's JSON.

Called by the modules that make those tables.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.discrimination import discriminations
from app.boards.methods.weighted_rank.groups import (
    DIAGNOSTIC,
    PAIRED_RATIO,
    balanced,
    series_groups,
    stratum_aggregates,
)
from app.boards.methods.weighted_rank.identity import split_identity
from app.stats.strata import Aggregate, Group
from app.values.frame import FrameField
from app.values.scores import NONE, Coded, ScoreTable
from app.values.table import Cell, Column

BALANCED = '{"level": "balanced_global"}'
Pair = tuple[str, str]
"""An estimator and a stratum."""


@dataclass(frozen=True)
class SeriesRow:
    """One value of one metric of one estimator on one record."""

    record: str | None
    estimator: str | None
    metric: str
    level: float | None
    value: float | None
    stratum: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True)
class Series:
    """The rows of a benchmark with their groups and aggregates; `strata` gives each stratum's JSON by its name."""

    scores: ScoreTable
    groups: Sequence[Group]
    aggregates: Sequence[Aggregate]
    strata: Mapping[str, str]
    classes: Sequence[Aggregate]

    @classmethod
    def of(cls, scores: ScoreTable, metrics: Collection[str]) -> "Series":
        """Group and aggregate the rows; coverage errors are those that the manifest names."""
        groups = series_groups(scores)
        known = scores.recorded.get("stratum_json")
        strata: dict[str, str] = {}
        for at in range(len(scores)):
            name = scores.task.at(at) or ""
            strata.setdefault(name, cell_at(known, at) or json.dumps({"stratum": name}))
        return cls(scores, groups, stratum_aggregates(groups, metrics), strata, discriminations(scores, metrics))

    def over_strata(self) -> list[Aggregate]:
        """Return what is over strata in lrdbench's order: ratios, by the names of the estimators, means, classes."""
        over_all = balanced(self.aggregates)
        ratios = sorted((a for a in over_all if is_ratio(a.metric)), key=lambda a: a.estimator)
        return [*ratios, *(a for a in over_all if not is_ratio(a.metric)), *self.classes]

    def json_of(self, stratum: str | None) -> str:
        """Return the JSON of a stratum; None is over all of them."""
        return BALANCED if stratum is None else self.strata[stratum]

    def key_of(self, stratum: str) -> list[list[Any]]:
        """Return lrdbench's key of a stratum: its values in the order of their names."""
        return [list(pair) for pair in sorted(json.loads(self.strata[stratum]).items())]

    def diagnostics(self) -> list[str]:
        """Return the made-up names of what a run measures between several estimators."""
        role = self.scores.recorded.get("role")
        if role is None or DIAGNOSTIC not in role.words:
            return []
        codes = np.unique(self.scores.entrant.codes[role.codes == role.words.index(DIAGNOSTIC)])
        return [self.scores.entrant.words[code] for code in codes.tolist()]

    def shown_as(self) -> dict[str, Any]:
        """Return how pages name a stratum, whose JSON is the contract's and nothing to read."""
        names = {text: name for name, text in self.strata.items()}
        return {"shown_as": {"stratum_json": {**names, BALANCED: "all strata"}}}

    def by_pair(self) -> dict[Pair, list[Group]]:
        """Return the groups of each estimator and stratum, in order of appearance."""
        groups_of_pair: dict[Pair, list[Group]] = {}
        for group in self.groups:
            groups_of_pair.setdefault((group.estimator, group.stratum), []).append(group)
        return groups_of_pair

    def rows_of(self, pair: Pair) -> list[int]:
        """Return the positions of the rows of an estimator in a stratum."""
        entrant, task = self.scores.entrant, self.scores.task
        of_both = (entrant.codes == entrant.words.index(pair[0])) & (task.codes == task.words.index(pair[1]))
        return np.flatnonzero(of_both).tolist()

    def series_rows(self, wanted: Collection[str]) -> Iterator[SeriesRow]:
        """Yield the per-series values of some metrics, by their names without levels, as their run wrote them."""
        lists, described_cells = (self.scores.recorded.get(name) for name in ("metrics", "metadata"))
        place = {name: at for at, name in enumerate(self.scores.columns)}
        for at in range(len(self.scores)):
            metadata = json.loads(cell_at(described_cells, at) or "{}")
            stratum = self.scores.task.at(at) or ""
            for metric in (cell_at(lists, at) or "").split():
                name, level = split_identity(metric)
                if name.partition(":")[0] in wanted and metric in place:
                    value = null(self.scores.values[at, place[metric]])
                    who = (cell_at(self.scores.item, at), self.scores.entrant.at(at))
                    about = {**metadata.get(metric, {}), "stratum_key": self.key_of(stratum)}
                    yield SeriesRow(*who, name, level, value, self.strata[stratum], about)


def stratum_fields(strata: Sequence[str]) -> list[FrameField[Mapping[str, Any]]]:
    """Return a column for each key of the strata, in the contract's order; a row is made of a stratum's values."""
    keys = dict.fromkeys(key for text in strata for key in sorted(json.loads(text)))
    return [FrameField(_stratum_column(key), _value_of(key)) for key in keys]


def _stratum_column(key: str) -> Column:
    return Column(f"stratum__{key}", key.replace("_", " "), "text", detail=True)


def _value_of(key: str) -> Any:
    return lambda values: values.get(key)


def text_column(name: str) -> Column:
    """Return a column of text of the contract; metadata is a detail."""
    title = name.removesuffix("_json").replace("_", " ").capitalize()
    return Column(name, title, "text", detail=name == "metadata_json")


def null(value: float) -> float | None:
    """Return a number, None for NaN."""
    return None if value != value else float(value)


def cell_at(column: Coded | None, at: int) -> str | None:
    """Return the word of a row, None where it has none."""
    return None if column is None or column.codes[at] == NONE else column.at(at)


def write(values: Mapping[str, Any]) -> str:
    """Return metadata as lrdbench writes it."""
    return json.dumps(values, sort_keys=True)


def is_ratio(metric: str) -> bool:
    """Say whether a metric is the ratio of paired errors, whose rows have no value of their own."""
    return metric == PAIRED_RATIO


Cells = tuple[Cell, ...]
