"""Ranking method `skill_score`: fev's leaderboard, errors relative to a baseline, on weighted tasks.

Found by `app.boards.registry`. Source: fev 0.10's `leaderboard` and `pairwise_comparison`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from app.boards.calibrated import NOTHING, CellsAt, few_units_note, hidden_tasks_note, task_intervals
from app.boards.cells import CellMatrix, build_cells, quantity
from app.boards.columns import board_table, cell_at, ends_at
from app.boards.coverage import Roster
from app.boards.methods.skill_score.effects import ByTask, Effects
from app.boards.methods.skill_score.notes import meta_of, notes_of
from app.boards.methods.skill_score.places import Own, Places
from app.boards.methods.skill_score.ranked import Among, find_ranked
from app.boards.methods.skill_score.relative import (
    Relative,
    clipped_errors,
    raw_errors,
    require_baseline,
    treat_missing,
)
from app.boards.methods.skill_score.spec import SkillScore
from app.boards.methods.skill_score.times import median_times
from app.boards.provenance import SERVED_BY_LEAKS
from app.boards.spread import Spread, draw_named_tasks, named_means
from app.boards.standing import (
    Gaps,
    draw_tasks,
    rounds_of,
    stand,
    uncertainty_meta,
)
from app.boards.tables import (
    MAX_COMPARED,
    NO_ENDS,
    BoardTables,
    TableMethod,
    TaskPairs,
    pairs_beside,
    pairwise_notes,
)
from app.boards.wording import sentences
from app.manifest.manifest import Manifest
from app.names import in_words
from app.stats.arrays import BoolArray, FloatArray
from app.stats.compiled import each_of
from app.stats.relative import average_ranks, compare_pairs, skill
from app.stats.resample import Resamples
from app.stats.spreads import SHARE, Range
from app.values.counts import count
from app.values.frame import CalibratedCells, Ends, FrameField, with_calibrated
from app.values.scores import OVERLAP_UNSAID, ScoreTable
from app.values.table import Column, Table

SKILL = Column(
    "skill_score", "Skill of A relative to B", direction="maximize", glossary="pair_skill", digits=3, detail=True
)
"""fev's effect for a pair of entrants."""


def compute(manifest: Manifest, spec: SkillScore, scores: ScoreTable, *, with_pairs: bool = True) -> BoardTables:
    """Compute the board and its pairwise table. Raises BoardUnavailable when the evidence does not allow it.

    The score columns are fev's, with failures treated as the board declares. Where it imputes them, everybody is ranked
    by one of these scores: by the win rate in the order of fev's list, by the skill score in that of fev's list sorted
    by it; otherwise only entrants with every task of the grid are, among themselves. Skills
    are at most 1, win rates are shares of opponents, and larger is better for both; a missing score is None.
    Source: fev 0.10, `leaderboard` and `pairwise_comparison`.

    >>> from app.boards.example import benchmark, rows
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="Fair")
    >>> tables = compute(benchmark(board), board, rows())
    >>> at = tables.leaderboard.index("skill_score")
    >>> [(row[1], round(row[at], 2)) for row in tables.leaderboard.rows]
    [('Good', 0.37), ('Fair', 0.0), ('Poor', -1.77)]
    """
    cells = build_cells(manifest, spec, scores, spec.metric)
    require_baseline(cells, spec)
    errors = clipped_errors(cells, spec)
    baseline = cells.values[:, [cells.column(spec.baseline)]]
    cells, errors = _without_beside(spec, cells, errors)
    among = find_ranked(manifest, spec, cells, errors, baseline)
    everyone = treat_missing(cells, errors, spec.missing)
    counted = replace(everyone, n_failures=everyone.n_failures - among.roster.not_asked(cells.entrants))
    scored = among.relative if spec.missing == "error" else everyone
    with_pairs = with_pairs and spec.explored is None and len(scored.cells.entrants) > 1
    raw = raw_errors(scored, spec) if with_pairs else None
    resamples, by_task = draw_tasks(spec, int(scored.kept.sum())), ByTask.of(scored, raw)
    measured = Effects.of(spec, by_task, resamples)
    times = median_times(manifest, spec, scores, everyone)
    unsaid = _unsaid(everyone, scores)
    counts = _counts(counted, unsaid, is_asked=manifest.part.asks_what_was_seen())
    fields = (*_effects(spec, measured, by_task, scored, cells), *times.fields(), *counts)
    notes = (*notes_of(spec, counted), *among.roster.notes("tasks"), *times.notes(), *_on_unsaid(everyone, unsaid),
             *_on_intervals(spec, scored))  # fmt: skip
    meta, n_scored = meta_of(spec, everyone) | times.meta(), len(scored.cells.entrants)
    # Usually everybody with a score is ranked, and by the same errors.
    is_same = scored.errors is among.relative.errors or np.array_equal(scored.errors, among.relative.errors)
    ranked = _ranked(spec, among, by_task if is_same else ByTask.of(among.relative))
    best = None if raw is None else _best(scored, raw, by_task.mean_ranks)
    places = Places.of(among, ranked[0], dict(zip(scored.cells.entrants, measured.ranked_by.tolist(), strict=True)))
    served = {SERVED_BY_LEAKS: served} if (served := among.served_by_leaks(ranked[0])) else {}
    gaps = among.gaps(ranked[0])
    # Each array of a large board takes a lot of memory, and so does the computation of ranks.
    del by_task, cells, errors, everyone, scored, raw, among
    own = _rank(spec, places.roster, *ranked, gaps)
    board = board_table(spec, fields, places.all_of(own), notes, meta | served)
    if best is None:
        return BoardTables(board)
    return BoardTables(board, pairs_beside(spec, partial(_pairwise, manifest, spec, best, n_scored, resamples, own)))


