"""Ranking method `skill_score`: fev's leaderboard, errors relative to a baseline, on weighted tasks.

Found by `app.boards.registry`. STATISTICS: fev 0.10's `leaderboard` and `pairwise_comparison`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from app.boards.cells import CellMatrix, build_cells, quantity
from app.boards.estimate.pairs import MAX_ENTRANTS
from app.boards.standing import (
    ENTRANT,
    RANK,
    STANDING_COLUMNS,
    draw_tasks,
    plain,
    stand,
    uncertainty_meta,
)
from app.boards.tables import BoardTables, pairwise_notes, pairwise_table, sentences
from app.errors import BoardUnavailable, Unavailable
from app.manifest.base import MetricName, Name
from app.manifest.manifest import Leaderboard, Manifest, Metric
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.interval import percentile_interval, probability_beats
from app.stats.relative import average_ranks, compare_pairs, ratios, skill, win_shares
from app.stats.resample import Resamples
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table, rows_from_columns

FEWEST_FORECASTS = 1.0


class SkillScore(Leaderboard):
    """A board of skill scores: 1 − geometric mean of errors relative to the baseline's."""

    method: Literal["skill_score"]
    metric: MetricName
    baseline: Name
    leakage_model: Name | None = None
    missing: Literal["error", "drop", "impute"] = "error"
    clip: list[float] = Field(default=[0.01, 100.0], min_length=2, max_length=2)
    rank_by: Literal["skill_score", "win_rate"] = "skill_score"
    normalize_time_per_n_forecasts: int | None = Field(None, ge=1)

    @field_validator("clip")
    @classmethod
    def _clip_is_a_range(cls, clip: list[float]) -> list[float]:
        if not 0 < clip[0] < clip[1]:
            raise ValueError("clip must be [low, high] with 0 < low < high")
        return clip

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)

    def check_metric(self, metric: Metric) -> str | None:
        """Return why the metric cannot be used, if it cannot: ratios need errors, smaller being better."""
        if metric.direction != "minimize":
            return f"skill_score compares errors; {self.metric} has direction {metric.direction}"
        return None


@dataclass(frozen=True)
class Relative:
    """Relative errors [n_tasks, n_entrants] after leakage, clip and missing strategy, and what was done to them."""

    cells: CellMatrix
    errors: FloatArray
    kept: BoolArray
    n_failures: IntArray
    n_imputed: IntArray


def compute(manifest: Manifest, spec: SkillScore, scores: ScoreTable, *, with_pairs: bool = True) -> BoardTables:
    """Compute the board and its pairwise table. Raises BoardUnavailable when the evidence does not allow it."""
    cells = build_cells(manifest, spec, scores, spec.metric)
    _require(cells, spec)
    relative = relative_errors(cells, spec)
    resamples = draw_tasks(spec, int(relative.kept.sum()))
    board = _board(spec, scores, relative, resamples)
    if not with_pairs or len(cells.entrants) < 2:
        return BoardTables(board.table, None)
    return BoardTables(board.table, _pairwise(manifest.slug, spec, relative, resamples, board.replicates))


def _require(cells: CellMatrix, spec: SkillScore) -> None:
    if spec.baseline not in cells.entrants:
        reason = f"The baseline {spec.baseline} has not been submitted yet."
        raise BoardUnavailable(Unavailable.BASELINE_ABSENT, reason)
    if spec.leakage_model is not None and cells.leaked.any() and spec.leakage_model not in cells.entrants:
        raise BoardUnavailable(
            Unavailable.LEAKAGE_MODEL_ABSENT,
            f"Entrants have seen data of some tasks, and the leakage model {spec.leakage_model}, whose errors "
            "replace theirs there, has not been submitted yet.",
        )
    baseline = cells.values[:, cells.column(spec.baseline)]
    gaps = [cells.tasks[task] for task in np.flatnonzero(np.isnan(baseline))]
    if gaps:
        reason = f"The baseline {spec.baseline} has no result for {sentences(gaps)}."
        raise BoardUnavailable(Unavailable.BASELINE_INCOMPLETE, reason, _beyond_the_baseline(cells, spec))
    if (baseline == 0).any():
        zero = [cells.tasks[task] for task in np.flatnonzero(baseline == 0)]
        reason = f"The baseline {spec.baseline} has an error of 0, so no ratio, on {sentences(zero)}."
        raise BoardUnavailable(Unavailable.BASELINE_ZERO, reason)


