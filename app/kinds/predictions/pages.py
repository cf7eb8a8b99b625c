"""What the pages of a benchmark of predictions say. Read by `app.kinds.predictions.kind`."""

from collections.abc import Iterator, Sequence

from app.kinds.grid_rules import ABSENT
from app.kinds.pages import PageFacts, Pages, Rule
from app.kinds.predictions.example import example
from app.kinds.predictions.manifest_part import PredictionsPart, holds_labels, scoring_of
from app.kinds.predictions.metrics import metric_words
from app.kinds.predictions.report_layouts import LAYOUTS
from app.manifest.manifest import Manifest, part_of
from app.manifest.scoring import Scoring
from app.values.counts import count

RULES = {
    "private": Rule("Predictions are scored against labels that the server keeps; no address gives them back."),
    "public": Rule("Predictions are scored against labels of the benchmark, which are no secret: all count at once."),
    "submitted": Rule(
        "Every submission brings its own labels. Nobody has checked them, and entrants are not compared item by item."
    ),
}


def _facts(manifest: Manifest) -> PageFacts:
    return PageFacts(labels=part_of(manifest, PredictionsPart).predictions.labels)


def _rules(manifest: Manifest) -> Sequence[Rule]:
    rules = [RULES[part_of(manifest, PredictionsPart).predictions.labels]]
    if holds_labels(manifest):
        every = "every item of the labels"
        rules.append(Rule("Every entrant is asked for ", every, "coverage", f". {ABSENT[manifest.absent]}"))
    scoring = scoring_of(manifest)
    return rules if scoring is None else [*rules, *_of_scoring(scoring)]


def _of_scoring(rules: Scoring) -> Iterator[Rule]:
    """Yield how labels that are a secret are answered for."""
    share = f"{100 * rules.public_share:.3g} %"
    when = "when a steward closes it" if rules.closes_at is None else f"on {rules.closes_at:%Y-%m-%d %H:%M %Z}"
    if rules.public_share < 1.0:
        rest = f", {share} of the items, is scored at once; the private part is shown and decides {when}."
        yield Rule("The ", "public part", "public_part", rest)
    scored = count(rules.per_day, "submission") + (" of an owner is" if rules.per_day == 1 else " of an owner are")
    yield Rule(
        f"In any 24 hours {scored} scored, of at most {count(rules.entrants_per_submission, 'entrant')} each; runs for "
        "debugging, and what is withdrawn, count too."
    )
    if rules.ladder:
        yield Rule(
            "A ", "ladder", "ladder", ": a new score is shown only if it is better than the best of its owner by more "
            "than its standard error."
        )  # fmt: skip
    digits = "1 significant digit" if rules.digits == 1 else f"{rules.digits} significant digits"
    rest = f" are shown in steps of at least half a standard error, with at most {digits}."
    yield Rule("", "Numbers", "label_rounding", rest)


def _unit(manifest: Manifest) -> str:
    return part_of(manifest, PredictionsPart).predictions.units


PAGES = Pages(
    example=example,
    facts=_facts,
    rules=_rules,
    breakdown="intervals",
    metric_words=metric_words,
    unit=_unit,
    reports=tuple(LAYOUTS),
)
