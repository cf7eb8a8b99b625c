"""One submission's own series: its aggregates over strata, and what its runs claim compared with ours.

Called by `app.jobs.own_tables` and `app.receiving.receive` through the kind; pure. A claim that differs is shown with
both numbers; it does not keep a run off the boards, because nothing of it is used.
"""

from collections.abc import Sequence

import numpy as np

from app.admission.check import Check
from app.admission.claims import SHOWN, Claimed, Means, check_claims, decided_later
from app.boards.methods.weighted_rank.discrimination import discriminations
from app.boards.methods.weighted_rank.groups import balanced, series_groups, stratum_aggregates
from app.kinds.contract import Evaluation, Summary
from app.kinds.series.compared import compare_claims
from app.kinds.series.manifest_part import SeriesPart
from app.manifest.manifest import Manifest, part_of
from app.values.facts import ClaimedValue
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

# What a request may draw to compare claimed intervals: about a second of it on a small machine.
MOST_SCORES_DRAWN = 100_000_000

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("metric", "Metric", "text"),
    Column("mean", "Mean over strata", glossary="balanced_global", digits=4),
    Column("n_strata", "Strata", "integer", glossary="counts"),
    Column("n_attempted", "Attempted", "integer", glossary="counts"),
    Column("n_included", "Included", "integer", glossary="counts"),
)


def summarise(evaluation: Evaluation) -> Summary:
    """Return the table of a submission and what its claims come to."""
    return Summary([summarise_series(evaluation.manifest, evaluation.rows)], own_claims(evaluation.claimed()))


def own_claims(claimed: Claimed) -> list[Check]:
    """Compare claimed means over strata, and the tables that the runs brought, with the rows."""
    manifest, scores, brought = claimed.manifest, claimed.scores, claimed.facts.claimed
    checks = check_claims(claimed.claims, {} if claimed.claims is None else _own_means(manifest, scores))
    if claimed.is_request and brought and _scores_drawn(manifest, scores) > MOST_SCORES_DRAWN:
        return [*checks, decided_later("claimed_values")]
    return [*checks, *check_series_claims(manifest, scores, brought)]


def _own_means(manifest: Manifest, scores: ScoreTable) -> Means:
    return {(row["entrant"], row["metric"]): row["mean"] for row in summarise_series(manifest, scores).records()}


def _scores_drawn(manifest: Manifest, scores: ScoreTable) -> int:
    drawn = part_of(manifest, SeriesPart).drawn
    return scores.values.size * drawn.n_resamples


def check_series_claims(manifest: Manifest, scores: ScoreTable, claimed: Sequence[ClaimedValue]) -> list[Check]:
    """Compare what runs of lrdbench computed themselves with their own rows; a difference is a warning."""
    if not claimed:
        return []
    compared = compare_claims(manifest, scores, claimed)
    beyond = (
        f" {compared.n_beyond} more cannot be compared with anything of this benchmark." if compared.n_beyond else ""
    )
    if compared.different:
        n = len(compared.different)
        more = f" and {n - SHOWN} more" if n > SHOWN else ""
        reason = f"{n} claimed values differ from the rows, which count: {'; '.join(compared.different[:SHOWN])}{more}."
        return [Check("claimed_values", "warned", reason + beyond)]
    if not compared.n_compared:
        return [Check("claimed_values", "warned", f"None of the claimed values can be compared.{beyond}")]
    reason = f"All {compared.n_compared} claimed values that can be compared agree."
    return [Check("claimed_values", "warned" if compared.n_of_boards else "passed", reason + beyond)]


def summarise_series(manifest: Manifest, scores: ScoreTable) -> Table:
    """Return one row per estimator and metric: the mean of its strata, or what tells classes apart over all of them."""
    over_strata = balanced(stratum_aggregates(series_groups(scores)))
    over_strata += discriminations(scores, manifest.metrics)
    rows: list[tuple[Cell, ...]] = [
        (a.estimator, a.metric, _null(a.value), a.n_strata_included, a.n_attempted, a.n_included) for a in over_strata
    ]
    return Table("summary", "This submission's own numbers", COLUMNS, tuple(rows))


def _null(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
