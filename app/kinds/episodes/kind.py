"""Evidence kind episodes, as the other rooms see it. Found by its entry point."""

from collections.abc import Collection

from app.admission.case import Case, Check, KindRules, Registered
from app.boards.coverage import Coverage
from app.boards.measured import EvidenceWords, MeasuredEvidence
from app.boards.methods.estimate import EstimateBoard
from app.kinds.contract import Kind, RowStorage
from app.kinds.episodes.coverage import counted_rows, delivered
from app.kinds.episodes.manifest_part import EpisodesPart
from app.kinds.episodes.measure import measure_episodes
from app.kinds.episodes.pages import ENTRIES, PAGES
from app.kinds.episodes.read import SUFFIXES, read_episodes
from app.kinds.episodes.rules import (
    check_bundles,
    check_claims_present,
    check_grid,
    check_prereg_bundles,
    check_prereg_episodes,
    check_scores_present,
)
from app.kinds.episodes.summary import own_claims, summarise
from app.kinds.episodes.tables import further_tables
from app.kinds.grid_rules import chosen_seeds_note
from app.manifest.model import Manifest, part_of
from app.values.scores import ScoreTable


def _words(manifest: Manifest, spec: EstimateBoard) -> EvidenceWords:
    has_seeds = part_of(manifest, EpisodesPart).where.seed is not None
    return EvidenceWords(
        resampled="seeds, and over episodes within them" if has_seeds else "items",
        too_few="clusters" if has_seeds else "items",
        units="seeds" if has_seeds else "items",
        failed=f"Episodes without a score of {spec.ranked}",
        cells="episodes in each task, condition and seed",
        has_statistics=True,
        notes=tuple(chosen_seeds_note(manifest)),
    )


def _prereg(case: Case, registered: Registered) -> list[Check]:
    bundles = case.facts.bundles
    return [
        *check_prereg_episodes(case.manifest, registered.prereg, case.scores, bundles),
        *check_prereg_bundles(registered, case.scores, bundles),
    ]


def _scores(case: Case) -> list[Check]:
    prereg = None if case.registered is None else case.registered.prereg
    return [check_scores_present(case.manifest, prereg, case.scores), *check_grid(case)]


def _run(case: Case) -> list[Check]:
    return check_bundles(case.facts.bundles)


def _claims(case: Case) -> list[Check]:
    return check_claims_present(case.scores.entrant.words, case.facts.bundles, case.claims)


def _conditions(manifest: Manifest) -> Collection[str] | None:
    return part_of(manifest, EpisodesPart).conditions_of(manifest)


def _is_composed_of_tasks(manifest: Manifest) -> bool:
    return any(isinstance(spec, EstimateBoard) and spec.composite for spec in manifest.leaderboards)


def _delivered(
    manifest: Manifest, scores: ScoreTable, entrant: str, metric: str, conditions: Collection[str]
) -> Coverage | None:
    return delivered(manifest, scores, entrant, metric, conditions, by_task=_is_composed_of_tasks(manifest))


EPISODES = Kind(
    name="episodes",
    order=1,
    part=EpisodesPart,
    read=read_episodes,
    summarise=summarise,
    own_claims=own_claims,
    suffixes=SUFFIXES,
    rules=KindRules(
        prereg=_prereg,
        scores=_scores,
        run=_run,
        claims=_claims,
        counts_missing_tasks=False,
        needs_values=True,
        conditions=_conditions,
    ),
    rows=RowStorage(by_task=_is_composed_of_tasks),
    delivered=_delivered,
    measured=MeasuredEvidence(
        measure=measure_episodes, words=_words, further_tables=further_tables, counted=counted_rows
    ),
    pages=PAGES,
    glossary=lambda: ENTRIES,
)
