"""The rows that boards are computed from, read as the kind of evidence keeps them. Called by `app.jobs`."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.kinds.known import kind_of
from app.manifest.manifest import Manifest
from app.store.measured import Pair
from app.store.scores import read_scores
from app.store.series import read_series
from app.values.scores import ScoreTable


def read_rows(session: Session, manifest: Manifest, pairs: Sequence[Pair]) -> ScoreTable:
    """Return the rows of some (submission, entrant), with what boards need of them beside the metrics."""
    rows = kind_of(manifest).rows
    if rows.form == "records":
        return read_series(session, pairs)
    return read_scores(session, pairs, [*manifest.metrics, *rows.beside])
