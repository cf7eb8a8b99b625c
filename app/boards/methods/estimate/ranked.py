"""Who is ranked on a board of method `estimate`, with their rank standing. For `.board`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.boards.calibrated import range_of
from app.boards.columns import Place
from app.boards.coverage import RankStatus, Roster, rank_among
from app.boards.measured import Estimate, Measurement
from app.boards.methods.estimate.spec import EstimateBoard
from app.boards.ranked_entrants import measured_roster
from app.boards.spread import Spread
from app.boards.standing import BoardStanding, stand, unranked_places
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.interval import competition_ranks

NOTHING = Estimate(None, reason="nothing_to_aggregate")


@dataclass(frozen=True)
class Ranked:
    """The contenders from best to worst, with their rank standing; the others follow.

    `roster` says which of the others are behind the contenders and which apart; labelled entrants are in neither.
    `label_holders` are those of who can read private labels.
    """

    contenders: tuple[Measurement, ...]
    others: tuple[Measurement, ...]
    standing: BoardStanding | None
    roster: Roster
    metric: str
    sign: float
    label_holders: frozenset[str] = frozenset()

    def placed(self) -> list[tuple[Place, Measurement]]:
        """Return everybody's place; an entrant without replicates of the score has no rank interval."""
        places = [] if self.standing is None else [
            (self.standing.place(at, m.entrant), m) for at, m in enumerate(self.contenders)
        ]  # fmt: skip
        return [*places, *self._below(self.metric)]

    def ranks_by(self, name: str, sign: float) -> dict[str, int]:
        """Return the ranks of the contenders by another of their estimates, ties sharing a rank."""
        if not self.contenders:
            return {}
        points = np.array([sign * float(_point(m, name) or 0.0) for m in self.contenders])
        return dict(zip([m.entrant for m in self.contenders], competition_ranks(points).tolist(), strict=True))

    def _below(self, metric: str) -> Iterator[tuple[Place, Measurement]]:
        """Yield those behind the contenders, those listed separately, and last those labelled or without a score."""
        by_name = {m.entrant: m for m in self.others}
        points = {name: self.sign * float(_point(m, metric) or 0.0) for name, m in by_name.items()}
        listed = [place for place in unranked_places(self.roster, points) if place.entrant in by_name]
        others = [name for name in by_name if name not in {place.entrant for place in listed}]
        for place in (*listed, *map(Place, others)):
            yield place, by_name[place.entrant]

    def with_coverage(self, placed: Sequence[tuple[Place, Measurement]]) -> list[tuple[Place, Measurement]]:
        """Return the places with each entrant's coverage added."""
        return [(replace(place, standing=self._standing(m)), m) for place, m in placed]

    def _standing(self, measurement: Measurement) -> RankStatus:
        if measurement.entrant not in self.roster.coverages:
            coverage = measurement.coverage
            is_apart = coverage is not None and (coverage.n_not_asked or coverage.is_reference)
            why = coverage.why_unranked if coverage is not None and is_apart else None
            return RankStatus(coverage, why)
        return self.roster.standing(measurement.entrant, self._bounds(measurement))

    def _bounds(self, measurement: Measurement) -> tuple[int, int] | None:
        if measurement.bounds is None:
            return None
        worst, best = (None if end is None else self.sign * end for end in measurement.bounds)
        scores = [self.sign * float(_point(m, self.metric) or 0.0)
                  for m in self.contenders if m.entrant != measurement.entrant]  # fmt: skip
        return rank_among(worst, scores), 1 if best is None else rank_among(best, scores)


