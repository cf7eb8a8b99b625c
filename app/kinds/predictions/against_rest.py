"""A metric of one class against the rest as three rows of the table. For `classification_metrics`, `curve_metrics`."""

from typing import Any

from app.kinds.predictions.metric_type import PredictionMetric, Score
from app.kinds.predictions.one_class import OfClass, over_classes
from app.stats.spreads import SHARE
from app.values.glossary_entry import Entry

MACRO, MICRO = "_macro", "_micro"


def positive(of: OfClass) -> Score:
    """Return the metric of the positive one of two classes."""
    return lambda weighted: of(weighted, 1)


def against_rest(
    *,
    name: str,
    of: OfClass,
    pooled: Score,
    words: str,
    entry: Entry,
    averaged: OfClass | None = None,
    suffix: str = "",
    beside: tuple[str, ...] = (),
    beside_macro: tuple[str, ...] = (),
    **more: Any,
) -> tuple[PredictionMetric, ...]:
    """Return a metric of two classes, its average over several, and the one that pools their decisions.

    `averaged` is what is averaged, where that is not `of`; `suffix` ends every name, `beside_macro` is beside the
    average alone.
    """
    several: Any = {"tasks": frozenset({"multiclass"}), "direction": "maximize", "entry": entry, "within": SHARE}
    over = over_classes(averaged or of)
    return (
        PredictionMetric(
            name=name + suffix,
            tasks=frozenset({"binary"}),
            direction="maximize",
            within=SHARE,
            score=positive(of),
            words=words,
            entry=entry,
            beside=beside,
            **more,
        ),
        PredictionMetric(
            name=name + MACRO + suffix,
            score=over,
            words=f"macro-averaged {words}",
            beside=beside or beside_macro,
            **several,
        ),
        PredictionMetric(
            name=name + MICRO + suffix, score=pooled, words=f"micro-averaged {words}", beside=beside, **several
        ),
    )
