"""What a run says that it is, compared with its registration, with itself and with earlier runs.

Called by `app.admission.rules`; pure. A difference is flagged and never refuses: a policy may have been renamed. Keys
of an identity are those that the reader of a kind gives to what its files say (see `BundleFacts.identity`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.prereg.prereg import Prereg
from app.values.facts import BundleFacts
from app.values.forensics import Finding

POLICY, PARTNER_SET, TASK_VERSION, COMMIT = "policy", "partner set", "task version", "commit"
PARTNER, PARTNERS_FILE = "partner ", "partners file"
OPEN_PART = "<"
"""What stands behind it in a registered policy is filled in by the run: `happo_manifest:<committed manifest>`."""
OWN = "adhoc:"
"""A set that was put together for one run, such as the partner that a pair was trained with."""
DIRTY = "dirty"


@dataclass(frozen=True)
class EarlierIdentity:
    """What one bundle of an earlier submission said that it is."""

    submission: int
    entrant: str | None
    identity: Mapping[str, str]


def identity_findings(
    prereg: Prereg | None, bundles: Sequence[BundleFacts], code_commit: str | None, earlier: Sequence[EarlierIdentity]
) -> Iterator[Finding]:
    """Yield what differs, one finding for each bundle and matter."""
    for bundle in bundles:
        sentences = [*_against_itself(bundle, code_commit), *_against_earlier(bundle, earlier)]
        sentences += [] if prereg is None else _against_prereg(prereg, bundle)
        yield from (Finding("identity", bundle.entrant, f"{bundle.name}: {sentence}") for sentence in sentences)
        if bundle.brings_prereg and bundle.prereg_sha256 is None:
            yield Finding("no_prereg_in_bundle", bundle.entrant, bundle.name)


def says_dirty(bundle: BundleFacts) -> bool:
    """Say whether a bundle says of its code that it was not committed, by a flag or by the name of the commit."""
    return bool(bundle.dirty) or DIRTY in (bundle.code_commit or "").lower()


def _against_itself(bundle: BundleFacts, code_commit: str | None) -> Iterator[str]:
    commit = (bundle.code_commit or "").lower()
    if DIRTY in commit:
        yield f"its commit is {bundle.code_commit}"
    ours = (code_commit or "").lower()
    if commit and ours and not (commit.startswith(ours) or ours.startswith(commit)):
        yield f"its commit is {bundle.code_commit}, the submission's code_commit is {code_commit}"


def _against_prereg(prereg: Prereg, bundle: BundleFacts) -> Iterator[str]:
    policy = prereg.policies.get(bundle.entrant or "")
    said = bundle.identity.get(POLICY)
    if policy is not None and said is not None and not _fits(said, policy):
        yield f"its policy is {said}, registered is {policy}"
    is_own = bundle.entrant in prereg.own_partner
    for key, declared in ((PARTNER_SET, prereg.partner_set), (TASK_VERSION, prereg.task_version)):
        found = bundle.identity.get(key)
        if declared is not None and found not in (None, declared) and not (is_own and key == PARTNER_SET):
            yield f"its {key} is {found}, registered is {declared}"


def _fits(said: str, registered: str) -> bool:
    stem, open_part, _ = registered.partition(OPEN_PART)
    return said.startswith(stem) if open_part else said == registered


def _against_earlier(bundle: BundleFacts, earlier: Sequence[EarlierIdentity]) -> Iterator[str]:
    seen: set[str] = set()
    for one in earlier:
        for key, sentence in _differences(bundle, one):
            if key not in seen:
                seen.add(key)
                yield f"{sentence} in submission {one.submission}"


def _differences(bundle: BundleFacts, one: EarlierIdentity) -> Iterator[tuple[str, str]]:
    mine, theirs = bundle.identity, one.identity
    same_entrant = bundle.entrant == one.entrant
    policy, other = mine.get(POLICY), theirs.get(POLICY)
    if policy and other and same_entrant != (policy == other):
        yield POLICY, f"its policy is {policy}, it was {other}" if same_entrant else f"its policy is {one.entrant}'s"
    for key in mine.keys() & theirs.keys():
        if mine[key] != theirs[key] and _is_shared(key, mine, theirs):
            yield key, f"its {key} is {mine[key]}, it was {theirs[key]}"


def _is_shared(key: str, mine: Mapping[str, str], theirs: Mapping[str, str]) -> bool:
    """Say whether a matter is the benchmark's rather than an entrant's own."""
    sets = mine.get(PARTNER_SET, ""), theirs.get(PARTNER_SET, "")
    if OWN in (sets[0][: len(OWN)], sets[1][: len(OWN)]):
        return key == TASK_VERSION
    if key == PARTNERS_FILE:
        # A set of which some members were left out has another file.
        return {name for name in mine if name.startswith(PARTNER)} == {n for n in theirs if n.startswith(PARTNER)}
    return key in (PARTNER_SET, TASK_VERSION) or key.startswith(PARTNER)