def _beyond_the_baseline(cells: CellMatrix, spec: SkillScore) -> list[str]:
    """Return who brought the tasks that the baseline has no row of; none where the baseline's own row is empty."""
    at = cells.column(spec.baseline)
    gaps = np.isnan(cells.values[:, at])
    if (gaps & cells.present[:, at]).any():
        return []
    return [cells.entrants[entrant] for entrant in np.flatnonzero(cells.present[gaps].any(axis=0))]


def relative_errors(cells: CellMatrix, spec: SkillScore) -> Relative:
    """Divide by the baseline, replace leaked cells, clip, count failures, then treat what is missing."""
    errors = ratios(cells.values, cells.values[:, [cells.column(spec.baseline)]])
    errors = np.clip(_without_leaks(cells, errors, spec), spec.clip[0], spec.clip[1])
    failed = np.isnan(errors)
    kept = np.ones(len(cells.tasks), dtype=bool)
    if spec.missing == "drop":
        kept = ~np.asarray(failed.any(axis=1))
    elif spec.missing == "error" and failed.any():
        lacking = [cells.entrants[entrant] for entrant in np.flatnonzero(failed.any(axis=0))]
        raise BoardUnavailable(Unavailable.INCOMPLETE, _gaps(cells, failed), lacking)
    if not kept.any():
        reason = "No task has a result of every entrant, and the board drops tasks with gaps."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason, cells.without_common_task())
    imputed = failed.sum(axis=0) if spec.missing == "impute" else np.zeros(len(cells.entrants), dtype=np.int64)
    return Relative(cells, np.where(failed, 1.0, errors)[kept], kept, failed.sum(axis=0), imputed)


def _without_leaks(cells: CellMatrix, errors: FloatArray, spec: SkillScore) -> FloatArray:
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return errors
    return np.where(cells.leaked, errors[:, [cells.column(spec.leakage_model)]], errors)


def _gaps(cells: CellMatrix, failed: BoolArray) -> str:
    lacking = [
        f"{cells.entrants[entrant]} lacks {int(failed[:, entrant].sum())} of {len(cells.tasks)} tasks"
        for entrant in np.flatnonzero(failed.any(axis=0))
    ]
    return f"The board requires every result: {sentences(lacking)}."


@dataclass(frozen=True)
class _Board:
    """The table, and what it ranks by in every resample, [n_resamples, n_entrants]."""

    table: Table
    replicates: FloatArray | None


def _board(spec: SkillScore, scores: ScoreTable, relative: Relative, resamples: Resamples | None) -> _Board:
    cells, n_entrants = relative.cells, len(relative.cells.entrants)
    logs = np.log(relative.errors)
    wins = win_shares(relative.errors) if n_entrants > 1 else np.full(logs.shape, np.nan)
    points = {"skill_score": skill(logs.mean(axis=0)), "win_rate": wins.mean(axis=0)}
    drawn = {}
    if resamples is not None:
        drawn = {"skill_score": skill(resamples.means(logs)), "win_rate": resamples.means(wins)}
    rank_by = spec.rank_by if n_entrants > 1 else "skill_score"
    standing = stand(points[rank_by], drawn.get(rank_by), spec.uncertainty.level)
    columns: list[list[Cell]] = [plain(standing.ranks, n_entrants), list(cells.entrants)]
    for name in ("win_rate", "skill_score"):
        ends = percentile_interval(drawn[name], spec.uncertainty.level) if drawn else (None, None)
        columns += [plain(values, n_entrants) for values in (points[name], *ends)]
    columns += [plain(values, n_entrants) for values in _times(spec, scores, relative)]
    columns += [plain(values, n_entrants) for values in _counts(relative)]
    columns += [plain(v, n_entrants) for v in (standing.rank_low, standing.rank_high, standing.p_best)]
    rows = rows_from_columns(columns)
    ordered = tuple(rows[position] for position in standing.order(cells.entrants))
    return _Board(_table(spec, relative, ordered, _uncounted(spec, scores, relative)), drawn.get(rank_by))


