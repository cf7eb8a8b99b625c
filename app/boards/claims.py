"""Registered claims against the evidence: for each contrast the paired difference, its interval and the verdict.

`app.jobs.claims` calls it when a claim is due, `app.stats.claimed` decides. A contrast is between two conditions of one
entrant, or between two entrants. Its pairs share everything else: task, seed and item; entrants whose seeds are their
own are compared as independent. Units are seeds, or items where a benchmark has no seeds, or tasks, or the families of
tasks that it declares.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.boards.calibrated import range_of
from app.boards.coverage import NOTHING_ASKED, Coverage, covered
from app.boards.units import TaskUnits
from app.manifest.model import Manifest
from app.names import count, in_words
from app.prereg.fields import Prereg
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.claimed import (
    FEWEST_SEEDS,
    Direction,
    Side,
    detectable,
    fewest_detecting,
    holm_error_rates,
    judge,
    p_value,
)
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
)
from app.stats.resample import board_generator
from app.stats.spreads import Range
from app.values.frame import CalibratedCells, Ends, Frame, FrameField, with_calibrated, with_interval
from app.values.scores import NONE, ScoreTable
from app.values.table import Cell, Column, Table

BY_MANIFEST = "manifest"

SUCCESS = "success"
"""The metric to which CHAMBER's thresholds apply."""

Delivered = Callable[[ScoreTable, str, str, Collection[str]], Coverage | None]
"""A function giving the coverage of an entrant's rows in a metric, in some conditions or (empty) all; None without a
declared grid."""

NO_PAIRS = "no pairs"
OTHER_TASKS = (
    "not compared: the two have other shares of their results on each task, and a mean of results would count that"
)
NO_VALUES = "not kept row by row, so not decided here; the pairs of the board compare it"
NOT_DECIDED = "not decided"
"""The verdict on what nothing here tests; inconclusive is what was tested, or should have been."""

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


@dataclass(frozen=True)
class ClaimedContrast:
    """One claim to decide: in `metric`, first minus second is at least (or at most) the threshold.

    Without a second side, the mean of the first side itself is compared with the threshold. `n_declared` counts the
    claims of the same source.
    """

    claim: str
    source: str
    first: str
    second: str | None
    metric: str
    threshold: float
    direction: Direction
    n_declared: int = field(default=1, compare=False)

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
    counts = Counter(contrast.source for contrast in contrasts)
    return [replace(contrast, n_declared=counts[contrast.source]) for contrast in contrasts]


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
    manifest: Manifest,
    contrasts: Sequence[ClaimedContrast],
    scores: ScoreTable,
    asked: AskedClaim,
    delivered: Delivered = all_there,
) -> list[tuple[Cell, ...]]:
    """Return a row for each contrast and entrant, in the order of COLUMNS, each decided as if it were the only one.

    `claims_table` then holds those of one registration to Holm's levels.

    The difference is first minus second, in the metric's unit. A contrast between names without rows has one
    inconclusive row without an entrant; unknown numbers are None. `delivered` gives an entrant's coverage: where it is
    incomplete, or rows of one side have no partner, the verdict is inconclusive.
    Source: `app.stats.claimed.judge`; for CHAMBER's own rule `app.stats.cluster.decide`, over the percentile interval.

    >>> from app.boards.example import benchmark, rows
    >>> from app.manifest.model import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> contrast = ClaimedContrast("faster", BY_MANIFEST, "Fair", "Poor", "error", 0.0, "less")
    >>> row, = decide_claims(benchmark(board), [contrast], rows(), AskedClaim(1))
    >>> row[:3], row[4], round(row[6], 2)
    (('faster', 'manifest', 'Fair, Poor'), 'supported', -0.5)
    """
    scores = scores if manifest.part.has_seeds() else _items_as_units(manifest, scores)
    return [
        FRAME.cells(_unless_lacking(row, scores, delivered))
        for contrast in contrasts
        for row in _decisions(manifest, contrast, scores, asked)
    ]


