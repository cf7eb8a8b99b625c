"""What submitters state of their entrants, for filtering boards. Called by `app.web.explore` and `.pictures`."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Entrant, SnapshotEntry, Submission

Described = Mapping[str, Mapping[str, Any]]


def described_entrants(session: Session, snapshot_id: int) -> Described:
    """Return the metadata of each entrant of a snapshot; a later submission's replace an earlier one's."""
    query = (
        select(Entrant.name, Submission.description)
        .join(SnapshotEntry, SnapshotEntry.entrant_id == Entrant.id)
        .join(Submission, Submission.id == SnapshotEntry.submission_id)
        .where(SnapshotEntry.snapshot_id == snapshot_id)
        .order_by(Submission.id)
    )
    described: dict[str, dict[str, Any]] = {}
    for name, description in session.execute(query):
        described.setdefault(name, {}).update(description)
    return described
