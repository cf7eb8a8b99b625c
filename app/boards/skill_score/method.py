"""Ranking method `skill_score`: fev's leaderboard, errors relative to a baseline, on weighted tasks.

Found by `app.boards.registry`. STATISTICS: fev 0.10's `leaderboard` and `pairwise_comparison`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.cells import build_cells
from app.boards.skill_score.relative import Relative, relative_errors, require_baseline, without_leaks
from app.boards.skill_score.spec import SkillScore
from app.boards.skill_score.times import median_times
from app.boards.standing import BoardStanding, board_table, cell_at, draw_tasks, ends_at, stand, uncertainty_meta
from app.boards.tables import MAX_COMPARED, BoardTables, elsewhere_notes, pairwise_notes, sentences, task_pairs_table
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.interval import probability_beats
from app.stats.relative import average_ranks, compare_pairs, skill, win_shares
from app.stats.resample import Resamples
from app.values.frame import Field, with_interval
from app.values.scores import ScoreTable
from app.values.table import Column, Table


def compute(manifest: Manifest, spec: SkillScore, scores: ScoreTable, *, with_pairs: bool = True) -> BoardTables:
    """Compute the board and its pairwise table. Raises BoardUnavailable when the evidence does not allow it."""
    cells = build_cells(manifest, spec, scores, spec.metric)
    require_baseline(cells, spec)
    relative = relative_errors(cells, spec)
    resamples = draw_tasks(spec, int(relative.kept.sum()))
    found = _measured(spec, relative, resamples)
    times = median_times(manifest, spec, scores, relative)
    fields = (*_effects(spec, found), *times.fields(), *_counts(relative))
    notes, meta = (*_notes(spec, relative), *times.notes()), _meta(spec, relative) | times.meta()
    board = board_table(spec, fields, found.standing.placed(cells.entrants), notes, meta)
    if not with_pairs or len(cells.entrants) < 2:
        return BoardTables(board, None)
    return BoardTables(board, _pairwise(manifest.slug, spec, relative, resamples, found.drawn.get(found.rank_by)))


@dataclass(frozen=True)
class _Found:
    """Points [n_entrants] and replicates [n_resamples, n_entrants] by effect; without resamples no replicates."""

    points: Mapping[str, FloatArray]
    drawn: Mapping[str, FloatArray]
    rank_by: str
    standing: BoardStanding


def _measured(spec: SkillScore, relative: Relative, resamples: Resamples | None) -> _Found:
    logs = np.log(relative.errors)
    several = len(relative.cells.entrants) > 1
    wins = win_shares(relative.errors) if several else np.full(logs.shape, np.nan)
    points = {"win_rate": wins.mean(axis=0), "skill_score": skill(logs.mean(axis=0))}
    drawn = {}
    if resamples is not None:
        drawn = {"win_rate": resamples.means(wins), "skill_score": skill(resamples.means(logs))}
    rank_by = spec.rank_by if several else "skill_score"
    return _Found(points, drawn, rank_by, stand(points[rank_by], drawn.get(rank_by), spec.uncertainty.level))


def _effects(spec: SkillScore, found: _Found) -> Iterator[Field[int]]:
    for name, title in (("win_rate", "Win rate"), ("skill_score", "Skill score")):
        column = Column(name, title, direction="maximize", glossary=name, digits=3)
        yield from with_interval(column, ends_at(found.points[name], found.drawn.get(name), spec.uncertainty.level))


def _counts(relative: Relative) -> tuple[Field[int], ...]:
    cells, kept = relative.cells, relative.kept
    present, n_attempted = cells.present[kept], len(cells.tasks)
    overlap = (cells.leaked[kept] & present).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    shared = Column("training_corpus_overlap", "Overlap", glossary="training_corpus_overlap", digits=2)
    failed = Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures")
    attempted = Column("n_attempted", "Attempted", "integer", detail=True, glossary="num_failures")
    included = Column("n_included", "Included", "integer", detail=True, glossary="num_failures")
    return (
        Field(shared, cell_at(overlap)),
        Field(failed, cell_at(relative.n_failures)),
        Field(attempted, lambda at: n_attempted),
        Field(included, cell_at(kept.sum() - relative.n_imputed)),
        Field(Column("n_imputed", "Imputed", "integer", glossary="n_imputed"), cell_at(relative.n_imputed)),
        Field(Column("n_leaked", "Leaked", "integer", glossary="n_leaked"), cell_at(cells.leaked[kept].sum(axis=0))),
    )


def _meta(spec: SkillScore, relative: Relative) -> dict[str, Any]:
    return {
        "method": spec.method,
        "metric": spec.metric,
        "baseline": spec.baseline,
        "leakage_model": spec.leakage_model,
        "missing": spec.missing,
        "clip": spec.clip,
        "rank_by": spec.rank_by,
        "n_entrants": len(relative.cells.entrants),
        **uncertainty_meta(spec, int(relative.kept.sum())),
    }


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
    return (*notes, *elsewhere_notes(cells.elsewhere))


def _pairwise(
    slug: str, spec: SkillScore, relative: Relative, resamples: Resamples | None, replicates: FloatArray | None
) -> Table:
    """Compare every ordered pair on raw errors, entrants in the order of their mean rank over the tasks."""
    cells = relative.cells
    errors = without_leaks(cells, cells.values, spec)
    errors = np.where(np.isnan(errors), errors[:, [cells.column(spec.baseline)]], errors)[relative.kept]
    order = np.argsort(average_ranks(errors).mean(axis=0), kind="stable")[:MAX_COMPARED]
    pairs = compare_pairs(
        errors[:, order],
        resamples,
        clip=(spec.clip[0], spec.clip[1]),
        level=spec.uncertainty.level,
        board=f"{slug}/{spec.name}",
    )
    beats = None if replicates is None else probability_beats(replicates[:, order])
    meta = {"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(errors))}
    return task_pairs_table(
        spec,
        [cells.entrants[position] for position in order],
        pairs,
        beats,
        notes=pairwise_notes(len(order), len(cells.entrants)),
        meta=meta,
        effect=("skill_score", "Skill"),
    )


METHOD = (SkillScore, compute)
