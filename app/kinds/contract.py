"""The contract of a kind of evidence: what the other rooms use, so that none needs to know which kind it has.

Filled by `kind.py` of each kind, found by its entry point in `app.kinds.registry`.

Why: docs/adr/020-kinds-and-methods.md.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from app.admission.case import SHARED_RULES, Check, Claims, KindRules
from app.admission.claims import SubmissionClaims, claims_of_means
from app.boards.coverage import Coverage
from app.boards.measured import MeasuredKind, Measurement
from app.boards.methods.estimate import EstimateBoard
from app.errors import Problem
from app.files.findings import Findings
from app.files.uploads import TABLE_SUFFIXES, ReceivedFile
from app.kinds.labels import KindLabels
from app.manifest.model import KindPart, Manifest, Metric, Nouns
from app.names import clip_for_message, complain_about_name, is_name
from app.prereg.fields import BootstrapMethod
from app.values.facts import RunFacts
from app.values.glossary import GlossaryEntry
from app.values.scores import Labels, PredictionBlock, ScoreTable
from app.values.table import Cell, Column, Table


def never(manifest: Manifest) -> bool:
    """Return False for every benchmark."""
    del manifest
    return False


ROWS_FILE = "rows.csv"
"""Every row of a snapshot below the benchmark's address, by entrant and task."""

CsvRow = Sequence[Cell]


def no_rows_of_tables(table: Table) -> Iterable[CsvRow]:
    """Return no rows, for a file of what was sent alone."""
    del table
    return ()


@dataclass(frozen=True, kw_only=True)
class RawFile:
    """A file of what was sent to a snapshot, and of what was computed: rows of the former, then rows of tables.

    `title` is what a link to it says.
    """

    title: str
    header: Sequence[str]
    of_sent: Callable[[ScoreTable], Iterable[CsvRow]]
    tables: Sequence[str] = ()
    of_table: Callable[[Table], Iterable[CsvRow]] = no_rows_of_tables


@dataclass(frozen=True, kw_only=True)
class RowStorage:
    """How the rows of a kind are stored, read back and handed out."""

    in_upload_order: bool = False
    """Read in the order of the upload, each with its stratum and item, and with what a run measured between its
    entrants; otherwise by entrant and task."""
    have_items: bool = False
    """A row is of one item, such as an episode or a record, so that two entrants can be compared item by item."""
    are_packed: bool = False
    """What is measured is not the rows: it is packed beside them and scored against labels, and not handed out."""
    by_task: Callable[[Manifest], bool] = never
    """Whether each task is a separate run and registration, so that newer evidence supersedes older task by task."""
    beside: tuple[str, ...] = ()
    """Columns that boards read besides the metrics."""
    file: str | None = ROWS_FILE
    """Where all rows of a snapshot are handed out, below the benchmark's address; None where they are nobody else's."""
    raw: Mapping[str, RawFile] = field(default_factory=dict)
    """Files of what was sent, by their names below `raw/` of the benchmark's address and of its `tables.zip`."""

    @property
    def are_plain(self) -> bool:
        """Say whether the rows are what is measured, and read by entrant and task."""
        return not self.in_upload_order and not self.are_packed


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One submission to summarise: its rows, what its files and submitter state, and how to measure its entrants.

    `bootstrap_method` is the registered one.
    """

    manifest: Manifest
    rows: ScoreTable
    facts: RunFacts
    claims: Claims | None
    bootstrap_method: BootstrapMethod
    measure: Callable[[EstimateBoard], Sequence[Measurement]]

    def claimed(self) -> SubmissionClaims:
        """Return the submission's claims, to be compared without a limit of time."""
        return SubmissionClaims(self.manifest, self.rows, self.facts, self.claims)


@dataclass(frozen=True)
class Summary:
    """The tables computed from one submission alone, and the checks of its claims."""

    tables: Sequence[Table]
    checks: Sequence[Check]


Described = Mapping[str, Mapping[str, Any]]
"""Facts stated in submissions' files, by entrant."""


@dataclass(frozen=True, kw_only=True)
class PublishedBoards:
    """The input of a kind's further tables of a benchmark: its boards, and evidence read on demand."""

    manifest: Manifest
    boards: Sequence[Table]
    rows: Callable[[], ScoreTable]
    described: Callable[[], Described]


def keep_boards(published: PublishedBoards) -> list[Table]:
    """Return the boards without further tables."""
    return list(published.boards)


# What a benchmark's pages state about its kind of evidence, as values: sentences, columns and links, never HTML.
#
# Filled by `pages.py` of each kind; the web reads it as `Kind.pages`.


