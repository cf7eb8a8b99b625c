"""The pages of the site, one type each: its fields are everything that its template may use, as `page`.

Made by the web, rendered by `app.render.html`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from app.db.models import Snapshot, Submission
from app.errors import Problem
from app.manifest.manifest import Manifest
from app.manifest.parts import LabelSource
from app.render.api_page import Operation
from app.render.columns import ShownColumn, shown_columns
from app.render.drawings import Drawings
from app.render.matrix import Matrix, build_matrix, each_pair_once, is_pairwise
from app.render.narrow import Choice
from app.render.reading import Count, leader_sentence, legend, tally, tier_starts
from app.render.submit_example import SubmitExample
from app.store.benchmarks import BenchmarkSummary
from app.values.glossary_entry import Entry
from app.values.table import Cell, Table

Links = Sequence[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Page:
    """What every page has: its title. `template` is the file in `templates/`."""

    template: ClassVar[str]
    title: str


@dataclass(frozen=True, kw_only=True)
class BenchmarksPage(Page):
    """/: every benchmark with its boards."""

    template = "benchmarks.html"
    benchmarks: Sequence[BenchmarkSummary]


@dataclass(frozen=True, kw_only=True)
class BenchmarkPage(Page):
    """One benchmark: boards, rules, how to submit, the latest submissions.

    `version` is the manifest's; `publish_error` says why the last publication failed; `base` is the address
    of this server where the settings give one; `example` is a small upload that the benchmark takes; `stewards` are
    names.
    """

    template = "benchmark.html"
    manifest: Manifest
    version: int
    snapshot: Snapshot | None
    publish_error: str | None
    stewards: Sequence[str]
    publish_tries: int
    base: str
    guide: str | None
    example: SubmitExample
    submissions: Sequence[Submission]


@dataclass(frozen=True, kw_only=True)
class TablePage(Page):
    """Any table at its address: leaderboard, pairwise, tasks, one task, one entrant.

    `trail` are the breadcrumbs and `links` the related addresses, both as (text, address). `row_links` makes
    the address of a cell from its text, by column name. `sort` makes the address of this table sorted by a
    column; `sorted_by` and `descending` say how it is sorted now. `version` is the manifest's. `guide` says what may
    be claimed from a benchmark of series, `labels` whose labels predictions were held against. `choices` are the
    fields of the form that narrows the rows, `hidden` what the form keeps.
    """

    template = "table.html"
    slug: str
    table: Table
    columns: Sequence[ShownColumn]
    snapshot: Snapshot | None
    version: int | None
    trail: Links
    links: Links
    row_links: Mapping[str, Callable[[str], str]]
    sort: Callable[[str], str]
    permalink: str
    drawings: Drawings
    guide: str | None = None
    labels: LabelSource | None = None
    sorted_by: str | None = None
    descending: bool = False
    choices: Sequence[Choice] = ()
    hidden: Links = ()

    @property
    def is_pairwise(self) -> bool:
        """Say whether the rows are pairs."""
        return is_pairwise(self.table)

    @property
    def caption(self) -> str:
        """Return what the rows are."""
        if not self.is_pairwise:
            count = f"{len(self.rows):,} row{'' if len(self.rows) == 1 else 's'}"
            has_whiskers = any(shown.scale is not None for shown in self.columns)
            return f"{count}; whiskers are intervals on one scale per column" if has_whiskers else count
        n_shown, n_all = len(self.rows), len(self.table.rows)
        return f"{n_shown} pairs, as A the one that wins more over all; the CSV has both orders ({n_all} rows)"

    @property
    def rows(self) -> Sequence[Sequence[Cell]]:
        """Return the rows that are shown: of pairs each one once, as both orders say the same."""
        return each_pair_once(self.table) if self.is_pairwise else self.table.rows

    @property
    def matrix(self) -> Matrix | None:
        """Return the square of a pairwise table."""
        return build_matrix(self.table)

    @property
    def tally(self) -> list[Count]:
        """Return how many results were attempted, included, imputed, leaked and failed."""
        return tally(self.table)

    @property
    def leader_sentence(self) -> str | None:
        """Return who may be the best."""
        return leader_sentence(self.table)

    @property
    def tier_starts(self) -> frozenset[int]:
        """Return the rows that begin a group set apart from the rows above."""
        return tier_starts(self.table, self.rows)

    @property
    def legend(self) -> list[tuple[str, Entry]]:
        """Return the meaning of the columns."""
        return legend([shown.column for shown in self.columns])


@dataclass(frozen=True)
class ShownTable:
    """A table inside another page, with its notes as the caption."""

    table: Table

    @property
    def columns(self) -> Sequence[ShownColumn]:
        """Return the columns that are shown."""
        return shown_columns(self.table, detail=False)

    @property
    def caption(self) -> str:
        """Return the table's notes, or how long it is."""
        return " ".join(self.table.notes) or f"{len(self.table.rows)} rows"


@dataclass(frozen=True)
class Outcome:
    """What came of a registration in one submission: its state, its reason, its claims and deviations."""

    id: int
    status: str
    reason: str
    tables: Sequence[ShownTable]


@dataclass(frozen=True, kw_only=True)
class SubmissionPage(Page):
    """A submission as its JSON describes it, in `s`: status, reason, checks, entrants, files, history.

    `waiting` says that its state will still change by itself; `tables` are its own: averages, claims, deviations, and
    what it brought with it. `reports` lead to what is shown of each task on a page of its own.
    """

    template = "submission.html"
    s: Mapping[str, Any]
    waiting: bool
    tables: Sequence[ShownTable]
    reports: Links
    guide: str | None = None

    @property
    def steps(self) -> Sequence[str]:
        """Return the states that a submission passes on its way to the boards."""
        return ("received", "evaluated", "published")


@dataclass(frozen=True, kw_only=True)
class PreregPage(Page):
    """A preregistration as its JSON describes it, in `p`, and its bytes as `text`.

    `registered_at` is when this server received it; `outcomes` are the submissions that cite it, the newest first.
    `claims` has by benchmark the registered claims that no submission decides alone.
    """

    template = "prereg.html"
    p: Mapping[str, Any]
    text: str
    registered_at: Any
    outcomes: Sequence[Outcome]
    claims: Mapping[str, ShownTable]


@dataclass(frozen=True, kw_only=True)
class SnapshotsPage(Page):
    """Every snapshot as its JSON describes it, the newest first; `board` is the one their links show.

    `between` is what differs between two of them, as its JSON describes it, where somebody asked.
    """

    template = "snapshots.html"
    slug: str
    board: str
    snapshots: Sequence[Mapping[str, Any]]
    guide: str | None = None
    between: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class GlossaryPage(Page):
    """Every explained term."""

    template = "glossary.html"
    entries: Sequence[Entry]


@dataclass(frozen=True, kw_only=True)
class ApiPage(Page):
    """Every operation of the API, by its tag."""

    template = "api.html"
    operations: Mapping[str, Sequence[Operation]]


@dataclass(frozen=True, kw_only=True)
class ErrorPage(Page):
    """A problem document as a page: `title` and `detail`, and of `n_problems` problems the first ones."""

    template = "error.html"
    detail: str
    problems: Sequence[Problem] = ()
    n_problems: int = 0


PAGES: tuple[type[Page], ...] = (
    BenchmarksPage,
    BenchmarkPage,
    TablePage,
    SubmissionPage,
    PreregPage,
    SnapshotsPage,
    GlossaryPage,
    ApiPage,
    ErrorPage,
)
