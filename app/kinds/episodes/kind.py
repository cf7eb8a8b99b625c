"""Evidence kind episodes, as the other rooms see it. Read by `app.kinds.known`."""

from app.boards.estimate.spec import EstimateBoard
from app.boards.measured import EvidenceWords, MeasuredEvidence
from app.kinds.contract import Kind
from app.kinds.episodes.measure import measure_episodes
from app.kinds.episodes.read import SUFFIXES, read_episodes
from app.kinds.episodes.tables import further_tables
from app.manifest.manifest import Manifest


def _words(manifest: Manifest, spec: EstimateBoard) -> EvidenceWords:
    del manifest
    return EvidenceWords(
        resampled="seeds, and over episodes within them",
        too_few="clusters",
        failed=f"Episodes without a score of {spec.ranked}",
        has_statistics=True,
    )


EPISODES = Kind(
    name="episodes",
    read=read_episodes,
    suffixes=SUFFIXES,
    measured=MeasuredEvidence(measure=measure_episodes, words=_words, further_tables=further_tables),
)
