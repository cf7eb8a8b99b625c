"""When registered claims are decided: within a submission at its evaluation, between entrants at publication.

`app.boards.claims` decides each; numbers that a run states about itself are those of `app.admission.claims`. A verdict
stays listed whatever happens to its submission later; otherwise a refuted claim could be removed by submitting again.

Why: docs/adr/012-claims-and-verdicts.md.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from app.boards.claims import (
    BY_MANIFEST,
    COLUMNS,
    AskedClaim,
    ClaimedContrast,
    claims_table,
    contrasts_of,
    decide_claims,
    past_claim,
    source_of,
    undelivered_claim,
)
from app.db.models import Submission
from app.jobs.claims_after import FirstHere, tell_after
from app.kinds.registry import delivered_of
from app.manifest.model import Manifest
from app.prereg.fields import Prereg
from app.program.version import code_version
from app.rights.tokens import owners
from app.store import benchmarks, preregs, snapshots, sql, submissions
from app.store.preregs import CURRENT, GONE, Decided, RegistrationStatus, best, list_decided, worst
from app.store.publication import CurrentEvidence, Inputs
from app.store.rows import read_each
from app.values.scores import ScoreTable
from app.values.table import Cell, Table

Claim = Mapping[str, Cell]
Row = tuple[Cell, ...]
Key = tuple[Cell, ...]
Pair = tuple[Sequence[CurrentEvidence], Sequence[CurrentEvidence]]
"""The current evidence of each of two entrants, the oldest first."""
CONTRAST = ("claim", "source", "first", "second", "metric", "threshold", "direction")
PAIR = (*CONTRAST, "submission", "second_submission")
WITHIN = (*CONTRAST, "submission")


def decide_submission(
    manifest: Manifest, submission: Submission, prereg: Prereg | None, scores: ScoreTable
) -> Table | None:
    """Return the claims that a submission alone can decide; None if there are none."""
    rows = [
        row
        for contrast in contrasts_of(manifest, prereg, submission.prereg_sha256)
        for row in decide_claims(manifest, [contrast], scores, AskedClaim(submission.id), delivered_of(manifest))
        if _named(row)["entrant"] is not None or not _waits_for_others(contrast, prereg)
    ]
    return claims_table(manifest, rows) if rows else None


def _waits_for_others(contrast: ClaimedContrast, prereg: Prereg | None) -> bool:
    """Say whether the sides missing from a submission are expected from other submissions."""
    if prereg is None or contrast.source == BY_MANIFEST:
        return True
    between = set(contrast.sides) <= set(prereg.entrants or ()) or prereg.form == "document"
    return between and prereg.run_purpose == "leaderboard"


def decide_benchmark(session: Session, inputs: Inputs) -> Table | None:
    """Return every claim of every submission ever admitted, those between entrants included; None without any."""
    decided = list_decided(session, inputs.declared.benchmark.id, inputs.left_out)
    own = [(one, claim) for one in decided for claim in one.claims if claim["entrant"] is not None]
    asked = _asked(session, inputs.declared.manifest, decided)
    standing_keys = {_key(claim, CONTRAST) for one, claim in own if one.status_of(claim) == CURRENT}
    pairs = _pairs(inputs, [c for c, status in asked.items() if status == CURRENT and _key_of(c) not in standing_keys])
    past = _published(session, inputs)
    between = _decide(session, inputs.declared.manifest, pairs, past)
    former = {key: claim for key, claim in past.claims.items() if key not in between}
    rows = [past_claim(claim, one.status_of(claim)) for one, claim in own]
    rows += [*_decide_late(session, inputs, decided, past), *between.values(), *_former(former.values(), decided)]
    rows += _undelivered(
        inputs, asked, {_named(row)["claim"] for row in rows}, {_key(_named(r), CONTRAST) for r in rows}
    )
    if not rows:
        return None
    listed = preregs.list_registrations(session, inputs.declared)
    told = tell_after(rows, _registered_at(listed), _first_here(session, inputs, rows))
    linked = owners(session, inputs.declared.benchmark.id)
    owner_of = {name: linked.get(one.owner, one.owner) for name, one in inputs.known.items() if one.owner is not None}
    # What few may read yet is only counted: what it says is nobody's to know, and that it is there nobody's to hide.
    now = sql.now(session)
    registered = _registered(session, inputs, [each for each in listed if not each.is_under_embargo(now)], linked)
    owners_of_hidden = [each.prereg.registered_by for each in listed if each.is_under_embargo(now)]
    n_hidden: Counter[Hashable] = Counter(linked.get(owner, owner) for owner in owners_of_hidden)
    return claims_table(inputs.declared.manifest, told, registered, owner_of, n_hidden)


def _registered_at(listed: Sequence[RegistrationStatus]) -> dict[str, datetime]:
    """Return when each registration was here, or earlier by a steward's word, by the name of its source."""
    return {
        source_of(each.prereg.sha256): min(each.prereg.registered_at, each.attested_at or each.prereg.registered_at)
        for each in listed
    }


