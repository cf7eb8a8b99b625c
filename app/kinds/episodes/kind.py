"""Evidence kind episodes, as the other rooms see it. Found by its entry point."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from statistics import median

from app.admission.case import Case, Check, KindRules, Registered
from app.boards.calibrated import range_of
from app.boards.coverage import Coverage
from app.boards.measured import EvidenceWords, MeasuredKind, Measurement
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
from app.kinds.grid_sentences import chosen_seeds_note
from app.manifest.model import Manifest, Metric, part_of
from app.stats.spreads import SHARE
from app.values.scores import ScoreTable
from app.values.table import Table


def _words(manifest: Manifest, spec: EstimateBoard) -> EvidenceWords:
    part = part_of(manifest, EpisodesPart)
    has_seeds, units = part.has_seeds(), "items" if part.items is None else "clusters of items"
    return EvidenceWords(
        resampled="seeds, and over episodes within them" if has_seeds else units,
        too_few="clusters" if has_seeds else units,
        units="seeds" if has_seeds else units,
        failed=f"Episodes without a score of {spec.ranked}",
        cells="episodes in each task, condition and seed",
        has_statistics=True,
        is_rate=range_of(manifest.metrics[spec.ranked]) == SHARE,
        rare=_rare(spec, manifest.metrics[spec.ranked]) if has_seeds else "",
        are_shared=has_seeds and part.shares_seeds(),
        notes=(*_on_units(part), *chosen_seeds_note(manifest)),
    )


def _on_units(part: EpisodesPart) -> Iterator[str]:
    """Yield whether entrants are compared seed by seed, which numbering seeds otherwise can turn to one's favour, or
    that items are taken for independent.
    """
    if part.has_seeds() and part.shares_seeds():
        yield (
            "Seeds are declared as shared: one of the same number is taken for the same of everybody, and entrants are "
            "compared seed by seed. The numbers are the submitters' word: two equals, one with its seeds numbered like "
            "the other's, best by best, would be told apart in up to half of all cases."
        )
    elif part.has_seeds():
        declared = "declared as" if part.seeds else "taken for"
        yield f"Seeds are {declared} each entrant's own: nothing is paired by their numbers."
    elif part.items is None:
        yield "Items are treated as independent: no cluster of items is declared."


def _rare(spec: EstimateBoard, metric: Metric) -> str:
    """Return in which world the intervals of a score over seeds fail, where a seed can fail or lie far off."""
    if spec.statistic_of(spec.ranked, metric) == "iqm":
        return "iqm"
    return "seeds" if range_of(metric).is_bounded else "off"


def _with_clusters(manifest: Manifest, _measurements: Sequence[Measurement], table: Table) -> Table:
    """Return a board with its clusters of items and their design effect in `meta` and in a note; others unchanged."""
    items = part_of(manifest, EpisodesPart).items
    if items is None or "n_clusters" not in table.column_names():
        return table
    rows = list(table.records())
    n_clusters, n_items = (max(int(str(row[name] or 0)) for row in rows) for name in ("n_clusters", "n_episodes"))
    effects = [float(str(row["design_effect"])) for row in rows if row["design_effect"] is not None]
    effect = round(median(effects), 3) if effects else None
    said = f"The {n_items:,} items are of {n_clusters:,} clusters ({items.cluster}), which count as the units of "
    said += "intervals, ranks and claims"
    said += f"; they make the variance of a score {effect:.3g} times as large (design effect)." if effect else "."
    dependence = {"unit": "cluster", "n_units": n_clusters, "n_items": n_items, "declared": ["items.cluster"],
                  "design_effect": effect}  # fmt: skip
    return replace(table, notes=(*table.notes, said), meta={**table.meta, "dependence": dependence})


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
    rows=RowStorage(by_task=_is_composed_of_tasks, have_items=True),
    delivered=_delivered,
    measured=MeasuredKind(
        measure=measure_episodes,
        words=_words,
        further_tables=further_tables,
        finish=_with_clusters,
        counted=counted_rows,
    ),
    pages=PAGES,
    glossary=lambda: ENTRIES,
)
