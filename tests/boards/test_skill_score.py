"""The skill_score method against fev's own numbers, to 1e-12, points and bounds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.boards.cells import CellMatrix
from app.boards.evidence import BoardEvidence, board_without_gaps
from app.boards.methods.skill_score import (
    SkillScore,
    clipped_errors,
    falls_by_wins,
    find_ranked,
    notes_of,
    treat_missing,
)
from app.boards.registry import compute_board
from app.boards.tables import BoardTables
from app.boards.task_values import task_values
from app.errors import BoardUnavailable
from app.kinds.parse import parse_manifest
from app.manifest.model import Explored, Manifest
from app.stats.arrays import FloatArray
from app.stats.pairs import win_shares
from app.values.scores import Coded, ScoreTable
from app.values.table import Table
from tests.cases.boards import declare
from tests.cases.fev_rows import FEV, fev_scores, to_scores

EXAMPLE = FEV.parents[2] / "examples" / "fev-bench" / "manifest.yaml"


def manifest() -> Manifest:
    """Return the manifest of the example."""
    return parse_manifest(EXAMPLE.read_bytes())


@cache
def compute(board: str, **changes: object) -> BoardTables:
    """Compute a board of the example, with some of its fields changed."""
    spec = manifest().leaderboard(board).model_copy(update=changes)
    return compute_board(manifest(), spec, fev_scores())


def frame(table: Table, *keys: str) -> pd.DataFrame:
    """Return a table as a frame indexed by its keys."""
    return pd.DataFrame(list(table.records())).set_index(list(keys))


def largest_difference(ours: pd.DataFrame, expected: pd.DataFrame) -> float:
    """Return the largest absolute difference over fev's columns and rows."""
    aligned = ours.loc[expected.index, expected.columns].astype(float)
    assert aligned.notna().equals(expected.notna())
    return float(np.nanmax(np.abs(aligned - expected.astype(float)).to_numpy()))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("file", "board", "changes"),
    [
        ("leaderboard_SQL_impute_leak_n1000", "sql", ()),
        ("leaderboard_SQL_mini_impute_leak_n1000", "sql-mini", ()),
        (
            "leaderboard_SQL_drop_n1000",
            "sql",
            (("missing", "drop"), ("leakage_model", None), ("normalize_time_per_n_forecasts", None)),
        ),
    ],
)
def test_a_board_equals_fevs_own(file: str, board: str, changes: tuple[tuple[str, object], ...]) -> None:
    """Every number of fev's leaderboard comes out, points and bounds."""
    expected = pd.read_csv(FEV / "expected" / f"{file}.csv", index_col="model_name")

    ours = frame(compute(board, **dict(changes)).leaderboard, "entrant")

    assert largest_difference(ours, expected) < 1e-12


@pytest.mark.heavy
def test_the_pairwise_table_equals_fevs_own_row_for_row() -> None:
    """All ordered pairs come out in fev's order with fev's numbers."""
    expected = pd.read_csv(FEV / "expected" / "pairwise_SQL_impute_leak_n1000.csv", index_col=["model_1", "model_2"])
    pairwise = compute("sql").pairwise
    assert pairwise is not None

    ours = frame(pairwise, "entrant_a", "entrant_b")

    assert list(ours.index) == list(expected.index)
    assert largest_difference(ours, expected) < 1e-12


NAN = float("nan")


def small(*rows: tuple[str, str, float]) -> BoardTables:
    """Compute a board of (entrant, task, error) rows against the baseline B."""
    table = pd.DataFrame(rows, columns=["model_name", "task_name", "SQL"])
    table[["training_time_s", "inference_time_s", "num_forecasts"]] = np.nan
    table["trained_on_this_dataset"] = False
    board = "{name: b, method: skill_score, metric: SQL, baseline: B, uncertainty: {n_resamples: 100}}"
    text = (
        "schema_version: 1\nslug: s\ntitle: s\nevidence: evaluation_summary\ntasks: {open: true}\n"
        f"metrics: {{SQL: {{direction: minimize}}}}\nleaderboards: [{board}]\n"
    )
    declared = parse_manifest(text.encode())
    return compute_board(declared, declared.leaderboards[0], to_scores(table, ["SQL"]))