def _first_here(session: Session, inputs: Inputs, rows: Sequence[Row]) -> FirstHere:
    claims = [claim for row in rows if (claim := _named(row))["source"] != BY_MANIFEST]
    named = {str(claim[each]) for claim in claims for each in ("entrant", "first", "second") if claim[each] is not None}
    return preregs.first_received(session, inputs.declared.benchmark.id, named) if named else {}


def _registered(
    session: Session, inputs: Inputs, listed: Sequence[RegistrationStatus], linked: Mapping[int, int]
) -> list[tuple[int, ClaimedContrast]]:
    """Return the contrasts of every registration for the benchmark with its owner, also where nobody reported."""
    owner_of = {each.prereg.sha256: linked.get(each.prereg.registered_by, each.prereg.registered_by) for each in listed}
    return [
        (owner_of[sha256], contrast)
        for sha256, prereg in preregs.load_parsed(session, list(owner_of)).items()
        for contrast in contrasts_of(inputs.declared.manifest, prereg, sha256)
        if contrast.source != BY_MANIFEST
    ]


@dataclass(frozen=True)
class _Past:
    """What the last snapshot decided between submissions, and whether the current code would decide the same.

    `within` is what it decided within single ones, by contrast and submission.
    """

    claims: Mapping[Key, Claim]
    is_same_code: bool
    within: Mapping[Key, Sequence[Claim]] = field(default_factory=dict)


def _published(session: Session, inputs: Inputs) -> _Past:
    # Each snapshot carries over the decisions of earlier ones; the current one may be an old one reinstated.
    snapshot = snapshots.newest_snapshot(session, inputs.declared.benchmark.id)
    table = None if snapshot is None else snapshots.load_table(session, snapshot.id, "claims")
    if snapshot is None or table is None:
        return _Past({}, is_same_code=False)
    between = [claim for claim in table.records() if claim.get("second_submission") is not None]
    within: dict[Key, list[Claim]] = {}
    for claim in table.records():
        if claim.get("second_submission") is None and claim["entrant"] is not None:
            within.setdefault(_key(claim, WITHIN), []).append(claim)
    return _Past({_key(claim, PAIR): claim for claim in between}, snapshot.code_version == code_version(), within)


def _decide_late(session: Session, inputs: Inputs, decided: Sequence[Decided], past: _Past) -> list[Row]:
    """Decide, within each current submission, claims added to the benchmark after its evaluation.

    Rows are read once: the next publication finds the verdict in the snapshot before it.
    """
    stood: dict[int, list[CurrentEvidence]] = {}
    for standing in inputs.standings:
        stood.setdefault(standing.submission_id, []).append(standing)
    late = {
        (one.submission_id, contrast): stood[one.submission_id]
        for one, contrasts in _unknown_to(session, inputs, decided)
        for contrast in contrasts
        if not set(contrast.sides) <= inputs.by_entrant().keys()
    }
    known = {key: past.within.get((*_key_of(key[1]), key[0])) for key in late} if past.is_same_code else {}
    asked = {
        key: ([standing.ref.pair for standing in standings], [key[1].metric])
        for key, standings in late.items()
        if not known.get(key)
    }
    manifest = inputs.declared.manifest
    scores, delivered = read_each(session, asked) if asked else {}, delivered_of(manifest)
    decided_rows = [
        row
        for key in asked
        for row in decide_claims(manifest, [key[1]], scores[key], AskedClaim(key[0], status=CURRENT), delivered)
        if _named(row)["entrant"] is not None
    ]
    return [*(past_claim(claim, CURRENT) for claims in known.values() for claim in claims or ()), *decided_rows]


def _unknown_to(
    session: Session, inputs: Inputs, decided: Sequence[Decided]
) -> Iterator[tuple[Decided, list[ClaimedContrast]]]:
    """Yield each current submission evaluated before some claims existed, with these, in its registered sides."""
    standing = {s.submission_id for s in inputs.standings}
    new = _claims_since(session, inputs, standing) if inputs.declared.manifest.claims else {}
    late = [one for one in decided if new.get(one.submission_id)]
    known = preregs.load_parsed(session, [one.prereg_sha256 for one in late if one.prereg_sha256 is not None])
    for one in late:
        prereg = None if one.prereg_sha256 is None else known[one.prereg_sha256]
        contrasts = contrasts_of(inputs.declared.manifest, prereg, one.prereg_sha256)
        yield one, [c for c in contrasts if c.source == BY_MANIFEST and c.claim in new[one.submission_id]]