def _without_beside(spec: SkillScore, cells: CellMatrix, errors: FloatArray) -> tuple[CellMatrix, FloatArray]:
    """Return cells and errors without those whom scores are relative to but whom a reader has not named."""
    beside = () if spec.explored is None else spec.explored.beside
    left = [name for name in cells.entrants if name not in beside]
    if not left or len(left) == len(cells.entrants):
        return cells, errors
    return cells.only(left), errors[:, [cells.column(name) for name in left]]


def _ranked(spec: SkillScore, among: Among, by_task: ByTask) -> tuple[str, FloatArray, Spread | None]:
    """Return the effect that ranks, the points of the ranked, and their spread over tasks resampled by name."""
    relative, rank_by, spread = among.relative, by_task.rank_by(spec), None
    tasks = [relative.cells.tasks[at] for at in np.flatnonzero(relative.kept)]
    named = draw_named_tasks(spec.uncertainty, tasks) if among.roster.ranked else None
    if named is not None:
        is_rate = rank_by == "win_rate"
        means = named.means(by_task.wins) if is_rate else named_means(by_task.logs, named)
        spread = Spread.of_units(means if is_rate else each_of(means, skill), len(tasks))
    return rank_by, by_task.points()[rank_by], spread


def _rank(
    spec: SkillScore,
    roster: Roster,
    rank_by: str,
    points: FloatArray,
    spread: Spread | None,
    gaps: Gaps | None,
) -> Own:
    """Rank the ranked entrants by their points and spread, and with the worst error in each gap."""
    if not roster.ranked:
        return Own((), rank_by, None)
    standing = stand(points, spread, spec.uncertainty.level, rounds=rounds_of(spec), gaps=gaps)
    return Own(roster.ranked, rank_by, standing)


def _effects(
    spec: SkillScore, measured: Effects, by_task: ByTask, scored: Relative, cells: CellMatrix
) -> Iterator[FrameField[int]]:
    ours = _calibrated(spec, by_task, scored)
    at = {cells.column(name): position for position, name in enumerate(scored.cells.entrants)}
    for name, title in (("win_rate", "Win rate"), ("skill_score", "Skill score")):
        column = Column(name, title, direction="maximize", glossary=name, digits=3)
        ends = ends_at(measured.points[name], measured.drawn.get(name))
        yield from with_calibrated(column, partial(_ends_of, at, ends), partial(_cells_of, at, ours[name]))


def _on_intervals(spec: SkillScore, scored: Relative) -> Iterator[str]:
    units = [(name, len(scored.errors)) for name in scored.cells.entrants]
    yield from few_units_note(units, "tasks", spec.uncertainty.level)
    yield from hidden_tasks_note(len(scored.errors), Range())
    if len(units) > 1:
        yield "A win rate is about these opponents: its interval is about other tasks, not about other opponents."


def _calibrated(spec: SkillScore, by_task: ByTask, scored: Relative) -> Mapping[str, CellsAt]:
    """Return the calibrated intervals by effect: from the mean log ratio for the skill, from shares for the win rate.

    The baseline's own ratios are always one, so its skill is exactly 0 and needs no interval.
    """
    level, names = spec.uncertainty.level, scored.cells.entrants
    baseline = scored.cells.column(spec.baseline) if spec.baseline in names else None
    of_skill = task_intervals(by_task.logs, Range(), level, scale=skill)
    known = CalibratedCells(0.0, 0.0, "baseline", float(len(scored.errors)))
    return {
        "win_rate": task_intervals(by_task.wins, SHARE, level),
        "skill_score": lambda at: known if at == baseline else of_skill(at),
    }


