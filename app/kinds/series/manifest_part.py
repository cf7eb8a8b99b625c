"""What a benchmark of series declares beside the common keys, and what the metrics of lrdbench's catalog mean."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field, ValidationError

from app.boards.methods.weighted_rank.records import CLASS_METRICS, RankedPart, identity_of, joined, split_identity
from app.errors import ManifestRejected, Problem
from app.manifest.build import problems_from
from app.manifest.model import Common, Grid, MetricName, Name, Part
from app.names import MAX_NAME, NAME_RULE, clip_for_message, is_name, repeated

ParameterValue = str | int | float | bool | None


class Contamination(Part):
    """An operator that a stress test applies to its series, and the parameters it takes."""

    name: Name = Field(description="the operator's name")
    description: str = Field("", max_length=2000, description="what it does")
    params: dict[Name, list[ParameterValue]] = Field(default_factory=dict, description="its parameters")


class SeriesUncertainty(Part):
    """How the aggregates of a series benchmark get their intervals; boards draw theirs from their own part.

    `metrics` None means every metric; `paired` adds the differences of every pair of estimators, in `paired_metrics` or
    else in `metrics`.
    """

    n_resamples: int = Field(200, ge=100, le=100_000, description="how many resamples are drawn")
    levels: list[Annotated[float, Field(gt=0.0, lt=1.0)]] = Field(
        default=[0.95], min_length=1, max_length=10, description="the confidence levels"
    )
    rng_seed: int = Field(0, ge=0, lt=2**63, description="the generator's seed")
    metrics: list[MetricName] | None = Field(None, description="the metrics that have intervals")
    paired: bool = Field(False, description="whether differences are resampled too")
    paired_metrics: list[MetricName] | None = Field(None, description="the metrics whose differences are resampled")
    stream: Literal["independent", "lrdbench"] = Field("independent", description="which random stream")


# Which names the rows of a run may have: records, estimators, metrics.
#
# An estimator's variant is written `DFA::short_scales`. What lrdbench measures between estimators has made-up names
# (`__all_estimators__`, `RS__vs__DFA`, `family:wavelet`); those never become entrants that somebody owns.


def refuse_no_estimator(text: str) -> str:
    """Return a text that may name an estimator or a variant. Raises ValueError."""
    if not is_estimator_name(text):
        raise ValueError(f"not a name of an estimator: {ESTIMATOR_RULE}")
    return text


ESTIMATOR_RULE = (
    f"{NAME_RULE}; an estimator's does not begin with __ and has no colon, and a variant is written as the estimator's "
    "name, two colons and the variant's name"
)

_SCHEMA = {"minLength": 1, "maxLength": MAX_NAME, "description": ESTIMATOR_RULE}

EstimatorName = Annotated[str, AfterValidator(refuse_no_estimator), Field(json_schema_extra=_SCHEMA)]


class AskedOn(Part):
    """Where metrics exist that do not exist on every record: in these strata (tasks) and on these records alone.

    The rule is about the named estimators, by default all. What no rule is about is asked on every record; what several
    are about is asked wherever one of them says so.
    """

    metrics: list[MetricName] = Field(min_length=1, max_length=200, description="the metrics")
    estimators: list[EstimatorName] | None = Field(
        None, min_length=1, description="the estimators that it is about; all by default"
    )
    tasks: list[Name] = Field(default_factory=list, description="the strata in which they are asked")
    records: list[Name] = Field(default_factory=list, description="single records on which they are asked")


class CatalogUse(Part):
    """Metrics by their names in a catalog, which knows how to read each."""

    catalog: Literal["lrdbench"] = Field(description="the catalog: lrdbench")
    use: list[MetricName] = Field(min_length=1, description="the metrics of it")


Mode = Literal["ground_truth", "stress_test", "observational"]


@dataclass(frozen=True)
class CatalogMetric:
    """One metric. `low` and `high` bound its per-series values; `has_level`: each nominal level is one of its own.

    `app.boards.methods.weighted_rank.records` says how per-series values become a stratum's and what ranks by its size.
    `is_classification`: it is made of estimates of many records and has no rows of a single series. `diagnostic`: it
    measures something between estimators, under a made-up name.
    """

    title: str
    direction: Literal["minimize", "maximize"]
    modes: tuple[Mode, ...]
    needs_truth: bool = False
    has_level: bool = False
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    is_classification: bool = False
    diagnostic: bool = False


class SeriesPart(RankedPart):
    """The mode of a benchmark of series, what a stress test applies, who is enrolled, which metrics exist only
    somewhere, and how intervals are drawn.

    `estimators` None enrols whoever has rows.
    """

    axes: ClassVar[tuple[str, ...]] = ("items",)
    metrics_form: ClassVar[type[Part] | None] = CatalogUse

    mode: Mode | None = Field(
        None, description="what a benchmark of series may claim: ground truth, stress test or observation"
    )
    contamination: list[Contamination] | None = Field(None, description="the operators of a stress test")
    estimators: list[EstimatorName] | None = Field(
        None, min_length=1, description="the enrolled estimators; others are refused"
    )
    asked: list[AskedOn] = Field(
        default_factory=list,
        max_length=1000,
        description="on which records metrics are asked that do not exist on all of them",
    )
    uncertainty: SeriesUncertainty | None = Field(None, description="how the intervals of series are drawn")

    @property
    def drawn(self) -> SeriesUncertainty:
        """Return how intervals are drawn, whether it is declared or not."""
        return self.uncertainty or SeriesUncertainty()

    def enrolled(self) -> Sequence[str] | None:
        """Return the declared estimators."""
        return self.estimators

    def open_axes(self, common: Common) -> Sequence[str]:
        """Return records, unless the grid names them, in lists or in a steward's file; a number of them names none."""
        grid = common.grid or Grid()
        given = [axes.items for axes in (grid, *grid.tasks.values()) if axes.items is not None]
        return ("records",) if not given or any(isinstance(items, int) for items in given) else ()

    def is_of_every_record(self, metric: str) -> bool:
        """Say no of what compares a stressed series with its clean one, which has no row of it."""
        known = CATALOG.get(split_identity(metric)[0])
        return known is None or known.modes != STRESS_ONLY

    def asked_on(self, metric: str, estimator: str) -> Collection[str] | None:
        """Return the strata and records of the rules about a metric and an estimator; None without any."""
        rules = [
            rule for rule in self.asked if metric in rule.metrics and estimator in (rule.estimators or [estimator])
        ]
        return {name for rule in rules for name in (*rule.tasks, *rule.records)} if rules else None

    def is_of_pairs(self, metric: str) -> bool:
        """Say so of the metrics of a stress test."""
        return split_identity(metric)[0] in PAIRED

    def reason_of(self, metric: str) -> str | None:
        """Return lrdbench's own reasons; an error of a valid estimate has none."""
        name = split_identity(metric)[0]
        if name in OF_INTERVALS | OF_LOSSES:
            return "missing_ci"
        return {"preprocessing_sensitivity": "missing_alt", "relative_degradation_ratio": "near_zero_clean_error"}.get(
            name
        )

    def are_stressed(self) -> bool:
        """Say so of a stress test: elsewhere no run may join records by what it says of them."""
        return self.mode == "stress_test"

    def board_meta(self) -> dict[str, Any]:
        """Return the mode."""
        return {"mode": self.mode}

    @classmethod
    def prepared(cls, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the document with metrics of the catalog written out and named with their levels."""
        levelled = with_levels(document)
        return {**levelled, "metrics": expand_metrics(levelled["metrics"])} if "metrics" in levelled else levelled

    def complaints(self, common: Common) -> Iterator[str]:
        """Yield which rules of its mode and of the catalog a benchmark of series breaks."""
        yield from self._about_mode()
        for name in common.metrics:
            known = CATALOG.get(split_identity(name)[0])
            if known is not None:
                yield from self._about_use(name, known, common)
        for name in [*(self.drawn.metrics or ()), *(self.drawn.paired_metrics or ())]:
            if name not in common.metrics:
                yield f"uncertainty.metrics: {name} is not among the declared metrics"
        yield from self._about_asked(common)
        for name in repeated(self.estimators or ()):
            yield f"estimators: {name} is there twice"

    def _about_asked(self, common: Common) -> Iterator[str]:
        tasks = None if common.grid is None else common.grid.tasks.keys()
        enrolled = None if self.estimators is None else frozenset(self.estimators)
        for at, rule in enumerate(self.asked):
            yield from (f"asked.{at}.metrics: {name} is not declared" for name in rule.metrics
                        if name not in common.metrics)  # fmt: skip
            yield from (f"asked.{at}.estimators: {name} is not enrolled" for name in rule.estimators or ()
                        if enrolled is not None and name not in enrolled)  # fmt: skip
            yield from (f"asked.{at}.tasks: {name} is not a stratum of the grid" for name in rule.tasks
                        if tasks and name not in tasks)  # fmt: skip

    def _about_mode(self) -> Iterator[str]:
        if self.mode is None:
            yield "mode: a benchmark of series declares ground_truth, stress_test or observational"
        if self.mode == "stress_test" and not self.contamination:
            yield "contamination: a stress_test declares the operators that it applies"
        if self.mode != "stress_test" and self.contamination:
            yield "contamination: only a stress_test applies operators"

    def _about_use(self, name: str, known: CatalogMetric, common: Common) -> Iterator[str]:
        metric, level = split_identity(name)
        if self.mode is not None and self.mode not in known.modes:
            reason = "needs a known truth, which" if known.needs_truth else "measures what"
            allowed = " or ".join(known.modes)
            yield f"metrics.{name}: {reason} mode {self.mode} does not have; it is a metric of mode {allowed}"
        if known.has_level and level is None:
            yield f"metrics.{name}: needs its nominal level, as in {metric}@0.95"
        if metric == "coverage_error" and level is not None and identity_of("coverage", level) not in common.metrics:
            yield f"metrics.{name}: is computed from {identity_of('coverage', level)}, which is not declared"


# The metrics of a benchmark of series as its manifest may write them: by their names in lrdbench's catalog. A
# metric's own nominal level is part of its name, `coverage@0.95`; if only one level is declared, boards and
# uncertainty may leave it out.

MALFORMED = "The metrics are not as the catalog has them."


def row_metrics(metrics: Collection[str]) -> frozenset[str]:
    """Return the metrics that stand in per-series rows: a coverage error and what tells classes apart are computed."""
    return frozenset(
        name for name in metrics if split_identity(name)[0] != "coverage_error" and name not in CLASS_METRICS
    )


def with_levels(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest's document in which boards and uncertainty name each metric with its own level.

    A name without one means every level that is declared: on a board their mean, in a list each of them. Where there is
    none the name stays and is refused. What is not as it should be is left as it is.
    """
    metrics = document.get("metrics")
    if not isinstance(metrics, Mapping):
        return document
    listed = metrics.get("use") if isinstance(metrics.get("catalog"), str) else list(metrics)
    levels = _declared_levels([name for name in listed if isinstance(name, str)] if isinstance(listed, list) else [])
    boards, uncertainty = document.get("leaderboards"), document.get("uncertainty")
    changed = dict(document)
    if isinstance(boards, list):
        changed["leaderboards"] = [_renamed(board, ("weights", "tie_break"), levels) for board in boards]
    changed["uncertainty"] = _renamed(uncertainty, ("metrics", "paired_metrics"), levels)
    return changed


def _declared_levels(declared: Sequence[str]) -> dict[str, list[str]]:
    """Return the declared metrics of each name, with a level or without one."""
    levels: dict[str, list[str]] = {}
    for each in declared:
        levels.setdefault(split_identity(each)[0], []).append(each)
    return {**levels, **{each: [each] for each in declared}}


def _renamed(part: Any, keys: Sequence[str], levels: Mapping[str, Sequence[str]]) -> Any:
    if not isinstance(part, Mapping):
        return part
    return {key: _with_level(value, levels) if key in keys else value for key, value in part.items()}


def _with_level(names: Any, levels: Mapping[str, Sequence[str]]) -> Any:
    if isinstance(names, list):
        # Each name once: thousands of repeats of a metric with thousands of levels would be millions.
        are_names = all(isinstance(name, str) for name in names)
        return [level for name in dict.fromkeys(names) for level in levels.get(name, [name])] if are_names else names
    if isinstance(names, Mapping):
        return {_with_level(name, levels): value for name, value in names.items()}
    of_name = levels.get(names, [names]) if isinstance(names, str) else [names]
    return joined(of_name[:MOST_JOINED]) if len(of_name) > 1 else of_name[0]


MOST_JOINED = 64
"""The name of a mean over more levels is longer than any name of a metric may be, and is refused."""


def expand_metrics(declared: Any) -> Any:
    """Return `{catalog: lrdbench, use: […]}` as a plain mapping of metrics, and anything else as it is.

    Raises ManifestRejected naming every metric that the catalog does not have.
    """
    if not isinstance(declared, Mapping) or not isinstance(declared.get("catalog"), str):
        return declared
    try:
        use = CatalogUse.model_validate(declared).use
    except ValidationError as error:
        raise ManifestRejected(MALFORMED, problems_from(error, within="metrics")) from None
    complaints = [complaint for name in use if (complaint := _complaint(name)) is not None]
    if complaints:
        raise ManifestRejected(MALFORMED, [Problem("; ".join(complaints), column="metrics")])
    return {name: _declaration(name) for name in dict.fromkeys(_with_coverage(use))}


def _complaint(name: str) -> str | None:
    metric, level = split_identity(name)
    known = CATALOG.get(metric)
    if known is None:
        return f"{clip_for_message(name)} is not a metric of lrdbench"
    if known.has_level and (level is None or not 0.0 < level < 1.0):
        return f"{name} needs its nominal level, as in {metric}@0.95"
    if level is not None and (not known.has_level or name != identity_of(metric, level)):
        return f"{name} must be written {identity_of(metric, level if known.has_level else None)}"
    return None


def _with_coverage(use: Sequence[str]) -> Iterator[str]:
    """Yield each name; before a coverage error the coverage of which it is computed."""
    for name in use:
        metric, level = split_identity(name)
        if metric == "coverage_error":
            yield identity_of("coverage", level)
        yield name


def _declaration(name: str) -> dict[str, Any]:
    metric, level = split_identity(name)
    known = CATALOG[metric]
    title = known.title if level is None else f"{known.title}, level {level!r}"
    return {"direction": known.direction, "title": title, "unit": known.unit, "min": known.low, "max": known.high}


# The metrics of lrdbench 2.0: which way each is better, in which modes it may be used, whether it needs a truth.
#
# Read by the modules beside it, to expand `metrics: {catalog: lrdbench, use: […]}` and to say how a metric is
# aggregated.

ALL: tuple[Mode, ...] = ("ground_truth", "stress_test", "observational")

KNOWN_TRUTH: tuple[Mode, ...] = ("ground_truth", "stress_test")

STRESS_ONLY: tuple[Mode, ...] = ("stress_test",)

GROUND_ONLY: tuple[Mode, ...] = ("ground_truth",)

OBSERVED_ONLY: tuple[Mode, ...] = ("observational",)


def _error(title: str, modes: tuple[Mode, ...] = KNOWN_TRUTH) -> CatalogMetric:
    return CatalogMetric(title, "minimize", modes, needs_truth=True, low=0.0)


def _distance(title: str, modes: tuple[Mode, ...], *, diagnostic: bool = False) -> CatalogMetric:
    return CatalogMetric(title, "minimize", modes, low=0.0, diagnostic=diagnostic)


def _rate(
    title: str,
    modes: tuple[Mode, ...],
    *,
    better_high: bool = False,
    needs_truth: bool = False,
    has_level: bool = False,
) -> CatalogMetric:
    direction: Literal["minimize", "maximize"] = "maximize" if better_high else "minimize"
    return CatalogMetric(title, direction, modes, needs_truth, has_level, 0.0, 1.0, "1")


def _classification(title: str, *, better_high: bool = True) -> CatalogMetric:
    direction: Literal["minimize", "maximize"] = "maximize" if better_high else "minimize"
    return CatalogMetric(title, direction, GROUND_ONLY, True, False, 0.0, 1.0, "1", is_classification=True)


CATALOG: Mapping[str, CatalogMetric] = {
    "bias": CatalogMetric("Bias", "minimize", KNOWN_TRUTH, needs_truth=True),
    "mae": _error("Mean absolute error"),
    "rmse": _error("Root mean squared error"),
    "coverage": _rate("Coverage", KNOWN_TRUTH, better_high=True, needs_truth=True, has_level=True),
    "coverage_error": CatalogMetric("Coverage error", "minimize", KNOWN_TRUTH, True, True, 0.0, 1.0, "1"),
    "ci_width": CatalogMetric("Interval width", "minimize", ALL, has_level=True, low=0.0),
    "ci_availability": _rate("Intervals available", ALL, better_high=True, has_level=True),
    "validity_rate": _rate("Validity rate", ALL, better_high=True),
    "runtime": CatalogMetric("Run time", "minimize", ALL, low=0.0, unit="s"),
    "instability": _distance("Instability", OBSERVED_ONLY),
    "preprocessing_sensitivity": _distance("Preprocessing sensitivity", OBSERVED_ONLY),
    "estimate_drift": _distance("Estimate drift", STRESS_ONLY),
    "absolute_estimate_drift": _distance("Absolute estimate drift", STRESS_ONLY),
    "signed_estimate_drift": CatalogMetric("Signed estimate drift", "minimize", STRESS_ONLY),
    "correction_drift": _distance("Correction drift", KNOWN_TRUTH),
    "correction_degradation_ratio": _error("Correction degradation ratio"),
    "oracle_gap": CatalogMetric("Gap to the oracle", "minimize", KNOWN_TRUTH, needs_truth=True),
    "relative_degradation_ratio": _error("Relative degradation ratio", STRESS_ONLY),
    "absolute_error_inflation": CatalogMetric("Error inflation", "minimize", STRESS_ONLY, needs_truth=True),
    "paired_mae_ratio": _error("Ratio of paired mean absolute errors", STRESS_ONLY),
    "validity_collapse": _rate("Validity collapse", STRESS_ONLY),
    "coverage_collapse": _rate("Coverage collapse", STRESS_ONLY, needs_truth=True, has_level=True),
    "coverage_loss_rate": _rate("Coverage loss rate", STRESS_ONLY, needs_truth=True, has_level=True),
    "net_coverage_loss": CatalogMetric("Net coverage loss", "minimize", STRESS_ONLY, True, True, -1.0, 1.0, "1"),
    "false_positive_lrd_rate": _rate("False positive rate of long-range dependence", KNOWN_TRUTH, needs_truth=True),
    "persistence_exceedance_rate": _rate("Rate of exceeded persistence", KNOWN_TRUTH, needs_truth=True),
    "roc_auc": _classification("Area under the ROC curve"),
    "balanced_accuracy": _classification("Balanced accuracy"),
    "true_positive_rate": _classification("True positive rate"),
    "false_positive_rate": _classification("False positive rate", better_high=False),
    "cross_estimator_dispersion": _distance("Dispersion between estimators", ALL, diagnostic=True),
    "pairwise_estimator_disagreement": _distance("Disagreement of two estimators", ALL, diagnostic=True),
    "family_level_disagreement": _distance("Disagreement of families", ALL, diagnostic=True),
    "parameter_variant_sensitivity": _distance("Sensitivity to parameters", ALL, diagnostic=True),
    "max_variant_drift": _distance("Largest drift between variants", ALL, diagnostic=True),
}


# The values of one series by lrdbench's definitions, from an estimator's estimate and the truth. Source: lrdbench
# 2.0, `GroundTruthEvaluator._per_series_rows` and `paired_metrics.stress_pair_rows`.

OF_POINTS = frozenset({"bias", "mae", "rmse"})

OF_INTERVALS = frozenset({"coverage", "ci_width", "ci_availability"})

OF_NULLS = frozenset({"false_positive_lrd_rate", "persistence_exceedance_rate"})

FROM_ONE_ESTIMATE = OF_POINTS | OF_INTERVALS | OF_NULLS | {"validity_rate", "runtime"}

OF_DRIFT = frozenset({"estimate_drift", "absolute_estimate_drift"})

OF_LOSSES = frozenset({"coverage_collapse", "coverage_loss_rate", "net_coverage_loss"})

PAIRED = OF_DRIFT | OF_LOSSES | {
    "signed_estimate_drift", "absolute_error_inflation", "relative_degradation_ratio", "paired_mae_ratio",
    "validity_collapse",
}  # fmt: skip

DEFAULT_LEVEL = 0.95

LEVEL_TOLERANCE = 1e-9

NEAR_ZERO = 1e-12

MEMORY = "long_memory_parameter"

NULLS = {False: (0.6, 0.5), True: (0.1, 0.0)}
"""From which estimate on a series is called dependent, and up to which truth it is not; True for a memory parameter."""


@dataclass(frozen=True)
class RecordEstimate:
    """An estimator's estimate of a record; `intervals` are (level, low, high)."""

    valid: bool
    point: float | None
    ends: tuple[float | None, float | None]
    intervals: Sequence[tuple[float, float, float]]
    runtime: float | None

    def usable(self) -> float | None:
        """Return the point of a valid estimate, None where there is none."""
        return self.point if self.valid and self.point is not None and np.isfinite(self.point) else None

    def interval(self, level: float) -> tuple[float, float] | None:
        """Return the interval at a level; the two plain ends are one at 95 %."""
        if self.usable() is None:
            return None
        for at, low, high in self.intervals:
            if abs(at - level) < LEVEL_TOLERANCE and low <= high:
                return low, high
        is_default = not self.intervals and abs(level - DEFAULT_LEVEL) < LEVEL_TOLERANCE
        first, last = self.ends
        return (first, last) if is_default and first is not None and last is not None and first <= last else None


def value_from(
    metric: str, estimate: RecordEstimate, truth: float | None, estimand: str | None
) -> tuple[bool, float | None]:
    """Return whether lrdbench has a row of the metric for an estimate, and its value, None for null."""
    name, level = split_identity(metric)
    if name in OF_POINTS:
        point = estimate.usable()
        error = None if point is None or truth is None else point - truth
        values = {
            "bias": error,
            "mae": None if error is None else abs(error),
            "rmse": None if error is None else error**2,
        }
        return truth is not None, values[name]
    if name in OF_INTERVALS:
        bounds = estimate.interval(DEFAULT_LEVEL if level is None else level)
        if name == "ci_availability":
            return True, float(bounds is not None)
        if name == "ci_width":
            return True, None if bounds is None else bounds[1] - bounds[0]
        covers = None if bounds is None or truth is None else float(bounds[0] <= truth <= bounds[1])
        return truth is not None, covers
    if name in OF_NULLS:
        return _called_dependent(estimate, truth, estimand)
    return True, float(estimate.valid) if name == "validity_rate" else float(estimate.runtime or 0.0)


def _called_dependent(estimate: RecordEstimate, truth: float | None, estimand: str | None) -> tuple[bool, float | None]:
    called_from, null_upto = NULLS[estimand == MEMORY]
    if truth is None or truth > null_upto or not estimate.valid or estimate.point is None:
        return False, None
    return True, float(estimate.point >= called_from)


@dataclass(frozen=True)
class Pair:
    """An estimator's estimates of a series under stress and of the clean one, None where it has no estimate."""

    stressed: RecordEstimate | None
    clean: RecordEstimate | None
    truth: float | None

    def value(self, metric: str) -> float | None:
        """Return the value of a metric of stress, None for null."""
        name, level = split_identity(metric)
        if name == "validity_collapse":
            stressed, clean = self.stressed, self.clean
            return None if stressed is None or clean is None else float(clean.valid and not stressed.valid)
        points = self._points()
        if points is None:
            return None
        difference = points[0] - points[1]
        if name in OF_DRIFT or name == "signed_estimate_drift":
            return abs(difference) if name in OF_DRIFT else difference
        return self._loss(name, level) if name in OF_LOSSES else self._of_errors(name)

    def errors(self) -> tuple[float, float]:
        """Return the absolute errors under stress and on the clean series, NaN where there is no pair of points."""
        points = self._points()
        if points is None or self.truth is None:
            return float("nan"), float("nan")
        return abs(points[0] - self.truth), abs(points[1] - self.truth)

    def lacks_interval(self, metric: str) -> bool:
        """Say whether a metric of intervals is null because one of the two has none."""
        is_of_intervals = split_identity(metric)[0] in OF_LOSSES
        has_points = self._points() is not None and self.truth is not None
        return is_of_intervals and has_points and self.value(metric) is None

    def _points(self) -> tuple[float, float] | None:
        points = [None if each is None else each.usable() for each in (self.stressed, self.clean)]
        return None if points[0] is None or points[1] is None else (points[0], points[1])

    def _of_errors(self, name: str) -> float | None:
        stressed, clean = self.errors()
        if name == "absolute_error_inflation":
            inflation = stressed - clean
        elif name == "relative_degradation_ratio":
            inflation = stressed / clean if clean >= NEAR_ZERO else float("nan")
        else:
            return None
        return inflation if np.isfinite(inflation) else None

    def _loss(self, name: str, level: float | None) -> float | None:
        at = DEFAULT_LEVEL if level is None else level
        bounds = [None if each is None else each.interval(at) for each in (self.clean, self.stressed)]
        if self.truth is None or bounds[0] is None or bounds[1] is None:
            return None
        clean, stressed = (float(low <= self.truth <= high) for low, high in (bounds[0], bounds[1]))
        return clean - stressed if name == "net_coverage_loss" else max(0.0, clean - stressed)


VARIANT_MARK = "::"

RECORD_RULE = f"a record's id is {NAME_RULE}"

MAX_DIAGNOSTIC = 300

ESTIMATOR_CELL_RULE = f"printable text on one line, at most {MAX_DIAGNOSTIC} characters"

METRIC_CELL_RULE = "a metric's name holds lower-case letters, digits and underscores, and perhaps a colon and a label"

_METRIC_CELL = re.compile(r"[a-z][a-z0-9_]{0,49}(?::[A-Za-z0-9_. -]{1,100})?")


def is_estimator_name(text: str) -> bool:
    """Say whether `text` may name an estimator, or one of its variants."""
    parts = text.split(VARIANT_MARK)
    return is_name(text) and len(parts) <= 2 and all(_is_part(part) for part in parts)


def _is_part(text: str) -> bool:
    return is_name(text) and not text.startswith("__") and ":" not in text


def slug_of(name: str) -> str:
    """Return what a name of lrdbench's is called in our addresses: `null_specificity` becomes `null-specificity`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-")


def is_record_id(text: str) -> bool:
    """Say whether `text` may name a record."""
    return is_name(text)


def is_estimator_cell(text: str) -> bool:
    """Say whether `text` may be in a column of estimators, made-up names included."""
    # What lrdbench measures between two estimators joins their names, so it may be longer than either.
    return 0 < len(text) <= MAX_DIAGNOSTIC and text.isprintable() and text.strip() == text


def is_metric_cell(text: str) -> bool:
    """Say whether `text` may be in a column of metrics."""
    return _METRIC_CELL.fullmatch(text) is not None
