"""The input of admission and its outcome: a run beside its registration, and checks with their reasons."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from app.manifest.model import Manifest
from app.names import first_few, nearest
from app.prereg.fields import Prereg
from app.values.facts import BundleFacts, Finding, Forensics, RunFacts
from app.values.fingerprints import Fingerprint
from app.values.scores import ScoreTable

# The result of an admission rule and the values it reads; shared by all rules.


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


Claims = Mapping[str, Mapping[str, float]]
"""Values that a submission claims: {entrant: {metric: value}}."""


@dataclass(frozen=True)
class EarlierIdentity:
    """The identity stated by one bundle of an earlier submission."""

    submission: int
    entrant: str | None
    identity: Mapping[str, str]


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


@dataclass(frozen=True)
class Case:
    """The input of admission. `started_at` is when the run began, as stated by the submitter.

    `others_records` holds the current records of the other entrants of a series benchmark, None if not looked up.
    `forensics` is what the reader noticed in the rows, None if not looked for. Without a server `submitter` and
    `history` are None, and `entrants`, the benchmark's names, is empty.
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
    others_records: Sequence[CurrentRecord] | None = None
    submitter: TokenHolder | None = None
    entrants: Sequence[str] = ()
    forensics: Forensics | None = None
    history: History | None = None


Outcome = Literal["passed", "failed", "warned"]


@dataclass(frozen=True)
class Check:
    """One rule applied to one submission, with the reason in plain words."""

    rule: str
    outcome: Outcome
    reason: str


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


SHOWN = 10


def listed(names: Iterable[str], shown: int = SHOWN) -> str:
    """Return names in alphabetical order for a sentence, cut after the first few."""
    return first_few(sorted(names), shown)


def meant(names: Iterable[str], known: Iterable[str]) -> str:
    """Return the question whether others of those known were meant, to stand after a sentence; empty for none alike.

    >>> meant(["Lfit", "walk"], ["lift", "place"]), meant(["walk"], ["lift"])
    (' Did you mean lift?', '')
    """
    among = list(known)
    near = [found for name in sorted(names)[:SHOWN] if (found := nearest(name, among))]
    return f" Did you mean {listed(near)}?" if near else ""


SHARED_RULES = KindRules()
"""The rules of a kind that adds none."""

_SHOWN_SENTENCES = 5


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


# The fields of a submission, parsed: what a submitter states beside the files.
#
# Filled by `app.web.submissions` and `app.cli.preregs`, read by `app.receiving`, stored by `app.store.submissions`.


@dataclass(frozen=True, kw_only=True)
class SubmissionFields:
    """The fields of a submission; each that was not sent is None.

    The registration is cited by its bytes (`prereg`) or by their digest. `entrant` is for files that do not name one.
    `description` is stored and shown as sent; when the run began and whether its code was uncommitted are separate
    fields as well, because admission checks them.
    """

    prereg: bytes | None = None
    prereg_sha256: str | None = None
    entrant: str | None = None
    description: Mapping[str, Any] = field(default_factory=dict)
    started_at: datetime | None = None
    dirty: bool | None = None
    claims: Claims | None = None
    idempotency_key: str | None = None


RULE = "attempt"


# How often this was tried before: under the same registration, and for the same entrants. Only a server knows this; a
# run checked on the command line gets no such check.


def check_attempts(history: History | None) -> list[Check]:
    """Report the number of this attempt; a repeat, or more attempts than registered entrants, is a warning."""
    if history is None:
        return []
    again = [f"attempt {n} of {entrant}" for entrant, n in sorted(history.n_of_entrant.items()) if n > 1]
    counts = [some(again)] if again else [f"the first of {some(sorted(history.n_of_entrant)) or 'its entrants'}"]
    if history.n_of_prereg is not None:
        counts.insert(0, f"submission {history.n_of_prereg} under this registration")
    is_more = bool(again) or (history.n_of_prereg or 0) > history.n_expected
    sentence = "; ".join(counts)
    return [Check(RULE, "warned" if is_more else "passed", f"{sentence[0].upper()}{sentence[1:]}.")]


# The identity that a run states, compared with its registration, with itself and with earlier runs. A difference is
# flagged and never refuses: a policy may have been renamed. The keys of an identity are chosen by the reader of a
# kind (see `BundleFacts.identity`).

POLICY, PARTNER_SET, TASK_VERSION, COMMIT = "policy", "partner set", "task version", "commit"

PARTNER, PARTNERS_FILE = "partner ", "partners file"

OPEN_PART = "<"
"""Text after it in a registered policy is filled in by the run: `happo_manifest:<committed manifest>`."""

OWN = "adhoc:"
"""A set that was put together for one run, such as the partner that a pair was trained with."""

DIRTY = "dirty"


