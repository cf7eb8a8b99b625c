"""The contract of a kind of evidence: what the other rooms ask of it, so that none of them needs to know which it has.

Filled by `kind.py` of each kind, looked up in `app.kinds.known`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.admission.case import SHARED_RULES, KindRules
from app.boards.measured import MeasuredEvidence
from app.files.uploads import TABLE_SUFFIXES
from app.kinds.reading import Reading, Request
from app.manifest.manifest import Manifest


def never(manifest: Manifest) -> bool:
    """Say no for every benchmark."""
    del manifest
    return False


@dataclass(frozen=True, kw_only=True)
class Rows:
    """How the rows of a kind are stored and read back.

    `form`: scores are read by entrant and task; records in the order of their upload, each with its stratum and item;
    packed ones are kept as blocks beside. `by_task`: each task of the benchmark is a run, and a registration, of its
    own, so that an entrant's newer evidence replaces the older one task by task.
    """

    form: Literal["scores", "records", "packed"] = "scores"
    by_task: Callable[[Manifest], bool] = never


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of evidence.

    `name` is what a manifest says under `evidence`. `read` makes evidence of uploaded files, which may end in
    `suffixes` beside archives of them. `rules` are what it adds to admission, `rows` says how its rows are kept.
    `measured` is None where only methods read it that look at all rows together.
    """

    name: str
    read: Callable[[Request], Reading | None]
    suffixes: Sequence[str] = TABLE_SUFFIXES
    rules: KindRules = SHARED_RULES
    rows: Rows = Rows()
    measured: MeasuredEvidence | None = None
