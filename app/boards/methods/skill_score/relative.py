"""Errors relative to the baseline's: what is missing, leaked or clipped, and why a board cannot be computed.

Called by `.method`; pure.
"""

from dataclasses import dataclass

import numpy as np

from app.boards.cells import CellMatrix
from app.boards.methods.skill_score.spec import Missing, SkillScore
from app.boards.wording import names_in_words
from app.errors import BoardUnavailable, Unavailable
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.compiled import in_parts
from app.stats.relative import ratios


@dataclass(frozen=True)
class Relative:
    """Relative errors [n_tasks, n_entrants] after replacing leaks, clipping and filling gaps, with counts of each."""

    cells: CellMatrix
    errors: FloatArray
    kept: BoolArray
    n_failures: IntArray
    n_imputed: IntArray


def require_baseline(cells: CellMatrix, spec: SkillScore) -> None:
    """Raise BoardUnavailable where the baseline, or the leakage model, is absent or has gaps; NaN is a gap.

    Source: fev 0.10, `leaderboard`, its checks of the baseline.

    >>> cells = CellMatrix(("a",), ("A",), *np.zeros((3, 1, 1)))
    >>> require_baseline(cells, SkillScore(name="m", method="skill_score", metric="error", baseline="B"))
    Traceback (most recent call last):
    app.errors.BoardUnavailable: The baseline B has not been submitted yet.
    """
    if spec.baseline not in cells.entrants:
        reason = f"The baseline {spec.baseline} has not been submitted yet."
        raise BoardUnavailable(Unavailable.BASELINE_ABSENT, reason)
    if spec.leakage_model is not None and cells.leaked.any() and spec.leakage_model not in cells.entrants:
        raise BoardUnavailable(
            Unavailable.LEAKAGE_MODEL_ABSENT,
            f"Entrants have seen data of some tasks, and the leakage model {spec.leakage_model}, whose errors "
            "replace theirs there, has not been submitted yet.",
        )
    _require_unspoiled(cells, spec)
    baseline = cells.values[:, cells.column(spec.baseline)]
    gaps = [cells.tasks[task] for task in np.flatnonzero(np.isnan(baseline))]
    if gaps:
        reason = f"The baseline {spec.baseline} has no result for {names_in_words(gaps)}."
        raise BoardUnavailable(Unavailable.BASELINE_INCOMPLETE, reason, _beyond_the_baseline(cells, spec))
    if (baseline == 0).any():
        zero = [cells.tasks[task] for task in np.flatnonzero(baseline == 0)]
        reason = f"The baseline {spec.baseline} has an error of 0, so no ratio, on {names_in_words(zero)}."
        raise BoardUnavailable(Unavailable.BASELINE_ZERO, reason)


def _require_unspoiled(cells: CellMatrix, spec: SkillScore) -> None:
    """Raise BoardUnavailable where the leakage model has itself seen data; fev raises too."""
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return
    seen = [cells.tasks[task] for task in np.flatnonzero(cells.leaked[:, cells.column(spec.leakage_model)])]
    if seen:
        raise BoardUnavailable(
            Unavailable.LEAKAGE_MODEL_LEAKED,
            f"The leakage model {spec.leakage_model}, whose errors replace those of entrants that have seen data, has "
            f"itself seen data of {names_in_words(seen)}.",
        )


def _beyond_the_baseline(cells: CellMatrix, spec: SkillScore) -> list[str]:
    """Return the entrants with tasks that the baseline has no row for; a row without a value is not meant."""
    at = cells.column(spec.baseline)
    gaps = np.isnan(cells.values[:, at])
    if (gaps & cells.present[:, at]).any():
        return []
    return [cells.entrants[entrant] for entrant in np.flatnonzero(cells.present[gaps].any(axis=0))]


def clipped_errors(cells: CellMatrix, spec: SkillScore) -> FloatArray:
    """Return errors / baseline's errors [n_tasks, n_entrants], clipped, leaked ones replaced first; NaN is a failure.

    They have no unit, and smaller is better. Raises KeyError without the baseline. Source: fev 0.10, `leaderboard`.

    >>> cells = CellMatrix(("a",), ("A", "B"), np.array([[0.2, 0.1]]), *np.zeros((2, 1, 2), dtype=np.bool_))
    >>> clipped_errors(cells, SkillScore(name="m", method="skill_score", metric="error", baseline="B")).tolist()
    [[2.0, 1.0]]
    """
    baseline, errors = cells.values[:, [cells.column(spec.baseline)]], np.empty_like(cells.values)

    def divide(part: slice) -> None:
        errors[part] = ratios(cells.values[part], baseline[part])

    def clip(part: slice) -> None:
        np.clip(replaced[part], spec.clip[0], spec.clip[1], out=replaced[part])

    in_parts(len(errors), 1, divide, n_steps=errors.size)
    replaced = without_leaks(cells, errors, spec)
    in_parts(len(errors), 1, clip, n_steps=errors.size)
    return replaced


