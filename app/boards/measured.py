"""What one entrant's evidence comes to under one board, apart from everybody else's.

Where numbers need no other entrant a board is made in two steps: the kind of evidence has `measure`, which looks at one
entrant and whose result is kept; the method has `assemble`, which ranks the results. So a new submission costs its own
rows and nobody else's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from numpy.typing import NDArray

from app.boards.coverage import NOTHING_ASKED, Coverage
from app.boards.spread import Precision
from app.boards.standing import BoardStanding
from app.boards.tables import BoardTables
from app.manifest.manifest import Leaderboard, Manifest
from app.stats.arrays import FloatArray
from app.stats.calibrated import Calibrated
from app.values.frame import CalibratedCells
from app.values.predictions import Labels, PredictionBlock
from app.values.scores import ScoreTable
from app.values.table import Cell, Table


@dataclass(frozen=True)
class EntrantEvidence:
    """Everything that one entrant is measured on; `labels` are the benchmark's, by task."""

    entrant: str
    scores: ScoreTable
    predictions: Sequence[PredictionBlock] = ()
    labels: Mapping[str, Labels] = field(default_factory=dict)


ALL_EQUAL = "all_equal"
NO_WORST_VALUE = "no_worst_value"
"""Something is absent that counts as the worst there is, and the metric's range has no worst end."""
HELD_BACK = "held_back"
"""Why an entrant has no number although it was measured: nothing new may be published of it yet."""
PUBLIC_PART = "public_part"
"""Behind a colon after a metric: its value on the part of a benchmark that was scored first."""


@dataclass(frozen=True)
class Estimate:
    """One number with its system's interval; `reason` says why there is none, or that it has no width. Null is None.

    `calibrated` is the interval that is drawn; None where there is no number. `n_lacking` are the rows that the number
    leaves out for want of a value.
    """

    point: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None
    calibrated: Calibrated | None = None
    n_lacking: int = 0

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """Rebuild the value that `dataclasses.asdict` made a mapping of."""
        kept = stored["calibrated"]
        return cls(**{**stored, "calibrated": None if kept is None else Calibrated(**kept)})


Held = tuple[str, str, int]
"""A task, a condition, and how many cells of it have a value."""
Bounds = tuple[float | None, float | None]


@dataclass(frozen=True)
class Measurement:
    """One entrant under one board.

    `estimates` are by column name. `replicates` holds [n_resamples] of the number that ranks, and of each number
    whose differences between entrants are shown, drawn by the names of the units whatever stream a board declares for
    its bounds; `precision` says how much each of them rests on. `rows` are rows of further tables, by the table's name.
    `facts` are counts for the table. `losses` holds, by task, what paired tests of two entrants need of each item;
    zeros and ones may be bytes.

    `coverage` is compared with the grid; where an axis of it is open, with the entrant's own rows alone, and `held`
    then says, and is None otherwise, how many cells with a value it has in each (task, condition): by these entrants
    are compared with each other. `bounds` are the scores that rank if what is missing were the worst and the best
    there is, None for an end that the metric's range lacks. `items` is a digest of its items' names where the grid does
    not say which they are, so that whoever has others than the rest is seen.
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


@dataclass(frozen=True, kw_only=True)
class EvidenceWords:
    """What a board says of the evidence behind its measurements.

    `resampled` is what the resamples draw, `units` what intervals rest on, `too_few` what there are fewer than two of
    where they cannot, `failed` what counts as the worst there is, `cells` what a grid counts. `has_statistics`: a score
    is a mean or an interquartile mean of many, and says which. `metric_glossary` names the entry of a metric.
    """

    resampled: str
    too_few: str
    units: str = "units"
    failed: str
    cells: str = "items"
    has_statistics: bool = False
    notes: tuple[str, ...] = ()
    metric_glossary: Callable[[str], str] = str


def held_back(entrant: str, metrics: Sequence[str]) -> Measurement:
    """Return the measurement of an entrant of which nothing new may be published yet: no number, None, with the reason.

    Source: by definition.

    >>> held_back("A", ["success"]).estimates["success"].reason
    'held_back'
    """
    return Measurement(entrant, {metric: Estimate(None, reason=HELD_BACK) for metric in metrics})


def unchanged(manifest: Manifest, tables: BoardTables) -> BoardTables:
    """Return the tables as they are: a kind that adds nothing.

    >>> from app.boards.example import benchmark
    >>> tables = BoardTables(Table("leaderboard/main", "Main", (), ()), None)
    >>> unchanged(benchmark(Leaderboard(name="m", method="mean", uncertainty={"n_resamples": 100})), tables) is tables
    True
    """
    del manifest
    return tables


@dataclass(frozen=True, kw_only=True)
class MeasuredEvidence:
    """How a kind of evidence is measured, entrant by entrant, and what a board shows of it beside its ranks.

    `further_tables` gets the measurements in the order of the board, the contenders first, and the standing of these,
    None where there are none. `finish` has the last word on all tables of a board. `of_best` names the further tables
    that only the best of a large board are shown in. `counted` gives the rows of an entrant as a board counts them,
    with the worst for what is missing where that counts so; None where rows are no scores of tasks.
    """

    measure: Callable[[Manifest, Any, EntrantEvidence], Measurement]
    words: Callable[[Manifest, Any], EvidenceWords]
    further_tables: Callable[[Manifest, Any, Sequence[Measurement], BoardStanding | None], tuple[Table, ...]]
    finish: Callable[[Manifest, BoardTables], BoardTables] = unchanged
    of_best: frozenset[str] = frozenset()
    counted: Callable[[Manifest, Any, EntrantEvidence], ScoreTable] | None = None


@dataclass(frozen=True)
class MeasuredMethod:
    """A ranking method that assembles a board from measurements, and the class of its boards in a manifest."""

    spec: type[Leaderboard]
    assemble: Callable[[Manifest, Any, Sequence[Measurement], MeasuredEvidence], BoardTables]


def calibrated_cells(interval: Calibrated | None) -> CalibratedCells:
    """Return the cells of a calibrated interval, in the number's unit; None without one, with the reason in `how`.

    Source: `app.stats.calibrated.intervals`.

    >>> calibrated_cells(Calibrated(0.1, 0.3, "student", 8.0, None))
    CalibratedCells(low=0.1, high=0.3, how='student', n_units=8.0)
    """
    if interval is None:
        return CalibratedCells()
    return CalibratedCells(interval.low, interval.high, interval.how or interval.reason, interval.n_units)
