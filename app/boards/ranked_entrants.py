"""Who is ranked among separately measured entrants: by the grid, or relative to each other where an axis is open.

Called by `app.boards.methods.estimate.board`; pure.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from app.boards.coverage import Coverage, Roster, call_roster
from app.boards.measured import Measurement
from app.boards.open_grid import commonly_held


def measured_roster(measurements: Sequence[Measurement], owners: Sequence[Hashable]) -> Roster:
    """Return who is ranked among measured contenders; `owners` lists their owners in the same order.

    Where the grid leaves an axis open, the usual number of cells in a task and condition is what at least half of the
    owners have; fewer are lacking, more are over. An entrant with the usual number but other items than at least half
    of the owners counts all of its items as over, since which of them differ is not known here.
    Source: `app.boards.open_grid`.

    >>> from app.boards.example import measured
    >>> full, few = measured("A", 0.5), replace(measured("B", 0.5), coverage=Coverage(10, 8, n_absent=2))
    >>> measured_roster([full, few], ["a", "b"]).apart
    ('B',)
    """
    if all(m.held is None for m in measurements):
        return call_roster({m.entrant: m.coverage for m in measurements}, is_declared=True)
    common, usual = _common(measurements, owners), _usual_items(measurements, owners)
    return call_roster({m.entrant: _relative_coverage(m, common, usual) for m in measurements}, is_declared=False)


def _usual_items(measurements: Sequence[Measurement], owners: Sequence[Hashable]) -> str | None:
    """Return the digest of items shared by at least half of the owners, and at least two; None where there is none."""
    owners_of: dict[str, set[Hashable]] = {}
    for measurement, owner in zip(measurements, owners, strict=True):
        owners_of.setdefault(measurement.items, set()).add(owner)
    counts = sorted(((len(who), items) for items, who in owners_of.items() if items), reverse=True)
    if not counts or counts[0][0] < max(2, (len(set(owners)) + 1) // 2):
        return None
    return None if len(counts) > 1 and counts[1][0] == counts[0][0] else counts[0][1]


def _common(measurements: Sequence[Measurement], owners: Sequence[Hashable]) -> Mapping[tuple[str, str], int]:
    held = [_own(measurement) for measurement in measurements]
    cells = list(dict.fromkeys(cell for own in held for cell in own))
    counts = np.array([[own.get(cell, 0) for cell in cells] for own in held], dtype=np.int64)
    return dict(zip(cells, commonly_held(counts, owners).tolist(), strict=True))


def _own(measurement: Measurement) -> dict[tuple[str, str], int]:
    return {(task, condition): n for task, condition, n in measurement.held or ()}


def _relative_coverage(measurement: Measurement, common: Mapping[tuple[str, str], int], usual: str | None) -> Coverage:
    own = _own(measurement)
    n_lacking = sum(max(0, n - own.get(cell, 0)) for cell, n in common.items())
    n_over = sum(max(0, n - common[cell]) for cell, n in own.items())
    if usual not in (None, measurement.items) and not n_lacking + n_over:
        n_over = sum(own.values())
    coverage = measurement.coverage
    n_absent = max(0, n_lacking - coverage.n_failed)
    return replace(coverage, n_attempted=coverage.n_attempted + n_absent, n_absent=n_absent, n_over=n_over)
