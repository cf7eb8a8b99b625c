"""Boards of skill scores against fev itself, run beside them: every column, every pair and the order of its lists."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from app.boards.methods.skill_score import SkillScore
from app.boards.registry import compute_board
from app.boards.tables import BoardTables
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.values.table import Table
from tests.cases.fev_rows import FEV, fev_scores, to_scores

analysis = pytest.importorskip("fev.analysis", reason="fev is among the locked packages of development")

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.filterwarnings("ignore:'bool' is not supported as a fill value"),  # pandas 3 about fev's own code
    pytest.mark.filterwarnings("ignore:Columns .* are missing from summaries"),
]

EXAMPLE = FEV.parents[2] / "examples" / "fev-bench" / "manifest.yaml"
BOARDS = ("sql", "mase", "wape", "wql", "sql-mini")
EXACT = 1e-12


@cache
def example() -> Manifest:
    """Return the manifest of the example."""
    return parse_manifest(EXAMPLE.read_bytes())


@cache
def summaries() -> pd.DataFrame:
    """Return the rows of the example, as fev reads them."""
    return pd.concat([pd.read_csv(path) for path in sorted((FEV / "results").glob("*.csv"))], ignore_index=True)


def asked_of(spec: SkillScore) -> dict[str, Any]:
    """Return what both of fev's functions are asked for a board."""
    return {
        "metric_column": spec.metric,
        "missing_strategy": spec.missing,
        "baseline_model": spec.baseline,
        "min_relative_error": spec.clip[0],
        "max_relative_error": spec.clip[1],
        "leakage_imputation_model": spec.leakage_model,
        "n_resamples": spec.uncertainty.n_resamples or None,
        "seed": spec.uncertainty.rng_seed,
    }


def expect_equal(spec: SkillScore, rows: pd.DataFrame, tables: BoardTables) -> None:
    """Compare a board and its pairs with fev's own."""
    theirs = analysis.leaderboard(
        rows, normalize_time_per_n_forecasts=spec.normalize_time_per_n_forecasts, **asked_of(spec)
    )
    expect_columns(tables.leaderboard, ["entrant"], theirs)
    pairs = analysis.pairwise_comparison(rows, **asked_of(spec))
    assert tables.pairwise is not None
    expect_columns(tables.pairwise, ["entrant_a", "entrant_b"], pairs)


def expect_columns(table: Table, keys: list[str], theirs: pd.DataFrame) -> None:
    """Compare every column of fev's table, row by row."""
    ours = pd.DataFrame(list(table.records())).set_index(keys)
    assert set(ours.index) == set(theirs.index)
    aligned, expected = ours.loc[theirs.index, theirs.columns].astype(float), theirs.astype(float)
    assert aligned.notna().equals(expected.notna())
    assert np.nanmax(np.abs(aligned - expected).to_numpy()) < EXACT


def expect_order(spec: SkillScore, rows: pd.DataFrame, table: Table) -> None:
    """Compare ranks and order with fev's list: as it is, which is by win rate, or sorted by skill score.

    Who ties, but for the last digits, shares a rank, and stands in the order of the names.
    """
    listed = analysis.leaderboard(rows, **asked_of(spec) | {"n_resamples": None})
    if spec.rank_by == "skill_score":
        listed = listed.sort_values("skill_score", ascending=False, kind="stable")
    scores = listed[spec.rank_by].to_numpy()
    begins = [at for at in range(len(scores)) if at == 0 or scores[at] < scores[at - 1] - EXACT]
    ranks = [1 + max(begin for begin in begins if begin <= at) for at in range(len(scores))]
    expected = sorted(zip(ranks, map(str, listed.index), strict=True))

    assert [(row["rank"], row["entrant"]) for row in table.records()] == expected


def of_board(spec: SkillScore) -> pd.DataFrame:
    """Return the summaries of the tasks of a board."""
    every = summaries()
    return every if spec.tasks is None else every[every["task_name"].isin(spec.tasks)]


@pytest.mark.parametrize(
    "board", [pytest.param(board, marks=() if board == "sql-mini" else pytest.mark.peers) for board in BOARDS]
)
def test_every_board_of_the_example_is_fevs(board: str) -> None:
    """Its columns and its pairs, to 1e-12."""
    spec = example().leaderboard(board)
    assert isinstance(spec, SkillScore)

    expect_equal(spec, of_board(spec), compute_board(example(), spec, fev_scores()))