def identity_findings(
    prereg: Prereg | None, bundles: Sequence[BundleFacts], code_commit: str | None, earlier: Sequence[EarlierIdentity]
) -> Iterator[Finding]:
    """Yield the differences, one finding for each bundle and key."""
    for bundle in bundles:
        is_own = prereg is not None and bundle.entrant in prereg.own_partner
        sentences = [*_against_itself(bundle, code_commit), *_against_earlier(bundle, earlier, is_own=is_own)]
        sentences += [] if prereg is None else _against_prereg(prereg, bundle, is_own=is_own)
        yield from (Finding("identity", bundle.entrant, f"{bundle.name}: {sentence}") for sentence in sentences)
        if bundle.brings_prereg and bundle.prereg_sha256 is None:
            yield Finding("no_prereg_in_bundle", bundle.entrant, bundle.name)


def says_dirty(bundle: BundleFacts) -> bool:
    """Say whether a bundle states that its code was uncommitted, by a flag or by the name of the commit."""
    return bool(bundle.dirty) or DIRTY in (bundle.code_commit or "").lower()


def _against_itself(bundle: BundleFacts, code_commit: str | None) -> Iterator[str]:
    commit = (bundle.code_commit or "").lower()
    if DIRTY in commit:
        yield f"its commit is {bundle.code_commit}"
    ours = (code_commit or "").lower()
    if commit and ours and not (commit.startswith(ours) or ours.startswith(commit)):
        yield f"its commit is {bundle.code_commit}, the submission's code_commit is {code_commit}"


def _against_prereg(prereg: Prereg, bundle: BundleFacts, *, is_own: bool) -> Iterator[str]:
    policy = prereg.policies.get(bundle.entrant or "")
    partners = None if is_own else prereg.partner_set
    for key, declared in ((POLICY, policy), (PARTNER_SET, partners), (TASK_VERSION, prereg.task_version)):
        stated = bundle.identity.get(key)
        if declared is None or (stated is not None and _fits(stated, declared)):
            continue
        yield f"{_stated(key, stated)}, registered is {declared}"


def _stated(key: str, value: str | None) -> str:
    """Return the stated value of a key, or that it is missing: omitting it must not be an advantage."""
    return f"it states no {key}" if value is None else f"its {key} is {value}"


def _fits(stated: str, registered: str) -> bool:
    stem, open_part, _ = registered.partition(OPEN_PART)
    return stated.startswith(stem) if open_part else stated == registered


def _against_earlier(bundle: BundleFacts, earlier: Sequence[EarlierIdentity], *, is_own: bool) -> Iterator[str]:
    seen: set[str] = set()
    for one in earlier:
        for key, sentence in _differences(bundle, one, is_own=is_own):
            if key not in seen:
                seen.add(key)
                yield f"{sentence} in submission {one.submission}"


def _differences(bundle: BundleFacts, one: EarlierIdentity, *, is_own: bool) -> Iterator[tuple[str, str]]:
    mine, theirs = bundle.identity, one.identity
    same_entrant = bundle.entrant == one.entrant
    policy, other = mine.get(POLICY), theirs.get(POLICY)
    if policy and other and same_entrant != (policy == other):
        yield POLICY, f"its policy is {policy}, it was {other}" if same_entrant else f"its policy is {one.entrant}'s"
    for key in sorted(theirs):
        if mine.get(key) != theirs[key] and _is_shared(key, mine, theirs, is_own=is_own):
            yield key, f"{_stated(key, mine.get(key))}, it was {theirs[key]}"


def _is_shared(key: str, mine: Mapping[str, str], theirs: Mapping[str, str], *, is_own: bool) -> bool:
    """Say whether a key describes the benchmark rather than the entrant."""
    if theirs.get(PARTNER_SET, "").startswith(OWN) or (is_own and mine.get(PARTNER_SET, "").startswith(OWN)):
        return key == TASK_VERSION
    if key not in mine:
        # A spike run has no task version, and part of a set may be left out, which its cells show.
        return key == PARTNER_SET or (key == TASK_VERSION and PARTNER_SET in mine)
    if mine.get(PARTNER_SET) != theirs.get(PARTNER_SET):
        return key in (PARTNER_SET, TASK_VERSION)
    if key == PARTNERS_FILE:
        # A set with some members left out has a different file.
        return {name for name in mine if name.startswith(PARTNER)} == {n for n in theirs if n.startswith(PARTNER)}
    return key in (PARTNER_SET, TASK_VERSION) or key.startswith(PARTNER)


# Earlier evidence that a new submission is compared with.


@dataclass(frozen=True, repr=False)
class Earlier:
    """One entrant's evidence in an earlier submission, and the flags that it raised on arrival.

    `is_same` means that it is the same entrant.
    """

    submission: int
    is_same: bool
    fingerprint: Fingerprint
    flags: Collection[str] = ()
