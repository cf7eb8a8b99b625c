"""The contract of a kind of evidence: what the other rooms ask of it, so that none of them needs to know which it has.

Filled by `kind.py` of each kind, looked up in `app.kinds.known`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.admission.case import SHARED_RULES, KindRules
from app.boards.measured import MeasuredEvidence
from app.files.uploads import TABLE_SUFFIXES
from app.kinds.reading import Reading, Request
from app.manifest.manifest import KindPart, Manifest


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evidence.

    `name` is what a manifest says under `evidence`, `part` its own keys there, `methods` ranking methods that read it
    although they do not name it. `takes_labels` says whether a benchmark has private labels, which are put once and
    handed to `read` and to what measures; None where no benchmark of the kind has any. `read` makes evidence of
    uploaded files, which may end in `suffixes` beside archives of them. `rules` are what it adds to admission.
    `measured` is None where only methods read it that look at all rows together.
    """

    name: str
    part: type[KindPart] = KindPart
    methods: frozenset[str] = frozenset()
    takes_labels: Callable[[Manifest], bool] | None = None
    read: Callable[[Request], Reading | None]
    suffixes: Sequence[str] = TABLE_SUFFIXES
    rules: KindRules = SHARED_RULES
    measured: MeasuredEvidence | None = None
