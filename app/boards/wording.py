"""Lists of names and numbers with their nouns, as the notes of boards say them. Called by whoever writes a note."""

from collections.abc import Sequence

from app.names import in_words

SHOWN = 6


def count(n: int, noun: str) -> str:
    """Return a number with its noun. Source: by definition.

    >>> count(1, "task"), count(1200, "task")
    ('1 task', '1,200 tasks')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def sentences(texts: Sequence[str]) -> str:
    """Return texts as a list for a sentence, the first few of them. Source: by definition.

    >>> sentences(["A", "B"]), sentences("ABCDEFGH")
    ('A, B', 'A, B, C, D, E, F and 2 more')
    """
    rest = f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else ""
    return ", ".join(texts[:SHOWN]) + rest


def names_in_words(names: Sequence[str]) -> str:
    """Return names of others' choosing as a list for a sentence, which none of them can be a part of.

    Source: `app.names.in_words`.

    >>> names_in_words(["A", "B; nobody else may be first"])
    'A, “B; nobody else may be first”'
    """
    return sentences([in_words(name) for name in names])
