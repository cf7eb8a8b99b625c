"""All current evidence of one entrant, read from Postgres. Called by `app.jobs.measuring`."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.boards.measured import EntrantEvidence
from app.kinds.known import kind_of
from app.store.benchmarks import Declared
from app.store.labels import load_labels
from app.store.measured import Pair
from app.store.predictions import read_blocks
from app.store.rows import read_scores


def read_entrant(session: Session, declared: Declared, pairs: Sequence[Pair], entrant: str) -> EntrantEvidence:
    """Return the current rows of one entrant; of predictions, these and the labels they are scored against."""
    scores = read_scores(session, pairs, list(declared.manifest.metrics))
    if kind_of(declared.manifest).rows.form != "packed":
        return EntrantEvidence(entrant, scores)
    blocks = [block for pair in pairs for block in read_blocks(session, *pair)]
    labels = load_labels(session, declared.benchmark.id)
    return EntrantEvidence(entrant, scores, blocks, labels)
