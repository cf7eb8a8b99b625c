"""A place on a board as a small picture, and the first places of a board as one. Called by `app.web.syndication`; pure.

Everything that people wrote is escaped. Widths are estimated, as no font can be measured here: text states how long it
may be, and browsers fit it.
"""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from app.values.table import Cell, Table

CHARACTER, PAD, HEIGHT = 6.6, 6.0, 20.0
LONGEST = 48
BLUE, GREY, DARK, CHOSEN = "#0a4f8f", "#6b7885", "#1d2125", "#7a5200"
LINE, LINE_LENGTH, MOST_LINES = 14.0, 104, 4
FIRST_PLACES, ROW = 10, 22.0


@dataclass(frozen=True)
class Place:
    """The contents of a badge: the board, the rank in words, and whether it is that of the current snapshot."""

    board: str
    words: str
    is_current: bool


def place_of(table: Table, entrant: str, *, is_current: bool, snapshot: int) -> Place:
    """Return the place of an entrant on a board with its rank interval, or that it is unranked or gone."""
    rows = [row for row in table.records() if row.get("entrant") == entrant]
    n_ranked = sum(row.get("rank") is not None for row in table.records())
    words = _words(rows[0], n_ranked) if rows else "not on the board"
    if "unavailable" in table.meta and not rows:
        words = "cannot be computed"
    placed = words if is_current else f"{words}, snapshot {snapshot}"
    return Place(table.title, placed, is_current and bool(rows))


def choice_of(table: Table) -> str:
    """Return a reader's choice in words, as shown in every picture of it; empty on the benchmark's own boards."""
    choice = table.meta.get("choice")
    if isinstance(choice, Mapping):
        return f"{choice['label']}: {choice['said']}"
    return table.notes[0] if table.name.startswith("explore/") and table.notes else ""


def _words(row: dict[str, Cell], n_ranked: int) -> str:
    rank, low, high = (row.get(name) for name in ("rank", "rank_low", "rank_high"))
    if rank is None:
        return f"no rank: {row.get('unranked_because') or 'not ranked'}"
    interval = "" if low is None else f" ({low})" if low == high else f" ({low}–{high})"
    return f"rank {rank}{interval} of {n_ranked}"


def badge(place: Place) -> bytes:
    """Return the badge as SVG: grey where the place is not that of the current snapshot."""
    left, right = _clip(place.board), _clip(place.words)
    widths = [len(text) * CHARACTER + 2 * PAD for text in (left, right)]
    total = sum(widths)
    label = f"{place.board}: {place.words}"
    color = BLUE if place.is_current else GREY
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{HEIGHT:.0f}" role="img" '
        f"aria-label={quoteattr(label)}>",
        f"<title>{escape(label)}</title>",
        f'<rect width="{total:.0f}" height="{HEIGHT:.0f}" rx="3" fill="{DARK}"/>',
        f'<path d="M{widths[0]:.0f} 0h{widths[1] - 3:.0f}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{widths[1] - 3:.0f}z" '
        f'fill="{color}"/>',
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">',
        _text(left, widths[0] / 2, widths[0] - 2 * PAD),
        _text(right, widths[0] + widths[1] / 2, widths[1] - 2 * PAD),
        "</g></svg>",
    ]
    return "".join(parts).encode()


def _text(text: str, at: float, width: float) -> str:
    return f'<text x="{at:.1f}" y="14" textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'


def _clip(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def board_picture(table: Table, snapshot: int, filtered: str = "") -> tuple[bytes, tuple[float, float]]:
    """Return the first places of a board as SVG, for pages that cannot embed a table, with its size.

    It states what a reader chose, and how the rows were `filtered`, in words.
    """
    ranked = [row for row in table.records() if row.get("rank") is not None]
    rows = [(_rank(row), _clip(str(row["entrant"])), _score(table, row)) for row in ranked[:FIRST_PLACES]]
    asked = _wrapped(choice_of(table)) + _wrapped(f"Filtered by a reader. {filtered}" if filtered else "")
    head = LINE * len(asked)
    height = ROW * (len(rows) + 2) + 2 * PAD + head
    caption = f"snapshot {snapshot}; {len(ranked):,} ranked; in brackets the ranks that each may have"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height:.0f}" role="img" '
        f"aria-label={quoteattr(table.title)}>",
        f'<rect width="640" height="{height:.0f}" fill="#fdfdfc"/>',
        f'<g fill="{DARK}" font-family="Verdana,DejaVu Sans,sans-serif" font-size="12">',
        f'<text x="12" y="20" font-weight="bold">{escape(_clip(table.title))}</text>',
        *(
            f'<text x="12" y="{34 + LINE * at:.0f}" font-size="10" fill="{CHOSEN}">{escape(line)}</text>'
            for at, line in enumerate(asked)
        ),
        *(line for at, row in enumerate(rows) for line in _row(row, ROW * (at + 2) + head)),
        f'<text x="12" y="{height - PAD:.0f}" font-size="10" fill="{GREY}">{escape(caption)}</text></g></svg>',
    ]
    return "".join(lines).encode(), (640.0, height)


def _wrapped(text: str) -> list[str]:
    """Return a sentence wrapped to a limited number of lines: the rest is at the address of the board."""
    return textwrap.wrap(text, LINE_LENGTH, max_lines=MOST_LINES, placeholder=" …")


def _row(row: Sequence[str], y: float) -> list[str]:
    places = ((12, "start"), (110, "start"), (628, "end"))
    return [
        f'<text x="{x}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'
        for (x, anchor), text in zip(places, row, strict=True)
    ]


def _rank(row: dict[str, Cell]) -> str:
    low, high = row.get("rank_low"), row.get("rank_high")
    return (
        f"{row['rank']}"
        if low is None
        else f"{row['rank']} ({low})"
        if low == high
        else f"{row['rank']} ({low}–{high})"
    )


def _score(table: Table, row: dict[str, Cell]) -> str:
    scored = [column for column in table.columns if column.kind == "number" and column.interval is not None]
    named = [column for column in table.columns if column.name == table.meta.get("rank_by")] or scored
    value = row.get(named[0].name) if named else None
    return f"{value:.4g}" if isinstance(value, int | float) else ""