def imputed(errors: dict[str, list[float]], rank_by: str = "skill_score") -> Table:
    """Return a board that imputes, of errors task by task."""
    return imputed_tables(errors, rank_by).leaderboard


def imputed_tables(
    errors: dict[str, list[float]], rank_by: str = "skill_score", missing: str = "impute"
) -> BoardTables:
    """Return a board and its pairs of errors by task, NaN where a row is left out; B is the baseline."""
    n_tasks = len(errors["B"])
    rows = [(name, f"t{at}", own[at]) for name, own in errors.items() for at in range(n_tasks) if own[at] == own[at]]
    board = (
        f"{{name: b, method: skill_score, metric: SQL, baseline: B, missing: {missing}, rank_by: {rank_by}, "
        "uncertainty: {n_resamples: 200}}"
    )
    text = (
        "schema_version: 1\nslug: s\ntitle: s\nevidence: evaluation_summary\n"
        f"tasks: [{', '.join(f'{{id: t{at}}}' for at in range(n_tasks))}]\n"
        f"metrics: {{SQL: {{direction: minimize}}}}\nleaderboards: [{board}]\n"
    )
    declared = parse_manifest(text.encode())
    table = pd.DataFrame(rows, columns=["model_name", "task_name", "SQL"])
    table[["training_time_s", "inference_time_s", "num_forecasts"]] = np.nan
    table["trained_on_this_dataset"] = False
    return compute_board(declared, declared.leaderboards[0], to_scores(table, ["SQL"]))


@pytest.mark.parametrize(
    ("n_tasks", "n_entrants", "rank_by", "said"),
    [
        (10, 3, "skill_score", "two equals, of which one is off by six on one task in ten, would be told apart in 10"),
        (10, 3, "win_rate", ""),
        (40, 3, "skill_score", ""),
        (
            40,
            5,
            "skill_score",
            "of 5 equals, half of them off by six on one task in ten, some would be told apart on 8",
        ),
        (99, 19, "skill_score", "would be told apart on 8 of 100 boards of 40 tasks."),
        (100, 19, "skill_score", ""),
        (
            25,
            30,
            "skill_score",
            "of 20 equals, half of them off by six on one task in ten, some would be told apart on 35",
        ),
        (199, 20, "skill_score", "would be told apart on 8 of 100 boards of 100 tasks."),
    ],
)
def test_board_and_pairs_say_that_comparisons_are_not_widened(
    n_tasks: int, n_entrants: int, rank_by: str, said: str
) -> None:
    """Where those of scores are: of ratios of errors over few tasks, and not of shares of opponents."""
    rng = np.random.default_rng(1)
    names = ("B", *(f"E{at}" for at in range(n_entrants - 1)))
    errors = {name: (1.0 + rng.random(n_tasks)).tolist() for name in names}
    tables = imputed_tables(errors, rank_by)
    pairs = tables.pairwise
    assert pairs is not None
    of_both = [
        [note for note in notes if "are not widened" in note] for notes in (tables.leaderboard.notes, pairs.notes)
    ]

    assert [len(of_one) for of_one in of_both] == [bool(said)] * 2
    assert all(said in note for of_one in of_both for note in of_one)


def test_who_leaves_out_what_it_is_bad_at_may_lead_and_may_not_be_first() -> None:
    """A gap counts as the baseline's error in the score, but with the clip's largest in it A would not lead."""
    table = imputed({"B": [1.0] * 12, "A": [0.5] * 6 + [np.nan] * 6, "C": [0.8 + 0.01 * at for at in range(12)]})
    ours = frame(table, "entrant")

    assert ours["rank"].to_dict() == {"A": 1, "C": 2, "B": 3}
    assert ours.loc["A", ["covered", "rank_low", "may_be_first", "first_resamples_share"]].tolist() == [
        "6 of 12",
        2,
        False,
        0.0,
    ]
    assert ours.loc["C", "may_be_first"]
    assert ours.loc[["B", "C"], "first_resamples_share"].isna().all()


