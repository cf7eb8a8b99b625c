"""Messages for a column that a file lacks: the columns it has, and which was probably meant.

Called by the kinds of evidence, whose manifests say which columns there are to be.
"""

from collections.abc import Sequence
from difflib import get_close_matches

from app.errors import Problem
from app.names import clip_for_message, first_few, name_key

SHOWN = 20
LIKENESS = 0.7


def missing_column(name: str, header: Sequence[str], file: str | None, *, what: str | None = None) -> Problem:
    """Return the problem of a column that is not there; `what` is what the message calls it."""
    columns = first_few(header, SHOWN, lambda each: clip_for_message(each, 40))
    near = _nearest(name, header)
    hint = f"; did you mean {clip_for_message(near, 40)}?" if near else ";"
    message = f"{what or f'the column {name} is missing'}{hint} The file has {columns or 'no column'}"
    return Problem(message.replace("; The", "; the"), file, column=name, is_missing=True)


def _nearest(name: str, header: Sequence[str]) -> str | None:
    by_key = {name_key(each): each for each in header[:200] if len(each) <= 200}
    matches = get_close_matches(name_key(name), by_key, n=1, cutoff=LIKENESS)
    return by_key[matches[0]] if matches else None
