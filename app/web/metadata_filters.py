"""Parses a reader's filters on the metadata of entrants from an address. Used by `app.web.explore`."""

import math
from datetime import date
from typing import Annotated, Literal

from fastapi import Depends, Query

from app.boards.entrant_filter import ASKED, Wish
from app.errors import FieldRejected, Problem
from app.names import clip_for_message

MOST_TEXT = 300
NAMES = Annotated[list[str] | None, Query(max_length=500)]


def read_wish(
    organization: NAMES = None,
    licence: NAMES = None,
    purpose: NAMES = None,
    open_weights: Annotated[Literal["", "yes", "no"] | None, Query()] = None,
    min_parameters: Annotated[str | None, Query(max_length=40, description="a number, such as 7e9")] = None,
    max_parameters: Annotated[str | None, Query(max_length=40)] = None,
    released_from: Annotated[str | None, Query(max_length=10, description="a day: 2026-01-31")] = None,
    released_to: Annotated[str | None, Query(max_length=10)] = None,
    field: Annotated[
        list[str] | None, Query(max_length=100, description="of a declared field: architecture=decoder, context>=8192")
    ] = None,
) -> Wish:
    """Return the filters on the metadata of entrants.

    Raises FieldRejected.
    """
    problems: list[Problem] = []
    wish = Wish(
        organization=filled(organization),
        licence=filled(licence),
        purpose=filled(purpose),
        open_weights={"yes": True, "no": False}.get(open_weights or ""),
        min_parameters=_size("min_parameters", min_parameters, problems),
        max_parameters=_size("max_parameters", max_parameters, problems),
        released_from=_day("released_from", released_from, problems),
        released_to=_day("released_to", released_to, problems),
        fields=_fields(filled(field), problems),
    )
    if problems:
        raise FieldRejected("The filter on entrants cannot be read.", problems)
    return wish


def _fields(asked: tuple[str, ...], problems: list[Problem]) -> tuple[str, ...]:
    for each in asked:
        if len(each) > MOST_TEXT or ASKED.fullmatch(each) is None:
            problems.append(Problem("expected a declared field, one of = >= <= and a value, such as context>=8192",
                                    column="field", value=clip_for_message(each)))  # fmt: skip
    return asked


def _size(name: str, text: str | None, problems: list[Problem]) -> float | None:
    if not text or not text.strip():
        return None
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not math.isfinite(size) or size < 0:
        problems.append(Problem("expected a number of parameters, such as 7e9", column=name,
                                value=clip_for_message(text)))  # fmt: skip
        return None
    return size


def _day(name: str, text: str | None, problems: list[Problem]) -> str:
    if not text:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        problems.append(Problem("expected a day, such as 2026-01-31", column=name, value=clip_for_message(text)))
        return ""


def filled(values: list[str] | None) -> tuple[str, ...]:
    """Return the given values, each once; empty fields of a form are ignored."""
    return tuple(dict.fromkeys(value for value in values or () if value))


WishDep = Annotated[Wish, Depends(read_wish)]
