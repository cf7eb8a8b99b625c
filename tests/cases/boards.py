"""What the tests of boards share: every ranking method and direction as a board of the same four entrants.

Best is far ahead, Fair and Near overlap, Poor is far behind, whatever the metric and its direction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from app.boards.measured import EntrantEvidence, MeasuredMethod
from app.boards.registry import compute_board as compute_rows
from app.boards.registry import measured_method
from app.boards.tables import BoardTables
from app.kinds.parse import parse_manifest
from app.kinds.registry import measured_kind
from app.manifest.model import Manifest
from app.stats.arrays import FloatArray
from app.values.scores import Coded, Labels, PredictionBlock, ScoreTable

Direction = Literal["minimize", "maximize"]
ENTRANTS = ("Poor", "Near", "Best", "Fair")
CENTRES = np.array([[1.6], [0.52], [0.2], [0.5]])
N_UNITS, N_SEEDS = 24, 4
UNITS = tuple(f"t{at:02}" for at in range(N_UNITS))
TASKS = "[" + ", ".join(f"{{id: {unit}}}" for unit in UNITS) + "]"


@dataclass(frozen=True)
class Given:
    """What a board is made of: errors [n_entrants, n_units], and the order in which entrants and rows come."""

    errors: FloatArray
    entrant_order: tuple[int, ...] = (0, 1, 2, 3)
    row_seed: int | None = None

    def rows(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the order of all the rows, those of one entrant after those of another or mixed."""
        n_rows = self.errors.size
        return np.arange(n_rows) if self.row_seed is None else np.random.default_rng(self.row_seed).permutation(n_rows)


def given(**changes: Any) -> Given:
    """Return the errors of the four: the same difficulty of a unit for all, and each entrant's own noise."""
    rng = np.random.default_rng(8)
    noise = 0.04 * rng.normal(size=N_UNITS) + 0.06 * rng.normal(size=(len(ENTRANTS), N_UNITS))
    return Given(**({"errors": CENTRES + noise} | changes))


@dataclass(frozen=True)
class Case:
    """A method under a direction: `build` makes its board."""

    name: str
    direction: Direction
    build: Callable[[Given], BoardTables]


@cache
def built(case: Case) -> BoardTables:
    """Return the board of a case of what is given to all of them, computed once in a process."""
    return case.build(given())


def _signed(values: FloatArray, direction: Direction) -> FloatArray:
    return values if direction == "minimize" else -values


def table_of(created: Given, direction: Direction, column: str, **codes: Any) -> ScoreTable:
    """Return a row for each entrant and unit, in the given order; `codes` are further columns by unit."""
    order = created.rows()
    entrant, unit = order // N_UNITS, order % N_UNITS
    words = tuple(ENTRANTS[at] for at in created.entrant_order)
    place = np.argsort(np.array(created.entrant_order))
    values = _signed(created.errors, direction).reshape(-1, 1)[order]
    further = {name: of(unit) for name, of in codes.items()}
    return ScoreTable(
        entrant=Coded(words, place[entrant]),
        columns=(column,),
        values=values,
        leaked=np.zeros(len(order), dtype=np.bool_),
        file=np.zeros(len(order), dtype=np.int64),
        row=np.arange(len(order)),
        **further,
    )


def declare(evidence: str, metrics: str, board: str, more: str = "", tasks: str = "{open: true}") -> Manifest:
    """Return a benchmark with one board, drawn a few hundred times."""
    return parse_manifest(
        f"""
schema_version: 1
slug: small
title: Small
evidence: {evidence}
{more}
metrics: {metrics}
tasks: {tasks}
leaderboards: [{{name: board, {board}, uncertainty: {{n_resamples: 300, rng_seed: 5}}}}]
""".encode()
    )


def _tasks(unit: Any) -> Coded:
    return Coded(UNITS, unit)


def _one_task(unit: Any) -> Coded:
    return Coded(("lift",), np.zeros(len(unit), dtype=np.int64))


def summary_board(method: str, direction: Direction) -> Callable[[Given], BoardTables]:
    """Return the maker of a board of an evaluation summary, a task a unit."""
    metrics = f"{{x: {{direction: {direction}}}}}"
    declared = declare("evaluation_summary", metrics, f"metric: x, {method}", tasks=TASKS)

    def build(created: Given) -> BoardTables:
        return compute_rows(declared, declared.leaderboards[0], table_of(created, direction, "x", task=_tasks))

    return build


def series_board(metric: str, direction: Direction) -> Callable[[Given], BoardTables]:
    """Return the maker of a board of weighted ranks, a record a unit, in two strata."""
    method = f"method: weighted_rank, weights: {{{metric}: 1.0}}"
    more = f"mode: ground_truth\ngrid: {{items: [{', '.join(UNITS)}]}}"
    declared = declare("series_metrics", f"{{catalog: lrdbench, use: [{metric}]}}", method, more)

    def build(created: Given) -> BoardTables:
        scores = table_of(
            created, direction, metric, task=lambda unit: Coded(("long", "short"), unit % 2), item=_tasks
        )  # fmt: skip
        return compute_rows(declared, declared.leaderboards[0], scores)

    return build


def episode_board(statistic: str, direction: Direction) -> Callable[[Given], BoardTables]:
    """Return the maker of a board of episodes: four seeds of six."""
    method = f"method: estimate, metrics: [x], statistic: {statistic}"
    grid = f"grid: {{seeds: {N_SEEDS}, items: {N_UNITS // N_SEEDS}}}"
    declared = declare("episodes", f"{{x: {{direction: {direction}}}}}", method, grid, "[{id: lift}]")

    def build(created: Given) -> BoardTables:
        scores = table_of(
            created, direction, "x", task=_one_task, seed=lambda unit: unit % N_SEEDS, item=_tasks
        )  # fmt: skip
        evidence = [EntrantEvidence(name, _rows_of(scores, name)) for name in scores.entrant.words]
        return _assemble(declared, evidence)

    return build


