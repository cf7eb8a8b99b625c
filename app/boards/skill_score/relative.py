"""Errors relative to the baseline's: what is missing, leaked or clipped, and why a board cannot be computed.

Called by `app.boards.skill_score.method`; pure.
"""

from dataclasses import dataclass

import numpy as np

from app.boards.cells import CellMatrix
from app.boards.skill_score.spec import Missing, SkillScore
from app.boards.tables import sentences
from app.errors import BoardUnavailable, Unavailable
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.relative import ratios


@dataclass(frozen=True)
class Relative:
    """Relative errors [n_tasks, n_entrants] after leakage, clip and missing strategy, and what was done to them."""

    cells: CellMatrix
    errors: FloatArray
    kept: BoolArray
    n_failures: IntArray
    n_imputed: IntArray


def require_baseline(cells: CellMatrix, spec: SkillScore) -> None:
    """Raise BoardUnavailable where the baseline, or the leakage model, does not allow a board."""
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
        reason = f"The baseline {spec.baseline} has no result for {sentences(gaps)}."
        raise BoardUnavailable(Unavailable.BASELINE_INCOMPLETE, reason, _beyond_the_baseline(cells, spec))
    if (baseline == 0).any():
        zero = [cells.tasks[task] for task in np.flatnonzero(baseline == 0)]
        reason = f"The baseline {spec.baseline} has an error of 0, so no ratio, on {sentences(zero)}."
        raise BoardUnavailable(Unavailable.BASELINE_ZERO, reason)


def _require_unspoiled(cells: CellMatrix, spec: SkillScore) -> None:
    """Raise BoardUnavailable where the leakage model, whose errors stand for others', has seen data; fev raises too."""
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return
    seen = [cells.tasks[task] for task in np.flatnonzero(cells.leaked[:, cells.column(spec.leakage_model)])]
    if seen:
        raise BoardUnavailable(
            Unavailable.LEAKAGE_MODEL_LEAKED,
            f"The leakage model {spec.leakage_model}, whose errors replace those of entrants that have seen data, has "
            f"itself seen data of {sentences(seen)}.",
        )


def _beyond_the_baseline(cells: CellMatrix, spec: SkillScore) -> list[str]:
    """Return who brought the tasks that the baseline has no row of; none where the baseline's own row is empty."""
    at = cells.column(spec.baseline)
    gaps = np.isnan(cells.values[:, at])
    if (gaps & cells.present[:, at]).any():
        return []
    return [cells.entrants[entrant] for entrant in np.flatnonzero(cells.present[gaps].any(axis=0))]


def clipped_errors(cells: CellMatrix, spec: SkillScore) -> FloatArray:
    """Return errors over the baseline's [n_tasks, n_entrants], leaked ones replaced, clipped; NaN is a failure."""
    errors = ratios(cells.values, cells.values[:, [cells.column(spec.baseline)]])
    clipped: FloatArray = np.clip(without_leaks(cells, errors, spec), spec.clip[0], spec.clip[1])
    return clipped


def treat_missing(cells: CellMatrix, errors: FloatArray, missing: Missing) -> Relative:
    """Count the failures of clipped errors, then treat them: the baseline's error, or the task left out for all.

    With `error` nothing is put in their place, and who has one has no score.
    """
    failed = np.isnan(errors)
    kept = np.ones(len(cells.tasks), dtype=bool)
    if missing == "drop":
        kept = ~np.asarray(failed.any(axis=1))
    if not kept.any():
        reason = "No task has a result of every entrant, and the board drops tasks with gaps."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason, cells.without_common_task())
    imputed = failed.sum(axis=0) if missing == "impute" else np.zeros(len(cells.entrants), dtype=np.int64)
    treated = errors if missing == "error" else np.where(failed, 1.0, errors)
    return Relative(cells, treated[kept], kept, failed.sum(axis=0), imputed)


def without_leaks(cells: CellMatrix, errors: FloatArray, spec: SkillScore) -> FloatArray:
    """Return errors [n_tasks, n_entrants] with those of the leakage model where an entrant has seen the data."""
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return errors
    return np.where(cells.leaked, errors[:, [cells.column(spec.leakage_model)]], errors)
