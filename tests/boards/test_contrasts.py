"""The verdict on two entrants, and the same of every pair at once."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards.contrasts import Contrasts, Verdict
from app.boards.spread import Precision, Spread
from app.boards.standing import stand
from app.values.columnar import ColumnarRows


def contrasts() -> Contrasts:
    """Return those of five entrants, two of them alike and one without replicates."""
    rng = np.random.default_rng(4)
    points = np.array([0.9, 0.7, 0.7, 0.4, 0.1])
    replicates = points + 0.2 * rng.normal(size=(400, 5))
    replicates[:, 2] = replicates[:, 1]
    replicates[:, 4] = points[4]
    precision = Precision(9.0, 10.0 / 9.0)
    spread = Spread(replicates, [precision, precision, precision, precision, None])
    return stand(points, spread, 0.95, widest=1.0).contrasts(range(5))


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
