"""Decide the registered claims: within a submission when it is evaluated, between entrants when they are published.

Called by `app.jobs.evaluate` and `app.jobs.publish`.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from app.db.models import Submission
from app.leaderboards.claims import Contrast, claims_table, contrasts_of, decide_claims
from app.manifest import Manifest
from app.scores import ScoreTable
from app.store import preregs, submissions
from app.store.scores import read_scores
from app.store.snapshots import Standing
from app.table import Cell, Table


def write_claims(session: Session, manifest: Manifest, submission: Submission, scores: ScoreTable) -> None:
    """Decide what a submission alone can decide, and keep it."""
    contrasts = _contrasts(session, manifest, submission.prereg_sha256)
    rows = decide_claims(contrasts, scores, submission.id)
    if rows:
        submissions.write_table(session, submission.id, claims_table(manifest, rows))


def decide_benchmark(session: Session, manifest: Manifest, standings: Sequence[Standing]) -> Table | None:
    """Return every claim of the standing submissions, those between entrants included; None when there are none."""
    rows: list[tuple[Cell, ...]] = []
    records: list[Mapping[str, Cell]] = []
    by_name = {standing.entrant: standing for standing in standings}
    between: dict[Contrast, None] = {}
    for submission_id in sorted({standing.submission_id for standing in standings}):
        table = submissions.read_table(session, submission_id, "claims")
        rows += [] if table is None else list(table.rows)
        records += [] if table is None else list(table.records())
        known = {(row["claim"], row["source"], row["first"], row["second"]) for row in records}
        submission = submissions.find_submission(session, submission_id)
        for contrast in _contrasts(session, manifest, submission.prereg_sha256):
            named = {contrast.first, contrast.second} <= by_name.keys()
            if named and (contrast.claim, contrast.source, contrast.first, contrast.second) not in known:
                between[contrast] = None
    for contrast in between:
        pair = [by_name[name] for name in (contrast.first, contrast.second)]
        scores = read_scores(session, [(s.submission_id, s.entrant_id) for s in pair], [contrast.metric])
        rows += decide_claims([contrast], scores, None)
    return claims_table(manifest, rows) if rows else None


def _contrasts(session: Session, manifest: Manifest, prereg_sha256: str | None) -> list[Contrast]:
    if prereg_sha256 is None:
        return contrasts_of(manifest, None, None)
    return contrasts_of(manifest, preregs.load_registration(session, prereg_sha256).prereg, prereg_sha256)