def _items_as_units(manifest: Manifest, scores: ScoreTable) -> ScoreTable:
    """Return rows whose seed is the number of their task and item, or its cluster, for a benchmark without seeds."""
    if scores.item is None:
        return scores
    numbers = {unit: at for at, unit in enumerate(dict.fromkeys(map(manifest.part.unit_of, scores.item.words)))}
    place = np.array([*(numbers[manifest.part.unit_of(item)] for item in scores.item.words), -1], dtype=np.int64)
    return replace(scores, seed=scores.task.codes * (len(numbers) + 1) + place[scores.item.codes])


NO_INTERVAL = CalibratedCells()


@dataclass(frozen=True)
class Decision:
    """One row of the table: a contrast for one entrant, with the result from its pairs."""

    contrast: ClaimedContrast
    asked: AskedClaim
    entrant: str | None = None
    verdict: str = "inconclusive"
    difference: Ends = (None, None, None)
    calibrated: CalibratedCells = NO_INTERVAL
    p_value: float | None = None
    by_gap_rule: str | None = None
    detectable: float | None = None
    n_pairs: int = 0
    n_unmatched: tuple[int | None, int | None] = (None, None)
    n_clusters: int = 0
    iqm: Ends = (None, None, None)
    note: str | None = None


def _unless_lacking(decision: Decision, scores: ScoreTable, delivered: Delivered) -> Decision:
    """Make a decision inconclusive where evidence is missing, because it might have contradicted the claim."""
    if decision.entrant is None or decision.difference[0] is None:
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


def _decisions(
    manifest: Manifest, contrast: ClaimedContrast, scores: ScoreTable, asked: AskedClaim
) -> Iterator[Decision]:
    named = contrast.sides
    if contrast.metric not in scores.columns:
        yield undelivered(contrast, [contrast.metric], asked)
        return
    if set(named) <= set(scores.entrant.words):
        sides = tuple(_is(scores.entrant.words, scores.entrant.codes, name) for name in named)
        yield _decide(manifest, contrast, scores, ", ".join(named), sides, asked)
        return
    condition = scores.condition
    if condition is None or not set(named) & set(condition.words):
        yield undelivered(contrast, [name for name in named if name not in scores.entrant.words], asked)
        return
    for code, entrant in enumerate(scores.entrant.words):
        mine = scores.entrant.codes == code
        sides = tuple(mine & _is(condition.words, condition.codes, name) for name in named)
        yield _decide(manifest, contrast, scores, entrant, sides, asked, is_condition=True)


def _is(words: Sequence[str], codes: IntArray, name: str) -> BoolArray:
    mask: BoolArray = codes == (words.index(name) if name in words else len(words))
    return mask


