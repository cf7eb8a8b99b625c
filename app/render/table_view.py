"""The view that the page, the CSV and the JSON of a table are made from, so that the three cannot disagree.

Made by `app.web` and `app.cli.preview`, shown by `app.render.table_page`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.db.models import Snapshot
from app.kinds.pages import NO_FACTS, PageFacts
from app.render.base_page import Links
from app.render.drawings import Drawing, build_drawings
from app.render.explore_form import ExploreForm
from app.render.panel import Panel
from app.render.row_filter import Choice
from app.values.table import Table


@dataclass(frozen=True)
class TableView:
    """A table at its address, with what is shown around it: leaderboard, pairwise, tasks, one task, one entrant.

    `version` is the manifest's. `trail` are the breadcrumbs and `links` the related addresses, both as (text, address).
    `row_links` makes the address of a cell from its text, by column name. `facts` is what each page of the benchmark
    says. `choices` are the fields of the form that narrows the rows. `drawn` is the table whose drawings are shown,
    where it is another one. `explore` is the form of a board that a reader explores. `panels` are
    further tables that stand before its own, which has the heading `panel_rest` then. `most_rows` are shown where the
    picture says what a page of rows would not. `card` is the absolute address of the picture that previews it.
    """

    slug: str
    address: str
    table: Table
    snapshot: Snapshot | None = None
    version: int | None = None
    trail: Links = ()
    links: Links = ()
    row_links: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    facts: PageFacts = NO_FACTS
    choices: Sequence[Choice] = ()
    drawn: Table | None = None
    explore: ExploreForm | None = None
    panels: Sequence[Panel] = ()
    panel_rest: str = ""
    most_rows: int | None = None
    card: str = ""

    def drawings(self) -> Sequence[Drawing]:
        """Return everything that the page draws: of its own table first, then of each panel."""
        own = build_drawings(self.drawn or self.table).shown
        return [*own, *(drawing for panel in self.panels for drawing in panel.drawings.shown)]
