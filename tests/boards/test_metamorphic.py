"""Whatever a submitter does to its own rows gains it nothing on a board of weighted ranks: many suites, changed."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from tests.cases.suites import METRICS, RECORDS, Suite, Values, declared, grid, ranked, suite

pytestmark = pytest.mark.heavy

SUITES = range(4)
ERRORS, COVERS = {"mae": 0.5, "runtime": 0.5}, {"coverage@0.95": 0.75, "validity_rate": 0.25}
CALIBRATED = {"coverage_error@0.95": 0.6, "coverage@0.95": 0.4}
BOARDS = {
    "errors, grid": (ERRORS, grid()),
    "errors, open": (ERRORS, ""),
    "bias, grid": ({"bias": 1.0}, grid()),
    "coverage, grid": (CALIBRATED, grid()),
    "coverage, worst": (COVERS, grid("worst")),
    "coverage error, worst": (CALIBRATED, grid("worst")),
    "coverage error alone, worst": ({"coverage_error@0.95": 1.0}, grid("worst")),
}
EVERY = pytest.mark.parametrize(("weights", "asked"), BOARDS.values(), ids=BOARDS)
SLY = "E2"
Own = dict[str, Values]


def _hardest(own: Own, metric: str) -> list[str]:
    """Return the records on which an estimator has the least to show, the worst first."""
    better = 1.0 if metric in ("coverage@0.95", "validity_rate") else -1.0
    return sorted(own, key=lambda record: better * float(own[record][metric] or 0.0))


def _drop(own: Own, metric: str, n: int) -> Own:
    left_out = _hardest(own, metric)[:n]
    return {record: values for record, values in own.items() if record not in left_out}


def _blank(own: Own, metric: str, n: int) -> Own:
    blank = _hardest(own, metric)[:n]
    return {record: values | ({metric: None} if record in blank else {}) for record, values in own.items()}


def _unreported(own: Own, metric: str, n: int) -> Own:
    blank = _hardest(own, metric)[:n]
    return {record: {name: value for name, value in values.items() if name != metric or record not in blank}
            for record, values in own.items()}  # fmt: skip


def _drop_covered(own: Own, metric: str, n: int) -> Own:
    """Leave out what went well: an interval that covers too often comes nearer to its level."""
    left_out = _hardest(own, metric)[::-1][:n]
    return {record: values for record, values in own.items() if record not in left_out}


def _own_records(own: Own, metric: str, n: int) -> Own:
    easy: Values = dict.fromkeys(METRICS, 0.0) | {metric: 0.0, "validity_rate": 1.0, "coverage@0.95": 1.0}
    return own | {f"own{at}": easy for at in range(n)}


CHANGES: Mapping[str, Callable[[Own, str, int], Own]] = {
    "hard records left out": _drop, "hard records null": _blank, "hard records unreported": _unreported,
    "easy records left out": _drop_covered, "records of its own": _own_records,
}  # fmt: skip


def _place(row: Mapping[str, Any]) -> tuple[float, float]:
    """Return a rank, none being the last of all, and the chance of being best, none being 0."""
    return (np.inf if row["rank"] is None else row["rank"]), row["first_resamples_share"] or 0.0


@EVERY
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_leaving_out_and_adding_gain_nothing(
    weights: Mapping[str, float], asked: str, change: Callable[[Own, str, int], Own]
) -> None:
    """Some of the records, one in the middle of the field, and all of a metric: no better rank and no better chance."""
    manifest = declared(weights, asked)
    for seed in SUITES:
        honest, rng = suite(seed), np.random.default_rng(seed)
        metric = str(rng.choice([name for name in METRICS if name in weights or name == "coverage@0.95"]))
        n = int(rng.choice([1, 2, 5, len(RECORDS)]))
        sly = {**deepcopy(honest), SLY: change(deepcopy(honest[SLY]), metric, n)}
        before, after = (
            ranked(manifest, honest)[SLY],
            ranked(manifest, sly).get(SLY, {"rank": None, "first_resamples_share": None}),
        )

        assert _place(after)[0] >= _place(before)[0], (seed, metric, n)
        assert _place(after)[1] <= _place(before)[1] + 1e-9, (seed, metric, n)


@EVERY
def test_who_is_partial_changes_nothing_for_the_others(weights: Mapping[str, float], asked: str) -> None:
    """Without a rank it is as if it were not there, to the last digit of ranks, scores, intervals and chances."""
    manifest = declared(weights, asked)
    for seed in SUITES:
        honest = suite(seed)
        sly = {**honest, SLY: _drop(honest[SLY], "mae", 3)}
        after = ranked(manifest, sly)
        if after.pop(SLY)["rank"] is None:
            assert after == ranked(manifest, {name: own for name, own in honest.items() if name != SLY})


@EVERY
def test_names_and_the_order_of_rows_change_nothing(weights: Mapping[str, float], asked: str) -> None:
    """The first becomes the last in the alphabet, and the rows of all are shuffled."""
    manifest, renamed = declared(weights, asked, ", tie_break: none"), {"E0": "Z"}
    for seed in SUITES:
        honest: Suite = suite(seed)
        turned = {renamed.get(name, name): own for name, own in reversed(honest.items())}
        before, after = ranked(manifest, honest), ranked(manifest, turned, order_seed=seed)

        assert {**before.pop("E0"), "entrant": "Z"} == pytest.approx(after.pop("Z"))
        assert all(row == pytest.approx(after[name]) for name, row in before.items())


def test_an_estimator_without_a_component_has_no_rank_interval() -> None:
    """Its worst rank never varies, and of six records chance cannot be told: it is none that may be first."""
    manifest = declared(COVERS, grid())
    for seed in SUITES:
        honest = suite(seed)
        row = ranked(manifest, {**honest, SLY: _unreported(honest[SLY], "coverage@0.95", len(RECORDS))})[SLY]

        assert (row["rank_low"], row["rank_high"], row["first_resamples_share"], row["may_be_first"]) == (
            None,
            None,
            None,
            None,
        )
        assert row["rank"] is None
