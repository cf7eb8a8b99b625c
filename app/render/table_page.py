"""The page of any table: its view, order, filters, paging, form of choices, and the sentences above it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

from app.boards.entrant_fields import Condition, Values, Wish, offered_bounds, offered_values
from app.boards.explore import Choice, groups_named, listed_tasks, weighed_groups
from app.boards.standing import MOST_PAIRED
from app.boards.statement import NAMED, beside_choice, flags_in_words
from app.db.models import Snapshot
from app.errors import FieldRejected, Problem
from app.kinds.contract import NO_FACTS, PageFacts
from app.manifest.model import EntrantField, Leaderboard, Manifest, Task
from app.names import clip_for_message, count, first_few, group_in_words, in_words
from app.render.board import BoardRows, Surroundings, flagged_entrants
from app.render.columns import (
    FOR_PROGRAMS,
    Matrix,
    ShownColumn,
    TaskMap,
    build_matrix,
    build_side_by_side,
    build_task_map,
    each_pair_once,
    is_pairwise,
    shown_columns,
)
from app.render.drawings import Drawing, Drawings, build_drawings
from app.render.glossary import brief_of, glossary_entries
from app.render.html import Links, Page
from app.render.text import compact, format_number, in_format, known_anchor, path_of_name, rows_in_words, two_digits
from app.values.facts import FLAGS
from app.values.glossary import GlossaryEntry
from app.values.table import Cell, Column, Table

COLUMNS = ("task", "class", "entrant")

KEPT = (
    "snapshot", *COLUMNS, "pin", "q", "among", "group", "weight", "baseline", "x", "y", "a", "b", "better", "column",
    "field", "fields_to",
)  # fmt: skip
"""What says which rows are meant; it goes with a reader from one view of a table to the next."""

MAX_WITHDRAWN = 20

MOST_PINNED = 20

FIRST_PLACES = 10
"""So many rows of its first board are on the page of a benchmark."""

MOST_LOST = 8
"""So many other boards are named on which somebody else is first."""

MAPPED = 50
"""As many entrants by tasks are a page."""

CHOSEN = {"q": "“{}” in the name", "field": "{}", "group": "{}", "task": "task: {}", "weight": "{}",
          "entrant": "{}", "baseline": "relative to {}"}  # fmt: skip
"""What is said of a reader's choices, by the name in the address."""

MOST_CHOSEN = 12

MOST_FILTERS = 3
"""More menus take a line of their own; the page of the explored board has all."""

LISTED_PAIRS = 60
"""More pairs than these are read in the square, in the CSV, or two by two at /against."""

MAX_PAIRS = 900
"""More pairs than 40 entrants make are not read one by one: two of them are chosen at /against, and the CSV has all."""


@dataclass(frozen=True)
class RowChoice:
    """One field of the form that narrows a table: every value of a column, and whether it is chosen.

    `shown_as` are the words of a value where they are others. Of one that `is_one` a value always holds.
    `all_of_them` is what it says where none is chosen, by default how many values there are. What `is_shown` is ticked
    without having been asked for.
    """

    name: str
    title: str
    values: Sequence[tuple[str, bool]]
    shown_as: Mapping[str, str] = field(default_factory=dict)
    is_one: bool = False
    all_of_them: str = ""
    is_shown: bool = False

    @property
    def is_asked(self) -> bool:
        """Say whether some of the values are chosen."""
        return not self.is_one and not self.is_shown and any(is_chosen for _, is_chosen in self.values)


# A table with its drawings inside the page of another table, as the pages of entrants and tasks have them.


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
        """Return the drawings of the table."""
        return build_drawings(self.table)

    @property
    def caption(self) -> str:
        """Return the table's notes, or how long it is."""
        return " ".join(self.table.notes) or rows_in_words(len(self.table.rows))


# The form by which a reader filters a board and has it computed anew, without scripts.
#
# Choices that are too many to offer can still be written into an address.


@dataclass(frozen=True)
class TickBox:
    """A value that can be chosen, the words that it is shown in, whether it is chosen, and what it means."""

    value: str
    words: str
    is_chosen: bool
    meaning: str = ""


@dataclass(frozen=True, kw_only=True)
class ExploreForm:
    """The fields. `groups` are by the column that they are of, `named` the entrants that are chosen by name.

    `weights` are by what can be weighted, each with the weights offered, the current one among them.
    """

    text: str
    among: bool
    groups: Sequence[tuple[str, Sequence[TickBox]]]
    tasks: Sequence[TickBox]
    weights: Sequence[tuple[str, Sequence[TickBox]]]
    baselines: Sequence[TickBox]
    named: Collection[str]
    is_choice: bool
    wish: Wish = field(default_factory=Wish)
    values: Sequence[tuple[str, Sequence[TickBox]]] = ()
    bounds: Sequence[tuple[str, Sequence[TickBox], Sequence[TickBox]]] = ()

    @property
    def has_more(self) -> bool:
        """Say whether there is more to choose than entrants."""
        return bool(self.groups or self.tasks or self.weights or self.baselines)

    @property
    def is_open(self) -> bool:
        """Say whether anything is chosen."""
        ticks = [*self.tasks, *self.baselines, *(tick for _, group in self.groups for tick in group)]
        return any(tick.is_chosen for tick in ticks) or any(t.is_chosen for _, offered in self.weights for t in offered)

    def with_fields(self, fields: Sequence[EntrantField], values: Values, wish: Wish) -> "ExploreForm":
        """Return the form with what entrants are said to be: values to tick, and bounds to choose among."""
        listed, bounds = [], []
        for each in fields:
            own = [condition for condition in wish.conditions if condition.field.name == each.name]
            if each.type in ("number", "integer", "date"):
                low, high = (_steps_of(each, values, sign, own) for sign in (">=", "<="))
                bounds += [(each.words, low, high)] if low or high else []
            elif each.type != "url":
                ticks = _ticks_of(each, values, own)
                listed += [(each.label, ticks)] if ticks else []
        return replace(self, wish=wish, values=listed, bounds=bounds)


# The view that the page, the CSV and the JSON of a table are made from, so that the three cannot disagree.


