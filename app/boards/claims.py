"""Registered claims against the evidence: for each contrast the paired difference, its interval and the verdict.

Called by `app.jobs.claims`; pure. A contrast is between two conditions of one entrant, or between two entrants. Its
pairs share everything else: task, seed and item. The cluster is the seed, or the task where evidence has no seeds.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from app.boards.claim_pairs import pair_rows
from app.boards.claim_rows import FRAME, LEVEL, N_RESAMPLES, Asked, Contrast, Decision, not_delivered, undelivered
from app.boards.coverage import NOTHING_ASKED, Coverage, covered
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg
from app.stats.aggregate import Interval, estimate, interquartile_mean, mean
from app.stats.arrays import BoolArray, IntArray
from app.stats.cluster import draw_clusters, group_sample
from app.stats.paired import Pairs, decide, minimum_detectable_difference
from app.stats.resample import board_generator
from app.values.frame import Ends
from app.values.scores import ScoreTable
from app.values.table import Cell

BY_MANIFEST = "manifest"
SUCCESS = "success"
"""The metric to which CHAMBER's thresholds apply."""

Delivered = Callable[[ScoreTable, str, str, Collection[str]], Coverage | None]
"""A function giving the coverage of an entrant's rows in a metric, in some conditions or (empty) all; None without a
declared grid."""

PROVISIONAL = "provisional: nobody has declared what is asked"

# Role names by which a manifest refers to the two conditions of whichever axis was registered.
ROLES = ("homogeneous", "heterogeneous")


def all_there(_scores: ScoreTable, _entrant: str, _metric: str, _conditions: Collection[str]) -> Coverage | None:
    """Return a full coverage, never null (None), for rows that are complete by construction.

    Source: none.

    >>> from app.boards.example import rows
    >>> all_there(rows(), "Fair", "error", ()).n_lacking
    0
    """
    return NOTHING_ASKED


def source_of(prereg_sha256: str) -> str:
    """Return the name of a registration in the column `source`: the first twelve digits of its digest.

    >>> source_of("0123456789abcdef")
    '0123456789ab'
    """
    return prereg_sha256[:12]


def contrasts_of(manifest: Manifest, prereg: Prereg | None, prereg_sha256: str | None) -> list[Contrast]:
    """Return what the benchmark and the registration claim; roles are resolved to the registered conditions.

    Without a registration, None, the claims are the benchmark's alone.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.manifest import Claim, Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> claim = Claim(contrast=["A", "B"], metric="error", threshold=0.0, direction="less")
    >>> declared = benchmark(board).model_copy(update={"claims": {"faster": claim}})
    >>> [(each.claim, each.sides) for each in contrasts_of(declared, None, None)]
    [('faster', ('A', 'B'))]
    """
    roles: dict[str, str] = {}
    if prereg is not None and prereg.form == "axis" and prereg.conditions is not None:
        roles = dict(zip(ROLES, prereg.conditions, strict=False))
    contrasts = []
    for name, claim in manifest.claims.items():
        first, second = _two([roles.get(side, side) for side in claim.contrast])
        contrasts.append(Contrast(name, BY_MANIFEST, first, second, claim.metric, claim.threshold, claim.direction))
    asked = {(contrast.sides, contrast.metric) for contrast in contrasts}
    source = source_of(prereg_sha256 or "")
    for number, hypothesis in enumerate(prereg.hypotheses if prereg else (), start=1):
        metric = hypothesis.metric or _rate(manifest)
        name = hypothesis.name or f"hypothesis {number}"
        # A claim implied by the form of registration is not repeated where the benchmark makes it for everybody.
        if metric is not None and (hypothesis.name is None or (hypothesis.contrast, metric) not in asked):
            first, second = _two(hypothesis.contrast)
            contrasts.append(Contrast(name, source, first, second, metric, hypothesis.threshold, hypothesis.direction))
    return contrasts


def _two(sides: Sequence[str]) -> tuple[str, str | None]:
    return sides[0], sides[1] if len(sides) > 1 else None


def _rate(manifest: Manifest) -> str | None:
    """Return the success rate, or else the ranking metric of the first board; None where that is not a rate."""
    ranking = [metric for board in manifest.leaderboards for metric in board.required_metrics()]
    for name in (SUCCESS, *ranking[:1]):
        metric = manifest.metrics.get(name)
        if metric is not None and (metric.above is not None or (metric.min, metric.max) == (0.0, 1.0)):
            return name
    return None


def decide_claims(
    contrasts: Sequence[Contrast], scores: ScoreTable, asked: Asked, delivered: Delivered = all_there
) -> list[tuple[Cell, ...]]:
    """Return a row for each contrast and entrant, in the order of COLUMNS.

    The difference is first minus second, in the metric's unit. A contrast between names without rows has one
    inconclusive row without an entrant; unknown numbers are None. `delivered` gives an entrant's coverage: where it is
    incomplete, or rows of one side have no partner, the verdict is inconclusive.
    Source: `app.stats.paired.decide`, over `app.stats.aggregate.estimate` of the paired differences.

    >>> from app.boards.example import rows
    >>> contrast = Contrast("faster", BY_MANIFEST, "Fair", "Poor", "error", 0.0, "less")
    >>> row, = decide_claims([contrast], rows(), Asked(1))
    >>> row[:3], row[4], round(row[6], 2)
    (('faster', 'manifest', 'Fair, Poor'), 'supported', -0.5)
    """
    return [
        FRAME.cells(_unless_lacking(row, scores, delivered))
        for contrast in contrasts
        for row in _decisions(contrast, scores, asked)
    ]


