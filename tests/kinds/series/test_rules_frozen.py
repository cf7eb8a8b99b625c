"""What admission answers about records of series, whole: their strata, classes, clean series, and gaps."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.admission.case import CurrentRecord
from app.boards.example import rows
from app.boards.methods.weighted_rank.records import CLASS_LABEL, CLEAN_SERIES
from app.kinds.series.estimates import DEPENDENT_ABOVE
from app.kinds.series.rules import check_records
from app.values.scores import NONE, Coded, ScoreTable
from tests.cases.frozen import assert_same, checks_as_text

RECORDS = ("a", "b", "c")
ESTIMAND = next(iter(DEPENDENT_ABOVE))


def run(
    strata: Sequence[str] = ("s", "s", "l"), clean: Mapping[str, str] | None = None, estimands: Sequence[str] = ()
) -> ScoreTable:
    """Return a run of two estimators on three records, with their strata and what they were made of."""
    table = rows({"GPH": [0.1, 0.2, 0.3], "RS": [0.3, 0.2, 0.1]}, "mae")
    words = tuple(dict.fromkeys(strata))
    recorded = {}
    if clean is not None:
        series = tuple(clean.values())
        codes = [list(clean).index(record) if record in clean else NONE for record in RECORDS]
        recorded[CLEAN_SERIES] = Coded(series, np.array(2 * codes))
    if estimands:
        texts = tuple(json.dumps({"target_estimand": estimand}) for estimand in estimands)
        recorded["stratum_json"] = Coded(texts, np.array([0, 1, 2] * 2))
    task = Coded(words, np.array([words.index(stratum) for stratum in strata] * 2))
    return replace(table, task=task, recorded=recorded)


def classed(labels: Sequence[float], estimands: Sequence[str] = ()) -> ScoreTable:
    """Return the run with the class of each record."""
    table = replace(run(estimands=estimands), columns=("mae", CLASS_LABEL))
    return replace(table, values=np.column_stack([table.values[:, 0], np.array([*labels, *labels])]))


def without(*cells: int) -> ScoreTable:
    """Return the run without some of its rows."""
    return run().take(np.array([at for at in range(6) if at not in cells]))


def others(strata: Sequence[str] = ("s", "s", "l"), **known: object) -> list[CurrentRecord]:
    """Return the same records as another submission has them."""
    return [replace(CurrentRecord(r, s, 7), **known) for r, s in zip(RECORDS, strata, strict=True)]


NAN = float("nan")
MANY = [CurrentRecord(f"r{at}", "s", 7) for at in range(5)]
CASES = {
    "the first": (run(), [], {}),
    "the first, the grid names the strata": (run(), [], {"a": "s", "b": "s", "c": "l"}),
    "the first, the grid names other strata": (run(), [], {"a": "l", "b": "l", "c": "l"}),
    "the second": (run(), others(), {}),
    "the second, with other strata": (run(), others(("l", "s", "s")), {}),
    "the second, with fewer records": (without(0, 1, 3), others(), {}),
    "the second, of whom one has fewer records": (without(0), others()[:1], {}),
    "others have more records": (run(), [*others(), *MANY], {}),
    "classes, the first": (classed([1.0, 0.0, NAN]), [], {}),
    "classes, the second": (classed([1.0, 0.0, NAN]), others(class_label=1.0), {}),
    "classes, as others have them": (classed([1.0, 1.0, 1.0]), others(class_label=1.0), {}),
    "classes, others are silent": (classed([1.0, 1.0, 1.0]), others(), {}),
    "classes that follow": (classed([1.0, 0.0, 1.0], [ESTIMAND] * 3), [], {}),
    "classes of which one follows": (classed([1.0, 0.0, 1.0], [ESTIMAND, "other", "other"]), [], {}),
    "clean, the first": (run(clean={"b": "a"}), [], {}),
    "clean, two of them": (run(clean={"b": "a", "c": "a"}), [], {}),
    "clean, as others": (run(clean={"b": "a"}), others(clean="a")[1:], {}),
    "clean, unlike others": (run(clean={"b": "a", "c": "a"}), others(clean="d")[1:], {}),
    "clean, in a chain": (run(clean={"a": "b", "b": "c"}), [], {}),
    "clean, of what others made": (run(clean={"a": "d"}), others(clean="a")[1:], {}),
    "silent, others are not": (run(), others(clean="d"), {}),
}


def test_what_is_said_of_records_is_as_it_was() -> None:
    """By a first submission and beside others, with and without a grid that names the strata."""
    assert_same("checks-series", checks_as_text((name, check_records(*case)) for name, case in CASES.items()))