@dataclass(frozen=True)
class TableView:
    """A table at its address, with what is shown around it: leaderboard, pairwise, tasks, one task, one entrant.

    `version` is the manifest's. `trail` are the breadcrumbs and `links` the related addresses, both as (text, address).
    `row_links` makes the address of a cell from its text, by column name. `facts` is what each page of the benchmark
    says. `choices` are the fields of the form that narrows the rows. `drawn` is the table whose drawings are shown,
    where it is another one. `explore` is the form of a board that a reader explores. `panels` are
    further tables that stand before its own, which has the heading `panel_rest` then. `most_rows` are shown where the
    picture says what a page of rows would not. `card` is the absolute address of the picture that previews it. `frame`
    is where a table of a board stands among the others; `ranked` are the rows of the board that the table is about.
    `fields_to` is the last change of entrants' fields that the table has, which a permanent address names. `filters`
    are what entrants are said to be, to choose from.
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
    choices: Sequence[RowChoice] = ()
    drawn: Table | None = None
    explore: ExploreForm | None = None
    panels: Sequence[Panel] = ()
    panel_rest: str = ""
    most_rows: int | None = None
    card: str = ""
    frame: Surroundings | None = None
    fields_to: int | None = None
    ranked: Table | None = None
    filters: Sequence[tuple[str, Sequence[TickBox]]] = ()

    def drawings(self) -> Sequence[Drawing]:
        """Return everything that the page draws: of its own table first, then of each panel."""
        own = build_drawings(self.drawn or self.table).shown
        return [*own, *(drawing for panel in self.panels for drawing in panel.drawings.shown)]


@dataclass(frozen=True)
class Look:
    """What a query says of how rows are shown, whichever rows they are: their order, their columns, all at once.

    >>> Look([("q", "gr"), ("sort", "rank"), ("order", "desc"), ("page", "2")]).order
    [('sort', 'rank'), ('order', 'desc')]
    """

    asked: Links

    @property
    def sorted_by(self) -> str | None:
        """Return the column by which the rows are sorted, if the query names one."""
        return self._query.get("sort") or None

    @property
    def descending(self) -> bool:
        """Say whether the largest comes first. Raises FieldRejected for an order that there is not."""
        return is_descending(self._query.get("order"))

    @property
    def columns(self) -> Links:
        """Return the columns that the query names, as pairs of the query."""
        return [(name, value) for name, value in self.asked if name == "column" and value]

    @property
    def has_detail(self) -> bool:
        """Say whether every column is shown."""
        return self._query.get("detail") == "1" and not self.columns

    @property
    def asks_for_rows(self) -> bool:
        """Say whether the query is about single rows: their order, or their columns."""
        return bool(self.sorted_by or self.columns or self.has_detail)

    @property
    def order(self) -> Links:
        """Return the order, and whether all rows are on one page; a page's number is about the rows shown now."""
        names = ("sort", "order") if self.sorted_by else ()
        sorted_so = [(name, self._query[name]) for name in names if self._query.get(name)]
        return [*sorted_so, ("page", EVERY)] if self._query.get("page") == EVERY else sorted_so

    @property
    def all_but_columns(self) -> Links:
        """Return the part of the query that a choice of columns keeps."""
        return [*self.order, ("detail", "1")] if self.has_detail else self.order

    def toggle(self, rows: Links) -> tuple[str, str]:
        """Return the link to every column of the same rows, or back to the usual ones."""
        if self.has_detail:
            return "Fewer columns", "?" + urlencode([*rows, *self.order])
        return "All columns", "?" + urlencode([*rows, *self.order, ("detail", "1")])

    @cached_property
    def _query(self) -> dict[str, str]:
        return dict(self.asked)


@dataclass(frozen=True)
class Count:
    """One total of a board: `text` results were `word`; `glossary` is the anchor that explains it."""

    text: str
    word: str
    glossary: str


