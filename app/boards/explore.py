"""A board as chosen by a reader: some entrants, some tasks, and the reader's own weights and baseline.

Called by `app.web.explore`; pure. It is computed by the board's own method, and labelled wherever it is shown as a
reader's choice and not a board of the benchmark.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.boards.measured import MeasuredEvidence, Measurement
from app.boards.reader_choice import QUICK_FROM, QUICK_RESAMPLES, Choice, Chosen, listed_tasks, understand
from app.boards.registry import compute_board, measured_method
from app.boards.rows_of_entrants import rows_of
from app.boards.wording import sentences
from app.errors import FieldRejected, Problem
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.manifest.tasks import Task
from app.names import clip_for_message
from app.values.scores import ScoreTable
from app.values.table import Column, Table

LABEL = "A reader's own choice, not a board of this benchmark"
DRAFT_LABEL = "A draft, which its stewards and reviewers alone see; it is no board of this benchmark yet."
QUICK = (
    f"Among more than {QUICK_FROM} entrants intervals are drawn from {QUICK_RESAMPLES} resamples at most, and rank "
    "intervals are somewhat wider than a published board's."
)


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The evidence to recompute a board from: which entrants have any, and the rows or measurements of chosen ones.

    `open_tasks` returns the tasks that count where the manifest leaves them open.
    """

    entrants: Sequence[str]
    scores: Callable[[], ScoreTable]
    measurements: Callable[[Leaderboard, Collection[str]], Sequence[Measurement]]
    measured: Callable[[], MeasuredEvidence]
    open_tasks: Callable[[], Sequence[Task]] = tuple


def chosen_board(manifest: Manifest, spec: Leaderboard, evidence: Evidence, choice: Choice) -> Table:
    """Return the board of a choice, labelled as one. Raises FieldRejected, and BoardUnavailable as the method does.

    Numbers have the units and directions of the board itself; null is None, as there. Source: the board's own method.

    >>> from app.boards.example import EPISODES, benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> names = ["Good", "Fair", "Poor"]
    >>> evidence = Evidence(entrants=names, scores=rows, measurements=lambda *_: [], measured=lambda: EPISODES)
    >>> [row[:2] for row in chosen_board(benchmark(board), board, evidence, Choice(matching="o")).rows]
    [(1, 'Good'), (2, 'Poor')]
    """
    chosen = understand(manifest, spec, evidence.entrants, choice, evidence.open_tasks())
    if not choice.names(evidence.entrants):
        value = clip_for_message(choice.matching or choice.described)
        message = "no entrant has it in its name" if choice.matching else "no entrant has all of this"
        raise FieldRejected("The choice leaves nobody.", [Problem(message, column="q", value=value)])
    board = _compute(manifest, chosen, evidence)
    return _labelled(board, spec, choice, list(_words(manifest, spec, evidence, choice, chosen)))


def draft_board(manifest: Manifest, spec: Leaderboard, evidence: Evidence) -> Table:
    """Return a board that is not in the manifest yet, labelled as one.

    Raises FieldRejected, and BoardUnavailable.

    Numbers have the units and directions of the board itself; null is None, as there. Source: the board's own method.

    >>> from app.boards.example import EPISODES, benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="later", method="mean", metric="error")
    >>> names = ["Good", "Fair", "Poor"]
    >>> evidence = Evidence(entrants=names, scores=rows, measurements=lambda *_: [], measured=lambda: EPISODES)
    >>> draft = draft_board(benchmark(board), board, evidence)
    >>> draft.name, [row[:2] for row in draft.rows]
    ('draft/later', [(1, 'Good'), (2, 'Fair'), (3, 'Poor')])
    """
    board = _compute(manifest, understand(manifest, spec, evidence.entrants, Choice(), evidence.open_tasks()), evidence)
    return replace(board, name=f"draft/{spec.name}", notes=(DRAFT_LABEL, *board.notes))


def _compute(manifest: Manifest, chosen: Chosen, evidence: Evidence) -> Table:
    method = measured_method(chosen.spec)
    if method is None:
        tables = compute_board(manifest, chosen.spec, rows_of(evidence.scores(), set(chosen.entrants)))
    else:
        measured = evidence.measurements(chosen.spec, set(chosen.entrants))
        tables = method.assemble(manifest, chosen.spec, measured, evidence.measured())
    board = tables.leaderboard
    is_quick = chosen.spec.explored is not None and chosen.spec.explored.is_quick
    return replace(board, notes=(QUICK, *board.notes)) if is_quick else board


def _words(manifest: Manifest, spec: Leaderboard, evidence: Evidence, choice: Choice, chosen: Chosen) -> Iterator[str]:
    n_known = len(evidence.entrants)
    asked = set(choice.names(evidence.entrants))
    needed = " and ".join(name for name in chosen.entrants if name not in asked)
    if choice.entrants:
        without = f"; scores are relative to {needed}, not ranked here" if needed else ""
        yield f"{len(asked):,} of {n_known:,} entrants ({len(choice.entrants)} named{without})"
    elif choice.matching or choice.described:
        why = [f"“{choice.matching}” in the name"] if choice.matching else []
        why += [choice.described] if choice.described else []
        why += [f"with {needed}, whom scores are relative to"] if needed else []
        yield f"{len(chosen.entrants):,} of {n_known:,} entrants ({', '.join(why)})"
    if chosen.tasks is not None:
        named = sentences([*choice.groups, *choice.tasks] or list(chosen.tasks))
        yield f"{len(chosen.tasks):,} of {len(listed_tasks(manifest, spec, evidence.open_tasks())):,} tasks ({named})"
    if choice.weights:
        yield f"weights {sentences([f'{name} {weight:g}' for name, weight in choice.weights.items()])}"
    if choice.baseline:
        yield f"relative to {choice.baseline}"


def _labelled(board: Table, spec: Leaderboard, choice: Choice, words: Sequence[str]) -> Table:
    """Return the board with the choice in its title, its notes, its meta and, for the CSV, in every row."""
    in_words = "; ".join(words)
    note = f"{LABEL}: {in_words}. Ranks, rank intervals and scores are computed anew for it."
    column = Column("choice", "A reader's choice", "text", detail=True)
    return replace(
        board,
        name=f"explore/{spec.name}",
        title=f"{board.title}, a reader's choice",
        columns=(*board.columns, column),
        rows=tuple((*row, in_words) for row in board.rows),
        notes=(note, *board.notes),
        meta={**board.meta, "choice": _as_json(choice, in_words)},
    )


def _as_json(choice: Choice, in_words: str) -> dict[str, Any]:
    return {
        "label": LABEL,
        "said": in_words,
        "entrants": list(choice.entrants),
        "matching": choice.matching or None,
        **({"described": choice.described} if choice.described else {}),
        "tasks": list(choice.tasks),
        "groups": list(choice.groups),
        "weights": dict(choice.weights),
        "baseline": choice.baseline,
    }