def own_errors(
    cells: CellMatrix, errors: FloatArray, spec: SkillScore, baseline: FloatArray | None = None
) -> FloatArray:
    """Return clipped relative errors [n_tasks, n_entrants] with an entrant's own where its replacement is smaller.

    `errors` are those of `clipped_errors`; smaller is better, NaN is a failure. `baseline` [n_tasks, 1] are the
    baseline's own errors; None: those among the cells.
    Source: fev 0.10, `leaderboard`, without `leakage_imputation_model`.

    >>> leaked = np.array([[True, False]])
    >>> cells = CellMatrix(("a",), ("A", "B"), np.array([[0.5, 0.25]]), leaked, np.ones((1, 2)))
    >>> board = SkillScore(name="m", method="skill_score", metric="error", baseline="B", leakage_model="B")
    >>> own_errors(cells, clipped_errors(cells, board), board).tolist()
    [[2.0, 1.0]]
    """
    divisor = cells.values[:, [cells.column(spec.baseline)]] if baseline is None else baseline
    own = np.clip(ratios(cells.values, divisor), spec.clip[0], spec.clip[1])
    return np.where(cells.leaked & (own > errors), own, errors)


def treat_missing(cells: CellMatrix, errors: FloatArray, missing: Missing) -> Relative:
    """Count the failures, NaN, among clipped errors [n_tasks, n_entrants], then treat them as the board declares.

    Errors are ratios, smaller being better. With `impute` they become the baseline's error, with `drop` the task is
    left out for everybody. With `error` they stay, and an entrant with a failure has no score.
    Raises BoardUnavailable where dropping leaves no task.
    Source: fev 0.10, `missing_strategy`.

    >>> cells = CellMatrix(("a", "b"), ("A", "B"), *np.zeros((3, 2, 2)))
    >>> treat_missing(cells, np.array([[0.5, 1.0], [np.nan, 1.0]]), "impute").errors.tolist()
    [[0.5, 1.0], [1.0, 1.0]]
    """
    failed = np.isnan(errors)
    kept = np.ones(len(cells.tasks), dtype=bool)
    if missing == "drop":
        kept = ~np.asarray(failed.any(axis=1))
    if not kept.any():
        reason = "No task has a result of every entrant, and the board drops tasks with gaps."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason, cells.without_common_task())
    imputed = failed.sum(axis=0) if missing == "impute" else np.zeros(len(cells.entrants), dtype=np.int64)
    treated = errors if missing == "error" or not failed.any() else np.where(failed, 1.0, errors)
    of_kept = np.ascontiguousarray(treated) if kept.all() else treated[kept]
    return Relative(cells, of_kept, kept, failed.sum(axis=0), imputed)


def without_leaks(cells: CellMatrix, errors: FloatArray, spec: SkillScore) -> FloatArray:
    """Return errors [n_tasks, n_entrants], replaced by the leakage model's where an entrant has seen the data.

    The unit is unchanged; NaN is a failure, and replaces like any other error.
    Source: fev 0.10, `leakage_imputation_model`.

    >>> leaked = np.array([[True, False]])
    >>> cells = CellMatrix(("a",), ("A", "B"), np.zeros((1, 2)), leaked, np.ones((1, 2)))
    >>> board = SkillScore(name="m", method="skill_score", metric="error", baseline="B", leakage_model="B")
    >>> without_leaks(cells, np.array([[0.1, 0.3]]), board).tolist()
    [[0.3, 0.3]]
    """
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return errors
    return np.where(cells.leaked, errors[:, [cells.column(spec.leakage_model)]], errors)


def raw_errors(relative: Relative, spec: SkillScore) -> FloatArray:
    """Return the errors themselves on the kept tasks, [n_tasks, n_entrants], of which relative ones are ratios.

    In their own unit, smaller being better; missing ones are the baseline's. Source: fev 0.10, `pairwise_comparison`.

    >>> cells = CellMatrix(("a",), ("A", "B"), np.array([[0.2, np.nan]]), *np.zeros((2, 1, 2), dtype=np.bool_))
    >>> counts = np.zeros(2, dtype=np.int64)
    >>> board = SkillScore(name="m", method="skill_score", metric="error", baseline="A")
    >>> raw_errors(Relative(cells, np.ones((1, 2)), np.ones(1, dtype=np.bool_), counts, counts), board).tolist()
    [[0.2, 0.2]]
    """
    cells = relative.cells
    errors = without_leaks(cells, cells.values, spec)
    missing = np.isnan(errors)
    if missing.any():
        errors = np.where(missing, errors[:, [cells.column(spec.baseline)]], errors)
    return errors if relative.kept.all() else errors[relative.kept]
