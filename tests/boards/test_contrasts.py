"""The verdict on two entrants, and the same of every pair at once."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards.calibrated import DrawnSpread, Precision
from app.boards.standing import Contrasts, Verdict, stand
from app.values.table import ColumnarRows


def contrasts(widest: float = 1.0) -> Contrasts:
    """Return those of five entrants, two of them alike and one without replicates, of scores in a range this wide."""
    rng = np.random.default_rng(4)
    points = np.array([0.9, 0.7, 0.7, 0.4, 0.1])
    replicates = points + 0.2 * rng.normal(size=(400, 5))
    replicates[:, 2] = replicates[:, 1]
    replicates[:, 4] = points[4]
    precision = Precision(9.0, 10.0 / 9.0)
    spread = DrawnSpread(replicates, [precision, precision, precision, precision, None])
    return stand(points, spread, 0.95, widest=widest).contrasts(range(5))


def test_no_interval_of_a_difference_is_wider_than_the_range_of_the_scores() -> None:
    """Scores from 0 to 1 differ by no more than 1; scores beyond their range show that its width bounds nothing."""
    (_, _, free), (_, _, within) = (contrasts(widest).verdict(0, 3).contrast for widest in (float("inf"), 1.0))
    (_, _, beyond) = contrasts(widest=0.25).verdict(0, 3).contrast

    assert (free or 0.0) > 1.0
    assert within == 1.0
    assert beyond == pytest.approx(0.8)


def turned(verdict: Verdict) -> Verdict:
    """Return a verdict on scores that were negated, with the sign of the metric: the ends change places."""
    point, low, high = (None if end is None else 0.0 - float(end) for end in verdict.contrast)
    return replace(verdict, contrast=(point, high, low))


@pytest.mark.heavy
@pytest.mark.parametrize("is_turned", [False, True])
def test_the_cells_of_all_pairs_are_those_of_each(is_turned: bool) -> None:
    """Also where scores were negated, of a pair alike, of one without replicates and of an entrant with itself."""
    known = contrasts()
    verdicts = [known.verdict(a, b) for a in range(5) for b in range(5)]
    shown = [turned(verdict) if is_turned else verdict for verdict in verdicts]
    actual = list(ColumnarRows(tuple(known.cells(is_turned=is_turned))))

    assert actual == [(*each.contrast, each.beats, each.p_value, each.separable) for each in shown]
