"""Measurements: what one entrant's evidence gives under one board, computed without the other entrants.

Where numbers need no other entrant a board is computed in two steps: the kind of evidence has `measure`, for one
entrant, whose result is stored; the method has `assemble`, which ranks the results. So a new submission costs the time
of its own rows only.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import NDArray

from app.boards.calibrated import Precision
from app.boards.coverage import NOTHING_ASKED, Coverage
from app.boards.standing import BoardStanding
from app.boards.tables import Beside, BoardTables
from app.manifest.model import Leaderboard, Manifest
from app.stats.arrays import FloatArray
from app.stats.calibrated import Calibrated
from app.values.frame import CalibratedCells
from app.values.scores import Labels, PredictionBlock, ScoreTable
from app.values.table import Cell, Table


@dataclass(frozen=True)
class EntrantEvidence:
    """Everything that one entrant is measured on; `labels` are the benchmark's, by task."""

    entrant: str
    scores: ScoreTable
    predictions: Sequence[PredictionBlock] = ()
    labels: Mapping[str, Labels] = field(default_factory=dict)


NO_WORST_VALUE = "no_worst_value"
"""An absent cell counts as the worst value, but the metric's range has no worst end."""
HELD_BACK = "held_back"
"""The reason of a measurement without a number whose publication is held back."""
EQUAL_SEEDS = "equal_seeds"
"""The name of a measurement's row (seeds, how far the score may lie off) where seeds are all equal, or nearly."""
PUBLIC_PART, ALL_ITEMS = "public_part", "all_items"
"""Suffixes after a metric's name and a colon: its value on the public part of the labels, or on all of them."""


@dataclass(frozen=True)
class Estimate:
    """One number with its system's interval; `reason` says why it is missing or has no width. Null is None.
    `calibrated` is the interval that is plotted; None where there is no number. `n_lacking` counts the rows without a
    value, which the number leaves out.
    """

    point: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    calibrated: Calibrated | None = None
    n_lacking: int = 0

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Rebuild an estimate from the output of `dataclasses.asdict`."""
        kept = stored["calibrated"]
        return cls(**{**stored, "calibrated": None if kept is None else Calibrated(**kept)})


Held = tuple[str, str, int]
"""(task, condition, number of cells with a value)."""
Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Measurement:
    """One entrant under one board.

    `estimates` are by column name. `replicates` holds [n_resamples] of the number that ranks, and of each number whose
    differences between entrants are shown, drawn by the names of the units whatever stream a board declares for its
    intervals; `precision` holds the degrees of freedom of each. `rows` are rows of further tables, by the table's
    name, and those of EQUAL_SEEDS. `facts` are counts for the table. `losses` holds, by task, each item's loss for
    paired tests of two entrants; zeros and ones may be bytes.

    `coverage` is relative to the grid or, where an axis of the grid is open, to the entrant's own rows; in that case
    `held`, otherwise None, counts its cells with a value in each (task, condition), so that entrants can be compared
    with each other. `elsewhere` holds the score that ranks on other boards, by what differs there ("without task a").
    `bounds` are the ranking scores if all missing cells had the worst and the best possible value,
    None for an end that the metric's range lacks. `items` is a digest of its items' names where the grid does not name
    them, which reveals an entrant with other items than the rest.
    """

    entrant: str
    estimates: Mapping[str, Estimate]
    replicates: Mapping[str, FloatArray] = field(default_factory=dict)
    precision: Mapping[str, Precision] = field(default_factory=dict)
    rows: Mapping[str, Sequence[tuple[Cell, ...]]] = field(default_factory=dict)
    facts: Mapping[str, Cell] = field(default_factory=dict)
    losses: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    coverage: Coverage = NOTHING_ASKED
    held: Sequence[Held] | None = None
    bounds: Bounds | None = None
    items: str = ""
    elsewhere: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class EvidenceWords:
    """The words by which a board describes the evidence behind its measurements.

    `resampled` names what resamples draw, `units` the units of intervals, `too_few` the units of which fewer than two
    allow no interval, `failed` what is given the worst value, `cells` what a grid counts. `has_statistics` means that a
    score is a mean or an interquartile mean, and that its column says which, `is_rate` that it lies between 0, for
    nothing, and 1. `rare` is the world of `app.boards.calibrated.rare_note` in which the intervals of its score fail,
    empty for none, and `are_shared` says that units of the same number are the same for everybody. `part` is the
    part of the items that scores are of while another decides later. `metric_glossary` names the entry of a metric.
    """

    resampled: str
    too_few: str
    units: str = "units"
    failed: str
    cells: str = "items"
    has_statistics: bool = False
    is_rate: bool = False
    rare: str = ""
    are_shared: bool = False
    part: str = ""
    notes: tuple[str, ...] = ()
    metric_glossary: Callable[[str], str] = str


def held_back(entrant: str, metrics: Sequence[str]) -> Measurement:
    """Return the measurement of an entrant whose results are held back: its numbers are None, with the reason.

    Source: none; a constant.

    >>> held_back("A", ["success"]).estimates["success"].reason
    'held_back'
    """
    return Measurement(entrant, {metric: Estimate(None, reason=HELD_BACK) for metric in metrics})


def unchanged(manifest: Manifest, measurements: Sequence["Measurement"], table: Table) -> Table:
    """Return the table unchanged, for a kind that adds nothing.

    Source: none; it adds nothing.

    >>> from app.boards.example import benchmark
    >>> table = Table("leaderboard/main", "Main", (), ())
    >>> unchanged(benchmark(Leaderboard(name="m", method="mean", uncertainty={"n_resamples": 100})), [], table) is table
    True
    """
    del manifest, measurements
    return table


@dataclass(frozen=True, kw_only=True)
class MeasuredKind:
    """How a kind of evidence is measured, entrant by entrant, and what a board shows beside its ranks.

    `further_tables` receives the measurements in the board's order, contenders first, and the contenders' rank
    standing, None without any. `finish` may change each table of a board of these measurements at the end. `of_best`
    names the further tables that show only the best entrants of a large board. `counted` returns an entrant's rows as
    the board counts them, with the worst value for missing ones where they count so; None where rows are not scores of
    tasks.
    """

    measure: Callable[[Manifest, Any, EntrantEvidence], Measurement]
    words: Callable[[Manifest, Any], EvidenceWords]
    further_tables: Callable[[Manifest, Any, Sequence[Measurement], BoardStanding | None], tuple[Beside, ...]]
    finish: Callable[[Manifest, Sequence[Measurement], Table], Table] = unchanged
    of_best: frozenset[str] = frozenset()
    counted: Callable[[Manifest, Any, EntrantEvidence], ScoreTable] | None = None


@dataclass(frozen=True)
class MeasuredMethod:
    """A ranking method that assembles a board from measurements, and the class of its boards in a manifest."""

    spec: type[Leaderboard]
    assemble: Callable[[Manifest, Any, Sequence[Measurement], MeasuredKind], BoardTables]


def calibrated_cells(interval: Calibrated | None) -> CalibratedCells:
    """Return the cells of a calibrated interval, in the number's unit; None without one, with the reason in `how`.

    Source: `app.stats.calibrated.intervals`.

    >>> calibrated_cells(Calibrated(0.1, 0.3, "student", 8.0, None))
    CalibratedCells(low=0.1, high=0.3, how='student', n_units=8.0)
    """
    if interval is None:
        return CalibratedCells()
    return CalibratedCells(interval.low, interval.high, interval.how or interval.reason, interval.n_units)
