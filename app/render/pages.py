"""The pages of the site, one type each: its fields are everything that its template may use, as `page`.

Made by the web, rendered by `app.render.html`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.db.models import Snapshot
from app.errors import Cause, Problem
from app.kinds.pages import PageFacts, Rule
from app.manifest.manifest import Manifest
from app.render.api_page import Operation
from app.render.base_page import Links, Page
from app.render.columns import ShownColumn, shown_columns
from app.render.counts_in_words import rows_in_words
from app.render.drawings import Drawing
from app.render.paging import Paging
from app.render.panel import Panel
from app.render.submit_example import SubmitExample
from app.store.benchmark_list import BenchmarkNames, BenchmarkSummary
from app.store.news import News, SearchMatch
from app.store.submissions import ListedSubmission
from app.values.glossary_entry import Entry
from app.values.table import Table


@dataclass(frozen=True, kw_only=True)
class BenchmarksPage(Page):
    """/: benchmarks with their boards, and the latest changes; `text` is that of the empty search.

    `paging` says which benchmarks of many these are.
    """

    template = "benchmarks.html"
    benchmarks: Sequence[BenchmarkSummary]
    paging: Paging | None
    news: Sequence[News]
    text: str


@dataclass(frozen=True, kw_only=True)
class SearchPage(Page):
    """/search: what has a text in its name, benchmarks apart from the rest, the first of `n_benchmarks`."""

    template = "search.html"
    text: str
    benchmarks: Sequence[BenchmarkNames]
    n_benchmarks: int
    matches: Sequence[SearchMatch]


@dataclass(frozen=True, kw_only=True)
class BenchmarkPage(Page):
    """One benchmark: boards, rules, how to submit, the latest submissions.

    `version` is the manifest's; `publish_error` says why the last publication failed; `base` is the address
    of this server where the settings give one; `example` is a small upload that the benchmark takes; `rules` and
    `links` are those of its kind of evidence; `stewards` are names. `first` are the first places of the first board.
    """

    template = "benchmark.html"
    manifest: Manifest
    version: int
    snapshot: Snapshot | None
    publish_error: str | None
    stewards: Sequence[str]
    publish_tries: int
    commitment: str | None
    base: str
    facts: PageFacts
    rules: Sequence[Rule]
    links: Links
    example: SubmitExample
    submissions: Sequence[ListedSubmission]
    first: Panel | None

    @property
    def card(self) -> str:
        """Return the address of the first board's first places."""
        home = f"{self.base}/benchmarks/{self.manifest.slug}/leaderboards"
        return f"{home}/{self.manifest.leaderboards[0].name}/embed.png" if self.base and self.first else ""


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
        return " ".join(self.table.notes) or rows_in_words(len(self.table.rows))


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
    what it brought with it. `reports` lead to what is shown of each task on a page of its own. `units` are
    those of the metadata that the manifest declares.
    """

    template = "submission.html"
    s: Mapping[str, Any]
    waiting: bool
    tables: Sequence[ShownTable]
    reports: Links
    facts: PageFacts
    units: Mapping[str, str]

    @property
    def steps(self) -> Sequence[str]:
        """Return the states that a submission passes on its way to the boards."""
        return ("received", "evaluated", "published")


YAML_KEY = re.compile(r"(\s*(?:- )?)([\w.-]+)(?=:(?:\s|$))")


def _line(line: str) -> tuple[str, str, str]:
    match = YAML_KEY.match(line)
    return (match[1], match[2], line[match.end() :]) if match else ("", "", line)


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

    @property
    def lines(self) -> Sequence[tuple[str, str, str]]:
        """Return the lines of the bytes, each as what is before its key, the key, and the rest with its end."""
        return [_line(line) for line in self.text.splitlines(keepends=True)]


@dataclass(frozen=True, kw_only=True)
class SnapshotsPage(Page):
    """Every snapshot as its JSON describes it, the newest first; `board` is the one their links show.

    `between` is what differs between two of them, as its JSON describes it, where somebody asked.
    """

    template = "snapshots.html"
    slug: str
    board: str
    snapshots: Sequence[Mapping[str, Any]]
    facts: PageFacts
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
    """A problem document as a page: `title` and `detail`, and of `n_problems` problems the first ones.

    `sign_in` is where to sign in, where that is what is missing, `back` the page of the form that was refused.
    """

    template = "error.html"
    detail: str
    problems: Sequence[Problem] = ()
    n_problems: int = 0
    causes: Sequence[Cause] = ()
    sign_in: str | None = None
    back: str | None = None


@dataclass(frozen=True, kw_only=True)
class PicturePage(Page):
    """A drawing as a file of its own, with its style in it."""

    template = "picture.svg"
    drawing: Drawing
    style: str
