"""What the pages of a benchmark of predictions say. Read by `app.kinds.predictions.kind`."""

from collections.abc import Sequence

from app.kinds.pages import PageFacts, Pages, Rule
from app.kinds.predictions.example import example
from app.kinds.predictions.metrics import metric_words
from app.kinds.predictions.part import PredictionsPart
from app.kinds.predictions.reports import KINDS
from app.manifest.manifest import Manifest, part_of

RULES = {
    "private": Rule("Predictions are held against labels that the server keeps; no address gives them back."),
    "public": Rule("Predictions are held against labels of the benchmark, which are no secret: all count at once."),
    "submitted": Rule(
        "Every submission brings its own labels. Nobody has checked them, and entrants are not compared item by item."
    ),
}


def _facts(manifest: Manifest) -> PageFacts:
    return PageFacts(labels=part_of(manifest, PredictionsPart).predictions.labels)


def _rules(manifest: Manifest) -> Sequence[Rule]:
    return (RULES[part_of(manifest, PredictionsPart).predictions.labels],)


def _unit(manifest: Manifest) -> str:
    return part_of(manifest, PredictionsPart).predictions.units


PAGES = Pages(
    example=example,
    facts=_facts,
    rules=_rules,
    breakdown="intervals",
    metric_words=metric_words,
    unit=_unit,
    reports=tuple(KINDS),
)
