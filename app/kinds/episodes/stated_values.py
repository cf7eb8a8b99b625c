"""A run's statements about itself, as storable values: those of another type, or not finite, are left out.

Called by `app.kinds.episodes.bundles` and `app.kinds.episodes.spike_runs`; everything here was written by a stranger.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from app.errors import Problem
from app.names import clip_for_message
from app.values.magnitude import BEYOND, is_storable

MAX_TEXT = 200
MAX_KEY = 64
MAX_SHOWN, MAX_LISTED = 1000, 1000


def stated_text(value: Any) -> str | None:
    """Return a text, printable and short."""
    return clip_for_message(value, MAX_TEXT) if isinstance(value, str) else None


def stated(value: Any) -> str | None:
    """Return a text, a number, true or false, or a list of these as a reader sees it; None for anything else."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        shown = [stated(each) for each in value[:MAX_LISTED] if not isinstance(each, list)]
        return clip_for_message(", ".join(each for each in shown if each is not None), MAX_SHOWN) or None
    return clip_for_message(str(value), MAX_SHOWN) if isinstance(value, str | int | float) else None


def stated_integer(value: Any) -> int | None:
    """Return a whole number; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def stated_integers(value: Any) -> tuple[int, ...] | None:
    """Return a list of whole numbers, repeats kept; None when one of them is something else."""
    if not isinstance(value, list) or any(stated_integer(entry) is None for entry in value):
        return None
    return tuple(value)


def stated_numbers(value: Any) -> dict[str, float | int | None]:
    """Return the finite numbers and nulls of an object by their names."""
    if not isinstance(value, Mapping):
        return {}
    return {clip_for_message(name, MAX_KEY): entry for name, entry in value.items() if _is_number_or_null(entry)}


def problems_of_seeds(value: Any, file: str, column: str) -> Iterator[Problem]:
    """Yield a problem for each declared seed that is not a whole number, or one when there is no list of them."""
    if value is None:
        return
    if not isinstance(value, list):
        yield Problem("expected a list of seeds", file, column=column, value=clip_for_message(str(value)))
        return
    for seed in value:
        if stated_integer(seed) is None:
            yield Problem("a seed is a whole number", file, column=column, value=clip_for_message(str(seed)))


def problems_of_numbers(value: Any, file: str, column: str) -> Iterator[Problem]:
    """Yield a problem for each claimed value that is neither a finite number nor null."""
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield Problem("expected an object of numbers", file, column=column, value=clip_for_message(str(value)))
        return
    for name, entry in value.items():
        if not _is_number_or_null(entry):
            inner = f"{column}.{clip_for_message(name, MAX_KEY)}"
            message = BEYOND if _is_number(entry) else "expected a finite number or null"
            yield Problem(message, file, column=inner, value=clip_for_message(str(entry)))


def _is_number_or_null(value: Any) -> bool:
    if value is None:
        return True
    return _is_number(value) and is_storable(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
