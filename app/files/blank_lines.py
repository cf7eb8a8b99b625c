"""How many blank lines a CSV file may have. Called by `app.files.csv_tables`.

The parser turns each into a record of nulls, so that row numbers stay right: one byte becomes a cell in every column,
so 10 kB of gzip could become many gigabytes.
"""

from pathlib import Path

import numpy as np

from app.stats.arrays import BoolArray

MOST_BLANK_LINES = 100_000
MOST_BLANK_CELLS = 20_000_000
PIECE = 4 << 20
_ENDS = (b"\n\n", b"\n\r", b"\r\r")
_QUOTE, _NEWLINE, _RETURN = b'"'[0], b"\n"[0], b"\r"[0]


def most_blank_lines(n_columns: int) -> int:
    """Return how many blank lines a table of so many columns may have."""
    return min(MOST_BLANK_LINES, MOST_BLANK_CELLS // max(1, n_columns))


def has_more_blank_lines(path: Path, body_at: int, allowed: int) -> bool:
    """Say whether a file has more blank lines than allowed; those inside quotation marks belong to their cells."""
    n_at_most = n_blank = 0
    in_quotes, last = False, b"\n"
    with path.open("rb") as content:
        content.seek(body_at)
        while piece := content.read(PIECE):
            # Counts do not overlap, so three newlines count once: twice the count and one is never too few.
            n_at_most = sum(2 * piece.count(end) + 1 for end in _ENDS)
            blank, in_quotes = _blank_lines(last, piece, in_quotes, n_at_most)
            n_blank += blank
            if n_blank > allowed:
                return True
            last = piece[-1:]
    return False


def _blank_lines(last: bytes, piece: bytes, in_quotes: bool, n_at_most: int) -> tuple[int, bool]:
    """Count the blank lines of a piece; also say whether it ends inside quotation marks."""
    odd = piece.count(b'"') % 2 == 1
    if n_at_most <= len(_ENDS):
        return 0, in_quotes ^ odd
    codes = np.frombuffer(last + piece, dtype=np.uint8)
    ends = (codes[1:] == _NEWLINE) | (codes[1:] == _RETURN)
    # The two bytes of \r\n are one end, whose line is blank only where another end comes before it.
    again = ends & ((codes[:-1] == _NEWLINE) | ((codes[:-1] == _RETURN) & (codes[1:] == _RETURN)))
    return int((again & ~_quoted(codes[1:], in_quotes)).sum()), in_quotes ^ odd


def _quoted(codes: np.ndarray[tuple[int], np.dtype[np.uint8]], in_quotes: bool) -> BoolArray:
    quotes = np.cumsum(codes == _QUOTE, dtype=np.int32)
    quoted: BoolArray = (quotes % 2 == 1) ^ in_quotes
    return quoted