def test_who_is_first_by_another_metric_is_who_is_first_on_its_board() -> None:
    """By the rules of both, that for leaks too: TimesFM-2.5 leads by MASE only with errors on data that it has seen."""
    boards = {
        name: compute_board(example(), example().leaderboard(name), fev_scores()).leaderboard for name in BOARDS[:4]
    }
    leaders = {name.upper(): next(iter(table.records()))["entrant"] for name, table in boards.items()}

    for name, table in boards.items():
        said = {each["what"]: each["first"] for each in table.meta["stability"]["without"]}
        for metric, leader in leaders.items():
            assert said.get(f"by {metric}", leaders[name.upper()]) == leader


@pytest.mark.parametrize("rank_by", ["skill_score", "win_rate"])
@pytest.mark.parametrize("board", BOARDS)
def test_every_board_of_the_example_is_in_the_order_of_fevs_list(board: str, rank_by: str) -> None:
    """Of all thirty models, five of which failed somewhere: its own order by win rate, and sorted by skill score."""
    spec = example().leaderboard(board).model_copy(update={"rank_by": rank_by})
    assert isinstance(spec, SkillScore)

    expect_order(spec, of_board(spec), compute_board(example(), spec, fev_scores()).leaderboard)


def made(seed: int) -> tuple[Manifest, SkillScore, pd.DataFrame]:
    """Return a small benchmark: ties, rows that are missing or empty, leaks and unknown leaks."""
    rng = np.random.default_rng(seed)
    tasks, models = [f"t{at}" for at in range(int(rng.integers(2, 8)))], ["Base", "Clean", "C", "D", "E"]
    rows = [
        {
            "model_name": model,
            "task_name": task,
            "dataset_path": task,
            "test_error": float(np.round(rng.lognormal(sigma=2.0), int(rng.integers(0, 4)))) + 0.125,
            "training_time_s": float(rng.integers(0, 9)),
            "inference_time_s": float(rng.integers(1, 9)),
            "num_forecasts": 1 + len(task),
            "trained_on_this_dataset": bool(model not in ("Base", "Clean") and rng.random() < 0.3),
            "fev_version": "0.10.0",
            "quantile_levels": "[]",
        }
        for model in models
        for task in tasks
    ]
    frame = pd.DataFrame(rows)
    gaps = (frame["model_name"] != "Base") & (rng.random(len(frame)) < 0.15)
    frame.loc[gaps, "test_error"] = np.nan
    frame["trained_on_this_dataset"] = frame["trained_on_this_dataset"].astype(object)
    unsaid = rng.random(len(frame)) < 0.2
    unsaid |= (frame["model_name"] == "E").to_numpy() & (seed % 5 == 0)
    frame.loc[unsaid, "trained_on_this_dataset"] = None
    frame = frame[~gaps | (rng.random(len(frame)) < 0.5)].reset_index(drop=True)
    low, high = [(0.01, 100.0), (0.2, 3.0)][seed % 2]
    leakage = ", leakage_model: Clean" if seed % 3 else ""
    listed = ", ".join(f"{{id: {task}, where: {{dataset_path: {task}}}}}" for task in tasks)
    rank_by, n_drawn = ["skill_score", "win_rate"][seed // 2 % 2], [100, 257][seed // 4 % 2]
    board = (
        f"{{name: b, method: skill_score, metric: test_error, baseline: Base, missing: impute, clip: [{low}, {high}]"
        f"{leakage}, rank_by: {rank_by}, normalize_time_per_n_forecasts: 10, "
        f"uncertainty: {{n_resamples: {n_drawn}, rng_seed: {seed}, stream: fev}}}}"
    )
    manifest = parse_manifest(
        (
            "schema_version: 1\nslug: s\ntitle: s\nevidence: evaluation_summary\npreset: fev\n"
            f"columns: {{entrant: model_name, task: task_name, leaked: trained_on_this_dataset}}\ntasks: [{listed}]\n"
            f"metrics: {{test_error: {{direction: minimize, min: 0}}}}\nleaderboards: [{board}]\n"
        ).encode()
    )
    spec = manifest.leaderboards[0]
    assert isinstance(spec, SkillScore)
    return manifest, spec, frame


@pytest.mark.parametrize(
    "seed",
    [pytest.param(seed, marks=() if seed < 12 else pytest.mark.slow) for seed in range(40) if seed < 12 or seed >= 24],
)
def test_small_benchmarks_are_fevs(seed: int) -> None:
    """Ties, clips, gaps, leaks, unknown leaks, streams: the numbers, the pairs and the order."""
    manifest, spec, rows = made(seed)
    tables = compute_board(manifest, spec, to_scores(rows, ["test_error"]))

    expect_equal(spec, rows, tables)
    for rank_by in ("skill_score", "win_rate"):
        ranked = spec.model_copy(update={"rank_by": rank_by})
        board = compute_board(manifest, ranked, to_scores(rows, ["test_error"])).leaderboard
        expect_order(ranked, rows, board)
