"""From measurements of entrants to a board of method `estimate`: ranks, rank intervals, and pair by pair.

Called by `app.boards.estimate.method`. Labelled entrants stand on the board without a rank, and an entrant without a
value of the ranking metric stands last, also without one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from app.boards.calibrated import few_units_note
from app.boards.coverage import Roster, Standing, rank_among
from app.boards.estimate.pairs import pairwise
from app.boards.estimate.spec import EstimateBoard, drawn_meta
from app.boards.held import measured_roster
from app.boards.measured import ALL_EQUAL, Estimate, EvidenceWords, MeasuredEvidence, Measurement, calibrated_cells
from app.boards.spread import Spread
from app.boards.standing import BoardStanding, Place, board_table, stand, unranked_places
from app.boards.tables import BoardTables, sentences
from app.errors import BoardUnavailable, Unavailable
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.values.frame import CalibratedCells, Ends, Field, with_calibrated
from app.values.table import Cell, Column

NOTHING = Estimate(None, reason="nothing_to_aggregate")


@dataclass(frozen=True)
class Ranked:
    """The contenders from best to worst, with their standing; the others follow.

    `roster` says who of the others is behind the contenders or apart from them; who is labelled is in none of it.
    """

    contenders: tuple[Measurement, ...]
    others: tuple[Measurement, ...]
    standing: BoardStanding | None
    roster: Roster
    metric: str
    sign: float

    def placed(self) -> list[tuple[Place, Measurement]]:
        """Return everybody's place; who has no replicates of the score has no interval of the rank."""
        places = [] if self.standing is None else [
            (self.standing.place(at, m.entrant), m) for at, m in enumerate(self.contenders)
        ]  # fmt: skip
        return [*places, *self._below(self.metric)]

    def _below(self, metric: str) -> Iterator[tuple[Place, Measurement]]:
        """Yield who is behind the contenders, who stands apart, and last who is labelled or has no score."""
        by_name = {m.entrant: m for m in self.others}
        points = {name: self.sign * float(_point(m, metric) or 0.0) for name, m in by_name.items()}
        listed = [place for place in unranked_places(self.roster, points) if place.entrant in by_name]
        others = [name for name in by_name if name not in {place.entrant for place in listed}]
        for place in (*listed, *map(Place, others)):
            yield place, by_name[place.entrant]

    def with_coverage(self, placed: Sequence[tuple[Place, Measurement]]) -> list[tuple[Place, Measurement]]:
        """Return the places with what each row says of its coverage."""
        return [(replace(place, standing=self._standing(m)), m) for place, m in placed]

    def _standing(self, measurement: Measurement) -> Standing:
        if measurement.entrant not in self.roster.coverages:
            return Standing(measurement.coverage)
        return self.roster.standing(measurement.entrant, self._bounds(measurement))

    def _bounds(self, measurement: Measurement) -> tuple[int, int] | None:
        if measurement.bounds is None:
            return None
        worst, best = (None if end is None else self.sign * end for end in measurement.bounds)
        scores = [self.sign * float(_point(m, self.metric) or 0.0)
                  for m in self.contenders if m.entrant != measurement.entrant]  # fmt: skip
        return rank_among(worst, scores), 1 if best is None else rank_among(best, scores)


def assemble_board(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], evidence: MeasuredEvidence
) -> BoardTables:
    """Rank measured entrants. Raises BoardUnavailable when there are none."""
    if not measurements:
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    ranked = rank(manifest, spec, measurements)
    words = evidence.words(manifest, spec)
    fields = _fields(manifest, spec, words, measurements)
    notes, meta = _notes(spec, words, ranked), _meta(manifest, spec, words, measurements)
    placed = ranked.with_coverage(ranked.placed())
    board = board_table(spec, list(fields), placed, notes, meta)
    pairs = pairwise(manifest, spec, ranked.contenders, ranked.standing)
    return BoardTables(board, pairs, evidence.further_tables(manifest, spec, [*ranked.contenders, *ranked.others]))


