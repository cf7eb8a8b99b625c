"""The result of an admission rule and the values it reads; shared by all rules.

Read by `app.admission.rules` and by the rules of each kind.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from app.names import first_few
from app.prereg.prereg import Prereg

Outcome = Literal["passed", "failed", "warned"]
SHOWN = 10
_SHOWN_SENTENCES = 5


@dataclass(frozen=True)
class Check:
    """One rule applied to one submission, with the reason in plain words."""

    rule: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class TokenHolder:
    """The token, by number and name, that registered or submitted something."""

    id: int
    name: str


@dataclass(frozen=True)
class Registered:
    """A preregistration and its time of registration. `attested`: stated by a steward, not witnessed by the server.

    `benchmarks` are those it was registered for, since `bound_at`, and `by` is the registrant, as far as the server
    knows.
    """

    sha256: str
    git_blob_sha1: str
    prereg: Prereg
    registered_at: datetime
    attested: bool
    benchmarks: tuple[str, ...] = ()
    by: TokenHolder | None = None
    bound_at: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True)
class CurrentRecord:
    """A record of a stratum in the current submissions of other entrants; `submission` is the first of them.

    `class_label` is the class they state, `clean` the clean series it is derived from; None where they state none.
    """

    record: str
    stratum: str
    submission: int
    class_label: float | None = None
    clean: str | None = None


def is_after(later: datetime, earlier: datetime) -> bool:
    """Say whether a time is after another by the second: most programs say when they began in whole seconds."""
    return later.replace(microsecond=0) > earlier.replace(microsecond=0)


def in_utc(at: datetime) -> str:
    """Return a time in UTC for use in a sentence.

    >>> in_utc(datetime.fromisoformat("2026-01-31T10:14:49+02:00"))
    '2026-01-31 08:14:49 UTC'
    """
    try:
        at = at.astimezone(UTC)
    except OverflowError:
        # On the first and last day of the calendar the conversion would overflow.
        return f"{at:%Y-%m-%d %H:%M:%S %Z}"
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


def listed(names: Iterable[str], shown: int = SHOWN) -> str:
    """Return names in alphabetical order for a sentence, cut after the first few."""
    return first_few(sorted(names), shown)


def numbers(seeds: Iterable[int]) -> str:
    """Return seeds in ascending order for a sentence, cut after the first few."""
    return first_few(sorted(seeds), SHOWN)


def some(sentences: Sequence[str]) -> str:
    """Return the first of several findings, with the number of the others."""
    return first_few(sentences, _SHOWN_SENTENCES, between="; ")


def outcome_of_gap(prereg: Prereg) -> Outcome:
    """Return the outcome of a gap in the evidence under the failure policy in force."""
    return "failed" if prereg.failure_policy == "strict" else "warned"


def policy_in_words(prereg: Prereg) -> str:
    """Return the sentence that says why a gap was judged as it was."""
    if prereg.failure_policy == "strict":
        return "The failure policy is strict."
    return "The failure policy is best_effort: they are absent, and the boards count them."
