"""The input of admission, and what a kind of evidence adds to the rules that every kind shares.

Read by `app.admission.rules`, by the rules of each kind, and by `app.receiving`.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
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
    """The input of admission. `started_at` is when the run began, as stated by the submitter.

    `standing` holds the current records of the other entrants of a series benchmark, None if not looked up. `forensics`
    is what the reader noticed in the rows, None if not looked for. Without a server `submitter` and `history` are None,
    and `entrants`, the benchmark's names, is empty.
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
    """Return the failed check of a submission without claims for some entrants."""
    return Check("claims", "failed", f"The benchmark requires claimed values; there are none for {listed(entrants)}.")


def warn_of_seeds(case: Case, registered: Registered) -> list[Check]:
    """Warn where seeds are registered but the evidence has none."""
    del case
    if registered.prereg.seeds is None:
        return []
    return [Check("seeds", "warned", "Seeds are registered, but this kind of evidence does not carry seeds.")]


def no_checks(case: Case) -> list[Check]:
    """Return no check, for a kind that adds no rule."""
    del case
    return []


def without_conditions(manifest: Manifest) -> Collection[str] | None:
    """Return no condition, for a kind whose evidence has none."""
    del manifest
    return ()


def any_entrant(manifest: Manifest) -> Collection[str] | None:
    """Return None, for a kind that lets entrants of any name in."""
    del manifest
    return None


def claims_of_entrants(case: Case) -> list[Check]:
    """Require a claimed value for every entrant, for a benchmark that requires claims."""
    claimed = {entrant for entrant, values in (case.claims or {}).items() if values}
    silent = set(case.scores.entrant.words) - claimed
    return [claims_missing(silent) if silent else CLAIMS_PRESENT]


@dataclass(frozen=True, kw_only=True)
class KindRules:
    """What a kind of evidence adds to the rules that every kind shares.

    `prereg` compares evidence with its registration. `scores` and `run` look at the evidence alone; their checks come
    before and after those of what the submission states about itself. `claims` is called where the benchmark requires
    claims. `counts_missing_tasks`: a task without rows counts as a failure on the boards, rather than as not run.
    `needs_values`: each registered metric must have some value for each entrant. `computes_metrics`: the server
    computes the metrics, so any evidence delivers all of them. `conditions` and `enrolled` return the closed lists of
    conditions and of entrants, None where a list is open.
    """

    prereg: Callable[[Case, Registered], list[Check]] = warn_of_seeds
    scores: Callable[[Case], list[Check]] = no_checks
    run: Callable[[Case], list[Check]] = no_checks
    claims: Callable[[Case], list[Check]] = claims_of_entrants
    counts_missing_tasks: bool = True
    needs_values: bool = False
    computes_metrics: bool = False
    conditions: Callable[[Manifest], Collection[str] | None] = without_conditions
    enrolled: Callable[[Manifest], Collection[str] | None] = any_entrant

    def computed_metrics(self, manifest: Manifest) -> tuple[str, ...]:
        """Return the metrics that any evidence delivers, because the server computes them."""
        return tuple(manifest.metrics) if self.computes_metrics else ()


SHARED_RULES = KindRules()
"""The rules of a kind that adds none."""
