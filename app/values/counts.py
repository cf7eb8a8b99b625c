"""A number with its noun. Called wherever a message, a note or a page counts something."""


def count(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural except for 1.

    >>> count(1, "task"), count(1200, "task")
    ('1 task', '1,200 tasks')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
