"""From measurements of entrants to a board of method `estimate`: ranks, rank intervals, and pair by pair.

Called by `.method`. Entrants listed in `labels` are shown without a rank; an entrant without a value of the ranking
metric comes last, also without one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from app.boards.columns import board_table
from app.boards.measured import ALL_ITEMS, PUBLIC_PART, EvidenceWords, MeasuredEvidence, Measurement, calibrated_cells
from app.boards.methods.estimate.notes import notes_of
from app.boards.methods.estimate.pairs import pairwise
from app.boards.methods.estimate.ranked import NOTHING, Ranked, rank, sign_of
from app.boards.methods.estimate.spec import EstimateBoard, drawn_meta
from app.boards.tables import BoardTables, pairs_beside
from app.errors import BoardUnavailable, Unavailable
from app.manifest.manifest import Manifest
from app.values.frame import CalibratedCells, Ends, FrameField, with_calibrated
from app.values.table import Cell, Column

SHOWN_BESIDE = ("mean", PUBLIC_PART, ALL_ITEMS)
"""What is shown of the metric that ranks beside it."""
KINDS = {"profile_area": "profile", ALL_ITEMS: PUBLIC_PART}
"""The glossary entries of estimates that are derived from a metric, where their own name is none."""


def assemble_board(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], evidence: MeasuredEvidence
) -> BoardTables:
    """Rank measured entrants by the metric that ranks, in its own unit and direction.

    An entrant without a value, None, comes last without a rank.
    Raises BoardUnavailable when there are no measurements. Source: `app.boards.standing.stand`.

    >>> from app.boards.example import EPISODES, benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> tables = assemble_board(benchmark(board), board, [measured("A", 0.4), measured("B", 0.9)], EPISODES)
    >>> [row[:2] for row in tables.leaderboard.rows]
    [(1, 'B'), (2, 'A')]
    """
    if not measurements:
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    ranked = rank(manifest, spec, measurements)
    words = evidence.words(manifest, spec)
    fields = [*_fields(manifest, spec, words, measurements), *_other_rank(manifest, spec, words, ranked)]
    notes, meta = notes_of(spec, words, ranked), _meta(manifest, spec, words, measurements)
    placed = ranked.with_coverage(ranked.placed())
    board = board_table(spec, fields, placed, notes, meta)
    if spec.explored is not None:
        return BoardTables(board).each(partial(evidence.finish, manifest))
    pairs = pairs_beside(spec, partial(pairwise, manifest, spec, ranked.contenders, ranked.standing))
    shown = [*ranked.contenders, *ranked.others]
    further = evidence.further_tables(manifest, spec, shown, ranked.standing)
    return BoardTables(board, (*pairs, *further)).each(partial(evidence.finish, manifest))


def estimate_names(spec: EstimateBoard, measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of the estimates: the declared metrics in their order, then those derived from them.

    Source: none; it lists.

    >>> from app.boards.example import measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> estimate_names(board, [measured("A", 0.5, "success:iqm")])
    ['success', 'success:iqm']
    """
    known = dict.fromkeys(name for m in measurements for name in m.estimates)
    return [*spec.metrics, *(name for name in known if name not in spec.metrics)]


