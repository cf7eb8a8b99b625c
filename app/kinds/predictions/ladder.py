"""The Ladder: a new score is shown only where it is better than its owner's best by more than its standard error.

Called by `app.store.ladders`; pure. Otherwise nothing new is published. The best is that of all of an owner's entrants,
because an owner who could rename an entrant would have a ladder for each name.
Source: Blum & Hardt 2015, The Ladder: a reliable leaderboard for machine learning competitions; here the step is the
larger standard error of the two scores, whichever its owner made small.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.boards.measured import Estimate, Measurement
from app.kinds.predictions.grain import Grain


@dataclass(frozen=True)
class Rung:
    """A score as it is shown, larger being better, and its standard error; infinite where it is not known."""

    score: float
    error: float


Rungs = Mapping[str, Rung]
"""What an entrant scores, by board."""


def rung_of(measurement: Measurement, metric: str, sign: float, grain: Grain) -> Rung | None:
    """Return the score of a measurement by the metric that ranks, as it is shown; None where it is undefined."""
    estimate = measurement.estimates.get(metric)
    if estimate is None or estimate.point is None:
        return None
    return Rung(sign * estimate.point, grain.error_of(estimate))


def is_better(new: Rung, best: Rung | None) -> bool:
    """Say whether a score may be shown beside the best that was shown.

    >>> is_better(Rung(0.84, 0.02), Rung(0.82, 0.01)), is_better(Rung(0.86, 0.02), Rung(0.82, 0.03))
    (False, True)
    """
    return best is None or new.score - best.score > max(new.error, best.error) * (1.0 + 1e-9)


def climbs(new: Rungs, best: Rungs) -> bool:
    """Say whether an answer is shown: its first, or one that is better on any board."""
    return not best or any(is_better(rung, best.get(board)) for board, rung in new.items())


def higher(best: Rungs, shown: Rungs) -> Rungs:
    """Return the best of an owner once more has been shown, board by board."""
    boards = {*best, *shown}
    return {
        board: max((rungs[board] for rungs in (best, shown) if board in rungs), key=lambda rung: rung.score)
        for board in boards
    }


def numbers_in(measurement: Measurement) -> int:
    """Return how many numbers of a measurement are published, on boards and in reports."""
    ends = [(e.point, e.low, e.high, *_calibrated(e)) for e in measurement.estimates.values()]
    cells = [cell for rows in measurement.rows.values() for row in rows for cell in row]
    shown = [*(number for each in ends for number in each), *cells]
    return sum(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in shown)


def _calibrated(estimate: Estimate) -> tuple[float | None, ...]:
    ours = estimate.calibrated
    return () if ours is None else (ours.low, ours.high, ours.n_units)
