"""Which rows of a long table a page shows, and the addresses of the others. Called by `app.render.table_page`; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from app.errors import FieldRejected, Problem
from app.names import clip_for_message
from app.render.base_page import Links
from app.values.table import Column

EVERY = "all"


@dataclass(frozen=True)
class Paged:
    """What is shown page by page: its name, how many are on a page, and whether a reader may ask for every one."""

    name: str
    of_page: int
    every: bool = True


ROWS = 200
"""As many rows are a page: more take longer to send, lay out and read than anyone waits; the CSV has all of them."""
LEAST_ROWS = 50
MOST_BYTES = 30_000
"""What the rows of a page may weigh compressed: with its style and its script it stays below 60 kB."""
NAME_BYTES, CELL_BYTES, WHISKER_BYTES = 30, 7, 30
OF_TABLES = Paged("rows", ROWS)


@dataclass(frozen=True)
class Paging:
    """Rows `first` to `last` of `n_rows`, counted from 1, and where the others are, as (text, address)."""

    first: int
    last: int
    n_rows: int
    links: Links
    name: str = "rows"

    @property
    def caption(self) -> str:
        """Say which rows these are."""
        return f"{self.name.capitalize()} {self.first:,} to {self.last:,} of {self.n_rows:,}; the CSV has all of them"


def rows_of_page(columns: Sequence[Column]) -> Paged:
    """Return how many rows of these columns are a page: of wide ones fewer, in tens.

    >>> rows_of_page([Column("entrant", "Entrant", "text")]).of_page
    200
    >>> rows_of_page([Column(f"score{n}", "Score", interval=("low", "high")) for n in range(9)]).of_page
    100
    """
    weight = NAME_BYTES + sum(WHISKER_BYTES if column.interval else CELL_BYTES for column in columns)
    return Paged(OF_TABLES.name, max(LEAST_ROWS, min(ROWS, MOST_BYTES // weight // 10 * 10)))


def page_of(asked: Sequence[tuple[str, str]], n_rows: int, paged: Paged = OF_TABLES) -> Paging | None:
    """Return the rows that a query asks for; None where all are shown. Raises FieldRejected for a page there is not."""
    n_pages, wanted = -(-n_rows // paged.of_page), dict(asked).get("page") or "1"
    if (wanted == EVERY and paged.every) or n_pages <= 1:
        return None
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 9 and 1 <= int(wanted) <= n_pages):
        expected = f"expected 1 to {n_pages}{f' or {EVERY}' if paged.every else ''}"
        problem = Problem(expected, column="page", value=clip_for_message(wanted))
        raise FieldRejected(f"There is no such page of {paged.name}.", [problem])
    number = int(wanted)
    kept = [(name, value) for name, value in asked if name != "page" and value]
    others = [(f"Previous {paged.name}", number - 1), (f"Next {paged.name}", number + 1)]
    links = [(text, _address(kept, str(at))) for text, at in others if 1 <= at <= n_pages]
    if paged.every:
        links.append((f"All {n_rows:,} {paged.name}", _address(kept, EVERY)))
    first = 1 + (number - 1) * paged.of_page
    return Paging(first, min(n_rows, number * paged.of_page), n_rows, links, paged.name)


def _address(kept: Links, page: str) -> str:
    return "?" + urlencode([*kept, ("page", page)])
