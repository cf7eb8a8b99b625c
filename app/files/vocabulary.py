"""Names to numbers, block by block: the words of a whole submission in the order of their first appearance.

Called by `app.kinds.summary.read`. A name that is not allowed gets no number and is not kept.
"""

from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa

from app.files.blocks import Texts
from app.stats.arrays import IntArray
from app.values.scores import NONE, Coded


def local_codes(texts: Texts) -> tuple[list[str], IntArray]:
    """Return the distinct texts of a column and each cell's position among them, NONE where it is empty."""
    encoded = texts.dictionary_encode()
    codes = np.asarray(encoded.indices.cast(pa.int64()).fill_null(NONE))
    return encoded.dictionary.to_pylist(), codes


class Vocabulary:
    """Words and their numbers. `allows` decides whether a new word gets one."""

    def __init__(self, allows: Callable[[str], bool], words: Iterable[str] = ()) -> None:
        self._allows = allows
        self._numbers = {word: number for number, word in enumerate(words)}

    @property
    def words(self) -> tuple[str, ...]:
        """Every word, by its number."""
        return tuple(self._numbers)

    def encode(self, texts: Texts) -> IntArray:
        """Return each cell's number, NONE where the cell is empty or its word is not allowed."""
        words, codes = local_codes(texts)
        lookup = np.array([*(self._number(word) for word in words), NONE], dtype=np.int64)
        return lookup[codes]

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            if not self._allows(word):
                return NONE
            number = self._numbers[word] = len(self._numbers)
        return number


def coded(words: tuple[str, ...], codes: IntArray) -> Coded:
    """Return a column with only the words that occur in it."""
    used = np.unique(codes[codes != NONE])
    numbers = np.full(len(words) + 1, NONE, dtype=np.int64)
    numbers[used] = np.arange(len(used))
    return Coded(tuple(words[code] for code in used.tolist()), numbers[codes])