def _cells_of(at: Mapping[int, int], ours: CellsAt, column: int) -> CalibratedCells:
    return ours(at[column]) if column in at else NOTHING


def _ends_of(at: Mapping[int, int], ends: Callable[[int], Ends], column: int) -> Ends:
    return ends(at[column]) if column in at else NO_ENDS


def _unsaid(relative: Relative, scores: ScoreTable) -> BoolArray:
    """Return where a row does not say whether its entrant has seen the task's data, [n_kept, n_entrants]."""
    shape = (int(relative.kept.sum()), len(relative.cells.entrants))
    if OVERLAP_UNSAID not in scores.columns:
        return np.broadcast_to(False, shape)
    return np.asarray(quantity(relative.cells, scores, OVERLAP_UNSAID)[relative.kept] == 1.0)


def _on_unsaid(relative: Relative, unsaid: BoolArray) -> Iterator[str]:
    n_unsaid = zip(relative.cells.entrants, unsaid.sum(axis=0).tolist(), strict=True)
    if silent := [f"{in_words(name)} ({count(n, 'task')})" for name, n in n_unsaid if n]:
        yield (
            "Not said whether the task's data were seen, so the errors stay as they are, and the overlap is of the "
            f"other tasks: {sentences(silent)}."
        )


def _counts(relative: Relative, unsaid: BoolArray, *, is_asked: bool) -> tuple[FrameField[int], ...]:
    """Return the columns of counts; the overlap is a share of the tasks of which it is known, as in fev.

    `is_asked` says whether the benchmark has rows tell it at all; where it does not, nobody's overlap is known.
    """
    cells, kept = relative.cells, relative.kept
    known = cells.present[kept] & ~unsaid & is_asked
    n_known = known.sum(axis=0)
    overlap = np.where(n_known > 0, (cells.leaked[kept] & known).sum(axis=0) / np.maximum(n_known, 1), np.nan)
    shared = Column("training_corpus_overlap", "Overlap", glossary="training_corpus_overlap", digits=2)
    failed = Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures")
    return (
        FrameField(shared, cell_at(overlap)),
        FrameField(failed, cell_at(relative.n_failures)),
        FrameField(Column("n_imputed", "Imputed", "integer", glossary="n_imputed"), cell_at(relative.n_imputed)),
        FrameField(
            Column("n_leaked", "Leaked", "integer", glossary="n_leaked"), cell_at(cells.leaked[kept].sum(axis=0))
        ),
    )


def _best(relative: Relative, raw: FloatArray, mean_ranks: FloatArray | None) -> tuple[list[str], FloatArray]:
    """Return the entrants with the best mean ranks over tasks, best first as in fev, and their raw errors.

    `mean_ranks` [n_entrants] of the raw errors [n_tasks, n_entrants] are computed where they are None.
    """
    ranks = average_ranks(raw).mean(axis=0) if mean_ranks is None else mean_ranks
    order = np.argsort(ranks, kind="stable")[:MAX_COMPARED].tolist()
    return [relative.cells.entrants[position] for position in order], raw[:, order]


def _pairwise(
    manifest: Manifest,
    spec: SkillScore,
    best: tuple[Sequence[str], FloatArray],
    n_entrants: int,
    resamples: Resamples | None,
    own: Own,
) -> Table:
    """Compare every ordered pair of the best on raw errors; the verdict is on the difference of the board's scores."""
    names, errors = best
    statistics = compare_pairs(
        errors,
        resamples,
        clip=(spec.clip[0], spec.clip[1]),
        level=spec.uncertainty.level,
        board=f"{manifest.slug}/{spec.name}",
    )
    compared = TaskPairs(names, statistics, own.contrasts(names))
    metric = manifest.metrics[spec.metric].title or spec.metric
    meta = {"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(errors)),
            "contrast": "board_difference", "score": f"{own.rank_by.replace('_', ' ')} on {metric}"}  # fmt: skip
    notes = pairwise_notes(len(names), n_entrants)
    return compared.table(spec, compared.effect(SKILL), _difference(own.rank_by), notes, meta)


def _difference(rank_by: str) -> Column:
    title = "Skill of A minus B" if rank_by == "skill_score" else "Win rate of A minus B"
    return Column("board_difference", title, direction="maximize", glossary="contrast", digits=3)


METHOD = TableMethod(SkillScore, compute)
