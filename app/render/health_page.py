"""What needs a steward, as a table and as a page of it. Called by `app.web.health`."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.render.base_page import Page
from app.render.columns import ShownColumn, shown_columns
from app.store.health import Trouble
from app.values.table import Column, Table

COLUMNS = (
    Column("what", "What", "text"),
    Column("benchmark", "Benchmark", "text"),
    Column("submission", "Submission", "integer"),
    Column("since", "Since, or next try", "time"),
    Column("tries", "Tries", "integer"),
    Column("reason", "Why", "text"),
)


@dataclass(frozen=True, kw_only=True)
class HealthPage(Page):
    """The page: its `table`, whose notes say what is wrong with the server itself."""

    template = "health.html"
    table: Table

    @property
    def columns(self) -> Sequence[ShownColumn]:
        """Return the columns that are shown."""
        return shown_columns(self.table, detail=False)

    @property
    def caption(self) -> str:
        """Return how many things need somebody."""
        n = len(self.table.rows)
        return "Nothing needs you." if n == 0 else f"{n:,} thing{'' if n == 1 else 's'} to look at"


def health_table(troubles: Sequence[Trouble], notes: Sequence[str]) -> Table:
    """Return what needs somebody as a table; `notes` are of the server itself."""
    rows = tuple(
        (each.what, each.benchmark, each.submission, None if each.since is None else each.since.isoformat(),
         each.tries, each.reason)
        for each in troubles
    )  # fmt: skip
    return Table("health", "Health", COLUMNS, rows, tuple(notes))