def _times(spec: SkillScore, scores: ScoreTable, relative: Relative) -> list[FloatArray]:
    training = quantity(relative.cells, scores, "training_time_s")
    inference = quantity(relative.cells, scores, "inference_time_s")
    if spec.normalize_time_per_n_forecasts is not None:
        per = spec.normalize_time_per_n_forecasts / _n_forecasts(relative.cells, scores)
        training, inference = training * per, inference * per
    return [_median(times[relative.kept]) for times in (training, inference, training + inference)]


def _n_forecasts(cells: CellMatrix, scores: ScoreTable) -> FloatArray:
    """Return forecasts per task, [n_tasks, 1]: a property of the task, so any entrant's count will do."""
    known = np.nan_to_num(quantity(cells, scores, "n_forecasts")).max(axis=1, keepdims=True)
    return np.where(known < FEWEST_FORECASTS, np.nan, known)


def _uncounted(spec: SkillScore, scores: ScoreTable, relative: Relative) -> list[str]:
    """Return the tasks of which every count that was sent is of no forecast at all, so that no time is per forecast."""
    if spec.normalize_time_per_n_forecasts is None:
        return []
    sent = ~np.isnan(quantity(relative.cells, scores, "n_forecasts")).all(axis=1)
    nothing = np.isnan(_n_forecasts(relative.cells, scores)[:, 0])
    return [relative.cells.tasks[at] for at in np.flatnonzero(sent & nothing & relative.kept)]


def _median(times: FloatArray) -> FloatArray:
    """Return medians over the tasks that have a time, [n_entrants]; NaN where none has."""
    return np.array([np.median(t[~np.isnan(t)]) if (~np.isnan(t)).any() else np.nan for t in times.T])


def _counts(relative: Relative) -> list[NDArray[np.generic]]:
    cells, kept = relative.cells, relative.kept
    present = cells.present[kept]
    overlap = (cells.leaked[kept] & present).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    n_leaked = cells.leaked[kept].sum(axis=0)
    n_included = kept.sum() - relative.n_imputed
    attempted = np.full(len(cells.entrants), len(cells.tasks))
    return [overlap, relative.n_failures, attempted, n_included, relative.n_imputed, n_leaked]


def _notes_on_times(uncounted: Sequence[str]) -> tuple[str, ...]:
    if not uncounted:
        return ()
    return (f"No time per forecast on {sentences(uncounted)}: every count sent there is of less than one forecast.",)


def _table(spec: SkillScore, relative: Relative, rows: tuple[tuple[Cell, ...], ...], uncounted: Sequence[str]) -> Table:
    n_tasks = int(relative.kept.sum())
    return Table(
        name=f"leaderboard/{spec.name}",
        title=spec.title or spec.name,
        columns=_columns(spec),
        rows=rows,
        notes=(*_notes(spec, relative), *_notes_on_times(uncounted)),
        meta={
            "method": spec.method,
            "metric": spec.metric,
            "baseline": spec.baseline,
            "leakage_model": spec.leakage_model,
            "missing": spec.missing,
            "clip": spec.clip,
            "rank_by": spec.rank_by,
            "n_entrants": len(relative.cells.entrants),
            **uncertainty_meta(spec, n_tasks),
        },
    )