@dataclass(frozen=True)
class UnrankedHeading:
    """The heading over the rows without a rank: before which row it is, its words, and the columns it replaces."""

    start: int
    words: str
    shown_elsewhere: tuple[str, ...]


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
            chosen = {name for _, name in self.look.columns} | always_shown(self.table)
            return [shown for shown in shown_columns(self.table, detail=True) if shown.column.name in chosen]
        return shown_columns(
            self.table, detail=self.look.has_detail, shown_elsewhere=self.apart.shown_elsewhere if self.apart else ()
        )

    @cached_property
    def drawings(self) -> Drawings:
        """Return the drawings of the table."""
        return build_drawings(self.view.drawn or self.view.table)

    def sort(self, name: str) -> str:
        """Return the address of this table sorted by a column."""
        return sort_address(self.asked, self.view.table.columns[self.view.table.index(name)])

    @property
    def links(self) -> Links:
        """Return the related addresses, where no frame shows them."""
        return () if self.view.frame else [*self.view.links, *self.exports]

    @property
    def exports(self) -> Links:
        """Return the same rows in other formats."""
        kept, address = self._kept, self.view.address
        suffix = "?" + urlencode(kept) if kept else ""
        return [("CSV", f"{address}.csv{suffix}"), ("JSON", f"{address}.json{suffix}")]

    @property
    def toggle(self) -> tuple[str, str]:
        """Return the link to every column of the same rows, or back to the usual ones."""
        return self.look.toggle([(name, value) for name, value in self._kept if name != "column"])

    @property
    def permalink(self) -> str:
        """Return the address that always gives these rows: the one that names the snapshot."""
        if self.view.snapshot is None:
            return self.here
        change = [] if self.view.fields_to is None else [("fields_to", str(self.view.fields_to))]
        query = [("snapshot", str(self.view.snapshot.number)), *change, *self._but_snapshot]
        return f"{self.view.address}?{urlencode(query)}"

    @property
    def here(self) -> str:
        """Return the address of these rows in whatever snapshot is the current one."""
        return f"{self.view.address}?{urlencode(self._but_snapshot)}" if self._but_snapshot else self.view.address

    @property
    def is_kept(self) -> bool:
        """Say whether the query names a snapshot: an earlier state, as far as a page that is kept can know."""
        return self.view.snapshot is not None and "snapshot" in dict(self.hidden)

    @property
    def first_badge(self) -> str:
        """Return the address of the badge of who is first; nothing where nobody is, or for a reader's own board."""
        if self.view.explore:
            return ""
        first = next((row for row in self.table.records() if row.get("rank") == 1), None)
        return "" if first is None else f"{self.view.address}/badge/{path_of_name(str(first['entrant']))}.svg"

    def data_address(self, ending: str) -> str:
        """Return the address that always gives these rows in another format."""
        return in_format(self.permalink, ending)

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
    def filters(self) -> Sequence[tuple[str, Links]]:
        """Return what a board can be filtered by at once, its groups of tasks and fields: where each choice leads.

        On an explored board a choice is added to those that were made.
        """
        there = self.view.address if self.view.explore else self.explore_address
        if there is None:
            return ()
        kept = [*self.hidden, *self.shown_so]
        if self.view.explore:
            kept = [(name, value) for name, value in self.asked if value and name != "page"]
        # On an explored board the form has the groups.
        groups = () if self.view.explore else self.table.meta.get("groups", ())
        offered = [(self.view.facts.nouns.say("Tasks"), [("group", name, name) for name in groups])] if groups else []
        offered += [
            (title, [("field", tick.value, tick.words) for tick in ticks]) for title, ticks in self.view.filters
        ]
        return [(title, [(words, f"{there}?{urlencode([*kept, (name, value)])}") for name, value, words in each])
                for title, each in offered[:MOST_FILTERS]]  # fmt: skip

    @property
    def chosen(self) -> Links:
        """Return what a reader chose on an explored board, each with the address of the board without it."""
        asked = [(name, value) for name, value in self.asked if value and name != "page"]
        wish = self.view.explore.wish.conditions if self.view.explore else ()
        told = dict(zip((value for name, value in asked if name == "field"), wish, strict=False))
        listed = []
        for at, (name, value) in enumerate(asked):
            if name in CHOSEN:
                words = told[value].words if name == "field" and value in told else value.replace("=", " × ")
                words = group_in_words(words) if name in ("group", "weight") else words
                others = urlencode(asked[:at] + asked[at + 1 :])
                listed.append((CHOSEN[name].format(words), f"{self.view.address}?{others}"))
        columns = count(len(self.look.columns), "column") if self.look.columns else ""
        others = urlencode([(name, value) for name, value in asked if name != "column"])
        return [*([(f"{columns} chosen", f"{self.view.address}?{others}")] if columns else []), *listed[:MOST_CHOSEN]]

    @property
    def hidden(self) -> Links:
        """Return the snapshot, if the query names one; every form and link of the page keeps it."""
        return [(name, value) for name, value in self._kept if name in ("snapshot", "fields_to")]

    @property
    def shown_so(self) -> Links:
        """Return how the rows are shown, which a choice of other rows keeps: their order, the columns, all at once."""
        return [*self.look.all_but_columns, *self.look.columns]

    @property
    def announcement(self) -> str:
        """Return what a screen reader says when the rows change: how many, of what, in which order."""
        n_all = self.table.meta.get("n_rows")
        of_whom = ", ranked anew as a reader chose" if "choice" in self.table.meta else ""
        of_whom = f" of {n_all:,}{of_whom}" if n_all and of_whom else of_whom
        column = next((each for each in self.view.table.columns if each.name == self.look.sorted_by), None)
        order = "descending" if self.look.descending else "ascending"
        sorted_so = "" if column is None else f", by {column.title}, {order}"
        return f"{rows_in_words(len(self.table.rows))}{of_whom}{sorted_so}."

    @cached_property
    def pinned(self) -> Sequence[Sequence[Cell]]:
        """Return the rows that the query has above the others, to compare them with each other."""
        asked = {value for name, value in self.asked if name == "pin"}
        at = self.table.index("entrant") if asked and self.board else 0
        return [row for row in self.table.rows if row[at] in asked][:MOST_PINNED] if asked and self.board else []

    @property
    def is_board(self) -> bool:
        """Say whether the table ranks entrants, as a board or as a reader's own."""
        return self.table.name.partition("/")[0] in ("leaderboard", "explore", "draft")

    @cached_property
    def board(self) -> BoardRows | None:
        """Return the rows of a board as its page draws them; None where every column is asked for."""
        is_ranked = self.is_board or self.table.name.startswith("letters/")
        if self.look.has_detail or not is_ranked or not {"rank", "entrant"} <= set(self.table.column_names()):
            return None
        is_by_rank = self.look.sorted_by in (None, "rank") and not self.look.descending
        start, says_why = (self.apart.start, not self.apart.shown_elsewhere) if self.apart else (None, True)
        return BoardRows(
            self.table, self.rows, start, is_by_rank, says_why, self._chosen_columns, self.view.facts.nouns
        )

    @property
    def _chosen_columns(self) -> frozenset[str]:
        return frozenset(name for _, name in self.look.columns)

    @property
    def column_choices(self) -> Sequence[TickBox]:
        """Return the columns that an explored board can show, those shown ticked and first, each with its meaning.

        Nothing of another page, and of a board that could not be computed.
        """
        if not self.view.explore or not self.table.columns:
            return ()
        board = self.board
        listed = [*board.groups, *board.others] if board else self.columns
        shown, fixed = {each.column.name for each in listed}, {*FOR_PROGRAMS, *always_shown(self.table)}
        ticks = [TickBox(each.name, each.title, each.name in shown, brief_of(each.glossary))
                 for each in self.table.columns if each.name not in fixed]  # fmt: skip
        return sorted(ticks, key=lambda tick: not tick.is_chosen)

    @property
    def but_columns(self) -> Links:
        """Return what a choice of columns keeps of the query: everything but columns, and the page of the rows."""
        asked = [(name, value) for name, value in self.asked if value and name not in ("column", "detail")]
        return [(name, value) for name, value in asked if name != "page" or value == EVERY]

    @property
    def is_pairwise(self) -> bool:
        """Say whether the rows are pairs."""
        return is_pairwise(self.table)

    @property
    def caption(self) -> str:
        """Return how many rows are shown, of how many, and what they are."""
        if not self.is_pairwise:
            if self.paging is not None:
                return self.paging.caption
            n_shown, n_all = len(self.rows), len(self.table.rows)
            rows = rows_in_words(n_all)
            return rows if n_shown == n_all else f"The first {n_shown:,} of {rows}; the CSV has all of them"
        n_shown, n_pairs, n_all = len(self.rows), len(self._pairs), len(self.table.rows)
        pairs = count(n_pairs, "pair")
        shown = pairs if n_shown == n_pairs else f"The first {n_shown:,} of {pairs}"
        return f"{shown}, as A the one that wins more over all; the CSV has all of them in both orders ({n_all:,} rows)"

    @cached_property
    def rows(self) -> Sequence[Sequence[Cell]]:
        """Return the rows that are shown: of pairs each one once, as both orders say the same, and not too many."""
        if self.is_map:
            return ()
        if self.paging is not None:
            return self.table.rows[self.paging.first - 1 : self.paging.last]
        return self._pairs[:MAX_PAIRS] if self.is_pairwise else self.table.rows[: self.view.most_rows]

    @cached_property
    def paging(self) -> Paging | None:
        """Return which rows of a long table are shown; None where all of them are, or the first of a few."""
        if self.is_pairwise or (self.view.most_rows is not None and not self.is_map):
            return None
        if self.is_map:
            return page_of(
                self.asked, len(self._mapped), Paged(self.view.facts.nouns.say("entrants"), MAPPED, every=False)
            )
        chosen = [value for _, value in self.look.columns]
        # A group of tasks has no whisker: its interval is in the title of its cell.
        groups = [f"mean:{group}" for group in self.table.meta.get("groups", ())]
        shown = [replace(each, interval=None) if each.name in groups else each for each in self.table.columns
                 if each.name in (chosen or groups) or not (chosen or each.detail)]  # fmt: skip
        return page_of(
            self.asked, len(self.table.rows), rows_of_page(self.table.columns if self.look.has_detail else shown)
        )

    @property
    def is_map(self) -> bool:
        """Say whether the rows are entrants on tasks, shown as a square where no order is asked for."""
        return self.table.name.startswith("matrix/") and bool(self.table.columns) and not self.look.asks_for_rows

    @cached_property
    def _mapped(self) -> Sequence[str]:
        at = self.table.index("entrant")
        return list(dict.fromkeys(str(row[at]) for row in self.table.rows))

    @cached_property
    def task_map(self) -> TaskMap | None:
        """Return entrants by tasks, some at a time."""
        if not self.is_map:
            return None
        shown = self._mapped if self.paging is None else self._mapped[self.paging.first - 1 : self.paging.last]
        caption = self.view.facts.nouns.say(f"{len(shown):,} entrants") if self.paging is None else self.paging.caption
        return build_task_map(self.table, shown, caption)

    @cached_property
    def ranked(self) -> BoardRows | None:
        """Return the rows of the board that another table is about."""
        table = self.view.ranked
        return BoardRows(table, table.rows, nouns=self.view.facts.nouns) if table is not None and table.rows else None

    @property
    def side_by_side(self) -> TaskMap | None:
        """Return the tasks with a cell for each of some entrants, the better ones darker."""
        if not self.table.name.startswith("compare/") or not self.table.columns or self.look.asks_for_rows:
            return None
        return build_side_by_side(self.table)

    @property
    def saved_drawings(self) -> bool:
        """Say whether a picture can be saved that the page shows as a table."""
        is_table = self.task_map is not None or (self.board is not None and not self.is_board)
        return is_table and any(each.is_saved for each in self.drawings.shown)

    @property
    def shows_rows(self) -> bool:
        """Say whether the rows are listed: of pairs that the square shows only a few."""
        return not self.is_pairwise or self.matrix is None or len(self._pairs) <= LISTED_PAIRS

    @cached_property
    def _pairs(self) -> Sequence[Sequence[Cell]]:
        return each_pair_once(self.table)

    @cached_property
    def matrix(self) -> Matrix | None:
        """Return the square of a pairwise table."""
        return build_matrix(self.table)

    @cached_property
    def tally(self) -> list[Count]:
        """Return how many results were attempted, included, imputed, leaked and failed; nothing of some rows alone."""
        return [] if self.filter_note else tally(self.table)

    @cached_property
    def statement(self) -> Sequence[str]:
        """Return who may be the best, in sentences; nothing where only some rows are shown, as others may be too."""
        if self.filter_note:
            return self.filter_note
        return list(self.table.meta.get("statement", ()))

    @cached_property
    def said_above(self) -> Sequence[str]:
        """Return the statement as it stands above the rows, where a note says of a reader's choice whose it is."""
        return self.filter_note or beside_choice(self.table.meta)

    @property
    def guide(self) -> str:
        """Return what a reader must know before the rows: of a board only that its benchmark is retired."""
        facts = self.view.facts
        return (facts.guide or "") if facts.is_retired or not self.is_board else ""

    @property
    def chips(self) -> Sequence[tuple[str, str, str]]:
        """Return what a board rests on, each in a few words with the sentence behind them, and where more is said."""
        chips = board_chips(self.view.frame.measures if self.view.frame else "", self.table, self.tally)
        headings = dict(self.known)
        where = next((known_anchor(each) for each in (MISSING, "Results") if each in headings), "")
        say = self.view.facts.nouns.say
        return [(say(words), say(why), where if words.endswith(LOST) else "") for words, why in chips]

    @cached_property
    def known(self) -> "Sequence[tuple[str, Sequence[str | FoldedLine]]]":
        """Return how the board is known: headings, each with its lines."""
        # What stands above the rows of a choice is not said again.
        n_above = len(self.filter_note) + bool({"choice", "last_good"} & set(self.table.meta))
        known = how_it_is_known(self.table, self.said_above, self.table.notes[n_above:], self.board)
        guide = self.view.facts.guide
        told = [("News", self.view.frame.news)] if self.view.frame and self.view.frame.news else []
        return [*told, *known, *([("What may be claimed", [guide])] if guide and not self.guide else [])]

    @property
    def filter_note(self) -> Sequence[str]:
        """Return the note that says which rows are shown, where a reader filtered them; else nothing."""
        return self.view.table.notes[:1] if "n_rows" in self.view.table.meta else ()

    @cached_property
    def tier_starts(self) -> frozenset[int]:
        """Return the rows that begin a group set apart from the rows above."""
        return tier_starts(self.table, self.rows)

    @cached_property
    def apart(self) -> UnrankedHeading | None:
        """Return the heading over the rows without a rank."""
        found, say = apart(self.table, self.rows), self.view.facts.nouns.say
        return None if found is None else replace(found, words=say(found.words))

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
    def legend(self) -> list[tuple[str, GlossaryEntry]]:
        """Return the meaning of the columns."""
        if self.board is None:
            return (
                [] if self.task_map or self.side_by_side else legend([each.column for each in self.columns], self.table)
            )
        ranked = [each for each in self.table.columns if each.name in ("rank", "may_be_first", "flags", "n_leaked")]
        shown = [self.board.score, *self.board.others] if self.board.score else self.board.others
        # A flag of a row is a mark with its words, and its name only where a reader chose that column.
        has_names = any(each.column.name == "flags" for each in shown)
        return legend([*ranked, *(each.column for each in shown)], self.table, has_flag_names=has_names)

    @property
    def _but_snapshot(self) -> Links:
        return [(name, value) for name, value in self._kept if name not in ("snapshot", "fields_to")]

    @property
    def _kept(self) -> Links:
        return [(name, value) for name, value in self.asked if name in KEPT and value]


