"""Bootstrap draws within groups of units: each group keeps its size in every resample.

Called by `app.boards.methods.group_mean`; pure.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.checks import InvalidArgument
from app.stats.resample import Resamples, draw_counts


class GroupResamples(Resamples):
    """The bootstrap resamples of units that are stored group by group, in groups of the given sizes.

    A group of one unit is the same in every resample, so its sampling error does not show.
    Raises InvalidArgument for no group, and as `Resamples` does.
    Source: Davison & Hinkley 1997, section 3.2, the bootstrap of several samples.

    >>> drawn = GroupResamples([2, 1], 3, lambda: np.random.default_rng(1))
    >>> [counts[:, 2].tolist() for counts in drawn.batches()]
    [[1, 1, 1]]
    """

    def __init__(self, sizes: Sequence[int], n_resamples: int, begin: Callable[[], np.random.Generator]) -> None:
        if not sizes:
            raise InvalidArgument("sizes are empty; expected at least one group")
        super().__init__(sum(sizes), n_resamples, begin)
        self._sizes = tuple(sizes)

    def _draw(self) -> Iterator[NDArray[np.unsignedinteger[Any]]]:
        # One generator per group, so that the draws do not depend on the batch size.
        streams = self._begin().spawn(len(self._sizes))
        for start in range(0, self.n_resamples, self._n_rows):
            n_rows = min(self._n_rows, self.n_resamples - start)
            counts = np.hstack([draw_counts(size, n_rows, rng) for size, rng in zip(self._sizes, streams, strict=True)])
            yield counts.astype(np.min_scalar_type(int(counts.max())))
