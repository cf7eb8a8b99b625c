"""The pages of reports and of two entrants against each other, one type each, as in `app.render.pages`."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.db.models import Snapshot
from app.kinds.pages import PageFacts
from app.render.base_page import Links, Page
from app.render.columns import ShownColumn
from app.render.drawings import Drawings
from app.render.pages import ShownTable
from app.render.panel import Panel
from app.render.reading import legend
from app.values.glossary_entry import Entry
from app.values.table import Table


@dataclass(frozen=True)
class ReportSection:
    """One table of a report with its plots, and the addresses of its rows as CSV and JSON."""

    table: Table
    columns: Sequence[ShownColumn]
    drawings: Drawings
    csv: str
    json: str


@dataclass(frozen=True, kw_only=True)
class ReportPage(Page):
    """What a submission's predictions of one task are worth: each of its report tables, narrowed to that task.

    `entrants` are whose predictions these are; `others` lead to the reports of the other tasks; `trail` are the
    breadcrumbs.
    """

    template = "report.html"
    task: str
    entrants: Sequence[str]
    facts: PageFacts
    trail: Links
    others: Links
    sections: Sequence[ReportSection]

    @property
    def legend(self) -> list[tuple[str, Entry]]:
        """Return the meaning of the columns of all tables, each once."""
        return legend([shown.column for section in self.sections for shown in section.columns])


@dataclass(frozen=True, kw_only=True)
class AgainstPage(Page):
    """Two entrants of a board against each other: the sentence one may write, and the numbers under it.

    `entrants` are those that can be chosen, `a` and `b` the chosen ones ("" before); `sentences` are empty before
    both are chosen. `hidden` is what the form keeps, `meta` how the intervals were drawn.
    """

    template = "against.html"
    slug: str
    a: str
    b: str
    entrants: Sequence[str]
    sentences: Sequence[str]
    tables: Sequence[ShownTable]
    by_task: Panel | None
    trail: Links
    links: Links
    hidden: Links
    notes: Sequence[str]
    facts: PageFacts
    snapshot: Snapshot | None
    permalink: str

    @property
    def legend(self) -> list[tuple[str, Entry]]:
        """Return the meaning of the columns of all tables, each once."""
        return legend([shown.column for table in self.tables for shown in table.columns])

    def picture_address(self, ending: str) -> str:
        """Return where the picture of the tasks is saved from."""
        path, mark, query = self.permalink.partition("?")
        return f"{path}.{ending}{mark}{query}"