def rank(manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement]) -> Ranked:
    """Order the contenders by the ranking metric, best first, ties by name.

    The direction is the metric's own. An entrant that is labelled, that of who can read private labels, or one without
    a value (None), is not a contender.
    Source: the competition rank of `app.stats.interval`.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> ranked = rank(benchmark(board), board, [measured("A", 0.4), measured("B", 0.9), measured("C", None)])
    >>> [m.entrant for m in ranked.contenders], [m.entrant for m in ranked.others]
    (['B', 'A'], ['C'])
    """
    sign, references = sign_of(manifest, spec.ranked), manifest.asked.facts.references
    measurements = [_as_reference(m) if m.entrant in references else m for m in measurements]
    scored = [m for m in measurements if m.entrant not in spec.labels and _point(m, spec.ranked) is not None]
    roster = measured_roster(scored, manifest.asked.facts.owners_of([m.entrant for m in scored]))
    names = frozenset(roster.ranked)
    contenders = [m for m in scored if m.entrant in names]
    others = [m for m in measurements if m.entrant not in names]
    holders = manifest.asked.facts.label_holders
    if not contenders:
        return Ranked((), tuple(others), None, roster, spec.ranked, sign, holders)
    order = stand(points_of(manifest, spec.ranked, contenders), None, spec.uncertainty.level)
    ordered = [contenders[at] for at in order.order([m.entrant for m in contenders])]
    standing = standing_by(manifest, spec, spec.ranked, ordered)
    return Ranked(tuple(ordered), tuple(others), standing, roster, spec.ranked, sign, holders)


def _as_reference(measurement: Measurement) -> Measurement:
    """Return the measurement of an entrant that is shown for comparison: without bounds of a rank, too."""
    return replace(measurement, coverage=replace(measurement.coverage, is_reference=True), bounds=None)


def standing_by(
    manifest: Manifest, spec: EstimateBoard, metric: str, contenders: Sequence[Measurement]
) -> BoardStanding:
    """Return the standing of contenders, in their order, by a metric that all of them have.

    Points are negated for a minimized metric, so that larger is better.
    Source: `app.boards.standing.stand`.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> standing_by(benchmark(board), board, "success", [measured("A", 0.4), measured("B", 0.9)]).ranks.tolist()
    [2, 1]
    """
    points = points_of(manifest, metric, contenders)
    within = range_of(manifest.metrics[metric])
    spread = _spread(manifest, metric, contenders, points)
    return stand(points, spread, spec.uncertainty.level, widest=within.high - within.low)


def points_of(manifest: Manifest, metric: str, contenders: Sequence[Measurement]) -> FloatArray:
    """Return a metric's values in its unit, [n_contenders], negated if smaller is better; None counts as 0.

    Raises KeyError for a metric that the manifest does not have.
    Source: none; it selects.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["error"])
    >>> points_of(benchmark(board), "error", [measured("A", 0.4, "error")]).tolist()
    [-0.4]
    """
    return sign_of(manifest, metric) * np.array([float(_point(m, metric) or 0.0) for m in contenders])


def sign_of(manifest: Manifest, metric: str) -> float:
    """Return the factor that makes larger values of a metric better: −1 where it is minimized, else 1.

    >>> from app.boards.example import benchmark
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["error"])
    >>> sign_of(benchmark(board), "error"), sign_of(benchmark(board), "success")
    (-1.0, 1.0)
    """
    return -1.0 if manifest.metrics[metric].direction == "minimize" else 1.0


def _point(measurement: Measurement, metric: str) -> float | None:
    return measurement.estimates.get(metric, NOTHING).point


def _spread(manifest: Manifest, metric: str, contenders: Sequence[Measurement], points: FloatArray) -> Spread | None:
    """Return everybody's replicates; None when nobody has any.

    An entrant without replicates keeps its point in every resample, as does a resample where the metric is undefined.
    """
    drawn = [m.replicates.get(metric) for m in contenders]
    n_drawn = max((len(column) for column in drawn if column is not None), default=0)
    if not n_drawn:
        return None
    # One entrant per row: with many entrants, writing a column would touch a new page of memory for each number.
    rows = np.repeat(points[:, None], n_drawn, axis=1)
    for row, column in zip(rows, drawn, strict=True):
        if column is not None:
            np.multiply(column, sign_of(manifest, metric), out=row, where=~np.isnan(column))
    replicates = np.ascontiguousarray(rows.T)
    return Spread(replicates, [None if column is None else m.precision[metric]
                               for m, column in zip(contenders, drawn, strict=True)])  # fmt: skip
