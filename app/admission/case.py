"""What admission looks at, and what a kind of evidence adds to the rules that every kind shares.

Read by `app.admission.rules`, by the rules of each kind, and by whoever receives a submission.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.admission.attempts import History
from app.admission.check import Check, CurrentRecord, Registered, TokenHolder, listed
from app.admission.fields import Claims
from app.manifest.manifest import Manifest
from app.values.facts import RunFacts
from app.values.forensics import Forensics
from app.values.scores import ScoreTable


@dataclass(frozen=True)
class Case:
    """Everything that admission looks at. `started_at` is when the run began, as the submitter says.

    `standing` are the records of the other entrants of a series benchmark; None where nobody looked.
    `forensics` is what the reader noticed of the rows, None where nobody looked. `submitter` and `history` are null
    where no server is asked, and `entrants`, the names that the benchmark has, are empty.
    """

    manifest: Manifest
    scores: ScoreTable
    registered: Registered | None
    received_at: datetime
    facts: RunFacts = field(default_factory=RunFacts)
    started_at: datetime | None = None
    dirty: bool | None = None
    code_commit: str | None = None
    claims: Claims | None = None
    standing: Sequence[CurrentRecord] | None = None
    submitter: TokenHolder | None = None
    entrants: Sequence[str] = ()
    forensics: Forensics | None = None
    history: History | None = None


CLAIMS_PRESENT = Check("claims", "passed", "Every entrant claims its values, to be compared with the recomputed ones.")


def claims_missing(entrants: Iterable[str]) -> Check:
    """Return the check that keeps a submission out which says nothing of some entrants."""
    return Check("claims", "failed", f"The benchmark requires claimed values; there are none for {listed(entrants)}.")


def warn_of_seeds(case: Case, registered: Registered) -> list[Check]:
    """Say that seeds are registered, where the evidence does not carry any."""
    del case
    if registered.prereg.seeds is None:
        return []
    return [Check("seeds", "warned", "Seeds are registered, but this kind of evidence does not carry seeds.")]


def no_checks(case: Case) -> list[Check]:
    """Return no check: a kind that adds no rule."""
    del case
    return []


def claims_of_entrants(case: Case) -> list[Check]:
    """Demand a claimed value of every entrant, for a benchmark that requires claims."""
    claimed = {entrant for entrant, values in (case.claims or {}).items() if values}
    silent = set(case.scores.entrant.words) - claimed
    return [claims_missing(silent) if silent else CLAIMS_PRESENT]


@dataclass(frozen=True, kw_only=True)
class KindRules:
    """What a kind of evidence adds to the rules that every kind shares.

    `prereg` holds evidence against its registration. `scores` and `run` look at the evidence alone; what they find
    comes before and after what the submission states of itself. `claims` is asked where the benchmark requires claims.
    `counts_missing_tasks`: a task without rows counts as a failure on the boards, and is not just a task that was not
    run. `needs_values`: each registered metric has some value of each entrant. `computes_metrics`: the server computes
    them, so that whoever delivers anything delivers every one.
    """

    prereg: Callable[[Case, Registered], list[Check]] = warn_of_seeds
    scores: Callable[[Case], list[Check]] = no_checks
    run: Callable[[Case], list[Check]] = no_checks
    claims: Callable[[Case], list[Check]] = claims_of_entrants
    counts_missing_tasks: bool = True
    needs_values: bool = False
    computes_metrics: bool = False

    def computed_metrics(self, manifest: Manifest) -> tuple[str, ...]:
        """Return the metrics that are delivered by delivering evidence at all."""
        return tuple(manifest.metrics) if self.computes_metrics else ()


SHARED_RULES = KindRules()
"""Of a kind that adds nothing."""