def _unless_lacking(decision: Decision, scores: ScoreTable, delivered: Delivered) -> Decision:
    """Make a decision inconclusive where evidence is missing, because it might have contradicted the claim."""
    if decision.entrant is None or not decision.n_pairs:
        return decision
    contrast = decision.contrast
    is_within = decision.entrant in scores.entrant.words and contrast.sides != (decision.entrant,)
    of_whom = [decision.entrant] if is_within else contrast.sides
    conditions = contrast.sides if is_within else ()
    known = [delivered(scores, entrant, contrast.metric, conditions) for entrant in of_whom]
    lacking = [f"partial: {covered(each)} included" for each in known if each is not None and each.n_lacking]
    n_unmatched = sum(n or 0 for n in decision.n_unmatched)
    lacking += [f"{n_unmatched:,} unmatched"] if n_unmatched and not lacking else []
    verdict = "inconclusive" if lacking else decision.verdict
    notes = [*lacking, *([PROVISIONAL] if None in known else []), *([decision.note] if decision.note else [])]
    return replace(decision, verdict=verdict, note="; ".join(notes) or None)


def _decisions(contrast: Contrast, scores: ScoreTable, asked: Asked) -> Iterator[Decision]:
    named = contrast.sides
    if contrast.metric not in scores.columns:
        yield undelivered(contrast, [contrast.metric], asked)
        return
    if set(named) <= set(scores.entrant.words):
        sides = tuple(_is(scores.entrant.words, scores.entrant.codes, name) for name in named)
        yield _decide(contrast, scores, ", ".join(named), sides, asked)
        return
    condition = scores.condition
    if condition is None or not set(named) & set(condition.words):
        yield undelivered(contrast, [name for name in named if name not in scores.entrant.words], asked)
        return
    for code, entrant in enumerate(scores.entrant.words):
        mine = scores.entrant.codes == code
        sides = tuple(mine & _is(condition.words, condition.codes, name) for name in named)
        yield _decide(contrast, scores, entrant, sides, asked, is_condition=True)


def _is(words: Sequence[str], codes: IntArray, name: str) -> BoolArray:
    mask: BoolArray = codes == (words.index(name) if name in words else len(words))
    return mask


def _decide(
    contrast: Contrast,
    scores: ScoreTable,
    entrant: str,
    sides: tuple[BoolArray, ...],
    asked: Asked,
    *,
    is_condition: bool = False,
) -> Decision:
    pairs = _arm_rows(contrast, scores, sides[0]) if len(sides) == 1 else None
    pairs = pairs or pair_rows(contrast.metric, scores, sides, with_condition=not is_condition)
    unmatched = (pairs.n_unmatched_first, None if len(sides) == 1 else pairs.n_unmatched_second)
    if not len(pairs.difference):
        missing = [name for name, side in zip(contrast.sides, sides, strict=True) if not side.any()]
        note = not_delivered(missing) if missing else "no pairs"
        return Decision(contrast, asked, entrant, n_unmatched=unmatched, note=note)
    sample = group_sample(pairs.difference, pairs.cluster)
    rng = board_generator(0, "claim", entrant, *contrast.sides, contrast.metric)
    aggregates = {"mean": mean, "iqm": interquartile_mean}
    intervals = estimate(sample, aggregates, draw_clusters(sample, N_RESAMPLES, rng), level=LEVEL)
    decisive = intervals["mean"]
    return Decision(
        contrast=contrast,
        asked=asked,
        entrant=entrant,
        verdict=decide(decisive, contrast.threshold, contrast.direction),
        difference=_ends(decisive),
        detectable=_detectable(decisive),
        n_pairs=len(pairs.difference),
        n_unmatched=unmatched,
        n_clusters=len(np.unique(pairs.cluster)),
        iqm=_ends(intervals["iqm"]),
        note="all equal" if decisive.is_degenerate else (decisive.reason or "").replace("_", " ") or None,
    )


def _arm_rows(contrast: Contrast, scores: ScoreTable, side: BoolArray) -> Pairs:
    """Return the values of one arm as differences from zero, clustered by seed, or by task."""
    values = scores.value(contrast.metric)
    rows = np.flatnonzero(side & ~np.isnan(values))
    cluster = scores.task.codes if scores.seed is None else scores.seed
    return Pairs(values[rows], cluster[rows], 0, 0)


def _detectable(interval: Interval) -> float | None:
    # Equal differences give no information about their variation.
    if interval.replicates is None or interval.is_degenerate:
        return None
    return minimum_detectable_difference(interval.replicates, LEVEL)


def _ends(interval: Interval) -> Ends:
    return (interval.point, interval.low, interval.high)