@dataclass(frozen=True)
class ColumnUse:
    """One column of an upload: its name, what it holds, and an example cell."""

    name: str
    holds: str
    cell: str


@dataclass(frozen=True, kw_only=True)
class UploadExample:
    """The file of an upload: its columns, what one row of it is, and what else may be sent.

    `names_entrant` is false where the rows name none, so that the form must; `may_name_entrant` says that the form may
    do so. `or_else` is a sentence on other files that can be read.
    """

    columns: Sequence[ColumnUse]
    a_row_is: str
    file: str = "results.csv"
    names_entrant: bool = True
    may_name_entrant: bool = False
    ignores_other_columns: bool = False
    or_else: str | None = None


LabelSource = Literal["private", "public", "submitted"]


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """What every page of a benchmark shows.

    `guide` says what may be claimed from it. `labels` says whose labels predictions are compared with, where there
    are any. `nouns` are what the field calls entrants and tasks. Of one that `is_retired` the guide begins with that.
    """

    guide: str | None = None
    labels: LabelSource | None = None
    nouns: Nouns = field(default_factory=Nouns)
    is_retired: bool = False


@dataclass(frozen=True)
class Rule:
    """A rule that a benchmark's page lists; `words` in the middle of it lead to an entry of the glossary."""

    text: str
    words: str = ""
    anchor: str = ""
    rest: str = ""


def no_facts(manifest: Manifest) -> PageFacts:
    """Return no facts, for a kind whose pages need no guide and which has no labels."""
    del manifest
    return NO_FACTS


def no_rules(manifest: Manifest) -> Sequence[Rule]:
    """Return no rule, for a kind that adds none."""
    del manifest
    return ()


def of_examples(manifest: Manifest) -> str:
    """Return what most kinds count: examples."""
    del manifest
    return "examples"


@dataclass(frozen=True, kw_only=True)
class Pages:
    """What a kind of evidence puts on the pages that all kinds share.

    `links` are words and a path below the benchmark, shown once something is published. `breakdown` names the board
    table from which the page of a task or an entrant is taken, where a board has it. `item_column` names the items of
    the rows of one entrant on one task, where these are several. `metric_words` gives a metric in a sentence where the
    manifest has no title for it, `unit` what more of would show a difference. `reports` are the tables of a submission
    that have a page per task, in their order. `has_contract_tables`: the benchmark itself has tables, as lrdbench
    writes them.
    """

    example: Callable[[Manifest], UploadExample]
    facts: Callable[[Manifest], PageFacts] = no_facts
    rules: Callable[[Manifest], Sequence[Rule]] = no_rules
    links: Sequence[tuple[str, str]] = ()
    breakdown: str = "breakdown"
    item_column: Column | None = None
    metric_words: Callable[[str], str] = str
    unit: Callable[[Manifest], str] = of_examples
    reports: Sequence[str] = ()
    has_contract_tables: bool = False


Read = Callable[["ReadRequest"], "Reading | None"]


def delivered_tasks(
    manifest: Manifest, scores: ScoreTable, entrant: str, metric: str, conditions: Collection[str]
) -> Coverage | None:
    """Return an entrant's coverage of the asked tasks or records in a metric; None where no grid is declared.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.mean import Mean
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> found = delivered_tasks(benchmark(board), rows({"A": [0.1, 0.2]}), "A", "error", ())
    >>> found.n_attempted, found.n_included, found.n_absent
    (3, 2, 1)
    """
    del conditions
    wanted = _asked_of(manifest, entrant)
    if not wanted:
        return None
    is_own = scores.entrant.codes == scores.entrant.words.index(entrant)
    counts = np.bincount(
        scores.task.codes[is_own & ~np.isnan(scores.value(metric))], minlength=len(scores.task.words)
    ).tolist()
    n_of = dict(zip(scores.task.words, counts, strict=True))
    n_included = sum(min(n, n_of.get(task, 0)) for task, n in wanted.items())
    n_attempted = sum(wanted.values())
    return Coverage(n_attempted, n_included, n_attempted - n_included)