def _decide(
    manifest: Manifest,
    contrast: ClaimedContrast,
    scores: ScoreTable,
    entrant: str,
    sides: tuple[BoolArray, ...],
    asked: AskedClaim,
    *,
    is_condition: bool = False,
) -> Decision:
    if len(sides) == 2 and not is_condition and scores.seed is not None and not manifest.part.shares_seeds():
        return _decide_apart(manifest, contrast, scores, entrant, sides, asked)
    pairs = _arm_rows(contrast, scores, sides[0]) if len(sides) == 1 else None
    pairs = pairs or pair_rows(contrast.metric, scores, sides, with_condition=not is_condition)
    unmatched = (pairs.n_unmatched_first, None if len(sides) == 1 else pairs.n_unmatched_second)
    if not len(pairs.difference):
        missing = [name for name, side in zip(contrast.sides, sides, strict=True) if not side.any()]
        has_values = not np.isnan(scores.value(contrast.metric)[np.any(sides, axis=0)]).all()
        if not missing and not has_values:
            return Decision(contrast, asked, entrant, NOT_DECIDED, n_unmatched=unmatched, note=NO_VALUES)
        note = not_delivered(missing) if missing else NO_PAIRS
        return Decision(contrast, asked, entrant, n_unmatched=unmatched, note=note)
    sample = group_sample(pairs.difference, pairs.cluster)
    rng = board_generator(0, "claim", entrant, *contrast.sides, contrast.metric)
    aggregates = {"mean": mean, "iqm": interquartile_mean}
    intervals = estimate(sample, aggregates, draw_clusters(sample, N_RESAMPLES, rng), level=LEVEL)
    compatible, within = intervals["mean"], _range(manifest, contrast.metric)
    if len(sides) == 2:
        values = scores.value(contrast.metric)
        low, high = (float(np.nanmean(values[side])) for side in sides)
        extremes = (min(within.low - high, low - within.high), max(within.high - high, low - within.low))
        within = Range(within.low - within.high, within.high - within.low)
    else:
        extremes = (within.low, within.high)
    differs = len(sides) == 2
    side = _side(manifest, scores, pairs.difference, pairs.cluster, within, extremes, are_differences=differs)
    judged = _judge(manifest, contrast, [side])
    notes = [*(["all equal"] if compatible.is_degenerate else []), *([judged.note] if judged.note else [])]
    return replace(
        judged,
        asked=asked,
        entrant=entrant,
        difference=_ends(compatible),
        note="; ".join(notes) or None,
        by_gap_rule=decide(compatible, contrast.threshold, contrast.direction),
        n_pairs=len(pairs.difference),
        n_unmatched=unmatched,
        n_clusters=len(np.unique(side.units)),
        iqm=_ends(intervals["iqm"]),
    )


def _decide_apart(
    manifest: Manifest,
    contrast: ClaimedContrast,
    scores: ScoreTable,
    entrant: str,
    sides: tuple[BoolArray, ...],
    asked: AskedClaim,
) -> Decision:
    """Decide between two entrants whose seeds are their own: nothing is paired, whatever the seeds' numbers."""
    arms = [_arm_rows(contrast, scores, side) for side in sides]
    if missing := [name for name, arm in zip(contrast.sides, arms, strict=True) if not len(arm.difference)]:
        return Decision(contrast, asked, entrant, note=not_delivered(missing))
    if _differ_in_tasks(contrast.metric, scores, sides):
        return Decision(contrast, asked, entrant, note=OTHER_TASKS)
    within = _range(manifest, contrast.metric)
    ends = (within.low, within.high)
    judged_by = [_side(manifest, scores, arm.difference, arm.cluster, within, ends) for arm in arms]
    judged = _judge(manifest, contrast, judged_by)
    point = float(arms[0].difference.mean() - arms[1].difference.mean())
    n_clusters = min(len(np.unique(side.units)) for side in judged_by)
    return replace(judged, asked=asked, entrant=entrant, difference=(point, None, None), n_clusters=n_clusters)


MOST_APART = 0.05
"""By so much the shares of two entrants' results on a task may differ: some fail, and have no value."""


def _differ_in_tasks(metric: str, scores: ScoreTable, sides: Sequence[BoolArray]) -> bool:
    """Say whether the two have their results on other tasks: who has more of the easy ones would be the better."""
    known, n_tasks = ~np.isnan(scores.value(metric)), len(scores.task.words)
    counts = [np.bincount(scores.task.codes[side & known], minlength=n_tasks) for side in sides]
    first, second = (each / each.sum() for each in counts)
    return bool(np.abs(first - second).max() > MOST_APART)


def _range(manifest: Manifest, metric: str) -> Range:
    declared = manifest.metrics.get(metric)
    return Range() if declared is None else range_of(declared)


def _side(
    manifest: Manifest,
    scores: ScoreTable,
    values: FloatArray,
    clusters: IntArray,
    within: Range,
    extremes: tuple[float, float],
    *,
    are_differences: bool = False,
) -> Side:
    """Return values with their units: seeds or items, or the families of tasks where rows have no seeds."""
    if scores.seed is None:
        return Side(values, TaskUnits.of(manifest, scores.task.words).place[clusters], within, are_tasks=True)
    further = extremes if manifest.part.has_seeds() and within.is_bounded else None
    return Side(values, clusters, within, further, are_differences=are_differences)


