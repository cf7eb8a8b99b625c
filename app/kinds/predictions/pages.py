"""What the pages of a benchmark of predictions say. Read by `app.kinds.predictions.kind`."""

from collections.abc import Sequence

from app.kinds.pages import PageFacts, Pages, Rule
from app.kinds.predictions.example import example
from app.kinds.predictions.part import PredictionsPart
from app.kinds.predictions.reports import KINDS
from app.manifest.manifest import Manifest, part_of

# How the metrics are written in a sentence, where the manifest gives no title.
WORDS = {
    "auc": "AUC",
    "pr_auc": "PR-AUC",
    "ap": "AP",
    "logloss": "log-loss",
    "brier": "Brier score",
    "f1": "F1",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "ndcg": "NDCG",
    "mrr": "MRR",
    "map": "MAP",
}
RULES = {
    "private": Rule("Predictions are held against labels that the server keeps; no address gives them back."),
    "submitted": Rule(
        "Every submission brings its own labels. Nobody has checked them, and entrants are not compared item by item."
    ),
}


def _facts(manifest: Manifest) -> PageFacts:
    return PageFacts(labels=part_of(manifest, PredictionsPart).predictions.labels)


def _rules(manifest: Manifest) -> Sequence[Rule]:
    return (RULES[part_of(manifest, PredictionsPart).predictions.labels],)


def _metric_words(name: str) -> str:
    return WORDS.get(name, name)


def _unit(manifest: Manifest) -> str:
    return part_of(manifest, PredictionsPart).predictions.units


PAGES = Pages(
    example=example,
    facts=_facts,
    rules=_rules,
    breakdown="intervals",
    metric_words=_metric_words,
    unit=_unit,
    reports=tuple(KINDS),
)
