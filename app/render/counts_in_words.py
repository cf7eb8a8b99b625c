"""How many there are, in words. Called by the pages."""

from app.values.counts import count


def rows_in_words(n_rows: int) -> str:
    """Return how many rows a table has.

    >>> [rows_in_words(n) for n in (0, 1, 1234)]
    ['No rows', '1 row', '1,234 rows']
    """
    return count(n_rows, "row") if n_rows else "No rows"