def _judge(manifest: Manifest, contrast: ClaimedContrast, sides: Sequence[Side]) -> Decision:
    """Return the decision that the calibrated interval of the sides gives, without what is only counted."""
    p = p_value(sides, contrast.threshold, contrast.direction)
    alone = [side.held_to((1.0 - LEVEL) / 2.0) for side in sides]
    judged = judge(alone, contrast.threshold, contrast.direction, LEVEL)
    interval, notes, n_seeds = judged.interval, [], min(len(np.unique(side.units)) for side in sides)
    if judged.reason == "few_seeds":
        few = f"too few seeds ({n_seeds} of {FEWEST_SEEDS}) to be decided by these alone"
        notes.append(f"{few}: one that fails altogether may not have been seen, so the interval counts one more")
    is_open = manifest.part.has_seeds() and not any(side.within.is_bounded for side in sides)
    if is_open and judged.verdict != "inconclusive" and n_seeds < FEWEST_SEEDS:
        few = f"{n_seeds} seeds of {FEWEST_SEEDS} do not show that, and without a declared range none is counted"
        notes.append(f"only if no seed in ten lies far beyond these: {few}")
    if judged.reason == "no_interval":
        notes.append((interval.reason or "").replace("_", " "))
    # Whatever becomes of the other claims, this one is held to no less than its share of the level.
    error_rate = (1.0 - LEVEL) / 2.0 / max(1, contrast.n_declared)
    held = [side.held_to(error_rate) for side in sides]
    asked = (held, contrast.threshold, contrast.direction, 1.0 - 2.0 * error_rate)
    has_interval = judged.reason != "no_interval"
    found = detectable(*asked) if has_interval and any(side.spread.believed for side in held) else None
    if found is None and has_interval and any(side.extremes for side in held):
        needed = fewest_detecting(*asked)
        notes += [f"nothing is detectable with fewer than {needed} seeds"] if needed and n_seeds < needed else []
    return Decision(
        contrast,
        AskedClaim(),
        verdict=judged.verdict,
        calibrated=CalibratedCells(interval.low, interval.high, interval.how or interval.reason, interval.n_units),
        p_value=p,
        detectable=found,
        note="; ".join(notes) or None,
    )


def _arm_rows(contrast: ClaimedContrast, scores: ScoreTable, side: BoolArray) -> Pairs:
    """Return the values of one arm as differences from zero, clustered by seed, or by task."""
    values = scores.value(contrast.metric)
    rows = np.flatnonzero(side & ~np.isnan(values))
    cluster = scores.task.codes if scores.seed is None else scores.seed
    return Pairs(values[rows], cluster[rows], 0, 0)


def _ends(interval: Interval) -> Ends:
    return (interval.point, interval.low, interval.high)


# The rows of the table of claims: what was claimed, and how the evidence decides it.

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
        *with_calibrated(DIFFERENCE, lambda row: row.difference, lambda row: row.calibrated),
        FrameField(
            Column("gap_rule", "By CHAMBER's gap rule", "text", detail=True, glossary="gap_rule"),
            lambda row: row.by_gap_rule,
        ),
        FrameField(Column("alone", "Verdict alone", "text", detail=True, glossary="multiple"), lambda row: row.verdict),
        FrameField(Column("p_value", "p-value", detail=True, glossary="multiple", digits=4), lambda row: row.p_value),
        FrameField(Column("held_to", "Held to", detail=True, glossary="multiple", digits=4), lambda _row: None),
        FrameField(
            Column("n_claims", "Claims of its source", "integer", detail=True, glossary="multiple"),
            lambda row: row.contrast.n_declared,
        ),
        FrameField(
            Column(
                "registrations",
                "Registrations of its owner with this contrast",
                "text",
                optional=True,
                glossary="multiple",
            ),
            lambda _row: None,
        ),
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


