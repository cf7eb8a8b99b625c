"""What is disclosed of private labels: measured on the part that counts now, and rounded for publication.

Labels that are no secret, and those that a submission brings, pass as they are.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from app.boards.measured import ALL_ITEMS, PUBLIC_PART, EntrantEvidence, Estimate, Measurement
from app.boards.methods.estimate import EstimateBoard, sign_of
from app.boards.standing import CAVEATS
from app.boards.tables import PAIRWISE
from app.kinds.labels import ROUGH, ShownScore, narrow
from app.kinds.predictions.manifest_part import scoring_of
from app.kinds.predictions.measure import measure_predictions
from app.kinds.predictions.report import COLUMNS, INTERVALS, LAYOUTS, in_steps, nice_step, share_step
from app.manifest.model import PRIVATE_PART, Manifest, Scoring
from app.stats.calibrated import Calibrated
from app.stats.resample import named_uniforms
from app.values.scores import Labels
from app.values.table import Cell, Column, Table


def measure_disclosed(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> Measurement:
    """Return every metric of one entrant, rounded for publication.

    Before the close it is of the public part alone. After it the private part decides, and the metrics of the public
    part stand beside as `<metric>:public_part`. Exactly, for stewards, so do those of all items, `<metric>:all_items`.
    """
    rules = scoring_of(manifest)
    if rules is None:
        return measure_predictions(manifest, spec, evidence)
    if not is_closed(manifest):
        return _measure(manifest, spec, narrow(evidence, public=True), rules)
    final = _measure(manifest, spec, narrow(evidence, public=False), rules)
    if not _is_divided(evidence):
        return final
    before = _measure(manifest, spec, narrow(evidence, public=True), rules)
    beside = {f"{metric}:{PUBLIC_PART}": before.estimates[metric] for metric in spec.metrics}
    if manifest.asked.facts.is_exact:
        whole = _measure(manifest, spec, evidence, rules)
        beside |= {f"{metric}:{ALL_ITEMS}": whole.estimates[metric] for metric in spec.metrics}
    return replace(final, estimates={**final.estimates, **beside})


def is_closed(manifest: Manifest) -> bool:
    """Say whether the private part decides by now."""
    return manifest.asked.facts.part == PRIVATE_PART


def _is_divided(evidence: EntrantEvidence) -> bool:
    return any(labels.public is not None and not labels.public.all() for labels in evidence.labels.values())


def _measure(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence, rules: Scoring) -> Measurement:
    exact = measure_predictions(manifest, spec, evidence)
    return exact if manifest.asked.facts.is_exact else grain_of(rules, spec).measurement(exact, evidence.labels)


@dataclass(frozen=True)
class Grain:
    """The rule of one benchmark: at most `digits` significant digits, at intervals of `level`."""

    digits: int
    level: float

    def error_of(self, estimate: Estimate) -> float:
        """Return the standard error that the widest interval of a number says; infinite where it has none."""
        ours = estimate.calibrated
        widths = [
            self._error(estimate.low, estimate.high),
            *([] if ours is None else [self._error(ours.low, ours.high)]),
        ]
        known = [width for width in widths if width is not None]
        return max(known) if known else math.inf

    def _error(self, low: float | None, high: float | None) -> float | None:
        if low is None or high is None:
            return None
        return float((high - low) / (2.0 * ndtri(0.5 + self.level / 2.0)))

    def step_of(self, estimate: Estimate) -> float:
        """Return the step of a number with its interval; of one without, that of its first digit."""
        point, error = estimate.point or 0.0, self.error_of(estimate)
        first = 0.0 if point == 0.0 else 10.0 ** math.floor(math.log10(abs(point)))
        if not math.isfinite(error):
            return first
        return nice_step(max(error / 2.0, first * 10.0 ** (1 - self.digits)))

    def estimate(self, exact: Estimate, n_all: float = math.inf) -> Estimate:
        """Return a number and its intervals in its steps; the ends are never drawn in.

        `n_all` units are known to everybody; that other units are worth fewer is rounded.
        """
        if exact.point is None:
            return replace(exact, low=None, high=None)
        step = self.step_of(exact)
        low, high = _ends(exact.low, exact.high, step)
        ours = None if exact.calibrated is None else self._calibrated(exact.calibrated, step, n_all)
        return replace(exact, point=in_steps(exact.point, step), low=low, high=high, calibrated=ours)

    def _calibrated(self, exact: Calibrated, step: float, n_all: float) -> Calibrated:
        low, high = _ends(exact.low, exact.high, step)
        n_units = n_all if exact.n_units == n_all else min(n_all, significant(exact.n_units, ROUGH))
        return replace(exact, low=low, high=high, n_units=n_units)

    def measurement(self, exact: Measurement, labels: Mapping[str, Labels]) -> Measurement:
        """Return a measurement for publication: replicates are about the rounded number, rows rounded, too.

        They vary by what was rounded, too: of two near copies the errors cancel, and those of their rounding do not.
        """
        n_all = float(exact.facts.get("n_groups") or exact.facts.get("n_items") or math.inf)
        rounded = {name: self.estimate(each, n_all) for name, each in exact.estimates.items()}
        moved = dict(exact.replicates)
        for name, drawn in exact.replicates.items():
            point, shown = exact.estimates[name].point, rounded[name].point
            if point is not None and shown is not None:
                rounding = named_uniforms(0, (exact.entrant, name, "rounding"), len(drawn)) - 0.5
                moved[name] = drawn + (shown - point) + self.step_of(exact.estimates[name]) * rounding
        steps = {task: RowSteps.of(each) for task, each in labels.items()}
        rows = {name: self._rows(name, each, steps) for name, each in exact.rows.items()}
        bounds = exact.bounds and tuple(None if end is None else significant(end, ROUGH) for end in exact.bounds)
        return replace(
            exact,
            estimates=rounded,
            replicates=moved,
            rows=rows,
            bounds=None if bounds is None else (bounds[0], bounds[1]),
            # Who is first without a task would be said of numbers that nobody is shown.
            elsewhere={},
        )

    def _rows(
        self, name: str, rows: Sequence[tuple[Cell, ...]], steps: Mapping[str, "RowSteps"]
    ) -> Sequence[tuple[Cell, ...]]:
        if name == "intervals":
            return self._intervals(rows)
        columns = ("task", *(column.name for column in LAYOUTS[name].columns))
        return [
            (
                row[0],
                *(
                    steps[str(row[0])].cell(name, column, cell)
                    for column, cell in zip(columns[1:], row[1:], strict=True)
                ),
            )
            for row in rows
        ]

    def _intervals(self, rows: Sequence[tuple[Cell, ...]]) -> Sequence[tuple[Cell, ...]]:
        """Return the rows of all intervals of metrics, each in the step of its metric on its task."""
        wide: dict[tuple[Cell, Cell], Estimate] = {}
        for task, metric, point, low, high, tag, *_ in rows:
            known = wide.get((task, metric), Estimate(_number(point)))
            if tag == "B":
                known = replace(known, low=_number(low), high=_number(high))
            elif tag == "C":
                known = replace(known, calibrated=Calibrated(_number(low), _number(high), None, 0.0))
            wide[task, metric] = known
        steps = {key: self.step_of(estimate) for key, estimate in wide.items()}
        return [_interval_row(row, steps[row[0], row[1]]) for row in rows]


def grain_of(rules: Scoring, spec: EstimateBoard) -> Grain:
    """Return the precision at which a board on private labels is published."""
    return Grain(rules.digits, spec.uncertainty.level)


def shown_score_of(manifest: Manifest, spec: EstimateBoard, measurement: Measurement) -> ShownScore | None:
    """Return the score of a measurement by the metric that ranks, as it is shown; None where it is undefined."""
    rules, estimate = scoring_of(manifest), measurement.estimates.get(spec.ranked)
    if rules is None or estimate is None or estimate.point is None:
        return None
    return ShownScore(sign_of(manifest, spec.ranked) * estimate.point, grain_of(rules, spec).error_of(estimate))


def coarse(manifest: Manifest, measurements: Sequence[Measurement], table: Table) -> Table:
    """Return a table of a board, or of a report, of private labels as it is shown.

    What was computed between entrants is rounded too, no column has digits that none of its numbers has, and a note
    says how all are rounded.
    """
    rules = scoring_of(manifest)
    if rules is None or manifest.asked.facts.is_exact:
        return table
    rounded = with_shown_digits(coarse_table(table, rules.digits))
    note = rounding_note(table, rules.digits, _sizes(measurements))
    caveats = {CAVEATS: [*table.meta.get(CAVEATS, ()), note]} if table.name.startswith(PAIRWISE) else {}
    return replace(rounded, notes=(*rounded.notes, note), meta={**rounded.meta, **caveats})


def _sizes(measurements: Sequence[Measurement]) -> set[int]:
    """Return how many units the tasks have by which reports are rounded; of whom the most tasks are measured."""
    rows = max((m.rows.get(INTERVALS, ()) for m in measurements), key=len, default=())
    return {n for row in rows if isinstance(n := row[N_UNITS], int)}


def part_in_words(manifest: Manifest) -> str:
    """Return the part of the items that scores are of while the private part decides later; empty where none does."""
    rules = scoring_of(manifest)
    if rules is None or rules.public_share >= 1.0 or is_closed(manifest):
        return ""
    return f"the public part ({_share(rules)} of the items)"


def _share(rules: Scoring) -> str:
    return f"{100 * rules.public_share:.3g} %"


def about_parts(manifest: Manifest) -> tuple[str, ...]:
    """Return the notes of a board on private labels about the part it uses."""
    rules = scoring_of(manifest)
    if rules is None or rules.public_share >= 1.0:
        return ()
    share = _share(rules)
    if is_closed(manifest):
        return (
            f"Closed: the private part decides. What was shown before is of the public part, {share} of the items.",
        )
    when = "" if rules.closes_at is None else f" on {rules.closes_at:%Y-%m-%d %H:%M %Z}"
    return (f"Scores are of the public part, {share} of the items. The private part decides when this closes{when}.",)


# The precision at which numbers based on private labels are published: in steps that their interval allows. Steps are
# 1, 2 or 5 times a power of ten, so that they divide one. A step is at least half a standard error, of the number
# itself where it has an interval, else of a share or a value over as many units: so that repeated queries and
# differences reveal no single label through meaningless digits.

SHARES = frozenset(
    {"precision", "recall", "f1", "brier", "ece", "fpr", "accuracy", "volume", "predicted", "ndcg", "same_bin"}
)

SHARE_STEMS = ("auc", "pr_auc", "ap", "ap_ydf", "pr_auc_ydf", "ndcg_", "recall", "precision")

ENDS = {"_lower": -1, "_upper": 1}
"""Ends of intervals are never drawn in."""


def way_of(column: str) -> int:
    """Return the way in which a column is rounded: −1 for low ends, 1 for high ones, 0 for what is no end.

    >>> way_of("difference_lower"), way_of("difference")
    (-1, 0)
    """
    return next((way for ending, way in ENDS.items() if column.endswith(ending)), 0)


COUNTS = frozenset({"weight", "n_examples"})

VALUES = frozenset({"residual", "mean", "rmse", "centre"})

LEAST_P = 1e-4
SMALLEST_P = 1e-300


def significant(value: float, digits: int) -> float:
    """Return a number rounded to `digits` significant digits."""
    return float(f"{value:.{digits - 1}e}") + 0.0


def _interval_row(row: tuple[Cell, ...], step: float) -> tuple[Cell, ...]:
    task, metric, point, low, high, tag, how, level, default, n_units, note = row
    ends = _ends(_number(low), _number(high), step)
    rounded = None if point is None else in_steps(float(point), step)
    plain = None if default is None else in_steps(float(default), step)
    return (task, metric, rounded, *ends, tag, how, level, plain, n_units, note)


def _number(cell: Cell) -> float | None:
    return None if cell is None else float(cell)


def _ends(low: float | None, high: float | None, step: float) -> tuple[float | None, float | None]:
    return None if low is None else in_steps(low, step, -1), None if high is None else in_steps(high, step, 1)


@dataclass(frozen=True)
class RowSteps:
    """The steps of a report's cells on one task, which rest on its number of units and not on what was predicted."""

    share: float
    count: float
    value: float

    @classmethod
    def of(cls, labels: Labels) -> "RowSteps":
        """Return the steps of a part of a task's labels."""
        n_units = max(1, len(labels) if labels.group is None else len(np.unique(labels.group)))
        value = nice_step(float(labels.label.std()) / 2.0 / math.sqrt(n_units))
        return cls(share_step(n_units), count_step(len(labels)), value)

    def cell(self, table: str, column: str, cell: Cell) -> Cell:
        """Return a cell of a report in the steps of what it is."""
        if not isinstance(cell, (int, float)) or isinstance(cell, bool):
            return cell
        step = self.step(table, column)
        if step is None:
            return cell
        rounded = in_steps(float(cell), step, way_of(column))
        return round(rounded) if isinstance(cell, int) else rounded

    def step(self, table: str, column: str) -> float | None:
        """Return the step of a column of a report; None where it is not rounded."""
        if column == "observed":
            return self.share if table == "reliability" else 2.0 * self.share
        if column in SHARES or column in SHARE_STEMS or column.startswith(tuple(f"{stem}_" for stem in SHARE_STEMS)):
            return self.share
        if column in COUNTS:
            return self.count
        return self.value if column in VALUES else None