@pytest.mark.parametrize("rank_by", ["skill_score", "win_rate"])
@pytest.mark.parametrize("seed", range(5))
def test_somebody_may_be_first_whoever_has_gaps(seed: int, rank_by: str) -> None:
    """Also where all but the baseline have them; who is best and may not be first delivered less than somebody."""
    rng = np.random.default_rng(seed)
    errors = {name: rng.lognormal(sigma=0.4, size=12) for name in "BACDE"}
    for name in "ACDE":
        errors[name][rng.choice(12, int(rng.integers(seed % 2, 4)), replace=False)] = np.nan
    table = imputed({name: own.tolist() for name, own in errors.items()}, rank_by)
    ours = frame(table, "entrant")

    assert ours["may_be_first"].any()
    for row in (row for row in table.records() if row["rank"] == 1 and not row["may_be_first"]):
        assert row["n_included"] < 12
        assert (row["rank_low"] >= 2, row["first_p"], row["first_resamples_share"]) == (True, None, 0.0)
    known = ours["first_resamples_share"].dropna()
    assert known.sum() == pytest.approx(1.0 if len(known) == 5 else 0.0)


def test_a_single_entrant_has_no_win_rate() -> None:
    """Alone there is nobody to beat, which is null and not a number."""
    rows = list(small(("B", "t1", 2.0), ("B", "t2", 2.0)).leaderboard.records())

    assert rows[0]["win_rate"] is None
    assert rows[0]["rank"] == 1


def test_a_single_task_has_no_interval() -> None:
    """One task carries no spread: the interval is null, with its reason."""
    table = small(("A", "t1", 1.0), ("B", "t1", 2.0)).leaderboard

    assert next(table.records())["skill_score_lower"] is None
    assert table.meta["interval_reason"] == "too_few_clusters"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("A", "t1", 1.0)], "baseline B has no submission that stands"),
        ([("A", "t1", 1.0), ("A", "t2", 1.0), ("B", "t3", NAN)], "baseline B has no result on the board's tasks"),
        ([("A", "t1", 1.0), ("B", "t1", 0.0)], "error of 0"),
    ],
)
def test_a_board_that_cannot_be_computed_says_why(rows: list[tuple[str, str, float]], reason: str) -> None:
    """The reason is in plain words and names who lacks what."""
    with pytest.raises(BoardUnavailable, match=reason):
        small(*rows)


def skill_rows(
    missing: str, leaked: Sequence[str], model: str, errors: Mapping[str, Sequence[float | None]]
) -> tuple[Manifest, ScoreTable]:
    """Return a board of errors by task against Base, and their rows; None is no row, NaN one without a value."""
    n_tasks = len(errors["Base"])
    rows = [(name, f"t{at}", own[at]) for name, own in errors.items() for at in range(n_tasks) if own[at] is not None]
    table = pd.DataFrame(rows, columns=["model_name", "task_name", "SQL"]).astype({"SQL": float})
    table[["training_time_s", "inference_time_s", "num_forecasts"]] = np.nan
    table["trained_on_this_dataset"] = table.model_name.isin(leaked)
    declared = declare(
        "evaluation_summary", "{SQL: {direction: minimize}}",
        f"metric: SQL, method: skill_score, baseline: Base, missing: {missing}{model}", "",
        f"[{', '.join(f'{{id: t{at}}}' for at in range(n_tasks))}]",
    )  # fmt: skip
    return declared, to_scores(table, ["SQL"])


def skills(
    missing: str = "error", leaked: Sequence[str] = (), model: str = "", **errors: Sequence[float | None]
) -> Table:
    """Return such a board as it is published."""
    declared, scores = skill_rows(missing, leaked, model, errors)
    return board_without_gaps(BoardEvidence.of_rows(declared, scores), declared.leaderboards[0]).leaderboard


def ranks(board: Table) -> dict[str, Any]:
    """Return what a board says of each entrant's place."""
    said = ("rank", "rank_low", "rank_high", "may_be_first", "n_attempted", "n_included", "skill_score")
    return {str(row["entrant"]): tuple(row.get(name) for name in said) for row in board.records()}


FEW: dict[str, Sequence[float | None]] = {"A": [1.0, 1.1, 1.2, 0.9], "B": [2.0, 1.9, 2.2, 2.1], "Base": [3.0] * 4}