def claims_table(
    manifest: Manifest,
    rows: Sequence[tuple[Cell, ...]],
    registered: Iterable[tuple[Hashable, ClaimedContrast]] = (),
    owners: Mapping[str, Hashable] | None = None,
    n_hidden: Mapping[Hashable, int] | None = None,
) -> Table:
    """Return the claims of a benchmark or of a submission as a table; each row has a cell for each of COLUMNS.

    `registered` are the contrasts of all registrations, each with its owner, whether or not anybody reported on them,
    and `owners` those of entrants, as far as they are known; None: of nobody. `n_hidden` are an owner's registrations
    under embargo, which are only counted.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.model import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> claims_table(benchmark(board), []).title
    'Claims of Small'
    """
    meta = {"interval": "calibrated, over seeds, tasks or families of tasks", "level": LEVEL,
            "compatible_interval": "paired percentile bootstrap over clusters, and over pairs within them",
            "n_resamples": N_RESAMPLES, "rng_seed": 0, "stream": "independent"}  # fmt: skip
    notes = (
        "The calibrated interval of the mean difference decides, and claims of one registration are held to Holm's "
        "levels together; the interquartile mean of paired yes-or-no differences hides small gaps.",
    )
    held = _among_registrations(held_together(rows), list(registered), owners or {}, n_hidden or {})
    return Table("claims", f"Claims of {manifest.title}", COLUMNS, tuple(held), notes if rows else (), meta)


ONLY_ALONE = "supported alone, not among "


