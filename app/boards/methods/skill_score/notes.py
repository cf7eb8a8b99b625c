"""The notes below a board of method `skill_score`, and in its JSON. For `.method`."""

from collections.abc import Iterator
from typing import Any

from app.boards.cells import CellMatrix
from app.boards.methods.skill_score.relative import Relative
from app.boards.methods.skill_score.spec import SkillScore
from app.boards.standing import uncertainty_meta
from app.boards.tables import elsewhere_notes, uncommon_notes
from app.boards.wording import names_in_words, sentences
from app.names import in_words
from app.values.counts import count


def meta_of(spec: SkillScore, relative: Relative) -> dict[str, Any]:
    """Return how the board was computed, for its JSON.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.skill_score.relative import treat_missing
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="Fair")
    >>> cells = build_cells(benchmark(board), board, rows(), "error")
    >>> meta_of(board, treat_missing(cells, cells.values, "error"))["n_tasks"]
    3
    """
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


def notes_of(spec: SkillScore, relative: Relative) -> tuple[str, ...]:
    """Return the notes below the board, as sentences.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.skill_score.relative import treat_missing
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="Fair")
    >>> cells = build_cells(benchmark(board), board, rows(), "error")
    >>> notes_of(board, treat_missing(cells, cells.values, "error"))
    ('3 entrants on 3 tasks; no failures.',)
    """
    cells = relative.cells
    failing = [e for e, n in zip(cells.entrants, relative.n_failures.tolist(), strict=True) if n]
    leaking = [e for e, n in zip(cells.entrants, cells.leaked.sum(axis=0).tolist(), strict=True) if n]
    n_failures = int(relative.n_failures.sum())
    failures = "no failures"
    if failing:
        whose = f"{count(len(failing), 'entrant')} ({names_in_words(failing)})"
        failures = f"{count(n_failures, 'failure')} of {whose}"
    notes = [f"{count(len(cells.entrants), 'entrant')} on {count(len(cells.tasks), 'task')}; {failures}."]
    treatment = {
        "impute": f"A failure counts as the error of {spec.baseline}.",
        "drop": f"Tasks with a failure are dropped: {int(relative.kept.sum())} of {len(cells.tasks)} remain.",
        "error": "",
    }[spec.missing]
    notes += [treatment] if failing and treatment else []
    if leaking:
        have, their = ("entrant has", "its") if len(leaking) == 1 else ("entrants have", "their")
        replaced = f"; {their} errors there are those of {spec.leakage_model}" if spec.leakage_model else ""
        notes.append(f"{len(leaking)} {have} seen data of some tasks ({names_in_words(leaking)}){replaced}.")
        notes += _gained(spec, cells)
    return (*notes, *elsewhere_notes(cells.elsewhere), *uncommon_notes(cells.uncommon))


def _gained(spec: SkillScore, cells: CellMatrix) -> Iterator[str]:
    """Yield who gains from the leakage model's errors replacing its own larger ones on tasks that it has seen."""
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return
    others = cells.values[:, [cells.column(spec.leakage_model)]]
    n_worse = (cells.leaked & (cells.values > others)).sum(axis=0).tolist()
    n_leaked = cells.leaked.sum(axis=0).tolist()
    gained = [
        f"{in_words(e)} (on {n} of {count(m, 'task')})"
        for e, n, m in zip(cells.entrants, n_worse, n_leaked, strict=True)
        if n
    ]
    if gained:
        yield (
            f"Having seen a task's data improves a score where the entrant's own error is larger than that of "
            f"{spec.leakage_model}: {sentences(gained)}."
        )