def fact_names(measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of the counts, in the order of the measurements.

    Source: none; it lists.

    >>> fact_names([Measurement("A", {}, facts={"n_seeds": 5, "n_episodes": 50})])
    ['n_seeds', 'n_episodes']
    """
    return list(dict.fromkeys(name for m in measurements for name in m.facts))


def _fields(
    manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, measurements: Sequence[Measurement]
) -> Iterator[FrameField[Measurement]]:
    label = Column("label", "Not a contender", "text", detail=not spec.labels, glossary="labels")
    yield FrameField(label, lambda measurement: spec.labels.get(measurement.entrant))
    for name in estimate_names(spec, measurements):
        column = _estimate_column(manifest, spec, words, name)
        calibrated = {m.entrant: _calibrated(name, m) for m in measurements}
        fields = with_calibrated(column, partial(_ends, name), partial(_own, calibrated))
        yield from _with_compatible(fields) if _is_iqm(manifest, spec, words, name) else fields
    for name in fact_names(measurements):
        yield FrameField(_count_column(name), partial(_fact, name))


def _is_iqm(manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, name: str) -> bool:
    """Say whether a name is the interquartile mean of the metric that ranks."""
    stem, _, kind = name.partition(":")
    metric = manifest.metrics.get(stem)
    if not words.has_statistics or stem != spec.ranked or metric is None:
        return False
    return (kind or spec.statistic_of(stem, metric)) == "iqm"


def _with_compatible(fields: Sequence[FrameField[Measurement]]) -> Iterator[FrameField[Measurement]]:
    """Yield the fields of an interquartile mean so that the first view shows it with CHAMBER's own interval.

    Beside a mean that ranks, that interval is its whisker; where it ranks itself its whisker stays the calibrated one,
    and the ends of CHAMBER's are columns of their own.
    """
    number, low, high, *ours = fields
    if number.column.detail:
        drawn = replace(
            number.column,
            title=f"{number.column.title} (compatible interval)",
            interval=(low.column.name, high.column.name),
            detail=False,
        )
        yield from (replace(number, column=drawn), low, high, *ours)
    else:
        shown = [replace(each, column=replace(each.column, detail=False)) for each in (low, high)]
        yield from (number, *shown, *ours)


def _other_rank(
    manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, ranked: Ranked
) -> Iterator[FrameField[Measurement]]:
    """Yield the rank of contenders by the other statistic: by IQM on a board of means, and the reverse."""
    metric = manifest.metrics[spec.ranked]
    other = "mean" if spec.statistic_of(spec.ranked, metric) == "iqm" else "iqm"
    name = f"{spec.ranked}:{other}"
    if not words.has_statistics:
        return
    ranks = ranked.ranks_by(name, sign_of(manifest, spec.ranked))
    title = f"{metric.title or spec.ranked}, rank by {'IQM' if other == 'iqm' else 'mean'}"
    column = Column(f"{spec.ranked}_{other}_rank", title, "integer", detail=True, glossary=other)
    yield FrameField(column, lambda measurement: ranks.get(measurement.entrant))


def _ends(name: str, measurement: Measurement) -> Ends:
    estimate = measurement.estimates.get(name, NOTHING)
    return (estimate.point, estimate.low, estimate.high)


def _own(cells: Mapping[str, CalibratedCells], measurement: Measurement) -> CalibratedCells:
    return cells[measurement.entrant]


def _calibrated(name: str, measurement: Measurement) -> CalibratedCells:
    return calibrated_cells(measurement.estimates.get(name, NOTHING).calibrated)


def _fact(name: str, measurement: Measurement) -> Cell:
    return measurement.facts.get(name)


def _count_column(name: str) -> Column:
    title = name.removeprefix("n_").replace("_", " ").capitalize()
    return Column(name, title, "integer", glossary="counts")


def _estimate_column(manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, name: str) -> Column:
    stem, _, kind = name.partition(":")
    metric = manifest.metrics.get(stem)
    composed = spec.composite.title if spec.composite is not None and stem == spec.ranked else None
    title = composed or (metric.title if metric else None) or stem
    if not kind and metric is not None and words.has_statistics:
        kind = spec.statistic_of(stem, metric)
    if kind:
        title = f"{title}, {'IQM' if kind == 'iqm' else kind.replace('_', ' ')}"
    return Column(
        name=name.replace(":", "_"),
        title=title,
        unit=metric.unit if metric else None,
        direction=metric.direction if metric is not None and kind != "optimality_gap" else "minimize",
        detail=name not in spec.metrics and name not in {f"{spec.ranked}:{part}" for part in SHOWN_BESIDE},
        glossary=KINDS.get(kind, kind) or words.metric_glossary(stem),
        digits=3,
    )


def _meta(
    manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, measurements: Sequence[Measurement]
) -> dict[str, Any]:
    has_replicates = any(m.replicates for m in measurements)
    reasons = [e.reason for m in measurements if (e := m.estimates.get(spec.ranked, NOTHING)).reason is not None]
    return {
        **drawn_meta(spec),
        "metric": spec.ranked,
        "rank_by": spec.ranked,
        **(_statistics(manifest, spec) if words.has_statistics else {}),
        "n_entrants": len(measurements),
        "interval": f"percentile bootstrap over {words.resampled}" if has_replicates else None,
        "interval_reason": None if has_replicates else next(iter(reasons), "too_few_clusters"),
    }


def _statistics(manifest: Manifest, spec: EstimateBoard) -> dict[str, Any]:
    of_each = {metric: spec.statistic_of(metric, manifest.metrics[metric]) for metric in spec.metrics}
    return {"statistic": of_each[spec.ranked], "statistics": of_each}
