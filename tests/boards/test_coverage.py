"""Whatever an entrant leaves out, its rank does not get better; and under a declared grid nobody else's changes."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.boards.coverage import Coverage, Roster, call_roster, rank_among
from app.boards.measured import EntrantEvidence, MeasuredMethod
from app.boards.registry import compute_board, measured_method
from app.boards.standing import unranked_places
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.kinds.registry import measured_kind
from app.manifest.model import Manifest
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell

NAMES, UNITS = ("A", "B", "C"), tuple(f"u{at}" for at in range(8))
SCORES = np.random.default_rng(4).random((3, 8)).round(2)
POLICIES = ("unranked", "worst")
UNRANKED = 99

BASE = """
schema_version: 1
slug: small
title: Small
evidence: EVIDENCE
MORE
metrics: METRICS
tasks: TASKS
grid: {ABSENT}
leaderboards: [{name: board, BOARD, uncertainty: {n_resamples: 100}}]
"""
LISTED = "[" + ", ".join(f"{{id: {unit}}}" for unit in UNITS) + "]"
KINDS: Mapping[str, tuple[str, ...]] = {
    "mean": (
        "evaluation_summary",
        "",
        "{x: {direction: maximize, min: 0, max: 1}}",
        LISTED,
        "",
        "method: mean, metric: x",
    ),
    "estimate": (
        "episodes",
        "episodes: {condition: null, item: [item]}",
        "{x: {direction: maximize, min: 0, max: 1}}",
        "[{id: t}]",
        "seeds: [0, 1], items: 4, ",
        "method: estimate, metrics: [x], statistic: mean",
    ),
    "weighted_rank": (
        "series_metrics",
        "mode: ground_truth",
        "{catalog: lrdbench, use: [validity_rate]}",
        "{open: true}",
        f"items: [{', '.join(UNITS)}], ",
        "method: weighted_rank, weights: {validity_rate: 1.0}",
    ),
}


@cache
def declared(method: str, absent: str) -> Manifest:
    """Return a benchmark of one method whose grid is the eight units."""
    evidence, more, metrics, tasks, grid, board = KINDS[method]
    words = {"EVIDENCE": evidence, "MORE": more, "METRICS": metrics, "TASKS": tasks, "BOARD": board,
             "ABSENT": f"{grid}absent: {absent}"}  # fmt: skip
    text = BASE
    for name, word in words.items():
        text = text.replace(name, word)
    return parse_manifest(text.encode())


def table(method: str, kept: Mapping[str, frozenset[int]], scores: FloatArray = SCORES) -> ScoreTable:
    """Return the rows of the units that each entrant kept."""
    cells = [(at, unit) for at, name in enumerate(NAMES) for unit in sorted(kept.get(name, ()))]
    entrant, unit = (np.array(part, dtype=np.int64) for part in zip(*cells, strict=True))
    one = np.zeros(len(cells), dtype=np.int64)
    by_unit = Coded(UNITS, unit)
    further = {"item": by_unit} if method != "mean" else {}
    return ScoreTable(
        entrant=Coded(NAMES, entrant),
        task=by_unit if method == "mean" else Coded(("t",), one),
        columns=("validity_rate" if method == "weighted_rank" else "x",),
        values=scores[entrant, unit][:, None],
        leaked=one.astype(np.bool_),
        file=one,
        row=np.arange(len(cells)),
        seed=unit // 4 if method == "estimate" else None,
        **further,
    )


def ranks(method: str, absent: str, kept: Mapping[str, frozenset[int]]) -> dict[str, Mapping[str, Cell]]:
    """Return the row of each entrant."""
    manifest = declared(method, absent)
    spec, scores = manifest.leaderboards[0], table(method, kept)
    assembling = measured_method(spec)
    if not isinstance(assembling, MeasuredMethod):
        created = compute_board(manifest, spec, scores)
    else:
        kind = measured_kind(manifest)
        result = [
            kind.measure(manifest, spec, EntrantEvidence(name, alone(scores, name))) for name in NAMES if kept.get(name)
        ]
        created = assembling.assemble(manifest, spec, result, kind)
    return {str(row["entrant"]): row for row in created.leaderboard.records()}


def alone(scores: ScoreTable, name: str) -> ScoreTable:
    """Return the rows of one entrant."""
    rows = scores.entrant.codes == NAMES.index(name)
    assert scores.item is not None
    assert scores.seed is not None
    n_rows = int(rows.sum())
    return ScoreTable(
        entrant=Coded((name,), np.zeros(n_rows, dtype=np.int64)),
        task=Coded(scores.task.words, scores.task.codes[rows]),
        columns=scores.columns,
        values=scores.values[rows],
        leaked=scores.leaked[rows],
        file=scores.file[rows],
        row=scores.row[rows],
        seed=scores.seed[rows],
        item=Coded(scores.item.words, scores.item.codes[rows]),
    )


WHOLE = frozenset(range(8))
SOME = st.frozensets(st.integers(0, 7), min_size=1)
METHODS = pytest.mark.parametrize("method", list(KINDS))
ABSENT = pytest.mark.parametrize("absent", POLICIES)


def rank_of(row: Mapping[str, Cell]) -> float:
    """Return a rank; who has none is behind everybody."""
    return UNRANKED if row["rank"] is None else float(str(row["rank"]))


@pytest.mark.heavy
@METHODS
@ABSENT
@settings(max_examples=15, deadline=None)
@given(kept=SOME, who=st.sampled_from(NAMES))
def test_leaving_out_never_improves_a_rank(method: str, absent: str, kept: frozenset[int], who: str) -> None:
    """Whoever it is, and whichever rows are left out."""
    everybody = dict.fromkeys(NAMES, WHOLE)
    before, after = (ranks(method, absent, everybody | change)[who] for change in ({}, {who: kept}))

    assert rank_of(after) >= rank_of(before)


@pytest.mark.heavy
@METHODS
@settings(max_examples=15, deadline=None)
@given(kept=SOME.filter(lambda kept: kept != WHOLE))
def test_a_stranger_changes_nobody_elses_rank(method: str, kept: frozenset[int]) -> None:
    """The ranks, the rank intervals and the chances of being best of the whole ones are what they were without it."""
    honest = {"A": WHOLE, "B": WHOLE}
    before, after = ranks(method, "unranked", honest), ranks(method, "unranked", honest | {"C": kept})
    shown = ("rank", "rank_low", "rank_high", "first_resamples_share")

    assert [[after[name][column] for column in shown] for name in honest] == [
        [before[name][column] for column in shown] for name in honest
    ]
    assert (after["C"]["rank"], after["C"]["n_attempted"], after["C"]["n_included"]) == (None, 8, len(kept))


@pytest.mark.heavy
@METHODS
@settings(max_examples=15, deadline=None)
@given(kept=SOME.filter(lambda kept: kept != WHOLE))
def test_the_rank_of_the_whole_lies_between_the_bounds(method: str, kept: frozenset[int]) -> None:
    """What C left out could have been anything, so its rank with all rows lies between those if worst and if best."""
    everybody = dict.fromkeys(NAMES, WHOLE)
    whole, partial = ranks(method, "unranked", everybody)["C"], ranks(method, "unranked", everybody | {"C": kept})["C"]

    assert float(str(partial["rank_if_best"])) <= rank_of(whole) <= float(str(partial["rank_if_worst"]))


def test_worst_needs_a_worst_value() -> None:
    """An error without a largest value cannot be counted as the worst; the manifest is told which end it lacks."""
    text = BASE.replace("EVIDENCE", "evaluation_summary").replace("MORE", "").replace("TASKS", LISTED)
    text = text.replace("METRICS", "{x: {direction: minimize, min: 0}}").replace("ABSENT", "absent: worst")
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(text.replace("BOARD", "method: mean, metric: x").encode())

    assert "metrics.x has no max" in refused.value.problems[0].message


def test_without_a_grid_groups_rank_one_behind_the_other() -> None:
    """By how much they lack, and within a group by their scores."""
    lacking = {"A": 0, "B": 2, "C": 2, "D": 1}
    roster = call_roster({name: Coverage(4, 4 - n, n_absent=n) for name, n in lacking.items()}, is_declared=False)

    assert (roster.ranked, roster.behind) == (("A",), (("D",), ("B", "C")))
    assert roster.behind_ranks({"B": 0.1, "C": 0.9, "D": 0.0}) == {"D": 2, "C": 3, "B": 4}


def test_coverages_of_two_parts_add_up_and_what_must_hold_of_both_holds_of_both() -> None:
    """Who can read the labels of one part is shown for comparison on the whole."""
    whole = Coverage(4, 3, 1, 0, 0, 0, is_filled=True, is_counted=True)
    other = Coverage(9, 1, 2, 3, 4, 5, is_reference=True)

    assert whole + other == other + whole == Coverage(13, 4, 3, 3, 4, 5, is_reference=True)
    assert whole + whole == Coverage(8, 6, 2, is_filled=True, is_counted=True)


@pytest.mark.parametrize(
    ("coverage", "why"),
    [
        (Coverage(3, 3), None),
        (Coverage(3, 2, n_absent=1), "partial"),
        (Coverage(3, 2, n_failed=1), "partial"),
        (Coverage(3, 2, n_absent=1, is_filled=True), None),
        (Coverage(3, 2, n_absent=1, is_counted=True), None),
        (Coverage(3, 2, n_absent=1, n_not_asked=1, is_filled=True), "not asked"),
        (Coverage(3, 2, n_absent=1, n_not_asked=1, n_over=1), "more than asked"),
        (Coverage(3, 3, n_over=1, n_not_asked=1, is_reference=True), "label holder"),
        (Coverage(3, 3, is_reference=True), "label holder"),
    ],
)
def test_the_first_reason_that_holds_is_why_an_entrant_has_no_rank(coverage: Coverage, why: str | None) -> None:
    """And it is listed apart where a grid is declared; without one, who was not asked and who can read the labels."""
    declared, open_grid = (call_roster({"A": coverage}, is_declared=each) for each in (True, False))

    assert (coverage.why_unranked, declared.rank_status("A").why) == (why, why)
    assert declared.apart == (("A",) if why else ())
    assert open_grid.apart == (("A",) if coverage.n_not_asked or coverage.is_reference else ())


def test_without_a_grid_too_much_is_as_far_off_as_too_little() -> None:
    """One cell more and one less is two apart; who is in no group that is apart has no reason."""
    coverages = {"A": Coverage(4, 4), "B": Coverage(4, 3, n_absent=1, n_over=1), "C": Coverage(4, 4, n_over=1)}
    roster = call_roster(coverages, is_declared=False)
    notes = list(roster.notes("tasks"))

    assert (roster.ranked, roster.behind) == (("A",), (("C",), ("B",)))
    assert notes[1:] == [
        "Ranked behind the others, because something is absent: B (3 of 4 included).",
        "Ranked behind the others, because of tasks that most submitters do not have: C (1), B (1).",
    ]
    assert roster.rank_status("B").why is None
    assert roster.behind_ranks({"B": 0.5}) == {"B": 2}


def test_the_places_below_the_ranked_are_those_behind_and_then_those_without_a_rank_by_name() -> None:
    """Equals share a rank in the order of their names; who is behind and has no score has no rank either."""
    roster = Roster(("A",), (("Z", "C", "B"), ("Y",)), ("X",), {}, True)
    places = list(unranked_places(roster, {"C": 1.0, "B": 1.0, "Y": 0.5, "Z": float("nan"), "X": 2.0}))

    assert [(place.entrant, place.rank) for place in places] == [("B", 2), ("C", 2), ("Y", 4), ("X", None), ("Z", None)]


@pytest.mark.parametrize(("point", "rank"), [(0.95, 1), (0.9, 1), (0.5, 3), (None, 4), (float("nan"), 4)])
def test_a_rank_among_others_is_by_who_is_better(point: float | None, rank: int) -> None:
    """Ties share the better rank; no score is behind all."""
    assert rank_among(point, [0.9, 0.6, 0.3]) == rank


def test_what_was_asked_and_is_absent_is_not_hidden_by_what_was_not_asked() -> None:
    """Who was admitted before the grid grew may lack cells of the old one too: those it left out itself."""
    coverages = {"whole": Coverage(4, 4, n_not_asked=2), "part": Coverage(4, 3, n_absent=1, n_not_asked=2)}
    notes = list(call_roster(coverages, is_declared=True).notes("episodes"))

    assert notes[-1] == "These also lack results that were asked of them: part (3 of 4 included)."
    assert "whole (4 of 4 included)" in notes[0]