# How a reader asked to see a table: sorted by a column, with or without its detail columns.

ORDERS = ("asc", "desc")


def always_shown(table: Table) -> frozenset[str]:
    """Return the columns that a page shows whichever a reader chooses: a row without them says nothing of anybody."""
    return frozenset({"rank", "entrant", str(table.meta.get("rank_by"))}) if "entrant" in table.column_names() else (
        frozenset())  # fmt: skip


def sort_table(table: Table, column: str | None, *, descending: bool) -> Table:
    """Return the table sorted by a column, nulls last. Raises FieldRejected for an unknown column.

    One that could not be computed has no columns, and stays as it is: it says why.
    """
    if column is None or not table.columns:
        return table
    if column not in table.column_names():
        names = ", ".join(table.column_names())
        problem = Problem(f"expected one of {names}", column="sort", value=clip_for_message(column))
        raise FieldRejected("The table cannot be sorted by that column.", [problem])
    at = table.index(column)
    filled = [row for row in table.rows if row[at] is not None]
    empty = [row for row in table.rows if row[at] is None]
    ordered = sorted(filled, key=lambda row: _sort_key(row[at]), reverse=descending)
    return replace(table, rows=(*ordered, *empty))


def only_columns(table: Table, names: Sequence[str]) -> Table:
    """Return some columns of a table, in its order; all of them where none is named. Raises FieldRejected."""
    if not names or not table.columns:
        return table
    header = table.column_names()
    problems = [
        Problem(f"expected one of {', '.join(header)}", column="column", value=clip_for_message(name))
        for name in names
        if name not in header
    ]
    if problems:
        raise FieldRejected("The table has no such column.", problems)
    at = [place for place, name in enumerate(header) if name in names]
    columns = tuple(table.columns[place] for place in at)
    # The ends of an interval may be among those that are left out.
    shown = tuple(c if set(c.interval or ()) <= set(names) else replace(c, interval=None) for c in columns)
    return replace(table, columns=shown, rows=tuple(tuple(row[place] for place in at) for row in table.rows))


