"""Who is ranked of entrants that were measured apart: by the grid, or held against each other where an axis is open.

Called by `app.boards.estimate.board`; pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.boards.coverage import Coverage, Roster, call_roster
from app.boards.measured import Measurement


def measured_roster(measurements: Sequence[Measurement]) -> Roster:
    """Return who is ranked of measured contenders.

    Where the grid leaves an axis open, an entrant lacks what another one has more of in a task and condition.
    """
    if all(m.held is None for m in measurements):
        return call_roster({m.entrant: m.coverage for m in measurements}, is_declared=True)
    most = _most(measurements)
    return call_roster({m.entrant: _held_against(m, most) for m in measurements}, is_declared=False)


def _most(measurements: Sequence[Measurement]) -> Mapping[tuple[str, str], int]:
    most: dict[tuple[str, str], int] = {}
    for measurement in measurements:
        for task, condition, n in measurement.held or ():
            most[task, condition] = max(n, most.get((task, condition), 0))
    return most


def _held_against(measurement: Measurement, most: Mapping[tuple[str, str], int]) -> Coverage:
    own = {(task, condition): n for task, condition, n in measurement.held or ()}
    n_lacking = sum(n - min(n, own.get(cell, 0)) for cell, n in most.items())
    coverage = measurement.coverage
    n_absent = max(0, n_lacking - coverage.n_failed)
    return replace(coverage, n_attempted=coverage.n_attempted + n_absent, n_absent=n_absent)
