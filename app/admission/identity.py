"""The identity that a run states, compared with its registration, with itself and with earlier runs.

Called by `app.admission.rules`; pure. A difference is flagged and never refuses: a policy may have been renamed. The
keys of an identity are chosen by the reader of a kind (see `BundleFacts.identity`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.prereg.prereg import Prereg
from app.values.facts import BundleFacts
from app.values.forensics import Finding

POLICY, PARTNER_SET, TASK_VERSION, COMMIT = "policy", "partner set", "task version", "commit"
PARTNER, PARTNERS_FILE = "partner ", "partners file"
OPEN_PART = "<"
"""Text after it in a registered policy is filled in by the run: `happo_manifest:<committed manifest>`."""
OWN = "adhoc:"
"""A set that was put together for one run, such as the partner that a pair was trained with."""
DIRTY = "dirty"


@dataclass(frozen=True)
class EarlierIdentity:
    """The identity stated by one bundle of an earlier submission."""

    submission: int
    entrant: str | None
    identity: Mapping[str, str]


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
