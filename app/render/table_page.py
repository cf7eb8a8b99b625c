"""The page of any table at its address, made by the web from a `TableView`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from app.render.base_page import Links, Page
from app.render.columns import ShownColumn, shown_columns
from app.render.counts_in_words import rows_in_words
from app.render.drawings import Drawings, build_drawings
from app.render.matrix import Matrix, build_matrix, each_pair_once, is_pairwise
from app.render.paging import Paging, page_of, rows_of_page
from app.render.reading import Apart, Count, apart, leader_sentence, legend, tally, tier_starts
from app.render.row_filter import COLUMNS
from app.render.table_order import Look, sort_address, sort_table
from app.render.table_view import TableView
from app.values.glossary_entry import Entry
from app.values.table import Cell, Table

DESCRIBED = (
    "organization", "licence", "purpose", "open_weights", "min_parameters", "max_parameters", "released_from",
    "released_to", "field",
)  # fmt: skip
KEPT = ("snapshot", *COLUMNS, "q", "among", "group", "weight", "baseline", "x", "y", "column", *DESCRIBED)
"""What says which rows are meant; it goes with a reader from one view of a table to the next."""


MAX_WITHDRAWN = 20
MAX_PAIRS = 900
"""More pairs than 40 entrants make are not read one by one: two of them are chosen at /against, and the CSV has all."""


@dataclass(frozen=True, kw_only=True)
class TablePage(Page):
    """A view as the query `asked` for it: sorted, with every column or only some, of one snapshot.

    Raises FieldRejected for an order or a column to sort by that there is not.
    """

    template = "table.html"
    view: TableView
    asked: Links

    def __post_init__(self) -> None:
        # Refused here, before half a page is rendered.
        _ = self.table, self.paging

    @cached_property
    def table(self) -> Table:
        """Return the table, sorted as asked."""
        return sort_table(self.view.table, self.look.sorted_by, descending=self.look.descending)

    @property
    def card(self) -> str:
        """Return the address of the board's first places."""
        return self.view.card

    @cached_property
    def look(self) -> Look:
        """Return how the rows are shown: in which order, with which columns."""
        return Look(self.asked)

    @cached_property
    def columns(self) -> Sequence[ShownColumn]:
        """Return the columns that are shown."""
        if self.look.columns:
            chosen = {name for _, name in self.look.columns}
            return [shown for shown in shown_columns(self.table, detail=True) if shown.column.name in chosen]
        return shown_columns(
            self.table, detail=self.look.has_detail, shown_elsewhere=self.apart.shown_elsewhere if self.apart else ()
        )

    @cached_property
    def drawings(self) -> Drawings:
        """Return what is drawn of the table."""
        return build_drawings(self.view.drawn or self.view.table)

    def sort(self, name: str) -> str:
        """Return the address of this table sorted by a column."""
        return sort_address(self.asked, self.view.table.columns[self.view.table.index(name)])

    @property
    def links(self) -> Links:
        """Return the related addresses, and the same table in other formats and with other columns."""
        kept, address = self._kept, self.view.address
        suffix = "?" + urlencode(kept) if kept else ""
        exports = [("CSV", f"{address}.csv{suffix}"), ("JSON", f"{address}.json{suffix}")]
        rows = [(name, value) for name, value in kept if name != "column"]
        return [*self.view.links, *exports, self.look.toggle(rows)]

    @property
    def permalink(self) -> str:
        """Return the address that always gives these rows: the one that names the snapshot."""
        query = [(name, value) for name, value in self._kept if name != "snapshot"]
        if self.view.snapshot is not None:
            query = [("snapshot", str(self.view.snapshot.number)), *query]
        return f"{self.view.address}?{urlencode(query)}" if query else self.view.address

    def data_address(self, ending: str) -> str:
        """Return the address that always gives these rows in another format."""
        path, mark, query = self.permalink.partition("?")
        return f"{path}.{ending}{mark}{query}"

    def picture_address(self, ending: str) -> str:
        """Return where the first places of the board are a picture: with a reader's choice, where one is made."""
        home = self.view.address.removesuffix("/explore")
        asked = [(name, value) for name, value in self._kept if self.view.explore and name not in ("column", "x", "y")]
        return f"{home}/embed.{ending}{'?' + urlencode(asked) if asked else ''}"

    @cached_property
    def saved_panels(self) -> Sequence[int]:
        """Return for each panel under which number the first of its drawings is saved."""
        counts = [sum(each.is_saved for each in drawings.shown)
                  for drawings in (self.drawings, *(panel.drawings for panel in self.view.panels))]  # fmt: skip
        return [1 + sum(counts[: at + 1]) for at in range(len(self.view.panels))]

    @property
    def explore_address(self) -> str | None:
        """Return where the board can be explored; None for what is no board, an empty one, or a reader's own."""
        is_board = self.view.table.name.startswith("leaderboard/") and self.view.table.rows and not self.view.explore
        return f"{self.view.address}/explore" if is_board and self.view.snapshot is not None else None

    @property
    def hidden(self) -> Links:
        """Return the snapshot, if one was asked for: what every form and link of the page keeps."""
        return [(name, value) for name, value in self._kept if name == "snapshot"]

    @property
    def shown_so(self) -> Links:
        """Return how the rows are shown, which the choice of other rows keeps: their order, the columns, all at once.

        The columns of a board that is explored are fields of its form, where it could be computed.
        """
        are_fields = self.view.explore is not None and self.view.explore.columns
        return self.look.all_but_columns if are_fields else [*self.look.all_but_columns, *self.look.columns]

    @property
    def announcement(self) -> str:
        """Return what a screen reader says when the rows become other ones: how many, of what, in which order."""
        of_whom = ", ranked anew as a reader chose" if "choice" in self.table.meta else ""
        column = next((each for each in self.view.table.columns if each.name == self.look.sorted_by), None)
        order = "descending" if self.look.descending else "ascending"
        sorted_so = "" if column is None else f", by {column.title}, {order}"
        return f"{rows_in_words(len(self.table.rows))}{of_whom}{sorted_so}."

    @property
    def is_pairwise(self) -> bool:
        """Say whether the rows are pairs."""
        return is_pairwise(self.table)

    @property
    def caption(self) -> str:
        """Return what the rows are."""
        if not self.is_pairwise:
            if self.paging is not None:
                return self.paging.caption
            n_shown, n_all = len(self.rows), len(self.table.rows)
            count = rows_in_words(n_all)
            return count if n_shown == n_all else f"The first {n_shown:,} of {count}; the CSV has all of them"
        n_shown, n_pairs, n_all = len(self.rows), len(self._pairs), len(self.table.rows)
        count = f"{n_pairs:,} pairs" if n_shown == n_pairs else f"The first {n_shown:,} of {n_pairs:,} pairs"
        return f"{count}, as A the one that wins more over all; the CSV has all of them in both orders ({n_all:,} rows)"

    @cached_property
    def rows(self) -> Sequence[Sequence[Cell]]:
        """Return the rows that are shown: of pairs each one once, as both orders say the same, and not too many."""
        if self.paging is not None:
            return self.table.rows[self.paging.first - 1 : self.paging.last]
        return self._pairs[:MAX_PAIRS] if self.is_pairwise else self.table.rows[: self.view.most_rows]

    @cached_property
    def paging(self) -> Paging | None:
        """Return which rows of a long table are shown; None where all of them are, or the first of a few."""
        if self.is_pairwise or self.view.most_rows is not None:
            return None
        chosen = [value for _, value in self.look.columns]
        shown = [each for each in self.table.columns if each.name in chosen or not (chosen or each.detail)]
        return page_of(
            self.asked, len(self.table.rows), rows_of_page(self.table.columns if self.look.has_detail else shown)
        )

    @cached_property
    def _pairs(self) -> Sequence[Sequence[Cell]]:
        return each_pair_once(self.table)

    @property
    def matrix(self) -> Matrix | None:
        """Return the square of a pairwise table."""
        return build_matrix(self.table)

    @cached_property
    def tally(self) -> list[Count]:
        """Return how many results were attempted, included, imputed, leaked and failed; nothing of some rows alone."""
        return [] if self.filter_note else tally(self.table)

    @cached_property
    def leader_sentence(self) -> str | None:
        """Return who may be the best; nothing where only some rows are shown, as others may be too."""
        return None if self.filter_note else leader_sentence(self.table)

    @property
    def filter_note(self) -> Sequence[str]:
        """Return the note that says which rows are shown, where a reader filtered them; else nothing."""
        return self.view.table.notes[:1] if "n_rows" in self.view.table.meta else ()

    @cached_property
    def tier_starts(self) -> frozenset[int]:
        """Return the rows that begin a group set apart from the rows above."""
        return tier_starts(self.table, self.rows)

    @cached_property
    def apart(self) -> Apart | None:
        """Return the heading over the rows without a rank."""
        return apart(self.table, self.rows)

    @property
    def withdrawn(self) -> Sequence[Mapping[str, Any]]:
        """Return the latest withdrawals whose entrants are not on this board, with their public reasons."""
        if self.view.snapshot is None or not self.view.table.name.startswith("leaderboard/"):
            return ()
        table = self.view.table
        shown = {row[table.index("entrant")] for row in table.rows} if "entrant" in table.column_names() else set()
        gone = [each for each in self.view.snapshot.withdrawals if not shown.issuperset(each["entrants"])]
        return sorted(gone, key=lambda each: str(each["at"]), reverse=True)[:MAX_WITHDRAWN]

    @property
    def legend(self) -> list[tuple[str, Entry]]:
        """Return the meaning of the columns."""
        return legend([shown.column for shown in self.columns], self.table)

    @property
    def _kept(self) -> Links:
        return [(name, value) for name, value in self.asked if name in KEPT and value]
