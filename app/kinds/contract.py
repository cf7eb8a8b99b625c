"""The contract of a kind of evidence: what the other rooms ask of it, so that none of them needs to know which it has.

Filled by `kind.py` of each kind, looked up in `app.kinds.known`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.admission.case import SHARED_RULES, KindRules
from app.admission.check import Check
from app.admission.claims import Claimed, claims_of_means
from app.admission.fields import Claims
from app.boards.coverage import Coverage
from app.boards.measured import MeasuredEvidence, Measurement
from app.boards.methods.estimate.spec import EstimateBoard
from app.files.uploads import TABLE_SUFFIXES
from app.kinds.delivered import delivered_tasks
from app.kinds.pages import Pages
from app.kinds.reading import Read
from app.manifest.manifest import KindPart, Manifest
from app.manifest.scoring import Scoring
from app.prereg.values import BootstrapMethod
from app.values.facts import RunFacts
from app.values.glossary_entry import Entry
from app.values.scores import ScoreTable
from app.values.table import Table


def never(manifest: Manifest) -> bool:
    """Say no for every benchmark."""
    del manifest
    return False


@dataclass(frozen=True, kw_only=True)
class Rows:
    """How the rows of a kind are stored and read back.

    `form`: scores are read by entrant and task; records in the order of their upload, each with its stratum and item;
    packed ones are kept as blocks beside. `by_task`: each task of the benchmark is a run, and a registration, of its
    own, so that an entrant's newer evidence replaces the older one task by task. `beside` are columns that boards read
    beside the metrics.
    """

    form: Literal["scores", "records", "packed"] = "scores"
    beside: tuple[str, ...] = ()
    by_task: Callable[[Manifest], bool] = never


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """One submission to summarise: its rows, what its files and its submitter say, and how to measure its entrants.

    `bootstrap_method` is the registered one.
    """

    manifest: Manifest
    rows: ScoreTable
    facts: RunFacts
    claims: Claims | None
    bootstrap_method: BootstrapMethod
    measure: Callable[[EstimateBoard], Sequence[Measurement]]

    def claimed(self) -> Claimed:
        """Return what the submission claims, to be compared however long it takes."""
        return Claimed(self.manifest, self.rows, self.facts, self.claims)


@dataclass(frozen=True)
class Summary:
    """The tables that are computed from one submission alone, and what its claims come to."""

    tables: Sequence[Table]
    checks: Sequence[Check]


Described = Mapping[str, Mapping[str, Any]]
"""What the files of submissions say of their entrants, by entrant."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """What a kind makes further tables of a benchmark of: its boards, and what is read only when asked for."""

    manifest: Manifest
    boards: Sequence[Table]
    rows: Callable[[], ScoreTable]
    described: Callable[[], Described]


def no_secret(manifest: Manifest) -> Scoring | None:
    """Return nothing: of the benchmarks of a kind none has labels that are a secret."""
    del manifest
    return None


def keep_boards(published: Published) -> list[Table]:
    """Return the boards alone."""
    return list(published.boards)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evidence.

    `name` is what a manifest says under `evidence`, `part` its own keys there, `methods` ranking methods that read it
    although they do not name it. `takes_labels` says whether a benchmark has labels of its own, which are put once and
    handed to `read` and to what measures; None where no benchmark of the kind has any. `scoring` says what is
    disclosed of labels that are a secret; None where they are none. `read` makes evidence of
    uploaded files, which may end in `suffixes` beside archives of them; it is a function of a module, because the
    process that reads an upload loads it by its name. `rules` are what it adds to admission, `rows`
    says how its rows are kept. `measured` is None where only methods read it that look at all rows together.
    `summarise` makes a submission's own tables and judges its claims when it is evaluated; `own_claims` judges them as
    far as can be known before. `pages` is how the site describes it, `glossary` returns its own terms.
    `delivered` says how much of the grid an entrant's rows have, which its claims rest on.
    `benchmark_tables` returns the boards of a benchmark with what the kind shows beside them.
    """

    name: str
    part: type[KindPart] = KindPart
    methods: frozenset[str] = frozenset()
    takes_labels: Callable[[Manifest], bool] | None = None
    scoring: Callable[[Manifest], Scoring | None] = no_secret
    read: Read
    summarise: Callable[[Evaluation], Summary]
    suffixes: Sequence[str] = TABLE_SUFFIXES
    rules: KindRules = SHARED_RULES
    rows: Rows = Rows()
    own_claims: Callable[[Claimed], list[Check]] = claims_of_means
    delivered: Callable[[Manifest, ScoreTable, str, str, Collection[str]], Coverage | None] = delivered_tasks
    measured: MeasuredEvidence | None = None
    benchmark_tables: Callable[[Published], list[Table]] = keep_boards
    pages: Pages
    glossary: Callable[[], Sequence[Entry]] = tuple