def count_step(n_examples: int) -> float:
    """Return the step of a count of so many examples: at least half the largest standard error that it can have.

    >>> count_step(228)
    5.0
    """
    return nice_step(max(1.0, math.sqrt(n_examples) / 4.0))


HIDDEN = frozenset({"n_a_only", "n_b_only"})
"""Counts of single examples: the test discloses who alone is right."""

FIRST = ("first_p", "first_resamples_share")

COARSE = ("leaderboard/", "pairwise/", "comparisons/", "tests/")


def coarse_table(table: Table, digits: int) -> Table:
    """Return a board, or a table of pairs, whose numbers were made from several entrants' measurements, coarsely."""
    if not table.name.startswith(COARSE):
        return table
    is_board = table.name.startswith("leaderboard/")
    rules = [None if is_board and column.name not in FIRST else column.name for column in table.columns]
    rows = tuple(
        tuple(cell if rule is None else _coarse(rule, cell, digits) for rule, cell in zip(rules, row, strict=True))
        for row in map(_in_steps_of_its_test(table), table.rows)
    )
    power = table.meta.get("power")
    if not isinstance(power, Mapping):
        return replace(table, rows=rows)
    rounded = {name: significant(of, ROUGH) if isinstance(of, float) else of for name, of in power.items()}
    return replace(table, rows=rows, meta={**table.meta, "power": rounded})


