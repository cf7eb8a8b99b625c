"""What an admission rule gives and what it looks at; shared by the families of rules.

Read by `app.admission` and `app.admission_episodes`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.prereg import Prereg

Outcome = Literal["passed", "failed", "warned"]
SHOWN = 10


@dataclass(frozen=True)
class Check:
    """One rule applied to one submission, with the reason in plain words."""

    rule: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Registered:
    """A preregistration and when it was registered. `attested`: by a steward's word, not seen by the server."""

    sha256: str
    git_blob_sha1: str
    prereg: Prereg
    registered_at: datetime
    attested: bool


def listed(names: Iterable[str], shown: int = SHOWN) -> str:
    """Return names in the order of the alphabet, the first of them for a sentence."""
    ordered = sorted(names)
    rest = f" and {len(ordered) - shown} more" if len(ordered) > shown else ""
    return ", ".join(ordered[:shown]) + rest