@dataclass(frozen=True)
class Imported:
    """A manifest made of another program's files, and what to say of it."""

    manifest: bytes
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evidence. `name`, `read`, `summarise` and `pages` must be given."""

    name: str
    """Its value of `evidence` in a manifest, and the name of its entry point."""
    order: int = 100
    """Where it stands in lists of kinds, before those with a larger number."""
    part: type[KindPart] = KindPart
    """Its own keys in a manifest."""
    methods: frozenset[str] = frozenset()
    """The ranking methods that can read it although they do not name it."""
    labels: KindLabels | None = None
    """What it says of labels that a steward uploads once; None where none of its benchmarks has any."""
    read: Read
    """Reads uploaded files; a function of a module, because the reader process loads it by its name."""
    summarise: Callable[[Evaluation], Summary]
    """Computes a submission's own tables and decides its claims at evaluation."""
    suffixes: Sequence[str] = TABLE_SUFFIXES
    """How the names of the files that `read` takes end, in archives too."""
    rules: KindRules = SHARED_RULES
    """What it adds to the rules of admission."""
    rows: RowStorage = RowStorage()
    """How its rows are stored and read back."""
    own_claims: Callable[[SubmissionClaims], list[Check]] = claims_of_means
    """Compares the numbers that a submission claims of itself with ours: at upload as far as can be told while somebody
    waits, the rest at evaluation, by `summarise`."""
    delivered: Callable[[Manifest, ScoreTable, str, str, Collection[str]], Coverage | None] = delivered_tasks
    """An entrant's coverage of the grid, on which its claims depend."""
    measured: MeasuredKind | None = None
    """How entrants are measured one at a time; None where only methods that compute from all rows can read it."""
    benchmark_tables: Callable[[PublishedBoards], list[Table]] = keep_boards
    """The boards of a benchmark with the further tables of the kind."""
    pages: Pages
    """What the pages of a benchmark say of it."""
    glossary: Callable[[], Sequence[GlossaryEntry]] = tuple
    """Its terms in the glossary."""
    importers: Mapping[str, str] = field(default_factory=dict)
    """Commands `plumbline benchmark import-…` by what comes after the hyphen: where, `module:function`, a function with
    Typer's annotations returns an `Imported`. The command line alone loads them."""


NO_FACTS = PageFacts()


# What an evidence kind makes of the files of a submission.


@dataclass(frozen=True)
class ReadRequest:
    """What an evidence kind reads and what it may know.

    `entrant` is the form field, `labels` are the benchmark's private ones by task (empty for every other kind).
    Problems go to `findings`.
    """

    manifest: Manifest
    files: Sequence[ReceivedFile]
    entrant: str | None
    max_rows: int
    findings: Findings
    labels: Mapping[str, Labels]


@dataclass(frozen=True)
class Reading:
    """The scores, the rows that each file gave (by its position), and what the submitter should know.

    `facts` is what the files say about the run, `attachments` are tables that are kept, shown and exported
    with the submission, `predictions` are packed instead of score rows.
    """

    scores: ScoreTable
    n_rows: Mapping[int, int]
    warnings: tuple[Problem, ...]
    facts: RunFacts = field(default_factory=RunFacts)
    attachments: tuple[Table, ...] = ()
    predictions: tuple[PredictionBlock, ...] = ()


def checked_entrant(request: ReadRequest) -> str | None:
    """Return the form field entrant; one that is no name is a problem and gives None."""
    entrant = request.entrant
    if entrant is None or is_name(entrant):
        return entrant
    problem = Problem(complain_about_name(entrant), column="entrant", value=clip_for_message(entrant))
    request.findings.add(problem)
    return None


# The coverage behind a claim, for entrants with rows of tasks, or of records in tasks. Pure.


def _asked_of(manifest: Manifest, entrant: str) -> Mapping[str, int]:
    """Return how many rows are asked of each task that the manifest names, one where its grid names no items."""
    tasks = manifest.task_ids() or (() if manifest.grid is None else tuple(manifest.grid.tasks))
    items = {task: manifest.asked.cells_of(task, entrant).items for task in tasks}
    return {task: 1 if own is None else own if isinstance(own, int) else len(own) for task, own in items.items()}


# What the examples of uploads of several kinds have in common: names and cells that a benchmark would take.

MODEL = "my-model"

ANY_TASK = "any-task"

ANY_CONDITION = "a-condition"

EXAMPLE_VALUE = 0.5


def first_task(manifest: Manifest) -> str:
    """Return a task that rows may name."""
    return (manifest.task_ids() or (ANY_TASK,))[0]


def better(metric: Metric) -> str:
    """Return which way a metric is better, in words.

    >>> better(Metric(direction="maximize")), better(Metric(direction="minimize"))
    ('higher is better', 'lower is better')
    """
    return "higher is better" if metric.direction == "maximize" else "lower is better"


def example_score(metric: Metric) -> str:
    """Return a value that a metric may have."""
    if metric.above is not None:
        return str(metric.above)
    low = EXAMPLE_VALUE if metric.min is None else max(EXAMPLE_VALUE, metric.min)
    return str(low if metric.max is None else min(low, metric.max))
