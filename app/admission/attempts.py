"""How often this was tried before: under the same registration, and for the same entrants.

Called by `app.admission.rules`. Only a server knows this; a run checked on the command line gets no such check.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.admission.check import Check, some
from app.admission.identity import EarlierIdentity
from app.values.forensics import Finding

RULE = "attempt"


@dataclass(frozen=True)
class History:
    """Earlier submissions to the benchmark.

    `n_of_prereg` is the number of this submission among those that cite its registration, None where it cites none;
    `n_expected` how many submissions its registered entrants account for. `n_of_entrant` numbers, from 1, each
    entrant's submissions for the same tasks. `findings` come from comparing rows with earlier submissions, `identities`
    are those stated by earlier runs.
    """

    n_of_prereg: int | None = None
    n_expected: int = 1
    n_of_entrant: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    identities: tuple[EarlierIdentity, ...] = ()


def check_attempts(history: History | None) -> list[Check]:
    """Report the number of this attempt; a repeat, or more attempts than registered entrants, is a warning."""
    if history is None:
        return []
    again = [f"attempt {n} of {entrant}" for entrant, n in sorted(history.n_of_entrant.items()) if n > 1]
    counts = [some(again)] if again else ["the first of each of its entrants"]
    if history.n_of_prereg is not None:
        counts.insert(0, f"submission {history.n_of_prereg} under this registration")
    is_more = bool(again) or (history.n_of_prereg or 0) > history.n_expected
    sentence = "; ".join(counts)
    return [Check(RULE, "warned" if is_more else "passed", f"{sentence[0].upper()}{sentence[1:]}.")]
