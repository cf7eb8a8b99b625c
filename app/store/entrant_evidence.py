"""Everything that one entrant stands on, read from Postgres. Called by `app.jobs.measuring`."""

from sqlalchemy.orm import Session

from app.leaderboards.measured import EntrantEvidence
from app.store.benchmarks import Declared
from app.store.measured import Pair
from app.store.scores import read_scores


def read_entrant(session: Session, declared: Declared, pair: Pair, entrant: str) -> EntrantEvidence:
    """Return the rows of one entrant in one submission."""
    return EntrantEvidence(entrant, read_scores(session, [pair], list(declared.manifest.metrics)))
