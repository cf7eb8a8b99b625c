"""Registered claims against the evidence: for each contrast the paired difference, its interval and the verdict.

Called by `app.jobs.claims`; pure. A contrast is between two conditions of one entrant, or between two entrants. Its
pairs share everything else: task, seed and item. The cluster is the seed, or the task where evidence has no seeds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg
from app.stats.aggregate import Interval, estimate, interquartile_mean, mean
from app.stats.arrays import BoolArray, IntArray
from app.stats.cluster import draw_clusters, group_sample
from app.stats.paired import Pairs, decide, match_pairs, minimum_detectable_difference
from app.stats.resample import board_generator
from app.values.scores import NONE, ScoreTable
from app.values.table import Cell, Column, Table

N_RESAMPLES, LEVEL = 2000, 0.95
Side = Literal["greater", "less"]

BY_MANIFEST = "manifest"

# The names by which a manifest speaks of the two conditions of whatever axis was registered.
ROLES = ("homogeneous", "heterogeneous")

COLUMNS = (
    Column("claim", "Claim", "text", glossary="claim"),
    Column("source", "Declared by", "text"),
    Column("entrant", "Entrant", "text"),
    Column("metric", "Metric", "text"),
    Column("verdict", "Verdict", "text", glossary="verdict"),
    Column("status", "Status", "text", optional=True, glossary="claim_status"),
    Column("difference", "First minus second", interval=("difference_lower", "difference_upper"), glossary="difference",
           digits=3),
    Column("difference_lower", "Difference, low", detail=True, glossary="difference", digits=3),
    Column("difference_upper", "Difference, high", detail=True, glossary="difference", digits=3),
    Column("direction", "Expected", "text"),
    Column("threshold", "Threshold", glossary="verdict", digits=3),
    Column("detectable", "Detectable", glossary="detectable", digits=3),
    Column("n_pairs", "Pairs", "integer", glossary="pairs"),
    Column("n_unmatched_first", "Unmatched, first", "integer", glossary="pairs"),
    Column("n_unmatched_second", "Unmatched, second", "integer", glossary="pairs"),
    Column("n_clusters", "Clusters", "integer", glossary="counts"),
    Column("iqm", "IQM of differences", interval=("iqm_lower", "iqm_upper"), detail=True, glossary="iqm", digits=3),
    Column("iqm_lower", "IQM, low", detail=True, glossary="iqm", digits=3),
    Column("iqm_upper", "IQM, high", detail=True, glossary="iqm", digits=3),
    Column("first", "First", "text"),
    Column("second", "Second", "text"),
    Column("submission", "Submission", "integer"),
    Column("second_submission", "Submission of the second", "integer", optional=True),
    Column("note", "Note", "text"),
)  # fmt: skip


@dataclass(frozen=True)
class Contrast:
    """One claim to decide: in `metric`, first minus second is at least (or at most) the threshold."""

    claim: str
    source: str
    first: str
    second: str
    metric: str
    threshold: float
    direction: Side


@dataclass(frozen=True)
class Asked:
    """Where a contrast is decided: in one submission, or between two of them. Nones where nothing was submitted."""

    submission: int | None = None
    second_submission: int | None = None
    status: str | None = None


def source_of(prereg_sha256: str) -> str:
    """Return the name of a registration in the column `source`."""
    return prereg_sha256[:12]


def contrasts_of(manifest: Manifest, prereg: Prereg | None, prereg_sha256: str | None) -> list[Contrast]:
    """Return what the benchmark and the registration claim; roles are resolved to the registered conditions."""
    roles: dict[str, str] = {}
    if prereg is not None and prereg.form == "axis" and prereg.conditions is not None:
        roles = dict(zip(ROLES, prereg.conditions, strict=False))
    found = [
        Contrast(name, BY_MANIFEST, roles.get(claim.contrast[0], claim.contrast[0]),
                 roles.get(claim.contrast[1], claim.contrast[1]), claim.metric, claim.threshold, claim.direction)
        for name, claim in manifest.claims.items()
    ]  # fmt: skip
    source = source_of(prereg_sha256 or "")
    for number, hypothesis in enumerate(prereg.hypotheses if prereg else (), start=1):
        first, second = hypothesis.contrast
        found.append(
            Contrast(f"hypothesis {number}", source, first, second, hypothesis.metric, hypothesis.threshold,
                     hypothesis.direction)
        )  # fmt: skip
    return found


def decide_claims(contrasts: Sequence[Contrast], scores: ScoreTable, asked: Asked) -> list[tuple[Cell, ...]]:
    """Return a row for each contrast and entrant, in the order of COLUMNS.

    A contrast between names that are not there has one row, inconclusive, without an entrant.
    """
    return [row for contrast in contrasts for row in _rows(contrast, scores, asked)]


def undelivered_claim(contrast: Contrast, missing: Sequence[str], asked: Asked) -> tuple[Cell, ...]:
    """Return the row of a contrast that nothing can be said of, because `missing` was not delivered.

    Nothing is missing where what was to decide it was superseded or withdrawn before it did.
    """
    note = _not_delivered(missing) if missing else f"{asked.status} before it was decided"
    return _undecided(contrast, None, asked, (None, None), note)


def past_claim(record: Mapping[str, Cell], status: str) -> tuple[Cell, ...]:
    """Return the row of a claim that was decided before, with where its submissions stand now."""
    return tuple(status if column.name == "status" else record.get(column.name) for column in COLUMNS)


def claims_table(manifest: Manifest, rows: Sequence[tuple[Cell, ...]]) -> Table:
    """Return the claims of a benchmark or of a submission."""
    meta = {"interval": "paired percentile bootstrap over clusters, and over pairs within them", "level": LEVEL,
            "n_resamples": N_RESAMPLES, "rng_seed": 0, "stream": "independent"}  # fmt: skip
    note = "The mean difference decides; the interquartile mean of paired yes-or-no differences hides small gaps."
    return Table("claims", f"Claims of {manifest.title}", COLUMNS, tuple(rows), (note,) if rows else (), meta)


def _rows(contrast: Contrast, scores: ScoreTable, asked: Asked) -> Iterator[tuple[Cell, ...]]:
    named = (contrast.first, contrast.second)
    if contrast.metric not in scores.columns:
        yield undelivered_claim(contrast, [contrast.metric], asked)
        return
    if set(named) <= set(scores.entrant.words):
        sides = tuple(_is(scores.entrant.words, scores.entrant.codes, name) for name in named)
        yield _row(contrast, scores, ", ".join(named), sides, asked)
        return
    condition = scores.condition
    if condition is None or not set(named) & set(condition.words):
        yield undelivered_claim(contrast, [name for name in named if name not in scores.entrant.words], asked)
        return
    for code, entrant in enumerate(scores.entrant.words):
        mine = scores.entrant.codes == code
        sides = tuple(mine & _is(condition.words, condition.codes, name) for name in named)
        yield _row(contrast, scores, entrant, sides, asked, is_condition=True)


def _is(words: Sequence[str], codes: IntArray, name: str) -> BoolArray:
    mask: BoolArray = codes == (words.index(name) if name in words else len(words))
    return mask


def _row(
    contrast: Contrast,
    scores: ScoreTable,
    entrant: str,
    sides: tuple[BoolArray, ...],
    asked: Asked,
    *,
    is_condition: bool = False,
) -> tuple[Cell, ...]:
    pairs = _pair(contrast.metric, scores, sides, with_condition=not is_condition)
    unmatched = (pairs.n_unmatched_first, pairs.n_unmatched_second)
    n_pairs, n_clusters = len(pairs.difference), len(np.unique(pairs.cluster))
    if not n_pairs:
        named = (contrast.first, contrast.second)
        missing = [name for name, side in zip(named, sides, strict=True) if not side.any()]
        return _undecided(contrast, entrant, asked, unmatched, _not_delivered(missing) if missing else "no pairs")
    sample = group_sample(pairs.difference, pairs.cluster)
    rng = board_generator(0, "claim", entrant, contrast.first, contrast.second, contrast.metric)
    aggregates = {"mean": mean, "iqm": interquartile_mean}
    found = estimate(sample, aggregates, draw_clusters(sample, N_RESAMPLES, rng), level=LEVEL)
    decisive = found["mean"]
    return (
        *_about(contrast, entrant),
        decide(decisive, contrast.threshold, contrast.direction),
        asked.status,
        *_ends(decisive),
        contrast.direction,
        contrast.threshold,
        _detectable(decisive),
        n_pairs,
        *unmatched,
        n_clusters,
        *_ends(found["iqm"]),
        *_sides(contrast, asked),
        "all equal" if decisive.is_degenerate else (decisive.reason or "").replace("_", " ") or None,
    )


def _detectable(found: Interval) -> float | None:
    # Differences that are all equal say nothing of how much they could vary.
    if found.replicates is None or found.is_degenerate:
        return None
    return minimum_detectable_difference(found.replicates, LEVEL)


def _undecided(
    contrast: Contrast, entrant: str | None, asked: Asked, unmatched: tuple[int | None, int | None], note: str
) -> tuple[Cell, ...]:
    found = (*[None] * 3, contrast.direction, contrast.threshold, None, 0, *unmatched, 0, *[None] * 3)
    return (*_about(contrast, entrant), "inconclusive", asked.status, *found, *_sides(contrast, asked), note)


def _about(contrast: Contrast, entrant: str | None) -> tuple[Cell, ...]:
    return (contrast.claim, contrast.source, entrant, contrast.metric)


def _sides(contrast: Contrast, asked: Asked) -> tuple[Cell, ...]:
    return (contrast.first, contrast.second, asked.submission, asked.second_submission)


def _not_delivered(names: Sequence[str]) -> str:
    return f"not delivered: {', '.join(names)}"


def _ends(found: Interval) -> tuple[Cell, Cell, Cell]:
    return (found.point, found.low, found.high)


def _pair(metric: str, scores: ScoreTable, sides: tuple[BoolArray, ...], *, with_condition: bool) -> Pairs:
    keys, clusters = _keys(scores, with_condition=with_condition)
    values = scores.value(metric)
    first, second = (np.flatnonzero(side & ~np.isnan(values)) for side in sides)
    return match_pairs(values[first], keys[first], values[second], keys[second], clusters)


def _keys(scores: ScoreTable, *, with_condition: bool) -> tuple[IntArray, IntArray]:
    """Return a number for what each row shares with its partner, and the cluster of each such number."""
    nothing = np.full(len(scores), NONE, dtype=np.int64)
    condition = scores.condition.codes if with_condition and scores.condition is not None else nothing
    seed = nothing if scores.seed is None else scores.seed
    item = nothing if scores.item is None else scores.item.codes
    columns = np.column_stack([scores.task.codes, condition, seed, item])
    distinct, keys = np.unique(columns, axis=0, return_inverse=True)
    cluster = distinct[:, 0] if scores.seed is None else distinct[:, 2]
    return keys.reshape(-1).astype(np.int64), cluster