def is_descending(order: str | None) -> bool:
    """Say whether the largest comes first. Raises FieldRejected for an order that is neither."""
    if order and order not in ORDERS:
        problem = Problem(f"expected {' or '.join(ORDERS)}", column="order", value=clip_for_message(order))
        raise FieldRejected("The table cannot be sorted in that order.", [problem])
    return order == "desc"


def sort_address(query: Sequence[tuple[str, str]], column: Column) -> str:
    """Return the query that sorts by a column: its better end first, and the other way round the second time."""
    first = "desc" if column.direction == "maximize" or column.kind == "flag" else "asc"
    other = {"asc": "desc", "desc": "asc"}
    now = dict(query)
    order = other[first] if now.get("sort") == column.name and now.get("order", "asc") == first else first
    # In another order other rows are on the page that is shown.
    kept = [(n, v) for n, v in query if v and (n not in ("sort", "order", "page") or (n, v) == ("page", EVERY))]
    return "?" + urlencode([*kept, ("sort", column.name), ("order", order)])


def _sort_key(cell: Cell) -> tuple[float, str]:
    return (0.0, cell.lower()) if isinstance(cell, str) else (float(cell or 0), "")


# Rows about some tasks, classes or entrants only: what ?task=, ?class= and ?entrant= leave of a table.

SHOWN = 8

Wanted = Mapping[str, Sequence[str]]


def narrow_table(table: Table, wanted: Wanted) -> Table:
    """Return the rows whose columns have one of the wanted values; a note says what no row has."""
    chosen = {name: values for name, values in wanted.items() if values}
    places = {name: table.index(name) for name in chosen if name in table.column_names()}
    notes = [_no_column(name) for name in chosen if name not in places]
    notes += [note for name, at in places.items() for note in _unknown(table, name, at, chosen[name])]
    rows = tuple(row for row in table.rows if all(row[at] in chosen[name] for name, at in places.items()))
    return replace(table, rows=rows, notes=(*table.notes, *notes))


def _no_column(name: str) -> str:
    return f"This table does not tell one {name} from another: ?{name}= narrows nothing."


def _unknown(table: Table, name: str, at: int, chosen: Sequence[str]) -> list[str]:
    present = dict.fromkeys(str(row[at]) for row in table.rows)
    few = first_few(list(present), SHOWN) or "no rows"
    return [
        f"No row has the {name} {clip_for_message(value)}; there are {few}."
        for value in dict.fromkeys(chosen)
        if value not in present
    ]


def choices(table: Table, wanted: Wanted) -> list[RowChoice]:
    """Return the fields of the form: a column with one value alone leaves nothing to choose."""
    fields = []
    for column in table.columns:
        if column.name in COLUMNS:
            at = table.index(column.name)
            values = dict.fromkeys(str(row[at]) for row in table.rows)
            if len(values) > 1:
                chosen = wanted.get(column.name, ())
                fields.append(RowChoice(column.name, column.title, [(value, value in chosen) for value in values]))
    return fields


# What a reader must know beside a table's numbers: what is missing, which differences are settled, what words mean.

# In the order in which a row passes through them.
COUNTS = (
    ("n_attempted", "attempted", "coverage"),
    ("n_included", "included", "coverage"),
    ("n_absent", "absent", "coverage"),
    ("n_failed", "without a value", "coverage"),
    ("n_not_asked", "not asked", "coverage"),
    ("num_failures", "failed", "num_failures"),
    ("n_imputed", "imputed", "n_imputed"),
    ("n_leaked", "leaked", "n_leaked"),
)

ALWAYS = ("attempted", "included", "absent")

REASONS = ("unranked_because", "label")
"""The columns that say why an entrant has no rank."""


def tally(table: Table) -> list[Count]:
    """Return the totals over a board's rows: cells that were asked, their outcomes, and cells that were not asked.

    Nothing absent is worth saying; of what else may go wrong only what did is shown. What a board's method calls failed
    is absent or without a value: it is counted once.
    """
    names = set(table.column_names())
    if "n_absent" in names:
        names.discard("num_failures")
    counts = [Count(_total(table, name), word, anchor) for name, word, anchor in COUNTS if name in names]
    return [count for count in counts if count.text != "0" or count.word in ALWAYS]


def _total(table: Table, name: str) -> str:
    at = table.index(name)
    return format_number(sum(cell for row in table.rows if isinstance(cell := row[at], int)), 0)


MISSING = "Missing results"

LOST = ("missing", "imputed", "without a value")
"""The counts of a board whose chip leads to whose results these are."""

# Words by which a note is recognised, in the order in which they are looked for.
HEADINGS = (
    ("Leaks", ("leak", "seen data", "seen a task")),
    (MISSING, ("imput", "missing", "lack", " gap", "failures of", "a failure counts")),
    ("Intervals", ("interval", "resampl", "seeds", "units")),
    ("Win rates", ("win rate",)),
    ("Not ranked", ("without a rank", "label holder", "reference")),
)


MOST_UNFOLDED = 400
"""Characters of a line of what stands behind a board's ranks that is shown whole."""


class FoldedLine(NamedTuple):
    """A long line of what stands behind a board's ranks: `summary` is shown, and `text` where it is opened."""

    summary: str
    text: str


def how_it_is_known(
    table: Table, statement: Sequence[str], notes: Sequence[str], board: BoardRows | None
) -> Sequence[tuple[str, Sequence[str | FoldedLine]]]:
    """Return what stands behind a board's ranks: headings with lines, the statement first."""
    # Above a board a few are named; whom its sentences only count is named here.
    everybody = list(_all_first(table))
    said = [line for each in statement for line in (everybody if everybody and " may be first" in each else [each])]
    known: dict[str, list[str | FoldedLine]] = {"Who may be first": [*said, *_looks(table)]} if statement else {}
    if delivered := _delivered(table):
        known["Results"] = [delivered]
    for note in notes:
        known.setdefault(_heading(note), []).append(note)
    if power := _power(table):
        known["Power"] = [power]
    if other_boards := list(_other_boards(table)):
        known["Variants of the board"] = other_boards
    if flags := flagged_entrants(table):
        known["Flags"] = [f"{words[:1].upper()}{words[1:]}: {names}." for words, names in flags]
    if board is not None and board.constants:
        known["The same for all"] = ["; ".join(f"{title}: {value}" for title, value in board.constants) + "."]
    return list(known.items())