def _in_steps_of_its_test(table: Table) -> Callable[[tuple[Cell, ...]], tuple[Cell, ...]]:
    """Return what rounds the mean difference of a tested pair to steps of half of the error that its p-value says.

    With more digits it would tell, together with the p-value, on how many examples which of the two is right.
    """
    if not {"mean_difference", "p_value"} <= set(table.column_names()):
        return tuple
    at, by = table.index("mean_difference"), table.index("p_value")

    def rounded(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        difference, p_value = row[at], row[by]
        if not isinstance(difference, float) or not isinstance(p_value, float):
            return row
        size = -float(ndtri(max(min(p_value, 1.0 - p_value), SMALLEST_P)))
        step = nice_step(abs(difference) / size / 2.0) if size > 0.0 else 0.0
        return (*row[:at], in_steps(difference, step) if step else difference, *row[at + 1 :])

    return rounded


def _coarse(column: str, cell: Cell, digits: int) -> Cell:
    if column in HIDDEN:
        return None
    if column == "examples_needed" and isinstance(cell, int):
        # Rounded up: of fewer than are needed the power is less than the one that is stated.
        return round(_outwards(cell, 1, 1))
    if not isinstance(cell, float):
        return cell
    if column in ("first_resamples_share", "p_a_beats_b"):
        return round(cell, 2)
    if column.startswith(P_VALUES):
        # Rounded up, so that it stays a p-value, and on its side of any level of two digits.
        step = 10.0 ** (math.floor(math.log10(max(cell, LEAST_P))) - 1)
        shown = min(1.0, round(math.ceil(round(cell / step, 7)) * step, 12))
        return shown if column == "first_p" else max(LEAST_P, shown)
    if (way := way_of(column)) and cell:
        return _outwards(cell, ROUGH, way)
    # A difference is of two numbers that are in steps already: what is beyond `digits` is rounding of the machine.
    return significant(cell, digits if column in ("a", "b", "difference") else ROUGH)


def _outwards(value: float, digits: int, way: int) -> float:
    """Return a number of so many significant digits that is never on the inner side, above for `way` 1."""
    return in_steps(value, 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1), way)