def _claims_since(session: Session, inputs: Inputs, standing: Set[int]) -> dict[int, Set[str]]:
    """Return which claims of the benchmark were new or different after each submission's evaluation."""
    now = inputs.declared.manifest.claims
    versions = submissions.manifest_versions(session, standing)
    before = {
        version: benchmarks.load_declared(session, inputs.declared.benchmark, version).manifest.claims
        for version in set(versions.values()) - {inputs.declared.version.id}
    }
    return {
        number: {name for name, claim in now.items() if before[version].get(name) != claim}
        for number, version in versions.items()
        if version in before
    }


def _asked(session: Session, manifest: Manifest, decided: Sequence[Decided]) -> dict[ClaimedContrast, str]:
    """Return every contrast that a submission was meant to decide, with the best status of these submissions."""
    cited: dict[str | None, list[str]] = {}
    for one in decided:
        cited.setdefault(one.prereg_sha256, []).append(one.status)
    asked: dict[ClaimedContrast, list[str]] = {}
    known = preregs.load_parsed(session, (sha256 for sha256 in cited if sha256 is not None))
    for sha256, statuses in cited.items():
        for contrast in contrasts_of(manifest, None if sha256 is None else known[sha256], sha256):
            asked.setdefault(contrast, []).extend(statuses)
    return {contrast: best(statuses) for contrast, statuses in asked.items()}


def _pairs(inputs: Inputs, contrasts: Sequence[ClaimedContrast]) -> dict[ClaimedContrast, Pair]:
    """Return the contrasts between two current entrants, with the evidence of both."""
    stood = inputs.by_entrant()
    return {
        c: (stood[c.first], stood[c.second]) for c in contrasts if c.second is not None and set(c.sides) <= stood.keys()
    }


def _decide(session: Session, manifest: Manifest, pairs: Mapping[ClaimedContrast, Pair], past: _Past) -> dict[Key, Row]:
    """Decide between entrants; rows are read only where either is new, and for all contrasts at once."""
    known = {c: before for c, pair in pairs.items() if (before := _known(past, c, pair)) is not None}
    asked = {
        c: ([s.ref.pair for stood in pair for s in stood], [c.metric]) for c, pair in pairs.items() if c not in known
    }
    scores, delivered = read_each(session, asked), delivered_of(manifest)
    return {
        _pair_key(c, pair): past_claim(known[c], CURRENT)
        if c in known
        else decide_claims(manifest, [c], scores[c], AskedClaim(*_newest(pair), CURRENT), delivered)[0]
        for c, pair in pairs.items()
    }


def _known(past: _Past, contrast: ClaimedContrast, pair: Pair) -> Claim | None:
    """Return the earlier decision between the same evidence, if the same parts of the submissions still count."""
    is_whole = all(standing.ref.task_ids is None for stood in pair for standing in stood)
    return past.claims.get(_pair_key(contrast, pair)) if past.is_same_code and is_whole else None


def _newest(pair: Pair) -> tuple[int, int]:
    return pair[0][-1].submission_id, pair[1][-1].submission_id


def _former(claims: Iterable[Claim], decided: Sequence[Decided]) -> list[Row]:
    """Return the decisions whose evidence is no longer current on one side."""
    states: dict[tuple[Cell, ...], str] = {}
    for one in decided:
        states |= {(one.submission_id, name): state for name, state in one.states.items()}
    sides = (("submission", "first"), ("second_submission", "second"))
    # A submission set aside has no status here: its verdicts count as withdrawn.
    return [past_claim(claim, worst(states.get(_key(claim, side), GONE) for side in sides)) for claim in claims]


def _undelivered(inputs: Inputs, asked: Mapping[ClaimedContrast, str], names: set[Cell], keys: set[Key]) -> list[Row]:
    """Return the contrasts that nobody's evidence has decided; `names` and `keys` are those of the decided ones."""
    entrants = {standing.entrant for standing in inputs.standings}
    rows = []
    for contrast, status in asked.items():
        # The sides of a benchmark's own claim are different conditions in every registration: any one of them suffices.
        is_decided = contrast.claim in names if contrast.source == BY_MANIFEST else _key_of(contrast) in keys
        if not is_decided:
            missing = [name for name in contrast.sides if name not in entrants]
            rows.append(undelivered_claim(contrast, missing, AskedClaim(status=status)))
    return rows


def _named(row: Row) -> Claim:
    return dict(zip([column.name for column in COLUMNS], row, strict=True))


def _key(claim: Claim, columns: Sequence[str]) -> Key:
    return tuple(claim[column] for column in columns)


def _key_of(contrast: ClaimedContrast) -> Key:
    return tuple(getattr(contrast, column) for column in CONTRAST)


def _pair_key(contrast: ClaimedContrast, pair: Pair) -> Key:
    return (*_key_of(contrast), *_newest(pair))