def held_together(rows: Sequence[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Return rows with the verdicts that hold among all claims of their registration, from those alone.

    They are as many as its rows, one for each submission and entrant that a claim is decided for, and at least its
    `n_claims`.
    Claims of the benchmark itself are held together within each submission. A claim that is supported alone and not
    among the others is inconclusive. Rows without a p-value (None), decided before there were any, stay as they are.
    Source: `app.stats.claimed.holm_error_rates`, one-sided.

    >>> names = [column.name for column in COLUMNS]
    >>> own = dict.fromkeys(names) | {"source": "p", "verdict": "supported", "alone": "supported"}
    >>> rows = [tuple((own | {"p_value": p}).values()) for p in (0.001, 0.02)]
    >>> [row[names.index("verdict")] for row in held_together(rows)]
    ['supported', 'supported']
    """
    records = [dict(zip([column.name for column in COLUMNS], row, strict=True)) for row in rows]
    families: dict[tuple[Cell, ...], list[dict[str, Cell]]] = {}
    for record in records:
        own = record["submission"] if record["source"] == BY_MANIFEST else None
        families.setdefault((record["source"], own), []).append(record)
    for family in families.values():
        # A claim is decided for each submission and entrant, and each of these is a try.
        n_tries = max(len(family), *(int(str(record["n_claims"] or 1)) for record in family))
        p_values = [_number(record["p_value"]) if record["alone"] == "supported" else None for record in family]
        error_rates = holm_error_rates(p_values, n_tries, (1.0 - LEVEL) / 2.0)
        for record, p, error_rate in zip(family, p_values, error_rates, strict=True):
            record["held_to"] = None if record["p_value"] is None else error_rate
            if p is None:
                continue
            # The only one left is held to the error rate of its interval, which has decided.
            does_hold = p <= error_rate or n_tries == 1
            words = f"{ONLY_ALONE}{count(n_tries, 'verdict')} held together"
            parts = str(record["note"] or "").split("; ")
            note = "; ".join(part for part in parts if part and not part.startswith(ONLY_ALONE))
            record["verdict"] = "supported" if does_hold else "inconclusive"
            record["note"] = note or None if does_hold else "; ".join([words, *([note] if note else [])])
    return [tuple(record.values()) for record in records]


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, (int, float)) else None


def _among_registrations(
    rows: Sequence[tuple[Cell, ...]],
    registered: Sequence[tuple[Hashable, ClaimedContrast]],
    owners: Mapping[str, Hashable],
    n_hidden: Mapping[Hashable, int],
) -> list[tuple[Cell, ...]]:
    """Say of each registered claim how many registrations of its owner have its contrast, and how many contradict it.

    Also how many have it under other names of the owner, and how many nobody may read yet. What others register changes
    nobody's row.
    """
    if not registered:
        return list(rows)
    owner_of: dict[Cell, Hashable] = {contrast.source: owner for owner, contrast in registered}
    said: dict[tuple[Hashable, ...], dict[Cell, list[tuple[int, float]]]] = {}
    for owner, contrast in registered:
        about, claimed = _about(
            contrast.first, contrast.second, contrast.metric, contrast.direction, contrast.threshold
        )
        said.setdefault((owner, *about), {}).setdefault(contrast.source, []).append(claimed)
    against = _against(registered, owners)
    at = [column.name for column in COLUMNS].index("registrations")
    shown = []
    for row in rows:
        record = dict(zip([column.name for column in COLUMNS], row, strict=True))
        about, claimed = _about(
            record["first"], record["second"], record["metric"], record["direction"], _number(record["threshold"])
        )
        owner = owner_of.get(record["source"])
        those = said.get((owner, *about), {})
        words = []
        n_against = sum(any(_contradict(claimed, other) for other in each) for each in those.values())
        if record["source"] in those and (len(those) > 1 or n_against):
            one_of = f"one of {len(those)} registrations" if len(those) > 1 else "in the one registration"
            words = [f"{one_of} of its owner with this contrast", f"{n_against} said the opposite"]
        sides = [str(record[side]) for side in ("first", "second") if record[side] is not None]
        own, rivals = ([name for name in sides if (owners.get(name) == owner) is is_own] for is_own in (True, False))
        if owner is not None and len(own) > 1:
            words.append("both sides are its owner's")
        if owner is not None and len(own) == len(rivals) == 1:
            others = against.get((owner, rivals[0], record["metric"]), set())
            if n_others := len({source for name, source in others if name != own[0]}):
                such = "such contrast" if n_others == 1 else "such contrasts"
                words.append(f"its owner registered {n_others} {such} against {in_words(rivals[0])} under other names")
        if owner is not None and (n_unread := n_hidden.get(owner, 0)):
            words.append(f"its owner has {count(n_unread, 'registration')} under embargo")
        shown.append((*row[:at], "; ".join(words) or None, *row[at + 1 :]))
    return shown


def _against(
    registered: Sequence[tuple[Hashable, ClaimedContrast]], owners: Mapping[str, Hashable]
) -> dict[tuple[Hashable, str, Cell], set[tuple[str, str]]]:
    """Return each owner's contrasts by the other side and the metric: the name on its own side, and the source.

    A name that nobody has used yet, or no longer, is taken to be of whoever registered it.
    """
    found: dict[tuple[Hashable, str, Cell], set[tuple[str, str]]] = {}
    for owner, contrast in registered:
        for name, rival in ((contrast.first, contrast.second), (contrast.second, contrast.first)):
            if name is not None and rival is not None and owners.get(name, owner) == owner:
                found.setdefault((owner, rival, contrast.metric), set()).add((name, contrast.source))
    return found


def _about(
    first: Cell, second: Cell, metric: Cell, direction: Cell, threshold: float | None
) -> tuple[tuple[Cell, ...], tuple[int, float]]:
    """Return what a contrast is about, whichever side is first, and on which side of what it claims to be."""
    sign, end = 1 if direction == "greater" else -1, threshold or 0.0
    if second is not None and str(second) < str(first):
        first, second, sign, end = second, first, -sign, -end
    return (first, second, metric), (sign, end)


def _contradict(one: tuple[int, float], other: tuple[int, float]) -> bool:
    """Say whether no difference is on the sides of both: above 0 and below 0.1 may both hold."""
    (sign, end), (other_sign, other_end) = one, other
    return sign != other_sign and sign * (other_end - end) <= 0.0


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