def _rows_of(scores: ScoreTable, entrant: str) -> ScoreTable:
    at = np.flatnonzero(scores.entrant.codes == scores.entrant.words.index(entrant))
    assert scores.seed is not None
    assert scores.item is not None
    return ScoreTable(
        entrant=Coded((entrant,), np.zeros(len(at), dtype=np.int64)),
        task=Coded(scores.task.words, scores.task.codes[at]),
        columns=scores.columns,
        values=scores.values[at],
        leaked=scores.leaked[at],
        file=scores.file[at],
        row=scores.row[at],
        seed=scores.seed[at],
        item=Coded(scores.item.words, scores.item.codes[at]),
    )


def _assemble(declared: Manifest, evidence: list[EntrantEvidence]) -> BoardTables:
    spec = declared.leaderboards[0]
    method = measured_method(spec)
    assert isinstance(method, MeasuredMethod)
    kind = measured_kind(declared)
    return method.assemble(declared, spec, [kind.measure(declared, spec, each) for each in evidence], kind)


PARTS = {
    "classification": "kind: classification, classes: ['no', 'yes']",
    "regression": "kind: regression",
    "ranking": "kind: ranking",
}


def prediction_board(kind: str, metric: str, direction: Direction) -> Callable[[Given], BoardTables]:
    """Return the maker of a board of predictions: ten examples of each unit, blurred by the errors."""
    method = f"method: estimate, metrics: ['{metric}']"
    declared = declare(
        "predictions", f"{{'{metric}': {{direction: {direction}}}}}", method, f"predictions: {{{PARTS[kind]}}}",
        "[{id: t}]",
    )  # fmt: skip

    def build(created: Given) -> BoardTables:
        rng = np.random.default_rng(9)
        truth = rng.integers(0, 2 if kind == "classification" else 4, size=10 * N_UNITS).astype(np.float64)
        labels = Labels("t", (), truth, group=np.arange(len(truth)) // 10 if kind == "ranking" else None)
        evidence = [
            EntrantEvidence(ENTRANTS[at], _no_rows(), [_block(kind, truth, created.errors[at], at)], {"t": labels})
            for at in created.entrant_order
        ]
        return _assemble(declared, evidence)

    return build


def _block(kind: str, truth: FloatArray, errors: FloatArray, at: int) -> PredictionBlock:
    blur = np.repeat(errors, 10) * np.random.default_rng(at).normal(size=len(truth))
    values = truth + blur
    if kind == "classification":
        values = 1.0 / (1.0 + np.exp(4.0 * (0.5 - values)))
    return PredictionBlock(ENTRANTS[at], "t", values[:, None])


def _no_rows() -> ScoreTable:
    nothing = np.zeros(0, dtype=np.int64)
    coded = Coded((), nothing)
    return ScoreTable(coded, coded, (), np.zeros((0, 0)), nothing.astype(np.bool_), nothing, nothing)


UNITS = [f"t{at:02}" for at in range(N_UNITS)]
GROUPS = f"groups: {{odd: [{', '.join(UNITS[1::2])}], even: [{', '.join(UNITS[::2])}]}}"
LISTED = f"tasks: [{', '.join(UNITS)}]"
SKILL = "method: skill_score, baseline: Fair, rank_by"
MIRRORED: dict[str, dict[Direction, Callable[[Given], BoardTables]]] = {
    "mean": {way: summary_board("method: mean", way) for way in ("minimize", "maximize")},
    "borda": {way: summary_board(f"method: borda, {LISTED}", way) for way in ("minimize", "maximize")},
    "group-mean": {way: summary_board(f"method: group_mean, {GROUPS}", way) for way in ("minimize", "maximize")},
    "mean-win-rate": {way: summary_board(f"method: mean_win_rate, {LISTED}", way) for way in ("minimize", "maximize")},
    "mean-rank": {way: summary_board(f"method: mean_rank, {LISTED}", way) for way in ("minimize", "maximize")},
    "estimate-iqm": {way: episode_board("iqm", way) for way in ("minimize", "maximize")},
    "estimate-mean": {way: episode_board("mean", way) for way in ("minimize", "maximize")},
    "weighted-rank": {
        "minimize": series_board("mae", "minimize"),
        "maximize": series_board("validity_rate", "maximize"),
    },
}
"""The methods that take either direction: the values of the second are minus those of the first."""

OF_ROWS = (
    Case("skill-score", "minimize", summary_board(f"{SKILL}: skill_score", "minimize")),
    Case("win-rate", "minimize", summary_board(f"{SKILL}: win_rate", "minimize")),
    *(Case(name, way, build) for name, ways in MIRRORED.items() for way, build in ways.items()),
)
CASES = (
    *OF_ROWS,
    Case("accuracy", "maximize", prediction_board("classification", "accuracy", "maximize")),
    Case("auc", "maximize", prediction_board("classification", "auc", "maximize")),
    Case("logloss", "minimize", prediction_board("classification", "logloss", "minimize")),
    Case("rmse", "minimize", prediction_board("regression", "rmse", "minimize")),
    Case("r2", "maximize", prediction_board("regression", "r2", "maximize")),
    Case("ndcg", "maximize", prediction_board("ranking", "ndcg", "maximize")),
)
