"""The known kinds of evidence, and the one place where a manifest's kind is looked up."""

from app.boards.measured import MeasuredEvidence
from app.kinds.contract import Kind
from app.kinds.episodes.kind import EPISODES
from app.kinds.predictions.kind import PREDICTIONS
from app.kinds.series.kind import SERIES
from app.kinds.summary.kind import SUMMARY
from app.manifest.manifest import Manifest
from app.values.registry import Registry

KINDS: Registry[Kind] = Registry(
    "kind of evidence", {kind.name: kind for kind in (SUMMARY, EPISODES, SERIES, PREDICTIONS)}
)


def kind_of(manifest: Manifest) -> Kind:
    """Return the kind of a benchmark's evidence."""
    return KINDS[manifest.evidence]


def measured_evidence(manifest: Manifest) -> MeasuredEvidence:
    """Return how the entrants of a benchmark are measured. Raises TypeError for a kind that is not measured so."""
    measured = kind_of(manifest).measured
    if measured is None:
        raise TypeError(f"evidence of kind {manifest.evidence} is not measured one entrant at a time")
    return measured