MOST_FIRST = 60


def _all_first(table: Table) -> Iterator[str]:
    """Yield the names of all who may be first, where the sentence above a board has no room for them."""
    names = [str(row["entrant"]) for row in table.records() if row.get("may_be_first")]
    if len(names) > NAMED:
        yield f"All {len(names):,} that may be first: {first_few(names, MOST_FIRST, in_words)}."


def _delivered(table: Table) -> str:
    """Return how many results were expected and delivered, and what became of the others; nothing of other tables."""
    counts = {each.word: each.text for each in tally(table)}
    if "attempted" not in counts:
        return ", ".join(f"{text} {word}" for word, text in counts.items()) + "." if counts else ""
    lost = {counts.get(word, "0") for word in ("absent", "without a value", "failed", "imputed")} - {"0"}
    said = f"{counts['attempted']} expected, {counts['included']} delivered"
    if len(lost) == 1 and counts.get("without a value") is None:
        filled = ", filled in by the board's rule" if "imputed" in counts else ""
        said += f"; {lost.pop()} missing{filled}"
        counts = {word: text for word, text in counts.items() if word not in ("absent", "failed", "imputed")}
    rest = [f"{text} {word}" for word, text in counts.items() if word not in ("attempted", "included") and text != "0"]
    return "; ".join([said, *rest]) + "."


def _looks(table: Table) -> Iterator[str]:
    """Yield how often one may look at a board for its level to hold; nothing where nothing is tested."""
    level = table.meta.get("level")
    if not isinstance(level, float) or not table.meta.get("power"):
        return
    if table.meta.get("over_snapshots"):
        yield f"{100 * level:g} % holds for all snapshots together, however often somebody looks while it grows."
    else:
        yield (
            f"{100 * level:g} % holds for one snapshot. Over many snapshots, equal entrants will sometimes look "
            "different by chance."
        )


def _other_boards(table: Table) -> Iterator[str | FoldedLine]:
    """Yield on how many other boards the first is first, and what the order hangs on; nothing where none is asked."""
    found = table.meta.get("stability")
    if not isinstance(found, Mapping) or not found.get("clause"):
        return
    each = "" if found["n_boards"] == 1 else "each "
    said = f"This board was recomputed in {count(found['n_boards'], 'variant')}, {each}with one change"
    alone = " alone" if found.get("n_shared") else ""
    n_first = "all" if found["n_first"] == found["n_boards"] else found["n_first"]
    yield f"{said}. The leader stays first{alone} in {n_first}."
    if variants := found.get("variants"):
        yield _folded("The variants", "; ".join(variants), len(variants))
    n_chosen = 1 if found.get("n_fewest") else 0
    chosen, lost = found["without"][:n_chosen], found["without"][n_chosen:]
    if lost:
        yield _folded("Somebody else is first", first_few(lost, MOST_LOST, _who_leads, "; "), len(lost))
    if chosen:
        why = "No variant, since its tasks are chosen after the fact, and as few as possible"
        yield f"{'A single task is enough' if found['n_fewest'] == 1 else why}: {_who_leads(chosen[0])}."
    if found.get("shared"):
        shared = found["shared"]
        yield _folded("The first place is shared", first_few(shared, MOST_LOST, between="; "), len(shared))


def _folded(what: str, listed: str, n: int) -> str | FoldedLine:
    """Return a sentence that lists something, behind how many there are where it is long."""
    text = f"{what}: {listed}."
    return FoldedLine(f"{what}: {n:,}", text) if len(text) > MOST_UNFOLDED else text


def _who_leads(line: Mapping[str, str]) -> str:
    return f"{in_words(line['first'])} would lead {line['what']}"


def _power(table: Table) -> str | None:
    """Return which difference the board would find, as a sentence; None where nothing is tested."""
    power, rank_by = table.meta.get("power"), table.meta.get("rank_by")
    if not isinstance(power, Mapping) or not table.rows:
        return None
    titles = {column.name: column.title for column in table.columns}
    # Of a snapshot of before that names it, the difference is in another unit than the column.
    score, share = power.get("score") or titles.get(str(rank_by), "the score"), 100 * float(power["power"])
    if "difference" not in power:
        return None
    typical, of_first = power["difference"], power.get("of_first")
    beside = ""
    if isinstance(of_first, float) and of_first != typical:
        beside = f"; for the first two {'it is' if typical is not None else 'one of'} {_said(of_first)}"
        beside += "" if typical is not None else " would"
    found = f"No difference in {score} that is possible would be found, results varying as they do here,"
    if typical is not None:
        found = f"A true difference of {_said(float(typical))} in {score} would be found here about"
    n_pairs = int(power.get("n_pairs") or 0)
    of_best = f" of the best {MOST_PAIRED}" if n_pairs > MOST_PAIRED * (MOST_PAIRED - 1) // 2 else ""
    # What stands in a gap spreads a difference more than any result does.
    of_best = f" of those{of_best} that lack nothing" if power.get("complete") else of_best
    share_of_pairs = power.get("share_of_pairs")
    of_whom = "a typical pair" if share_of_pairs is None else f"{10 * float(share_of_pairs):.0f} in 10 pairs"
    of_all = "" if n_pairs == 1 else f" for {of_whom}{of_best}, with all pairs tested simultaneously"
    return f"{found} {share:g} times in 100{of_all}{beside}."


def _said(difference: float) -> str:
    """Return a difference with two digits; below 1 never as 1, which a skill or a share cannot be."""
    said = two_digits(difference)
    return "more than 0.99" if said == "1" and difference < 1 else said


def _heading(note: str) -> str:
    text = note.lower()
    return next((heading for heading, words in HEADINGS if any(word in text for word in words)), "About this board")


def board_chips(measures: str, table: Table, counts: Sequence[Count]) -> Iterator[tuple[str, str]]:
    """Yield what a board rests on: its gaps, its tasks, how they depend on each other, how stable it is, its metric.

    Of those for which there is no room the last ones are left out: what is missing comes first.
    """
    told: set[str] = set()
    for each in sorted(counts, key=lambda each: each.word == "absent"):
        # What failed is absent, and imputed: it is said once.
        if each.word not in ("attempted", "included") and each.text not in ("0", *told):
            told.add(each.text)
            word = "missing" if each.word in ("failed", "absent") else each.word
            yield f"{each.text} {word}", f"Results {word}, over all entrants"
    n_tasks, dependence, stability = (table.meta.get(name) for name in ("n_tasks", "dependence", "stability"))
    if isinstance(dependence, Mapping) and dependence.get("n_units"):
        yield _units(dependence)
    elif isinstance(n_tasks, int):
        yield f"{n_tasks:,} tasks", "Tasks that count"
    if (
        isinstance(stability, Mapping)
        and isinstance(stability.get("n_first"), int)
        and not table.meta.get("provisional")
    ):
        alone = " alone" if stability.get("n_shared") else ""
        yield (
            f"first{alone} in {stability['n_first']:,} of {count(stability['n_boards'], 'variant')}",
            "How often the leader stays first when one thing of the board is changed: a family, a task, a weight, the "
            "metric",
        )
    if measures:
        yield measures, "What the board measures"