def rank(manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement]) -> Ranked:
    """Order the contenders by the ranking metric, best first, names deciding between equals."""
    sign = sign_of(manifest, spec.ranked)
    scored = [m for m in measurements if m.entrant not in spec.labels and _point(m, spec.ranked) is not None]
    roster = measured_roster(scored)
    contenders = [m for m in scored if m.entrant in roster.ranked]
    others = [m for m in measurements if m not in contenders]
    if not contenders:
        return Ranked((), tuple(others), None, roster, spec.ranked, sign)
    order = stand(points_of(manifest, spec.ranked, contenders), None, spec.uncertainty.level)
    ordered = [contenders[at] for at in order.order([m.entrant for m in contenders])]
    standing = standing_by(manifest, spec, spec.ranked, ordered)
    return Ranked(tuple(ordered), tuple(others), standing, roster, spec.ranked, sign)


def standing_by(
    manifest: Manifest, spec: EstimateBoard, metric: str, contenders: Sequence[Measurement]
) -> BoardStanding:
    """Return the standing of contenders, in their order, by a metric of which each has a value."""
    points = points_of(manifest, metric, contenders)
    return stand(points, _spread(manifest, metric, contenders, points), spec.uncertainty.level)


def points_of(manifest: Manifest, metric: str, contenders: Sequence[Measurement]) -> FloatArray:
    """Return the values of a metric, larger being better."""
    return sign_of(manifest, metric) * np.array([float(_point(m, metric) or 0.0) for m in contenders])


def sign_of(manifest: Manifest, metric: str) -> float:
    """Return what turns values of a metric so that larger is better."""
    return -1.0 if manifest.metrics[metric].direction == "minimize" else 1.0


def _point(measurement: Measurement, metric: str) -> float | None:
    return measurement.estimates.get(metric, NOTHING).point


def _reason(measurement: Measurement, metric: str) -> str | None:
    return measurement.estimates.get(metric, NOTHING).reason


def _spread(manifest: Manifest, metric: str, contenders: Sequence[Measurement], points: FloatArray) -> Spread | None:
    """Return the replicates of all; None when nobody has any.

    Who has none keeps the same score in every resample, and so does a resample in which a metric is undefined.
    """
    drawn = [m.replicates.get(metric) for m in contenders]
    n_drawn = max((len(column) for column in drawn if column is not None), default=0)
    if not n_drawn:
        return None
    replicates = np.tile(points, (n_drawn, 1))
    for at, column in enumerate(drawn):
        if column is not None:
            known = ~np.isnan(column)
            replicates[known, at] = sign_of(manifest, metric) * column[known]
    return Spread(replicates, [None if column is None else m.precision[metric]
                               for m, column in zip(contenders, drawn, strict=True)])  # fmt: skip


def estimate_names(spec: EstimateBoard, measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of the estimates: the declared metrics in their order, then what is made beside them."""
    known = dict.fromkeys(name for m in measurements for name in m.estimates)
    return [*spec.metrics, *(name for name in known if name not in spec.metrics)]


def fact_names(measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of the counts, in the order in which they are made."""
    return list(dict.fromkeys(name for m in measurements for name in m.facts))


def _fields(
    manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, measurements: Sequence[Measurement]
) -> Iterator[Field[Measurement]]:
    label = Column("label", "Not a contender", "text", detail=not spec.labels, glossary="labels")
    yield Field(label, lambda measurement: spec.labels.get(measurement.entrant))
    for name in estimate_names(spec, measurements):
        column = _estimate_column(manifest, spec, words, name)
        yield from with_calibrated(column, partial(_ends, name), partial(_calibrated, name))
    for name in fact_names(measurements):
        yield Field(_count_column(name), partial(_fact, name))


def _ends(name: str, measurement: Measurement) -> Ends:
    estimate = measurement.estimates.get(name, NOTHING)
    return (estimate.point, estimate.low, estimate.high)


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
        detail=name not in spec.metrics and name != f"{spec.ranked}:mean",
        glossary={"": words.metric_glossary(stem), "profile_area": "profile"}.get(kind, kind),
        digits=3,
    )


