"""All current evidence of one entrant, read from Postgres. Called by `app.jobs.measuring`."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.boards.measured import EntrantEvidence
from app.kinds.known import kind_of
from app.kinds.predictions.label_parts import narrow
from app.manifest.asked import PRIVATE_PART
from app.manifest.manifest import Manifest
from app.store.benchmarks import Declared
from app.store.disclosure import scoring_of
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
    return _visible(declared.manifest, EntrantEvidence(entrant, scores, blocks, labels))


def _visible(manifest: Manifest, evidence: EntrantEvidence) -> EntrantEvidence:
    """Return what may be computed with: of labels that are a secret the public part alone, until the close."""
    if scoring_of(manifest) is None or manifest.asked.facts.part == PRIVATE_PART:
        return evidence
    if any(labels.public is None for labels in evidence.labels.values()):
        raise RuntimeError(f"the private labels of {manifest.slug} have no parts")
    return narrow(evidence, public=True)
