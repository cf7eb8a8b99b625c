"""One cell of the simulations of intervals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bench.interval_methods import Ends

OURS = "ours"
Drawn = Mapping[str, Ends]


@dataclass(frozen=True)
class World:
    """One cell: where it stands in the tables, the truth, and the intervals of as many data sets as asked for."""

    family: str
    row: str
    column: str
    truth: float
    draw: Callable[[np.random.Generator, int], Drawn]
