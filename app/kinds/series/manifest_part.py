"""What a benchmark of series declares beside the common keys, and its rules. Read by the modules beside it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from app.boards.methods.weighted_rank.identity import identity_of, split_identity
from app.boards.methods.weighted_rank.spec import RankedPart
from app.kinds.series.catalog import CATALOG, STRESS_ONLY, CatalogMetric, Mode
from app.kinds.series.definitions import OF_INTERVALS, OF_LOSSES, PAIRED
from app.kinds.series.metrics import CatalogUse, expand_metrics, with_levels
from app.kinds.series.names import EstimatorName
from app.manifest.base import MetricName, Name, Part
from app.manifest.grid import Grid
from app.manifest.manifest import Common

ParameterValue = str | int | float | bool | None


class Contamination(Part):
    """An operator that a stress test applies to its series, and the parameters it takes."""

    name: Name
    description: str = Field("", max_length=2000)
    params: dict[Name, list[ParameterValue]] = Field(default_factory=dict)


class SeriesUncertainty(Part):
    """How the aggregates of a series benchmark get their intervals; boards draw theirs from their own part.

    `metrics` None means every metric; `paired` adds the differences of every pair of estimators, in `paired_metrics` or
    else in `metrics`.
    """

    n_resamples: int = Field(200, ge=100, le=100_000)
    levels: list[Annotated[float, Field(gt=0.0, lt=1.0)]] = Field(default=[0.95], min_length=1, max_length=10)
    rng_seed: int = Field(0, ge=0, lt=2**63)
    metrics: list[MetricName] | None = None
    paired: bool = False
    paired_metrics: list[MetricName] | None = None
    stream: Literal["independent", "lrdbench"] = "independent"


class AskedOn(Part):
    """Where metrics exist that do not exist on every record: in these strata (tasks) and on these records alone.

    The rule is about the named estimators, by default all. What no rule is about is asked on every record; what several
    are about is asked wherever one of them says so.
    """

    metrics: list[MetricName] = Field(min_length=1, max_length=200)
    estimators: list[EstimatorName] | None = Field(None, min_length=1)
    tasks: list[Name] = Field(default_factory=list)
    records: list[Name] = Field(default_factory=list)


class SeriesPart(RankedPart):
    """The mode of a benchmark of series, what a stress test applies, who is enrolled, which metrics exist only
    somewhere, and how intervals are drawn.

    `estimators` None enrols whoever has rows.
    """

    axes: ClassVar[tuple[str, ...]] = ("items",)
    metrics_form: ClassVar[type[Part] | None] = CatalogUse

    mode: Mode | None = None
    contamination: list[Contamination] | None = None
    estimators: list[EstimatorName] | None = Field(None, min_length=1)
    asked: list[AskedOn] = Field(default_factory=list, max_length=1000)
    uncertainty: SeriesUncertainty | None = None

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
        enrolled = self.estimators or []
        for name in sorted({name for name in enrolled if enrolled.count(name) > 1}):
            yield f"estimators: {name} is there twice"

    def _about_asked(self, common: Common) -> Iterator[str]:
        tasks = None if common.grid is None else common.grid.tasks.keys()
        for at, rule in enumerate(self.asked):
            yield from (f"asked.{at}.metrics: {name} is not declared" for name in rule.metrics
                        if name not in common.metrics)  # fmt: skip
            yield from (f"asked.{at}.estimators: {name} is not enrolled" for name in rule.estimators or ()
                        if self.estimators is not None and name not in self.estimators)  # fmt: skip
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
