"""The contract of a kind of evidence: what the other rooms use, so that none needs to know which kind it has.

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

    `form`: scores are read by entrant and task; records in upload order, each with its stratum and item; packed
    evidence is stored as separate blocks. `by_task`: each task is a separate run and registration, so that an entrant's
    newer evidence supersedes older evidence task by task. `beside` are columns that boards read besides the metrics.
    """

    form: Literal["scores", "records", "packed"] = "scores"
    beside: tuple[str, ...] = ()
    by_task: Callable[[Manifest], bool] = never


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

    def claimed(self) -> Claimed:
        """Return the submission's claims, to be compared without a limit of time."""
        return Claimed(self.manifest, self.rows, self.facts, self.claims)


@dataclass(frozen=True)
class Summary:
    """The tables computed from one submission alone, and the checks of its claims."""

    tables: Sequence[Table]
    checks: Sequence[Check]


Described = Mapping[str, Mapping[str, Any]]
"""Facts stated in submissions' files, by entrant."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """The input of a kind's further tables of a benchmark: its boards, and evidence read on demand."""

    manifest: Manifest
    boards: Sequence[Table]
    rows: Callable[[], ScoreTable]
    described: Callable[[], Described]


def no_secret(manifest: Manifest) -> Scoring | None:
    """Return None, for a kind whose benchmarks have no private labels."""
    del manifest
    return None


def keep_boards(published: Published) -> list[Table]:
    """Return the boards without further tables."""
    return list(published.boards)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evidence.

    `name` is its value of `evidence` in a manifest, `part` its own keys there, `methods` the ranking methods that can
    read it although they do not name it. `takes_labels` says whether a benchmark has labels of its own, which are
    uploaded once and passed to `read` and to measuring; None where no benchmark of the kind has any. `scoring` returns
    the rules of disclosure of private labels, None without such. `read` parses uploaded files, whose names end in
    `suffixes`, or archives of them; it is a module-level function, because the reader process loads it by name. `rules`
    are its additions to admission, `rows` how its rows are stored. `measured` is None if only methods that compute from
    all rows can read it. `summarise` computes a submission's own tables and decides its claims at evaluation;
    `own_claims` decides them earlier, as far as possible. `pages` is its description on the site, `glossary` returns
    its terms. `delivered` returns an entrant's coverage of the grid, on which its claims depend. `benchmark_tables`
    returns the boards of a benchmark with the kind's further tables.
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
