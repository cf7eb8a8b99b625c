"""Decide the registered claims: within a submission when it is evaluated, between entrants when they are published.

Called by `app.jobs.evaluate` and `app.jobs.publish`. A verdict stays listed whatever happens to its submission
later: otherwise a refuted claim would go away by submitting again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.boards.claims import (
    BY_MANIFEST,
    COLUMNS,
    Asked,
    Contrast,
    claims_table,
    contrasts_of,
    decide_claims,
    past_claim,
    undelivered_claim,
)
from app.db.models import Submission
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg
from app.store import preregs, snapshots, submissions
from app.store.claims import CURRENT, GONE, Decided, best, list_decided, worst
from app.store.inputs import Inputs, Standing
from app.store.rows import read_each
from app.values.scores import ScoreTable
from app.values.table import Cell, Table
from app.version import code_version

Claim = Mapping[str, Cell]
Row = tuple[Cell, ...]
Key = tuple[Cell, ...]
Pair = tuple[Sequence[Standing], Sequence[Standing]]
"""What each of two entrants stands on, the oldest first."""
CONTRAST = ("claim", "source", "first", "second", "metric", "threshold", "direction")
PAIR = (*CONTRAST, "submission", "second_submission")


def write_claims(session: Session, manifest: Manifest, submission: Submission, scores: ScoreTable) -> None:
    """Decide what a submission alone can decide, and keep it."""
    sha256 = submission.prereg_sha256
    prereg = None if sha256 is None else preregs.load_registration(session, sha256).prereg
    rows = [
        row
        for contrast in contrasts_of(manifest, prereg, sha256)
        for row in decide_claims([contrast], scores, Asked(submission.id))
        if _named(row)["entrant"] is not None or not _waits_for_others(contrast, prereg)
    ]
    if rows:
        submissions.write_table(session, submission.id, claims_table(manifest, rows))


def _waits_for_others(contrast: Contrast, prereg: Prereg | None) -> bool:
    """Say whether the sides that a submission does not have are expected from other submissions."""
    if prereg is None or contrast.source == BY_MANIFEST:
        return True
    between = {contrast.first, contrast.second} <= set(prereg.entrants or ())
    return between and prereg.run_purpose == "leaderboard"


def decide_benchmark(session: Session, inputs: Inputs) -> Table | None:
    """Return every claim of every submission ever admitted, those between entrants included; None without any."""
    decided = list_decided(session, inputs.declared.benchmark.id, inputs.left_out)
    own = [(one, claim) for one in decided for claim in one.claims if claim["entrant"] is not None]
    asked = _asked(session, inputs.declared.manifest, decided)
    standing_keys = {_key(claim, CONTRAST) for one, claim in own if one.status_of(claim) == CURRENT}
    pairs = _pairs(inputs, [c for c, status in asked.items() if status == CURRENT and _key_of(c) not in standing_keys])
    past = _published(session, inputs)
    between = _decide(session, pairs, past)
    former = {key: claim for key, claim in past.claims.items() if key not in between}
    rows = [past_claim(claim, one.status_of(claim)) for one, claim in own]
    rows += [*between.values(), *_former(former.values(), decided)]
    rows += _undelivered(
        inputs, asked, {_named(row)["claim"] for row in rows}, {_key(_named(r), CONTRAST) for r in rows}
    )
    return claims_table(inputs.declared.manifest, rows) if rows else None


@dataclass(frozen=True)
class _Past:
    """What the last snapshot decided between submissions, and whether this code would decide it alike."""

    claims: Mapping[Key, Claim]
    is_same_code: bool


def _published(session: Session, inputs: Inputs) -> _Past:
    # Each snapshot carries what those made before it had; the current one may be an old one again.
    snapshot = snapshots.newest_snapshot(session, inputs.declared.benchmark.id)
    table = None if snapshot is None else snapshots.load_table(session, snapshot.id, "claims")
    if snapshot is None or table is None:
        return _Past({}, is_same_code=False)
    between = [claim for claim in table.records() if claim.get("second_submission") is not None]
    return _Past({_key(claim, PAIR): claim for claim in between}, snapshot.code_version == code_version())


def _asked(session: Session, manifest: Manifest, decided: Sequence[Decided]) -> dict[Contrast, str]:
    """Return every contrast that a submission was to decide, with where the best of these submissions stands."""
    cited: dict[str | None, list[str]] = {}
    for one in decided:
        cited.setdefault(one.prereg_sha256, []).append(one.status)
    asked: dict[Contrast, list[str]] = {}
    known = preregs.load_parsed(session, (sha256 for sha256 in cited if sha256 is not None))
    for sha256, statuses in cited.items():
        for contrast in contrasts_of(manifest, None if sha256 is None else known[sha256], sha256):
            asked.setdefault(contrast, []).extend(statuses)
    return {contrast: best(statuses) for contrast, statuses in asked.items()}


def _pairs(inputs: Inputs, contrasts: Sequence[Contrast]) -> dict[Contrast, Pair]:
    """Return the contrasts between two entrants that stand on the boards, with the evidence of both."""
    stood = inputs.by_entrant()
    return {c: (stood[c.first], stood[c.second]) for c in contrasts if {c.first, c.second} <= stood.keys()}


def _decide(session: Session, pairs: Mapping[Contrast, Pair], past: _Past) -> dict[Key, Row]:
    """Decide between entrants; rows are read only where one of the two is new, and of all of them at once."""
    known = {c: before for c, pair in pairs.items() if (before := _known(past, c, pair)) is not None}
    asked = {
        c: ([s.piece.pair for stood in pair for s in stood], [c.metric]) for c, pair in pairs.items() if c not in known
    }
    scores = read_each(session, asked)
    return {
        _pair_key(c, pair): past_claim(known[c], CURRENT)
        if c in known
        else decide_claims([c], scores[c], Asked(*_newest(pair), CURRENT))[0]
        for c, pair in pairs.items()
    }


def _known(past: _Past, contrast: Contrast, pair: Pair) -> Claim | None:
    """Return what was decided before between the same evidence; parts of submissions may be other parts than before."""
    is_whole = all(standing.piece.task_ids is None for stood in pair for standing in stood)
    return past.claims.get(_pair_key(contrast, pair)) if past.is_same_code and is_whole else None


def _newest(pair: Pair) -> tuple[int, int]:
    return pair[0][-1].submission_id, pair[1][-1].submission_id


def _former(claims: Iterable[Claim], decided: Sequence[Decided]) -> list[Row]:
    """Return what was decided between evidence of which one side stands no more."""
    states: dict[tuple[Cell, ...], str] = {}
    for one in decided:
        states |= {(one.submission_id, name): state for name, state in one.states.items()}
    sides = (("submission", "first"), ("second_submission", "second"))
    # What was set aside has no state here: its verdicts are as good as withdrawn.
    return [past_claim(claim, worst(states.get(_key(claim, side), GONE) for side in sides)) for claim in claims]


def _undelivered(inputs: Inputs, asked: Mapping[Contrast, str], names: set[Cell], keys: set[Key]) -> list[Row]:
    """Return the contrasts that nobody's evidence has decided; `names` and `keys` are those of the decided ones."""
    entrants = {standing.entrant for standing in inputs.standings}
    rows = []
    for contrast, status in asked.items():
        # The sides of a benchmark's own claim are other conditions in every registration: one of them will do.
        is_decided = contrast.claim in names if contrast.source == BY_MANIFEST else _key_of(contrast) in keys
        if not is_decided:
            missing = [name for name in (contrast.first, contrast.second) if name not in entrants]
            rows.append(undelivered_claim(contrast, missing, Asked(status=status)))
    return rows


def _named(row: Row) -> Claim:
    return dict(zip([column.name for column in COLUMNS], row, strict=True))


def _key(claim: Claim, columns: Sequence[str]) -> Key:
    return tuple(claim[column] for column in columns)


def _key_of(contrast: Contrast) -> Key:
    return tuple(getattr(contrast, column) for column in CONTRAST)


def _pair_key(contrast: Contrast, pair: Pair) -> Key:
    return (*_key_of(contrast), *_newest(pair))