# What a table of private labels says of its rounding, and with how many digits its numbers are shown. Without it who
# adds up the cells of a confusion matrix, or subtracts two scores, finds another number than the one that is shown.

N_UNITS = [column.name for column in COLUMNS[1:]].index("n_units")
"""Where rows of intervals, without their entrant, have the number of units of their task."""

OF_PAIRS = (
    "; differences, and examples needed, are of these; ends of differences outwards, to 2 digits; p-values up, to 2 "
    "digits, those of pairs at least to {least:g}; examples needed up, to 1 digit"
)

OF_TESTS = (
    "mean differences, which are of scores that are not rounded, to steps of at least half a standard error, p-values "
    "up, to 2 digits and at least to {least:g}, examples needed up, to 1 digit"
)


def rounding_note(table: Table, digits: int, sizes: Set[int]) -> str:
    """Say how the numbers of a table are rounded: scores by their errors, reports by the `sizes` of the tasks.

    >>> rounding_note(Table("confusion/auc", "Confusion", (Column("weight", "Examples"),), ()), 3, {228})[:70]
    'Numbers about private labels are rounded: counts to steps of 5. A sum '
    """
    name = table.name.partition("/")[0]
    if name == "tests":
        how = OF_TESTS.format(least=LEAST_P)
    elif name in LAYOUTS and name != INTERVALS:
        numbers = [column.name for column in table.columns if column.kind != "text"]
        how = ", ".join(_of_report(name, numbers, sizes))
    else:
        how = f"scores to steps of at least half a standard error and at most {digits} digits, ends of their intervals "
        how += "outwards" + ("" if name == INTERVALS else OF_PAIRS.format(least=LEAST_P))
    return (
        f"Numbers about private labels are rounded: {how}. A sum or a difference of rounded numbers may differ from "
        "the one that is shown."
    )


