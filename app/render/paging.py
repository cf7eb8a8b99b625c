"""Which rows of a long table a page shows, and the addresses of the others. Called by `app.render.table_page`; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from app.errors import FieldRejected, Problem
from app.names import clip_for_message
from app.render.page import Links

ROWS = 200
"""As many rows are a page: more take longer to send, lay out and read than anyone waits; the CSV has all of them."""
EVERY = "all"


@dataclass(frozen=True)
class Paging:
    """Rows `first` to `last` of `n_rows`, counted from 1, and where the others are, as (text, address)."""

    first: int
    last: int
    n_rows: int
    links: Links

    @property
    def caption(self) -> str:
        """Say which rows these are."""
        return f"Rows {self.first:,} to {self.last:,} of {self.n_rows:,}; the CSV has all of them"


def page_of(asked: Sequence[tuple[str, str]], n_rows: int) -> Paging | None:
    """Return the rows that a query asks for; None where all are shown. Raises FieldRejected for a page there is not."""
    n_pages, wanted = -(-n_rows // ROWS), dict(asked).get("page") or "1"
    if wanted == EVERY or n_pages <= 1:
        return None
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 9 and 1 <= int(wanted) <= n_pages):
        problem = Problem(f"expected 1 to {n_pages} or {EVERY}", column="page", value=clip_for_message(wanted))
        raise FieldRejected("The table has no such page.", [problem])
    number = int(wanted)
    kept = [(name, value) for name, value in asked if name != "page" and value]
    others = [("Previous rows", number - 1), ("Next rows", number + 1)]
    links = [(text, _address(kept, str(at))) for text, at in others if 1 <= at <= n_pages]
    first = 1 + (number - 1) * ROWS
    return Paging(first, min(n_rows, number * ROWS), n_rows, [*links, (f"All {n_rows:,} rows", _address(kept, EVERY))])


def _address(kept: Links, page: str) -> str:
    return "?" + urlencode([*kept, ("page", page)])
