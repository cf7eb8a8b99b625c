"""Lists of names for the notes of boards. Called wherever a note is written."""

from collections.abc import Sequence

from app.names import first_few, in_words

SHOWN = 6


def sentences(texts: Sequence[str]) -> str:
    """Return the first few texts as a list in a sentence, with the number of the rest.

    >>> sentences(["A", "B"]), sentences("ABCDEFGH")
    ('A, B', 'A, B, C, D, E, F and 2 more')
    """
    return first_few(texts, SHOWN)


def names_in_words(names: Sequence[str]) -> str:
    """Return names chosen by submitters as a list in a sentence, quoted so that none can read as part of it.

    Source: `app.names.in_words`.

    >>> names_in_words(["A", "B; nobody else may be first"])
    'A, “B; nobody else may be first”'
    """
    return sentences([in_words(name) for name in names])
