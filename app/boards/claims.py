"""Registered claims against the evidence: for each contrast the paired difference, its interval and the verdict.

Called by `app.jobs.claims`; pure. A contrast is between two conditions of one entrant, or between two entrants. Its
pairs share everything else: task, seed and item. The cluster is the seed, or the task where evidence has no seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.boards.claim_pairs import pair_rows
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg
from app.stats.aggregate import Interval, estimate, interquartile_mean, mean
from app.stats.arrays import BoolArray, IntArray
from app.stats.cluster import draw_clusters, group_sample
from app.stats.paired import Pairs, decide, minimum_detectable_difference
from app.stats.resample import board_generator
from app.values.frame import Ends, Field, Frame, with_interval
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 2000, 0.95
Side = Literal["greater", "less"]

BY_MANIFEST = "manifest"
SUCCESS = "success"
"""What CHAMBER's thresholds are about."""

# The names by which a manifest speaks of the two conditions of whatever axis was registered.
ROLES = ("homogeneous", "heterogeneous")


@dataclass(frozen=True)
class Contrast:
    """One claim to decide: in `metric`, first minus second is at least (or at most) the threshold.

    Without a second side it is the first one's own mean.
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
        """The names of both sides, or of the only one."""
        return (self.first,) if self.second is None else (self.first, self.second)


@dataclass(frozen=True)
class Asked:
    """Where a contrast is decided: in one submission, or between two of them. Nones where nothing was submitted."""

    submission: int | None = None
    second_submission: int | None = None
    status: str | None = None


@dataclass(frozen=True)
class _Decision:
    """One row of the table: a contrast for one entrant, and what its pairs say of it."""

    contrast: Contrast
    asked: Asked
    entrant: str | None = None
    verdict: str = "inconclusive"
    difference: Ends = (None, None, None)
    detectable: float | None = None
    n_pairs: int = 0
    n_unmatched: tuple[int | None, int | None] = (None, None)
    n_clusters: int = 0
    iqm: Ends = (None, None, None)
    note: str | None = None


DIFFERENCE = Column("difference", "First minus second", glossary="difference", digits=3)
IQM = Column("iqm", "IQM of differences", detail=True, glossary="iqm", digits=3)
FRAME: Frame[_Decision] = Frame(
    [
        Field(Column("claim", "Claim", "text", glossary="claim"), lambda row: row.contrast.claim),
        Field(Column("source", "Declared by", "text"), lambda row: row.contrast.source),
        Field(Column("entrant", "Entrant", "text"), lambda row: row.entrant),
        Field(Column("metric", "Metric", "text"), lambda row: row.contrast.metric),
        Field(Column("verdict", "Verdict", "text", glossary="verdict"), lambda row: row.verdict),
        Field(Column("status", "Status", "text", optional=True, glossary="claim_status"), lambda row: row.asked.status),
        *with_interval(DIFFERENCE, lambda row: row.difference, ends_title="Difference"),
        Field(Column("direction", "Expected", "text"), lambda row: row.contrast.direction),
        Field(Column("threshold", "Threshold", glossary="verdict", digits=3), lambda row: row.contrast.threshold),
        Field(Column("detectable", "Detectable", glossary="detectable", digits=3), lambda row: row.detectable),
        Field(Column("n_pairs", "Pairs", "integer", glossary="pairs"), lambda row: row.n_pairs),
        Field(
            Column("n_unmatched_first", "Unmatched, first", "integer", glossary="pairs"),
            lambda row: row.n_unmatched[0],
        ),
        Field(
            Column("n_unmatched_second", "Unmatched, second", "integer", glossary="pairs"),
            lambda row: row.n_unmatched[1],
        ),
        Field(Column("n_clusters", "Clusters", "integer", glossary="counts"), lambda row: row.n_clusters),
        *with_interval(IQM, lambda row: row.iqm, ends_title="IQM"),
        Field(Column("first", "First", "text"), lambda row: row.contrast.first),
        Field(Column("second", "Second", "text"), lambda row: row.contrast.second),
        Field(Column("submission", "Submission", "integer"), lambda row: row.asked.submission),
        Field(
            Column("second_submission", "Submission of the second", "integer", optional=True),
            lambda row: row.asked.second_submission,
        ),
        Field(Column("note", "Note", "text"), lambda row: row.note),
    ]
)
COLUMNS = FRAME.columns


def source_of(prereg_sha256: str) -> str:
    """Return the name of a registration in the column `source`."""
    return prereg_sha256[:12]


def contrasts_of(manifest: Manifest, prereg: Prereg | None, prereg_sha256: str | None) -> list[Contrast]:
    """Return what the benchmark and the registration claim; roles are resolved to the registered conditions."""
    roles: dict[str, str] = {}
    if prereg is not None and prereg.form == "axis" and prereg.conditions is not None:
        roles = dict(zip(ROLES, prereg.conditions, strict=False))
    found = []
    for name, claim in manifest.claims.items():
        first, second = _two([roles.get(side, side) for side in claim.contrast])
        found.append(Contrast(name, BY_MANIFEST, first, second, claim.metric, claim.threshold, claim.direction))
    asked = {(contrast.sides, contrast.metric) for contrast in found}
    source = source_of(prereg_sha256 or "")
    for number, hypothesis in enumerate(prereg.hypotheses if prereg else (), start=1):
        metric = hypothesis.metric or _rate(manifest)
        name = hypothesis.name or f"hypothesis {number}"
        # What a form decides by itself is not said twice where the benchmark asks it of everybody.
        if metric is not None and (hypothesis.name is None or (hypothesis.contrast, metric) not in asked):
            first, second = _two(hypothesis.contrast)
            found.append(Contrast(name, source, first, second, metric, hypothesis.threshold, hypothesis.direction))
    return found


def _two(sides: Sequence[str]) -> tuple[str, str | None]:
    return sides[0], sides[1] if len(sides) > 1 else None


def _rate(manifest: Manifest) -> str | None:
    """Return the success rate, or else the rate that ranks on the first board; None where that is no rate."""
    ranking = [metric for board in manifest.leaderboards for metric in board.required_metrics()]
    for name in (SUCCESS, *ranking[:1]):
        metric = manifest.metrics.get(name)
        if metric is not None and (metric.above is not None or (metric.min, metric.max) == (0.0, 1.0)):
            return name
    return None


def decide_claims(contrasts: Sequence[Contrast], scores: ScoreTable, asked: Asked) -> list[tuple[Cell, ...]]:
    """Return a row for each contrast and entrant, in the order of COLUMNS.

    A contrast between names that are not there has one row, inconclusive, without an entrant.
    """
    return [FRAME.cells(row) for contrast in contrasts for row in _decisions(contrast, scores, asked)]


def undelivered_claim(contrast: Contrast, missing: Sequence[str], asked: Asked) -> tuple[Cell, ...]:
    """Return the row of a contrast that nothing can be said of, because `missing` was not delivered.

    Nothing is missing where what was to decide it was superseded or withdrawn before it did.
    """
    return FRAME.cells(_undelivered(contrast, missing, asked))


def _undelivered(contrast: Contrast, missing: Sequence[str], asked: Asked) -> _Decision:
    note = _not_delivered(missing) if missing else f"{asked.status} before it was decided"
    return _Decision(contrast, asked, note=note)


def past_claim(record: Mapping[str, Cell], status: str) -> tuple[Cell, ...]:
    """Return the row of a claim that was decided before, with where its submissions stand now."""
    return tuple(status if column.name == "status" else record.get(column.name) for column in COLUMNS)


def claims_table(manifest: Manifest, rows: Sequence[tuple[Cell, ...]]) -> Table:
    """Return the claims of a benchmark or of a submission."""
    meta = {"interval": "paired percentile bootstrap over clusters, and over pairs within them", "level": LEVEL,
            "n_resamples": N_RESAMPLES, "rng_seed": 0, "stream": "independent"}  # fmt: skip
    note = "The mean difference decides; the interquartile mean of paired yes-or-no differences hides small gaps."
    return Table("claims", f"Claims of {manifest.title}", COLUMNS, tuple(rows), (note,) if rows else (), meta)


def _decisions(contrast: Contrast, scores: ScoreTable, asked: Asked) -> Iterator[_Decision]:
    named = contrast.sides
    if contrast.metric not in scores.columns:
        yield _undelivered(contrast, [contrast.metric], asked)
        return
    if set(named) <= set(scores.entrant.words):
        sides = tuple(_is(scores.entrant.words, scores.entrant.codes, name) for name in named)
        yield _decide(contrast, scores, ", ".join(named), sides, asked)
        return
    condition = scores.condition
    if condition is None or not set(named) & set(condition.words):
        yield _undelivered(contrast, [name for name in named if name not in scores.entrant.words], asked)
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
) -> _Decision:
    pairs = _arm_rows(contrast, scores, sides[0]) if len(sides) == 1 else None
    pairs = pairs or pair_rows(contrast.metric, scores, sides, with_condition=not is_condition)
    unmatched = (pairs.n_unmatched_first, None if len(sides) == 1 else pairs.n_unmatched_second)
    if not len(pairs.difference):
        missing = [name for name, side in zip(contrast.sides, sides, strict=True) if not side.any()]
        note = _not_delivered(missing) if missing else "no pairs"
        return _Decision(contrast, asked, entrant, n_unmatched=unmatched, note=note)
    sample = group_sample(pairs.difference, pairs.cluster)
    rng = board_generator(0, "claim", entrant, *contrast.sides, contrast.metric)
    aggregates = {"mean": mean, "iqm": interquartile_mean}
    found = estimate(sample, aggregates, draw_clusters(sample, N_RESAMPLES, rng), level=LEVEL)
    decisive = found["mean"]
    return _Decision(
        contrast=contrast,
        asked=asked,
        entrant=entrant,
        verdict=decide(decisive, contrast.threshold, contrast.direction),
        difference=_ends(decisive),
        detectable=_detectable(decisive),
        n_pairs=len(pairs.difference),
        n_unmatched=unmatched,
        n_clusters=len(np.unique(pairs.cluster)),
        iqm=_ends(found["iqm"]),
        note="all equal" if decisive.is_degenerate else (decisive.reason or "").replace("_", " ") or None,
    )


def _arm_rows(contrast: Contrast, scores: ScoreTable, side: BoolArray) -> Pairs:
    """Return the values of one arm as differences from nothing, each in the cluster of its seed, or of its task."""
    values = scores.value(contrast.metric)
    rows = np.flatnonzero(side & ~np.isnan(values))
    cluster = scores.task.codes if scores.seed is None else scores.seed
    return Pairs(values[rows], cluster[rows], 0, 0)


def _detectable(found: Interval) -> float | None:
    # Differences that are all equal say nothing of how much they could vary.
    if found.replicates is None or found.is_degenerate:
        return None
    return minimum_detectable_difference(found.replicates, LEVEL)


def _not_delivered(names: Sequence[str]) -> str:
    return f"not delivered: {', '.join(names)}"


def _ends(found: Interval) -> Ends:
    return (found.point, found.low, found.high)
