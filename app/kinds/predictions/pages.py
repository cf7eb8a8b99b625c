"""What the pages of a benchmark of predictions say."""

from collections.abc import Iterator, Sequence

from app.kinds.contract import EXAMPLE_VALUE, MODEL, ColumnUse, PageFacts, Pages, Rule, UploadExample, first_task
from app.kinds.grid_sentences import on_absent
from app.kinds.predictions.cells import CLASS_PREFIX, ENTRANT, ITEM, PREDICTION, TASK
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.manifest_part import PredictionsPart, holds_labels, scoring_of
from app.kinds.predictions.metrics import metric_words
from app.kinds.predictions.report import LAYOUTS
from app.manifest.model import Manifest, Scoring, part_of
from app.names import count

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
        rules.append(Rule("Every entrant is asked for ", every, "coverage", f". {on_absent(manifest)}"))
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
            "than its standard error; scores of who knows the labels are always shown."
        )  # fmt: skip
    digits = "1 significant digit" if rules.digits == 1 else f"{rules.digits} significant digits"
    rest = f" are shown in steps of at least half a standard error, with at most {digits}."
    yield Rule("", "Numbers", "label_rounding", rest)


def _unit(manifest: Manifest) -> str:
    return part_of(manifest, PredictionsPart).predictions.units


def example(manifest: Manifest) -> UploadExample:
    """Return the columns of predictions of the benchmark's kind, with a row that it takes."""
    return UploadExample(columns=tuple(_columns(manifest)), a_row_is="per item", may_name_entrant=True)


PAGES = Pages(
    example=example,
    facts=_facts,
    rules=_rules,
    breakdown="intervals",
    metric_words=metric_words,
    unit=_unit,
    reports=tuple(LAYOUTS),
)


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    part = part_of(manifest, PredictionsPart).predictions
    yield ColumnUse(ENTRANT, "the entrant's name; or leave it out and send -F entrant=…", MODEL)
    if manifest.task_ids() is None or len(manifest.task_ids() or ()) > 1:
        yield ColumnUse(TASK, "the task", first_task(manifest))
    yield ColumnUse(ITEM, "the item", "item-1")
    yield from _predicted(part)
    if part.labels == "submitted":
        yield ColumnUse("label", "what is true of the item", part.classes[0] if part.classes else str(EXAMPLE_VALUE))


# An example upload of predictions: a row per item.


def _predicted(part: Predictions) -> Iterator[ColumnUse]:
    if part.classes is None:
        yield ColumnUse(PREDICTION, "the predicted value or score", str(EXAMPLE_VALUE))
    elif part.positive_number is not None:
        positive = part.classes[part.positive_number]
        yield ColumnUse(PREDICTION, f"the probability that it is {positive}", str(EXAMPLE_VALUE))
    else:
        for name in part.classes:
            share = str(round(1 / len(part.classes), 6))
            yield ColumnUse(CLASS_PREFIX + name, f"the probability of {name}; all of them sum to 1", share)