@pytest.mark.parametrize("missing", ["error", "drop", "impute"])
@pytest.mark.parametrize("n_decoys", [1, 20])
def test_a_task_that_the_baseline_has_not_run_takes_nobody_off_the_board(missing: str, n_decoys: int) -> None:
    """However many have it, one owner's or who does more than is asked: it is no task, and the board says so."""
    alone = skills(missing, **{name: [*own, None] for name, own in FEW.items()})
    more = {**{name: [*own, None] for name, own in FEW.items()}, "Ahead": [1.0, 1.0, 1.0, 1.0, 0.1]}
    decoys: dict[str, Sequence[float | None]] = {f"D{at}": [None] * 4 + [0.1] for at in range(n_decoys)}
    board = skills(missing, **more, **decoys)

    assert ranks(skills(missing, **{name: [*own, None] for name, own in FEW.items()}, **decoys)) == ranks(alone)
    assert ranks(board).keys() == more.keys()
    assert all(place[0] is not None and place[4:6] == (4, 4) for place in ranks(board).values())
    assert "Left out, because the baseline has no result there: t4." in board.notes


@pytest.mark.parametrize(
    "decoys",
    [
        {f"N{at}": [NAN] * 4 for at in range(9)},
        {f"D{at}": [5.0 if at % 4 == task else None for task in range(4)] for at in range(20)},
    ],
)
def test_decoys_of_one_owner_empty_no_board_that_drops_tasks(decoys: dict[str, Sequence[float | None]]) -> None:
    """More than all others, without a value or each with another task: the most gaps are set aside, and named."""
    board = skills("drop", **FEW, **decoys)

    assert {"A", "B", "Base"} <= ranks(board).keys()
    assert {fact["entrant"] for fact in board.meta["set_aside"]} <= decoys.keys()
    assert [ranks(board)[name][0] for name in ("A", "B", "Base")] == [1, 2, 3]
    assert board.meta["n_tasks"] == 4


def test_what_a_leakage_model_that_is_not_here_would_replace_is_missing() -> None:
    """A row that says that it has seen the data empties nobody's board."""
    board = skills(leaked=["Seen"], model=", leakage_model: Model", **FEW, Seen=[0.1, 0.1, 0.1, 0.1])

    assert [name for name, place in ranks(board).items() if place[0] is not None] == ["A", "B", "Base"]
    assert ranks(board)["Seen"][5] == 0
    assert any("those of Model, which are not here, and so missing" in note for note in board.notes)


@pytest.mark.parametrize("gaps", [0, 2])
def test_leaks_that_nothing_replaces_empty_no_board_that_drops_tasks(gaps: int) -> None:
    """Who has them has the gaps, and is set aside; the model, which lacks some itself, replaces the others."""
    model: dict[str, Sequence[float | None]] = {"Model": [2.5] * (4 - gaps) + [None] * gaps} if gaps else {}
    decoys = {f"D{at}": [1.0 if at % 4 not in (task, (task + 1) % 4) else None for task in range(4)] for at in range(8)}
    seen = {"S0": [0.1] * 4, "S1": [0.1] * 4}
    board = skills("drop", list(seen), ", leakage_model: Model", **FEW, **model, **seen, **(decoys if gaps else {}))

    assert [ranks(board)[name][0] is not None for name in ("A", "B", "Base")] == [True] * 3
    assert not {fact["entrant"] for fact in board.meta["set_aside"]} & {*FEW, *model}