def _of_report(name: str, columns: Sequence[str], sizes: Set[int]) -> Iterator[str]:
    """Yield how shares, counts and values of a report are rounded, each where it has some."""
    steps = [RowSteps(share_step(n), count_step(n), math.nan) for n in sorted(sizes, reverse=True)]
    words = {_word(name, column): [each.step(name, column) for each in steps] for column in columns}
    for word in ("shares", "standardised residuals", "counts"):
        if known := [step for step in words.get(word, ()) if step is not None]:
            low, high = min(known), max(known)
            yield f"{word} to steps of {low:g}" + (f" to {high:g}, by task" if high > low else "")
    if "values" in words:
        yield "values to steps of at least half a standard error"
    if any(column.endswith(tuple(ENDS)) for column in columns):
        yield "ends of intervals outwards"


def _word(name: str, column: str) -> str:
    if column in COUNTS:
        return "counts"
    if column in VALUES:
        return "values"
    if column == "observed" and name == "qq":
        return "standardised residuals"
    return "" if RowSteps(1.0, 1.0, 1.0).step(name, column) is None else "shares"


P_VALUES = ("p_", "first_")
"""How the names begin of columns whose digits say how small a number is shown: they keep them."""


def with_shown_digits(table: Table) -> Table:
    """Return a table whose columns have at most the digits of their numbers, and of the intervals beside these.

    >>> ends = Column("low", "Low"), Column("high", "High")
    >>> columns = (Column("auc", "AUC", interval=("low", "high"), digits=3), *ends)
    >>> with_shown_digits(Table("t", "T", columns, ((0.9, 0.85, 1.0),))).columns[0].digits
    2
    """
    cells = dict(zip(table.column_names(), zip(*table.rows, strict=True), strict=True)) if len(table.rows) else {}

    def shown(column: Column) -> Column:
        values = {
            cell
            for name in (column.name, *(column.interval or ()))
            for cell in cells.get(name, ())
            if isinstance(cell, float)
        }
        if column.digits is None or not values or column.name.startswith(P_VALUES):
            return column
        return replace(column, digits=_digits(values, column.digits))

    return replace(table, columns=tuple(map(shown, table.columns)))


def _digits(values: Set[float], most: int) -> int:
    """Return how many decimals write all of the values, at most so many."""
    near = 1e-9
    return next((n for n in range(most) if all(abs(v - round(v, n)) < near * max(1.0, abs(v)) for v in values)), most)