def _units(dependence: Mapping[str, Any]) -> tuple[str, str]:
    n_tasks, n_units = dependence.get("n_tasks"), dependence["n_units"]
    if dependence.get("unit") == "family":
        effective = dependence.get("n_effective", n_units)
        return (
            f"{count(int(n_tasks or 0), 'task')} of {count(n_units, 'family')}",
            f"Families, unequal in size, are the units: worth about {effective:.0f} of equal size"
            if round(effective) < n_units
            else "Families are the units: tasks of a family tend to agree",
        )
    if dependence.get("unit") == "cluster":
        effect = dependence.get("design_effect") or 1.0
        return (f"{dependence['n_items']:,} items of {count(n_units, 'cluster')}",
                f"They make the variance of a score {effect:.3g} times that of independent items")  # fmt: skip
    if n_units == 1:
        return "1 task", "One task does not show how much tasks vary"
    alike = f"; {dependence['n_alike']:,} of them look alike" if dependence.get("n_alike") else ""
    return f"{n_units:,} tasks, taken as independent", f"No families of tasks are declared{alike}"


def tier_starts(table: Table, rows: Sequence[Sequence[Cell]]) -> frozenset[int]:
    """Return the rows before which a group ends: all above are separable from all below.

    Empty unless the rows are in the order of their ranks: between rows sorted otherwise a line means nothing.
    """
    if not {"rank", "group"} <= set(table.column_names()):
        return frozenset()
    at = [table.index(name) for name in ("rank", "group")]
    start = first_unranked(table, rows)
    ranked = rows if start is None else rows[:start]
    places = [[cell for i in at if isinstance(cell := row[i], int)] for row in ranked]
    if any(len(place) < len(at) for place in places) or places != sorted(places, key=lambda place: place[0]):
        return frozenset()
    return frozenset(at for at in range(1, len(places)) if places[at][1] != places[at - 1][1])


def first_unranked(table: Table, rows: Sequence[Sequence[Cell]]) -> int | None:
    """Return the first of the rows without a rank; None where there are none, or where ranked ones follow."""
    if "rank" not in table.column_names():
        return None
    at = table.index("rank")
    without = [row[at] is None for row in rows]
    start = without.index(True) if True in without else len(rows)
    return start if start < len(rows) and all(without[start:]) else None


def apart(table: Table, rows: Sequence[Sequence[Cell]]) -> UnrankedHeading | None:
    """Return the heading over the shown `rows` without a rank; None where they are not together at the end of these.

    It counts all that the table has, of which `rows` may be a page. Where one word says of all of them why, it is in
    the heading instead of in a column.
    """
    start, names = first_unranked(table, rows), table.column_names()
    if start is None or "entrant" not in names:
        return None
    rank = table.index("rank")
    unranked = [row for row in table.rows if row[rank] is None]
    them = count(len(unranked), "entrant")
    for name in filter(names.__contains__, REASONS):
        reasons = {row[table.index(name)] for row in unranked}
        others = {row[table.index(name)] for row in table.rows if row[rank] is not None}
        if len(reasons) == 1 and None not in reasons and others <= {None}:
            return UnrankedHeading(start, f"Without a rank ({reasons.pop()}): {them}", (name,))
    return UnrankedHeading(start, f"Without a rank: {them}", ())


def legend(
    columns: Sequence[Column], table: Table | None = None, *, has_flag_names: bool = True
) -> list[tuple[str, GlossaryEntry]]:
    """Return the titles of the columns with the glossary entry that explains them, each entry once.

    An entry that explains several has its own title. Of the flags those are explained that are raised in the rows of
    the table, by their names where these stand in cells.
    """
    known = {entry.anchor: entry for entry in glossary_entries()}
    titles: dict[str, set[str]] = {}
    for column in columns:
        if column.glossary in known:
            titles.setdefault(column.glossary or "", set()).add(column.title)
    return [
        (
            known[anchor].term if len(named) > 1 else named.pop(),
            _on_this_board(known[anchor], columns, table, has_flag_names),
        )
        for anchor, named in titles.items()
    ]


def _on_this_board(
    entry: GlossaryEntry, columns: Sequence[Column], table: Table | None, has_flag_names: bool
) -> GlossaryEntry:
    """Return an entry as it holds for these columns: with the unit of a time, and of flags those that are raised."""
    unit = next((each.unit for each in columns if each.glossary == entry.anchor == "median_time" and each.unit), "s")
    per = unit.removeprefix("s ")
    if per == unit:
        return _as_raised(entry, table, has_flag_names)
    return replace(entry, text=f"The median over tasks of the reported seconds {per} on this board.")


def _as_raised(entry: GlossaryEntry, table: Table | None, has_names: bool) -> GlossaryEntry:
    if entry.anchor != "flags" or table is None or "flags" not in table.column_names():
        return entry
    at = table.index("flags")
    raised = {flag for row in table.rows for flag in str(row[at] or "").split()}
    known = [flag for flag in FLAGS if flag in raised]
    explained = "; ".join((f"{flag}: " if has_names else "") + flags_in_words(flag) for flag in known)
    return replace(entry, text=f"Oddities found in the results; here {explained}.") if explained else entry


MOST_TASKS = 150

MOST_WEIGHED = 60

MOST_BASELINES = 400

OFFERED = (0.0, 0.5, 2.0, 3.0, 5.0, 10.0)


def _ticks_of(field: EntrantField, values: Values, asked: Sequence[Condition]) -> list[TickBox]:
    """Return the values of a field that entrants have, with how many each; what is asked for is among them."""
    counted = {f"{field.name}={value}": f"{value} ({n})" for value, n in offered_values(field, values)}
    chosen = {condition.text for condition in asked}
    same = {text.casefold() for text in chosen}
    ticks = [TickBox(text, words, text.casefold() in same) for text, words in counted.items()]
    offered = {text.casefold() for text in counted}
    return [*ticks, *(TickBox(text, text.partition("=")[2], True) for text in chosen if text.casefold() not in offered)]


def _steps_of(field: EntrantField, values: Values, sign: str, asked: Sequence[Condition]) -> list[TickBox]:
    """Return the bounds of a field to choose from; one that is asked for is among them."""
    own = {condition.text: condition for condition in asked if condition.sign == sign}
    steps = {each.text: each for value in offered_bounds(field, values) if (each := Condition(field, sign, value))}
    ordered = sorted({**steps, **own}.values(), key=lambda each: each.value)  # type: ignore[arg-type, return-value]
    return [TickBox(each.text, _bound(each.value), each.text in own) for each in ordered]


