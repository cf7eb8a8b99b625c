"""A table with its drawings inside the page of another table. Made by the web for the pages of entrants and tasks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from app.render.columns import ShownColumn, shown_columns
from app.render.counts_in_words import rows_in_words
from app.render.drawings import Drawings, build_drawings
from app.values.table import Table


@dataclass(frozen=True)
class Panel:
    """A table under a heading; `links` makes the address of a cell from its text, by column name.

    One that `is_folded` shows its drawings, and its rows when they are asked for.
    """

    title: str
    table: Table
    links: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    is_folded: bool = False

    @cached_property
    def columns(self) -> Sequence[ShownColumn]:
        """Return the columns that are shown."""
        return shown_columns(self.table, detail=False)

    @cached_property
    def drawings(self) -> Drawings:
        """Return what is drawn of the table."""
        return build_drawings(self.table)

    @property
    def caption(self) -> str:
        """Return the table's notes, or how long it is."""
        return " ".join(self.table.notes) or rows_in_words(len(self.table.rows))
