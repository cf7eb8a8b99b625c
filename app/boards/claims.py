"""Registered claims against the evidence: for each contrast the paired difference, its interval and the verdict. A
contrast is between two conditions of one entrant, or between two entrants. Its pairs share everything else: task,
seed and item. The cluster is the seed, or the task where evidence has no seeds.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.boards.coverage import NOTHING_ASKED, Coverage, covered
from app.manifest.model import Manifest
from app.prereg.fields import Prereg
from app.stats.arrays import BoolArray, IntArray
from app.stats.cluster import (
    Interval,
    Pairs,
    decide,
    draw_clusters,
    estimate,
    group_sample,
    interquartile_mean,
    match_pairs,
    mean,
    minimum_detectable_difference,
)
from app.stats.resample import board_generator
from app.values.frame import Ends, Frame, FrameField, with_interval
from app.values.scores import NONE, ScoreTable
from app.values.table import Cell, Column, Table

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


Side = Literal["greater", "less"]


@dataclass(frozen=True)
class ClaimedContrast:
    """One claim to decide: in `metric`, first minus second is at least (or at most) the threshold.

    Without a second side, the mean of the first side itself is compared with the threshold.
    """

    claim: str
    source: str
    first: str
    second: str | None
    metric: str
    threshold: float
    direction: Side

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the names of both sides, or of the only one."""
        return (self.first,) if self.second is None else (self.first, self.second)


