"""The known ranking methods: each module of `app/boards/methods` defines METHOD.

METHOD is a TableMethod if the method computes from all rows together, a MeasuredMethod if entrants are measured one
at a time.
"""

import pkgutil
from functools import cache
from importlib import import_module

from app.boards import methods as folder
from app.boards.measured import MeasuredMethod
from app.boards.tables import BoardTables, TableMethod
from app.manifest.model import Leaderboard, Manifest
from app.values.scores import ScoreTable

Method = TableMethod | MeasuredMethod


@cache
def methods() -> dict[str, Method]:
    """Return each method by the name of its module. Loaded on first use: most commands compute nothing.

    A method that is a package has its METHOD in the module `method`. Raises AttributeError for a module without one.
    """
    modules = {each.name: f"{folder.__name__}.{each.name}{'.method' if each.ispkg else ''}"
               for each in pkgutil.iter_modules(folder.__path__)}  # fmt: skip
    return {name: import_module(module).METHOD for name, module in modules.items()}


def compute_board(manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> BoardTables:
    """Compute one board of a method that uses all rows; shapes, units and directions are the method's.

    Raises BoardUnavailable with the reason in plain words, and TypeError for a method that measures entrants one at a
    time.
    Source: the method's own.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> [row[1] for row in compute_board(benchmark(board), board, rows()).leaderboard.rows]
    ['Good', 'Fair', 'Poor']
    """
    method = methods()[spec.method]
    if isinstance(method, MeasuredMethod):
        raise TypeError(f"{spec.method} measures each entrant apart")
    return method.compute(manifest, spec, scores)


def measured_method(spec: Leaderboard) -> MeasuredMethod | None:
    """Return the method of a board that measures entrants one at a time, None for any other board.

    >>> from app.boards.methods.mean import Mean
    >>> measured_method(Mean(name="main", method="mean", metric="error")) is None
    True
    """
    method = methods()[spec.method]
    return method if isinstance(method, MeasuredMethod) else None