def field_filters(fields: Sequence[EntrantField], values: Values) -> list[tuple[str, list[TickBox]]]:
    """Return what fields can be filtered by, those that are shown first: values, or of numbers and days a bound."""
    offered = []
    for each in sorted(fields, key=lambda each: not each.shown):
        if each.type in ("number", "integer", "date"):
            sign, words = ("<=", "up to") if each.type != "date" and each.direction != "maximize" else (">=", "from")
            ticks = [replace(tick, words=f"{words} {tick.words}") for tick in _steps_of(each, values, sign, ())]
        else:
            ticks = _ticks_of(each, values, ()) if each.type != "url" else []
        offered += [(each.label, ticks)] if len(ticks) > 1 else []
    return offered


def _bound(value: Cell) -> str:
    return compact(float(value)) if isinstance(value, int | float) else str(value)


def explore_form(
    manifest: Manifest, spec: Leaderboard, table: Table, text: str, choice: Choice, open_tasks: Sequence[Task] = ()
) -> ExploreForm:
    """Return the form of a board, filled in with the choice; `open_tasks` are the tasks where these are open."""
    tasks = listed_tasks(manifest, spec, open_tasks)
    groups = spec.groups_of_tasks(tasks)
    # An address may name a group without its column, as the menu of the board does.
    choice = replace(choice, groups=groups_named(choice.groups, groups))
    columns: dict[str, list[TickBox]] = {}
    for name in groups:
        column, mark, value = name.partition(":")
        words = value if mark else name
        columns.setdefault(column if mark else "Group", []).append(
            TickBox(name, f"{words} ({len(groups[name])})", name in choice.groups)
        )
    names = [task.id for task in tasks]
    weighed = _weighed(spec.weighable(tasks), names, weighed_groups(spec, tasks))
    return ExploreForm(
        text=text,
        among=bool(choice.matching),
        groups=[(column.replace("_", " "), ticks) for column, ticks in columns.items()],
        tasks=[TickBox(name, name, name in choice.tasks) for name in names] if 1 < len(names) <= MOST_TASKS else [],
        weights=[_weight(name, choice) for name in weighed[:MOST_WEIGHED]],
        baselines=_baselines(spec, table, choice),
        named=choice.entrants,
        is_choice=choice.is_made,
    )


def offers_weights(manifest: Manifest, spec: Leaderboard) -> bool:
    """Say whether the form of an explored board has weights."""
    tasks = listed_tasks(manifest, spec)
    return bool(_weighed(spec.weighable(tasks), [task.id for task in tasks], weighed_groups(spec, tasks)))


def _weighed(weighable: Collection[str] | None, tasks: Sequence[str], groups: Sequence[str]) -> list[str]:
    """Return what can be weighted in the form: groups of tasks, few tasks, or the board's own components."""
    if weighable is None or set(weighable) == set(groups):
        return list(weighable or ())
    own = [] if set(weighable) == set(tasks) and len(tasks) > MOST_WEIGHED - len(groups) else list(weighable)
    return [*groups, *own]


def _weight(name: str, choice: Choice) -> tuple[str, list[TickBox]]:
    own = choice.weights.get(name)
    offered = sorted({*OFFERED, *([] if own is None else [own])})
    return group_in_words(name), [TickBox(f"{name}={value:g}", f"{value:g}", own == value) for value in offered]


def _baselines(spec: Leaderboard, table: Table, choice: Choice) -> list[TickBox]:
    if spec.against("") is None or "entrant" not in table.column_names():
        return []
    at = table.index("entrant")
    names = sorted({*(str(row[at]) for row in table.rows), *filter(None, [choice.baseline])})[:MOST_BASELINES]
    return [TickBox(name, name, name == choice.baseline) for name in names]


def rows_matching(table: Table, text: str, within: Collection[str] | None = None, described: str = "") -> Table:
    """Return the rows with a text in the name of the entrant, of those who are as described; ranks are unchanged.

    A note says so.
    """
    if (not text and within is None) or "entrant" not in table.column_names():
        return table
    at, wanted = table.index("entrant"), text.casefold()
    kept = tuple(
        row for row in table.rows if wanted in str(row[at]).casefold() and (within is None or row[at] in within)
    )
    if len(kept) == len(table.rows):
        return table
    how = "; ".join([*([f"with “{text}” in the name"] if text else []), *([described] if described else [])])
    among = f"Ranks are of all {len(table.rows):,}{', as you chose' if 'choice' in table.meta else ''}."
    note = f"{len(kept):,} of {count(len(table.rows), 'entrant')} shown, {how}. {among}"
    return replace(table, rows=kept, notes=(note, *table.notes), meta={**table.meta, "n_rows": len(table.rows)})


# Which rows of a long table a page shows, and the addresses of the others.

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


def rows_of_page(columns: Sequence[Column]) -> Paged:
    """Return how many rows of these columns are a page: of wide ones fewer, in tens.

    >>> rows_of_page([Column("entrant", "Entrant", "text")]).of_page
    200
    >>> rows_of_page([Column(f"score{n}", "Score", interval=("low", "high")) for n in range(9)]).of_page
    100
    """
    weight = NAME_BYTES + sum(WHISKER_BYTES if column.interval else CELL_BYTES for column in columns)
    return Paged(OF_TABLES.name, max(LEAST_ROWS, min(ROWS, MOST_BYTES // weight // 10 * 10)))


def page_of(query: Sequence[tuple[str, str]], n_rows: int, paged: Paged = OF_TABLES) -> Paging | None:
    """Return the rows that a query asks for; None where all are shown. Raises FieldRejected for a page there is not."""
    n_pages, wanted = -(-n_rows // paged.of_page), dict(query).get("page") or "1"
    if (wanted == EVERY and paged.every) or n_pages <= 1:
        return None
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 9 and 1 <= int(wanted) <= n_pages):
        expected = f"expected 1 to {n_pages}{f' or {EVERY}' if paged.every else ''}"
        problem = Problem(expected, column="page", value=clip_for_message(wanted))
        raise FieldRejected(f"There is no such page of {paged.name}.", [problem])
    number = int(wanted)
    kept = [(name, value) for name, value in query if name != "page" and value]
    others = [(f"Previous {paged.name}", number - 1), (f"Next {paged.name}", number + 1)]
    links = [(text, _address(kept, str(at))) for text, at in others if 1 <= at <= n_pages]
    if paged.every:
        links.append((f"All {n_rows:,} {paged.name}", _address(kept, EVERY)))
    first = 1 + (number - 1) * paged.of_page
    return Paging(first, min(n_rows, number * paged.of_page), n_rows, links, paged.name)


def _address(query: Links, page: str) -> str:
    return "?" + urlencode([*query, ("page", page)])
