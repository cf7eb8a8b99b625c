"""The contract of a kind of evidence: what the other rooms ask of it, so that none of them needs to know which it has.

Filled by `kind.py` of each kind, looked up in `app.kinds.known`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.admission.case import SHARED_RULES, KindRules
from app.boards.measured import MeasuredEvidence
from app.files.uploads import TABLE_SUFFIXES
from app.kinds.pages import Pages
from app.kinds.reading import Reading, Request
from app.values.glossary_entry import Entry


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evidence.

    `name` is what a manifest says under `evidence`. `read` makes evidence of uploaded files, which may end in
    `suffixes` beside archives of them. `rules` are what it adds to admission. `measured` is None where only methods
    read it that look at all rows together. `pages` is what the site says of it, `glossary` the terms that it brings.
    """

    name: str
    read: Callable[[Request], Reading | None]
    suffixes: Sequence[str] = TABLE_SUFFIXES
    rules: KindRules = SHARED_RULES
    measured: MeasuredEvidence | None = None
    pages: Pages
    glossary: Sequence[Entry] = ()