def contrasts_of(manifest: Manifest, prereg: Prereg | None, prereg_sha256: str | None) -> list[ClaimedContrast]:
    """Return what the benchmark and the registration claim; roles are resolved to the registered conditions.

    Without a registration, None, the claims are the benchmark's alone.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.model import Claim, Leaderboard
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
        contrasts.append(
            ClaimedContrast(name, BY_MANIFEST, first, second, claim.metric, claim.threshold, claim.direction)
        )
    asked = {(contrast.sides, contrast.metric) for contrast in contrasts}
    source = source_of(prereg_sha256 or "")
    for number, hypothesis in enumerate(prereg.hypotheses if prereg else (), start=1):
        metric = hypothesis.metric or _rate(manifest)
        name = hypothesis.name or f"hypothesis {number}"
        # A claim implied by the form of registration is not repeated where the benchmark makes it for everybody.
        if metric is not None and (hypothesis.name is None or (hypothesis.contrast, metric) not in asked):
            first, second = _two(hypothesis.contrast)
            contrasts.append(
                ClaimedContrast(name, source, first, second, metric, hypothesis.threshold, hypothesis.direction)
            )
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


@dataclass(frozen=True)
class AskedClaim:
    """The submission, or the two submissions, that decide a contrast; None for what was not submitted."""

    submission: int | None = None
    second_submission: int | None = None
    status: str | None = None


def decide_claims(
    contrasts: Sequence[ClaimedContrast], scores: ScoreTable, asked: AskedClaim, delivered: Delivered = all_there
) -> list[tuple[Cell, ...]]:
    """Return a row for each contrast and entrant, in the order of COLUMNS.

    The difference is first minus second, in the metric's unit. A contrast between names without rows has one
    inconclusive row without an entrant; unknown numbers are None. `delivered` gives an entrant's coverage: where it is
    incomplete, or rows of one side have no partner, the verdict is inconclusive.
    Source: `app.stats.cluster.decide`, over `app.stats.cluster.estimate` of the paired differences.

    >>> from app.boards.example import rows
    >>> contrast = ClaimedContrast("faster", BY_MANIFEST, "Fair", "Poor", "error", 0.0, "less")
    >>> row, = decide_claims([contrast], rows(), AskedClaim(1))
    >>> row[:3], row[4], round(row[6], 2)
    (('faster', 'manifest', 'Fair, Poor'), 'supported', -0.5)
    """
    return [
        FRAME.cells(_unless_lacking(row, scores, delivered))
        for contrast in contrasts
        for row in _decisions(contrast, scores, asked)
    ]


@dataclass(frozen=True)
class Decision:
    """One row of the table: a contrast for one entrant, with the result from its pairs."""

    contrast: ClaimedContrast
    asked: AskedClaim
    entrant: str | None = None
    verdict: str = "inconclusive"
    difference: Ends = (None, None, None)
    detectable: float | None = None
    n_pairs: int = 0
    n_unmatched: tuple[int | None, int | None] = (None, None)
    n_clusters: int = 0
    iqm: Ends = (None, None, None)
    note: str | None = None


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


def _decisions(contrast: ClaimedContrast, scores: ScoreTable, asked: AskedClaim) -> Iterator[Decision]:
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
    contrast: ClaimedContrast,
    scores: ScoreTable,
    entrant: str,
    sides: tuple[BoolArray, ...],
    asked: AskedClaim,
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


def _arm_rows(contrast: ClaimedContrast, scores: ScoreTable, side: BoolArray) -> Pairs:
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


# The rows of the table of claims: what was claimed, and how the evidence decides it. For `app.boards.claims`.

N_RESAMPLES, LEVEL = 2000, 0.95

DIFFERENCE = Column("difference", "First minus second", glossary="difference", digits=3)

IQM = Column("iqm", "IQM of differences", detail=True, glossary="iqm", digits=3)

FRAME: Frame[Decision] = Frame(
    [
        FrameField(Column("claim", "Claim", "text", glossary="claim"), lambda row: row.contrast.claim),
        FrameField(Column("source", "Declared by", "text"), lambda row: row.contrast.source),
        FrameField(Column("entrant", "Entrant", "text"), lambda row: row.entrant),
        FrameField(Column("metric", "Metric", "text"), lambda row: row.contrast.metric),
        FrameField(Column("verdict", "Verdict", "text", glossary="verdict"), lambda row: row.verdict),
        FrameField(
            Column("status", "Status", "text", optional=True, glossary="claim_status"), lambda row: row.asked.status
        ),
        *with_interval(DIFFERENCE, lambda row: row.difference, ends_title="Difference"),
        FrameField(Column("direction", "Expected", "text"), lambda row: row.contrast.direction),
        FrameField(Column("threshold", "Threshold", glossary="verdict", digits=3), lambda row: row.contrast.threshold),
        FrameField(Column("detectable", "Detectable", glossary="detectable", digits=3), lambda row: row.detectable),
        FrameField(Column("n_pairs", "Pairs", "integer", glossary="pairs"), lambda row: row.n_pairs),
        FrameField(
            Column("n_unmatched_first", "Unmatched, first", "integer", glossary="pairs"),
            lambda row: row.n_unmatched[0],
        ),
        FrameField(
            Column("n_unmatched_second", "Unmatched, second", "integer", glossary="pairs"),
            lambda row: row.n_unmatched[1],
        ),
        FrameField(Column("n_clusters", "Clusters", "integer", glossary="counts"), lambda row: row.n_clusters),
        *with_interval(IQM, lambda row: row.iqm, ends_title="IQM"),
        FrameField(Column("first", "First", "text"), lambda row: row.contrast.first),
        FrameField(Column("second", "Second", "text"), lambda row: row.contrast.second),
        FrameField(Column("submission", "Submission", "integer"), lambda row: row.asked.submission),
        FrameField(
            Column("second_submission", "Submission of the second", "integer", optional=True),
            lambda row: row.asked.second_submission,
        ),
        FrameField(Column("note", "Note", "text"), lambda row: row.note),
    ]
)

COLUMNS = FRAME.columns


def undelivered_claim(contrast: ClaimedContrast, missing: Sequence[str], asked: AskedClaim) -> tuple[Cell, ...]:
    """Return the row of a contrast that cannot be decided, because evidence of `missing` was not delivered.

    `missing` is empty where the deciding evidence was superseded or withdrawn first. The numbers are None.

    >>> asked = ClaimedContrast("faster", "manifest", "A", "B", "error", 0.0, "less")
    >>> row = undelivered_claim(asked, ["B"], AskedClaim(1))
    >>> row[0], row[4], row[-1]
    ('faster', 'inconclusive', 'not delivered: B')
    """
    return FRAME.cells(undelivered(contrast, missing, asked))


def undelivered(contrast: ClaimedContrast, missing: Sequence[str], asked: AskedClaim) -> Decision:
    """Return the decision on a contrast whose evidence is missing, or was withdrawn or superseded; numbers are None.

    >>> asked = ClaimedContrast("faster", "manifest", "A", "B", "error", 0.0, "less")
    >>> undelivered(asked, [], AskedClaim(1, status="withdrawn")).note
    'withdrawn before it was decided'
    """
    note = not_delivered(missing) if missing else f"{asked.status} before it was decided"
    return Decision(contrast, asked, note=note)


def past_claim(record: Mapping[str, Cell], status: str) -> tuple[Cell, ...]:
    """Return the row of a claim that was decided earlier, with the current status of its submissions.

    Cells missing from the record are None.

    >>> row = past_claim({"claim": "faster", "status": "current"}, "superseded")
    >>> row[0], row[1], row[5]
    ('faster', None, 'superseded')
    """
    return tuple(status if column.name == "status" else record.get(column.name) for column in COLUMNS)


def claims_table(manifest: Manifest, rows: Sequence[tuple[Cell, ...]]) -> Table:
    """Return the claims of a benchmark or of a submission as a table; each row has a cell for each of COLUMNS.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.model import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> claims_table(benchmark(board), []).title
    'Claims of Small'
    """
    meta = {"interval": "paired percentile bootstrap over clusters, and over pairs within them", "level": LEVEL,
            "n_resamples": N_RESAMPLES, "rng_seed": 0, "stream": "independent"}  # fmt: skip
    note = "The mean difference decides; the interquartile mean of paired yes-or-no differences hides small gaps."
    return Table("claims", f"Claims of {manifest.title}", COLUMNS, tuple(rows), (note,) if rows else (), meta)


def not_delivered(names: Sequence[str]) -> str:
    """Say which of the names have no evidence.

    >>> not_delivered(["A", "B"])
    'not delivered: A, B'
    """
    return f"not delivered: {', '.join(names)}"


# Pairs the rows of the two sides of a claim.


def pair_rows(metric: str, scores: ScoreTable, sides: tuple[BoolArray, ...], *, with_condition: bool) -> Pairs:
    """Return the differences of one metric between the rows of two sides, each side a mask of the rows [n_rows].

    Partners have the same task, seed and item, and with `with_condition` the same condition. Differences are first
    minus second in the metric's unit; a row without a value, NaN, has no partner.
    Raises KeyError for a metric that the rows do not have. Source: `app.stats.cluster.match_pairs`.

    >>> from app.boards.example import rows
    >>> table = rows({"A": [3.0, 5.0, np.nan], "B": [1.0, 1.0, 1.0]})
    >>> pair_rows("error", table, (table.entrant.codes == 0, table.entrant.codes == 1), with_condition=True).difference
    array([2., 4.])
    """
    keys, clusters = _keys(scores, with_condition=with_condition)
    values = scores.value(metric)
    first, second = (np.flatnonzero(side & ~np.isnan(values)) for side in sides)
    return match_pairs(values[first], keys[first], values[second], keys[second], clusters)


def _keys(scores: ScoreTable, *, with_condition: bool) -> tuple[IntArray, IntArray]:
    """Return each row's pairing key as a number, and the cluster of each key."""
    nothing = np.full(len(scores), NONE, dtype=np.int64)
    condition = scores.condition.codes if with_condition and scores.condition is not None else nothing
    seed = nothing if scores.seed is None else scores.seed
    item = nothing if scores.item is None else scores.item.codes
    columns = np.column_stack([scores.task.codes, condition, seed, item])
    distinct, keys = np.unique(columns, axis=0, return_inverse=True)
    cluster = distinct[:, 0] if scores.seed is None else distinct[:, 2]
    return keys.reshape(-1).astype(np.int64), cluster