def test_decoys_with_as_many_gaps_as_the_leakage_model_do_not_take_it_away() -> None:
    """What it replaces would be missing without it, and no task be left."""
    tasks = range(4)
    model: dict[str, Sequence[float | None]] = {"Model": [2.5, 2.5, None, None]}
    decoys = {f"D{at}": [None if task // 2 == at else 2.0 for task in tasks] for at in (0, 1)}
    seen = {"S0": [0.1, 0.1, 9.0, 9.0], "S1": [9.0] * 4}
    declared, scores = skill_rows("drop", [], ", leakage_model: Model", {**FEW, **model, **decoys, **seen})
    names, at = np.array(scores.entrant.words), scores.task.codes
    is_seen = (names[scores.entrant.codes] == "S0") & (at < 2) | (names[scores.entrant.codes] == "S1") & (at > 1)
    evidence = BoardEvidence.of_rows(declared, replace(scores, leaked=is_seen))
    board = board_without_gaps(evidence, declared.leaderboards[0]).leaderboard

    assert [ranks(board)[name][0] is not None for name in ("A", "B", "Base")] == [True] * 3
    assert {fact["entrant"] for fact in board.meta["set_aside"]} <= {*decoys, *seen}


@pytest.mark.parametrize("missing", ["error", "drop", "impute"])
@pytest.mark.parametrize("rank_by", ["skill_score", "win_rate"])
def test_what_the_baseline_has_seen_is_its_own_where_nothing_replaces_it(missing: str, rank_by: str) -> None:
    """It was a fault of the server: others' gaps were filled with nothing."""
    gaps = {**FEW, "B": [2.0, 1.9, 2.2, None]}
    for model in ({}, {"Model": [2.5, 2.5, 2.5, None]}):
        more: dict[str, Sequence[float | None]] = {**gaps, **model}
        board = skills(missing, ["Base"], f", leakage_model: Model, rank_by: {rank_by}", **more)
        assert ranks(board)["A"][0] is not None


def test_the_clip_names_who_sent_what_is_beyond_it() -> None:
    """Not whose gap is filled, who is at its end, nor whose error is another's."""
    sent: dict[str, Sequence[float | None]] = {"A": [0.5, None], "C": [4.0, 1.0], "S": [9.0, 1.0], "Base": [1.0, 1.0]}
    board = skills("impute", ["S"], ", leakage_model: Base, clip: [0.01, 1]", **sent)

    assert [note for note in board.notes if note.startswith("Errors beyond")] == [
        "Errors beyond 0.01 or 1 times the baseline's count as that: C (1 task)."
    ]


def test_the_clip_counts_no_task_that_the_board_drops() -> None:
    """A gap of another takes the task away, and the error on it counts as nothing."""
    sent: dict[str, Sequence[float | None]] = {"E": [900.0, 1.0], "C": [None, 2.0], "Base": [3.0, 3.0]}
    assert not any(note.startswith("Errors beyond") for note in skills("drop", **sent).notes)
    assert any(note.startswith("Errors beyond") for note in skills("impute", **sent).notes)


def test_where_nobody_has_a_result_nobody_is_first() -> None:
    """Where a board itself says what a gap counts, everybody's gaps would tie at the top."""
    nothing: dict[str, Sequence[float | None]] = {"A": [NAN, NAN], "Base": [NAN, NAN]}
    declared = declare("evaluation_summary", "{x: {direction: minimize}}", "method: borda, metric: x", "", "[{id: a}]")
    nobody = np.zeros(2, dtype=np.bool_)
    table = ScoreTable(Coded(("A", "B"), np.arange(2)), Coded(("a",), np.zeros(2, dtype=np.int64)), ("x",),
                       np.full((2, 1), NAN), nobody, np.zeros(2, dtype=np.int64), np.arange(2))  # fmt: skip
    with pytest.raises(BoardUnavailable, match="has a result yet"):
        compute_board(declared, declared.leaderboards[0], table)
    with pytest.raises(BoardUnavailable, match="has a result yet"):
        skills("impute", **nothing)


def test_a_reader_who_leaves_out_the_leakage_model_is_told_that_it_counts() -> None:
    """It is computed beside those who are named; and the baseline keeps its own where there is none."""
    errors: dict[str, Sequence[float | None]] = {**FEW, "Model": [2.5] * 4}
    declared, scores = skill_rows("error", ["A"], ", leakage_model: Model", errors)
    spec = declared.leaderboards[0].as_chosen(None, Explored({}, False, ("Base", "Model")))
    notes = compute_board(declared, spec, scores).leaderboard.notes
    alone = skills("error", ["Base"], ", leakage_model: Model", **FEW).notes

    assert any(note.endswith("there are those of Model.") for note in notes)
    assert any(note.endswith("and so missing (the baseline Base keeps its own).") for note in alone)
    assert not any("differs from 0" in note for note in alone)


def test_a_group_of_tasks_is_of_those_that_the_board_has() -> None:
    """Not of one that the baseline lacks; neither are the tasks on which two are compared."""
    own = {"A": [1.0, 2.0, None], "B": [2.0, 2.0, 0.01], "Base": [3.0, 3.0, None]}
    declared = declare(
        "evaluation_summary", "{SQL: {direction: minimize}}", "metric: SQL, method: skill_score, baseline: Base",
        "group_by: kind", "[{id: t0, about: {kind: a}}, {id: t1, about: {kind: b}}, {id: t2, about: {kind: b}}]",
    )  # fmt: skip
    rows = [(name, f"t{at}", value) for name, each in own.items() for at, value in enumerate(each) if value is not None]
    table = pd.DataFrame(rows, columns=["model_name", "task_name", "SQL"])
    table[["training_time_s", "inference_time_s", "num_forecasts"]] = np.nan
    table["trained_on_this_dataset"] = False
    scores, spec = to_scores(table, ["SQL"]), declared.leaderboards[0]
    board = board_without_gaps(BoardEvidence.of_rows(declared, scores), spec).leaderboard

    means = {str(row["entrant"]): row["mean:b"] for row in board.records()}
    assert means == pytest.approx({"A": 2.0, "B": 2.0, "Base": 3.0})
    assert board.meta["groups"] == {"a": 1, "b": 1}
    assert task_values(declared, spec, scores).tasks == ("t0", "t1")


def falls_one_by_one(errors: FloatArray, own: FloatArray) -> list[int]:
    """Return who would rank lower with its own errors, by the win rates of the whole board with and without them."""
    falls = []
    for at in range(errors.shape[1]):
        changed = errors.copy()
        changed[:, at] = own[:, at]
        before, after = (win_shares(each).sum(axis=0).round(9) for each in (errors, changed))
        if np.count_nonzero(after > after[at]) > np.count_nonzero(before > before[at]):
            falls.append(at)
    return falls


@pytest.mark.parametrize("n_entrants", [2, 3, 9])
def test_who_falls_by_its_own_errors_is_who_the_board_with_them_ranks_lower(n_entrants: int) -> None:
    """Ties and all: errors are of five values."""
    rng = np.random.default_rng(3)
    counted = 0
    for _ in range(200):
        errors = rng.integers(1, 6, size=(6, n_entrants)) / 5.0
        own = np.where(rng.random(errors.shape) < 0.4, errors + rng.integers(-1, 4, size=errors.shape) / 5.0, errors)
        gains = np.flatnonzero((own > errors).any(axis=0))
        expected = falls_one_by_one(errors, own)
        counted += len(expected)

        assert falls_by_wins(errors, own, gains) == expected
    assert counted > 50


def test_of_very_many_who_gain_the_best_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one submission says of thousands must not hold up the others' boards."""
    errors = np.array([[0.1, 0.2, 0.3, 0.4]])
    own = np.array([[0.9, 0.9, 0.9, 0.4]])
    monkeypatch.setattr("app.boards.methods.skill_score.MOST_COMPARED", 8)

    assert falls_by_wins(errors, own, np.arange(3)) == [0, 1]


def test_an_error_as_large_as_the_one_in_its_place_is_no_gain() -> None:
    """The note counts the tasks on which having seen the data improves the score: b alone, not the tie on a."""
    values = np.array([[2.0, 2.0, 4.0], [3.0, 2.0, 4.0], [1.0, 2.0, 4.0]])
    leaked = np.array([[True, False, False]] * 3)
    cells = CellMatrix(("a", "b", "c"), ("Seen", "Model", "Base"), values, leaked, np.ones((3, 3), dtype=np.bool_))
    board = SkillScore(name="m", method="skill_score", metric="error", baseline="Base", leakage_model="Model")
    notes = notes_of(board, treat_missing(cells, clipped_errors(cells, board), "error"))

    assert notes[-1].startswith("On some tasks declared as leaked 1 entrant gains")
    assert notes[-1].endswith("of Model, which counts, is smaller: Seen (on 1 of 3 tasks).")
    assert "1 entrant has seen data of some tasks (Seen); its errors there are those of Model." in notes


@pytest.mark.parametrize(("absent", "ranked"), [("worst", {"A", "B"}), ("unranked", {"B"})])
def test_who_is_absent_gets_the_largest_error_where_the_benchmark_says_so(absent: str, ranked: set[str]) -> None:
    """A has half the error of B on t1 and nothing on t2, where it counts as a hundred times that of B."""
    manifest = declare(
        "evaluation_summary",
        "{x: {direction: minimize}}",
        "metric: x, method: skill_score, baseline: B",
        f"grid: {{absent: {absent}}}",
        "[{id: t1}, {id: t2}]",
    )
    spec = manifest.leaderboards[0]
    assert isinstance(spec, SkillScore)
    values = np.array([[0.5, 1.0], [np.nan, 1.0]])
    present = ~np.isnan(values)
    cells = CellMatrix(("t1", "t2"), ("A", "B"), values, np.zeros((2, 2), dtype=np.bool_), present)
    among = find_ranked(manifest, spec, cells, values)

    assert set(among.roster.ranked) == ranked
    assert among.relative.errors.tolist() == ([[0.5, 1.0], [100.0, 1.0]] if absent == "worst" else [[1.0], [1.0]])


def against_itself(baseline: str) -> tuple[Mapping[str, Any], bool]:
    """Return the row that a baseline has on fev's board of skill scores, and whether a note says why it is not 0."""
    board = compute("sql", baseline=baseline).leaderboard
    own = next(row for row in board.records() if row["entrant"] == baseline)
    return own, any(f"As the baseline {baseline} keeps its own errors" in note for note in board.notes)


def test_a_baseline_whose_leaks_are_replaced_has_an_interval() -> None:
    """Its skill is 0 by definition only where all of its errors are its own: -0.084 had the interval 0 to 0."""
    own, is_said = against_itself("TimesFM-2.5")

    assert own["n_leaked"]
    assert is_said
    assert own["skill_score_calibrated_low"] < own["skill_score"] < own["skill_score_calibrated_high"]
    assert own["skill_score_calibrated_how"] != "baseline"


def test_a_baseline_that_has_seen_nothing_has_exactly_no_skill() -> None:
    """Its ratios are one on every task."""
    own, is_said = against_itself("Seasonal Naive")

    assert not is_said
    assert own["skill_score"] == own["skill_score_calibrated_low"] == own["skill_score_calibrated_high"] == 0.0
    assert own["skill_score_calibrated_how"] == "baseline"


@pytest.mark.parametrize("rank_by", ["skill_score", "win_rate"])
def test_who_leaves_out_a_task_takes_it_from_scores_and_ranks_alike(rank_by: str) -> None:
    """As fev drops it from scores; the board ranks, compares and varies what it shows, and says whose gaps it is."""
    rng = np.random.default_rng(3)
    errors = {name: rng.lognormal(sigma=0.3, size=20) for name in ("B", "Lead", "Mine", "First gap", "Second gap")}
    errors["First gap"][:6] = errors["Second gap"][6:12] = np.nan
    tables = imputed_tables({name: own.tolist() for name, own in errors.items()}, rank_by, missing="drop")
    board, pairs = tables.leaderboard, tables.pairwise
    assert pairs is not None
    rows = {str(row["entrant"]): row for row in board.records()}
    ranked = sorted((row for row in rows.values() if row["rank"] is not None), key=lambda row: int(str(row["rank"])))
    scores = [float(str(row[rank_by])) for row in ranked]
    contrast = "relative_skill" if rank_by == "skill_score" else "board_difference"
    differences = {(row["entrant_a"], row["entrant_b"]): row[contrast] for row in pairs.records()}

    def difference(a: float, b: float) -> float:
        return 1.0 - (1.0 - a) / (1.0 - b) if rank_by == "skill_score" else a - b

    assert len(scores) == 3
    assert scores == sorted(scores, reverse=True)
    assert all(
        differences[a["entrant"], b["entrant"]]
        == pytest.approx(difference(float(str(a[rank_by])), float(str(b[rank_by]))))
        for a in ranked
        for b in ranked
    )
    assert len(board.meta["stability"]["variants"]) == board.meta["n_tasks"] == 8
    assert board.notes[1].endswith("8 of 20 tasks remain. Lacking some: First gap (6), Second gap (6).")
    # With the tasks that it alone lacks on the board, at the ends of the clip.
    assert (rows["First gap"]["rank_if_best"], rows["First gap"]["rank_if_worst"]) == (1, 4)


def test_who_is_thirty_times_worse_hides_in_no_noise_of_its_own() -> None:
    """The spread of its skill is thirty times as large; of logarithms it is not, so thirty decoys do not help it."""
    rng = np.random.default_rng(5)
    names = ["B", "Lead", "Worst", *(f"Decoy {at}" for at in range(30))]
    scales = dict.fromkeys(names, 1.0) | {"Worst": 30.0, "Lead": 0.9}
    errors = {name: (scales[name] * rng.lognormal(sigma=0.8, size=15)).tolist() for name in names}
    errors["B"] = [1.0] * 15
    tables = imputed_tables(errors)
    rows = {str(row["entrant"]): row for row in tables.leaderboard.records()}
    pairs = tables.pairwise
    assert pairs is not None
    pair = next(row for row in pairs.records() if (row["entrant_a"], row["entrant_b"]) == ("Lead", "Worst"))

    assert rows["Worst"]["may_be_first"] is False
    assert pair["separable"] is True
    assert 0.9 < float(str(pair["relative_skill_lower"])) < float(str(pair["relative_skill"])) < 1.0


def test_whose_errors_are_clipped_is_said_with_how_many() -> None:
    """They count as a hundred times the baseline's, or a hundredth: of what is beyond nobody sees how far."""
    errors = {"B": [1.0] * 6, "C": [300.0, 0.001, 90.0, 1.0, 1.0, 1.0], "D": [1.0, 1.0, 99.0, 2.0, 2.0, 0.02]}
    notes = imputed_tables(errors).leaderboard.notes

    assert "Errors beyond 0.01 or 100 times the baseline's count as that: C (2 tasks)." in notes
    assert not any("count as that" in note for note in imputed({**errors, "C": [1.0] * 6}).notes)


def test_what_fills_a_gap_is_no_error_that_was_sent() -> None:
    """Where absent counts as the worst, that is the end of the clip; nobody sent an error beyond it."""
    declared = declare(
        "evaluation_summary", "{SQL: {direction: minimize, min: 0.1, max: 10}}",
        "metric: SQL, method: skill_score, baseline: B", "grid: {absent: worst}",
        "[{id: t0}, {id: t1}, {id: t2}, {id: t3}]",
    )  # fmt: skip
    rows = [(name, f"t{at}", own[at]) for name, own in {"B": [5.0] * 4, "A": [1.0] * 2, "C": [0.04] * 3}.items()
            for at in range(len(own))]  # fmt: skip
    table = pd.DataFrame(rows, columns=["model_name", "task_name", "SQL"])
    table[["training_time_s", "inference_time_s", "num_forecasts"]] = np.nan
    table["trained_on_this_dataset"] = False
    notes = compute_board(declared, declared.leaderboards[0], to_scores(table, ["SQL"])).leaderboard.notes

    assert any(note.startswith("What is absent counts as") and "A (2 of 4" in note for note in notes)
    assert "The worst there is on this board is 100 times the baseline's error." in notes
    assert [note for note in notes if note.startswith("Errors beyond")] == [
        "Errors beyond 0.01 or 100 times the baseline's count as that: C (3 tasks)."
    ]


def test_who_is_told_apart_does_not_hang_on_the_baseline() -> None:
    """It is no part of the logarithms' differences, as long as nothing is clipped."""
    rng = np.random.default_rng(6)
    errors = {name: (rng.lognormal(sigma=0.4, size=12) * scale).tolist() for name, scale in (("C", 0.9), ("D", 0.6))}
    found = []
    for _ in range(2):
        pairs = imputed_tables({"B": rng.lognormal(sigma=0.4, size=12).tolist(), **errors}).pairwise
        assert pairs is not None
        pair = next(row for row in pairs.records() if (row["entrant_a"], row["entrant_b"]) == ("C", "D"))
        names = ("relative_skill", "relative_skill_lower", "relative_skill_upper", "p_value")
        found.append([float(str(pair[name])) for name in names])

    assert found[0] == pytest.approx(found[1])
    assert len(set(found[0])) == 4
