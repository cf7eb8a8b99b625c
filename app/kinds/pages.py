"""What a benchmark's pages state about its kind of evidence, as values: sentences, columns and links, never HTML.

Filled by `pages.py` of each kind; the web reads it as `Kind.pages`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.manifest.manifest import Manifest
from app.values.table import Column

LabelSource = Literal["private", "public", "submitted"]


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


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """What every page of a benchmark shows.

    `guide` says what may be claimed from it. `labels` says whose labels predictions are compared with, where there
    are any.
    """

    guide: str | None = None
    labels: LabelSource | None = None


@dataclass(frozen=True)
class Rule:
    """A rule that a benchmark's page lists; `words` in the middle of it lead to an entry of the glossary."""

    text: str
    words: str = ""
    anchor: str = ""
    rest: str = ""


NO_FACTS = PageFacts()


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