def _notes(spec: EstimateBoard, words: EvidenceWords, ranked: Ranked) -> tuple[str, ...]:
    notes = [*words.notes]
    failed = [f"{m.entrant} ({m.coverage.n_failed})" for m in ranked.contenders if m.coverage.n_failed]
    if failed:
        notes.append(f"{words.failed}, each counted as the worst there is: {sentences(failed)}.")
    if labelled := [m.entrant for m in ranked.others if m.entrant in spec.labels]:
        notes.append(f"Shown without a rank, for comparison: {sentences(labelled)}.")
    notes += ranked.roster.notes(words.cells)
    unplaced = [m.entrant for m in ranked.others if m.entrant not in ranked.roster.coverages]
    if empty := [name for name in unplaced if name not in spec.labels]:
        notes.append(f"No value of {spec.ranked}, so no rank: {sentences(empty)}.")
    notes += _without_spread(spec, ranked, words.too_few)
    notes += few_units_note(list(_units(spec, ranked)), words.units, spec.uncertainty.level)
    if flat := list(_without_width(spec, ranked)):
        notes.append(
            f"Compatible intervals without width, because every resample gives the same: {'; '.join(flat)}. Those that "
            "are drawn are the calibrated ones."
        )
    if lacking := list(_lacking(spec, ranked)):
        notes.append(f"Left out of an average, for want of a value: {'; '.join(lacking)}.")
    return tuple(notes)


def _units(spec: EstimateBoard, ranked: Ranked) -> Iterator[tuple[str, float]]:
    """Yield who is shown, and on how many units its score rests."""
    for measurement in (*ranked.contenders, *ranked.others):
        found = measurement.estimates.get(spec.ranked, NOTHING).calibrated
        if found is not None:
            yield measurement.entrant, found.n_units


def _without_spread(spec: EstimateBoard, ranked: Ranked, units: str) -> Iterator[str]:
    """Yield who has no rank interval, by the reason, and what the others' are then."""
    names: dict[str, list[str]] = {}
    for measurement in ranked.contenders:
        if spec.ranked not in measurement.replicates:
            reason = measurement.estimates[spec.ranked].reason or "too_few_clusters"
            names.setdefault(_reason_in_words(reason, units), []).append(measurement.entrant)
    for words, entrants in names.items():
        yield f"No rank interval, {words}: {sentences(entrants)}."
    if names and ranked.standing is not None and ranked.standing.has_spread.any():
        yield "How sure these scores are is not known: nobody is said to be below them, others may be above them."


def _reason_in_words(reason: str, units: str) -> str:
    is_undefined = reason == "undefined_in_resamples"
    return "undefined in many resamples" if is_undefined else f"fewer than two {units} to resample"


def _without_width(spec: EstimateBoard, ranked: Ranked) -> Iterator[str]:
    for metric in spec.metrics:
        equal = [m.entrant for m in (*ranked.contenders, *ranked.others) if _reason(m, metric) == ALL_EQUAL]
        if equal:
            yield f"{metric} of {sentences(equal)}"


def _lacking(spec: EstimateBoard, ranked: Ranked) -> Iterator[str]:
    """Yield who has no value of a metric in some rows: what the metric that ranks lacks is in the coverage."""
    for metric in (name for name in spec.metrics if name != spec.ranked):
        shown = [(m.entrant, m.estimates.get(metric, NOTHING).n_lacking) for m in (*ranked.contenders, *ranked.others)]
        if told := [f"{entrant} ({n:,})" for entrant, n in shown if n]:
            yield f"{metric} of {sentences(told)}"


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