def _columns(spec: SkillScore) -> tuple[Column, ...]:
    n = spec.normalize_time_per_n_forecasts
    per = "" if n is None else f"_per{n}"
    unit = "s" if n is None else f"s per {n} forecasts"
    bounds = [
        Column(f"{name}_{end}", f"{title}, {word}", detail=True, glossary=name, digits=3)
        for name, title in (("win_rate", "Win rate"), ("skill_score", "Skill score"))
        for end, word in (("lower", "low"), ("upper", "high"))
    ]
    win = Column("win_rate", "Win rate", direction="maximize", interval=("win_rate_lower", "win_rate_upper"),
                 glossary="win_rate", digits=3)  # fmt: skip
    skilled = Column("skill_score", "Skill score", direction="maximize",
                     interval=("skill_score_lower", "skill_score_upper"), glossary="skill_score", digits=3)  # fmt: skip
    times = [
        Column(
            f"median_{name}_time_s{per}",
            title,
            unit=unit,
            direction="minimize",
            glossary="median_time",
            digits=2,
            detail=name != "e2e",
        )
        for name, title in (("training", "Training"), ("inference", "Inference"), ("e2e", "Time"))
    ]
    counts = (
        Column("training_corpus_overlap", "Overlap", glossary="training_corpus_overlap", digits=2),
        Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures"),
        Column("n_attempted", "Attempted", "integer", detail=True, glossary="num_failures"),
        Column("n_included", "Included", "integer", detail=True, glossary="num_failures"),
        Column("n_imputed", "Imputed", "integer", glossary="n_imputed"),
        Column("n_leaked", "Leaked", "integer", glossary="n_leaked"),
    )
    return (RANK, ENTRANT, win, *bounds[:2], skilled, *bounds[2:], *times, *counts, *STANDING_COLUMNS)


def _notes(spec: SkillScore, relative: Relative) -> tuple[str, ...]:
    cells = relative.cells
    failing = [e for e, n in zip(cells.entrants, relative.n_failures.tolist(), strict=True) if n]
    leaking = [e for e, n in zip(cells.entrants, cells.leaked.sum(axis=0).tolist(), strict=True) if n]
    notes = [
        f"{len(cells.entrants)} entrants on {len(cells.tasks)} tasks; "
        f"{int(relative.n_failures.sum())} failures of {len(failing)} entrants"
        + (f" ({sentences(failing)})." if failing else ".")
    ]
    treatment = {
        "impute": f"A failure counts as the error of {spec.baseline}.",
        "drop": f"Tasks with a failure are dropped: {int(relative.kept.sum())} of {len(cells.tasks)} remain.",
        "error": "",
    }[spec.missing]
    notes += [treatment] if failing and treatment else []
    if leaking:
        replaced = f"; their errors there are those of {spec.leakage_model}" if spec.leakage_model else ""
        notes.append(f"{len(leaking)} entrants have seen data of some tasks ({sentences(leaking)}){replaced}.")
    return tuple(notes)


def _pairwise(
    slug: str, spec: SkillScore, relative: Relative, resamples: Resamples | None, replicates: FloatArray | None
) -> Table:
    """Compare every ordered pair on raw errors, entrants in the order of their mean rank over the tasks."""
    cells = relative.cells
    errors = _without_leaks(cells, cells.values, spec)
    errors = np.where(np.isnan(errors), errors[:, [cells.column(spec.baseline)]], errors)[relative.kept]
    order = np.argsort(average_ranks(errors).mean(axis=0), kind="stable")[:MAX_ENTRANTS]
    pairs = compare_pairs(
        errors[:, order],
        resamples,
        clip=(spec.clip[0], spec.clip[1]),
        level=spec.uncertainty.level,
        board=f"{slug}/{spec.name}",
    )
    beats = None if replicates is None else probability_beats(replicates[:, order])
    meta = {"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(errors))}
    return pairwise_table(
        spec,
        [cells.entrants[position] for position in order],
        pairs,
        beats,
        notes=pairwise_notes(len(order), len(cells.entrants)),
        meta=meta,
    )


METHOD = (SkillScore, compute)
