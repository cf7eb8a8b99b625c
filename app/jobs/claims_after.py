"""Which registered claims came after evidence of the entrants that decide them, by the times of the server itself:
their rows say so in the note, because nobody can tell whether the claim was chosen after that evidence was seen.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from app.admission.case import in_utc
from app.boards.claims import COLUMNS
from app.names import in_words
from app.values.table import Cell

AFTER = "Registered after evidence of "

Row = tuple[Cell, ...]
FirstHere = Mapping[str, tuple[datetime, str]]
"""When evidence of each entrant was here first, and what the entrant was called then."""
_NAMES = [column.name for column in COLUMNS]
_NOTE = _NAMES.index("note")


def tell_after(rows: Sequence[Row], registered_at: Mapping[str, datetime], first_here: FirstHere) -> list[Row]:
    """Return rows of claims [n_rows], whose note says where evidence was here before the claim was registered.

    `registered_at` are the times of registrations by their `source`, `first_here` when the first admitted evidence of
    each entrant was received, and under which name. A source without a time, such as the manifest, and a row that
    nothing decides, whose entrant is None, get no note. What a row said of it before is replaced.
    Source: none; the times are the server's.

    >>> at = datetime.fromisoformat("2026-01-31T10:00:00+00:00")
    >>> given = {"source": "abc", "entrant": "Mine, Rival", "first": "Mine", "second": "Rival"}
    >>> row = tuple((dict.fromkeys(_NAMES) | given).values())
    >>> (told,) = tell_after([row], {"abc": at}, {"Mine": (at, "Mine"), "Rival": (at.replace(hour=9), "Rival")})
    >>> told[-1].partition(":")[0]
    'Registered after evidence of Rival was here already (first on 2026-01-31 09'
    """
    return [_with(row, _sentence(row, registered_at, first_here)) for row in rows]


def keep_after(row: Row, published: Row) -> Row:
    """Return a row that was decided again with what the published one says of the time of its registration, or None.

    >>> rows = [tuple((dict.fromkeys(_NAMES) | {"note": note}).values()) for note in ("all equal", f"{AFTER}A: so")]
    >>> keep_after(*rows)[-1]
    'all equal; Registered after evidence of A: so'
    """
    return _with(row, _parted(published[_NOTE])[1])


def _sentence(row: Row, registered_at: Mapping[str, datetime], first_here: FirstHere) -> str:
    claim = dict(zip(_NAMES, row, strict=True))
    registered = registered_at.get(str(claim["source"]))
    if registered is None or claim["entrant"] is None:
        return ""
    sides = [str(claim[side]) for side in ("first", "second") if claim[side] is not None]
    # Sides are conditions of the entrant where it is none of them; another entrant may have the name of a condition.
    names = sides if claim["entrant"] == ", ".join(sides) else [str(claim["entrant"])]
    early = {name: first_here[name] for name in names if name in first_here and first_here[name][0] < registered}
    if not early:
        return ""
    said = [
        in_words(name) if called == name else f"{in_words(name)} (results in common, as {in_words(called)})"
        for name, (_, called) in early.items()
    ]
    first, _ = min(early.values())
    return (
        f"{AFTER}{' and '.join(said)} was here already (first on {in_utc(first)}; "
        f"registered {in_utc(registered)}): nobody can say that it was not chosen after seeing it."
    )


def _with(row: Row, sentence: str) -> Row:
    parts = (_parted(row[_NOTE])[0], sentence)
    return (*row[:_NOTE], "; ".join(part for part in parts if part) or None, *row[_NOTE + 1 :])


def _parted(note: Cell) -> tuple[str, str]:
    """Return a note without the sentence, and the sentence, which is always the last of it; empty where it is not."""
    before, found, after = str(note or "").partition(AFTER)
    return (before.removesuffix("; "), found + after) if before == "" or before.endswith("; ") else (str(note), "")
