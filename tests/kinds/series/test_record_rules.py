"""What admission answers about records of series: their strata, classes, clean series, and gaps."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.admission.case import CurrentRecord
from app.boards.example import rows
from app.boards.methods.weighted_rank.records import CLASS_LABEL, CLEAN_SERIES
from app.kinds.series.estimates import DEPENDENT_ABOVE
from app.kinds.series.rules import check_records
from app.values.scores import NONE, Coded, ScoreTable

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
    "the first": (
        run(), [], {}, "strata warned, records passed"),
    "the first, the grid names the strata": (
        run(), [], {"a": "s", "b": "s", "c": "l"}, "strata passed, records passed"),
    "the first, the grid names other strata": (
        run(), [], {"a": "l", "b": "l", "c": "l"}, "strata failed, records passed"),
    "the second": (
        run(), others(), {}, "strata passed, records passed"),
    "the second, with other strata": (
        run(), others(("l", "s", "s")), {}, "strata failed, records passed"),
    "the second, with fewer records": (
        without(0, 1, 3), others(), {}, "strata passed, records warned"),
    "the second, of whom one has fewer records": (
        without(0), others()[:1], {}, "strata warned, records warned"),
    "the first, of whom one lacks a record that the other has": (
        without(0), [], {}, "strata warned, records warned"),
    "others have more records": (
        run(), [*others(), *MANY], {}, "strata passed, records warned"),
    "classes, the first": (
        classed([1.0, 0.0, NAN]), [], {}, "strata warned, classes warned, records passed"),
    "classes, the second": (
        classed([1.0, 0.0, NAN]), others(class_label=1.0), {}, "strata passed, classes failed, records passed"),
    "classes, as others have them": (
        classed([1.0, 1.0, 1.0]), others(class_label=1.0), {}, "strata passed, classes passed, records passed"),
    "classes, others are silent": (
        classed([1.0, 1.0, 1.0]), others(), {}, "strata passed, classes warned, records passed"),
    "classes that follow": (
        classed([1.0, 0.0, 1.0], [ESTIMAND] * 3), [], {}, "strata warned, classes passed, records passed"),
    "classes of which one follows": (
        classed([1.0, 0.0, 1.0], [ESTIMAND, "other", "other"]), [], {},
        "strata warned, classes warned, records passed"),
    "clean, the first": (
        run(clean={"b": "a"}), [], {}, "strata warned, clean_series warned, records passed"),
    "clean, two of them": (
        run(clean={"b": "a", "c": "a"}), [], {}, "strata warned, clean_series warned, records passed"),
    "clean, others are silent": (
        run(clean={"b": "a"}), others(), {}, "strata passed, clean_series warned, records passed"),
    "clean, as others": (
        run(clean={"b": "a"}), others(clean="a")[1:], {}, "strata warned, clean_series passed, records passed"),
    "clean, unlike others": (
        run(clean={"b": "a", "c": "a"}), others(clean="d")[1:], {},
        "strata warned, clean_series failed, records passed"),
    "clean, in a chain": (
        run(clean={"a": "b", "b": "c"}), [], {}, "strata warned, clean_series failed, records passed"),
    "clean, of what others made": (
        run(clean={"a": "d"}), others(clean="a")[1:], {}, "strata warned, clean_series failed, records passed"),
    "silent, others are not": (
        run(), others(clean="d"), {}, "strata passed, records passed"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_records(name: str) -> None:
    """By a first submission and beside others, with and without a grid that names the strata: without either, or a
    truth that decides, a run's word is its own, and whoever differs from an earlier one is not admitted.
    """
    scores, standing, declared, outcomes = CASES[name]
    actual = check_records(scores, standing, declared)

    assert ", ".join(f"{check.rule} {check.outcome}" for check in actual) == outcomes


def test_the_reasons_name_what_differs_and_what_a_steward_can_do() -> None:
    """Both strata; nothing tells which of two runs is right."""
    of_grid, of_others = (
        check_records(*CASES[name][:3])[0].reason
        for name in ("the first, the grid names other strata", "the second, with other strata")
    )

    assert "a is in s here and in l in the grid" in of_grid
    assert "a steward can withdraw it" in of_others
