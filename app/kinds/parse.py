"""Reading a manifest with what every method and kind of evidence knows of it, what its keys mean, and its reference."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from app.boards.registry import methods
from app.errors import ManifestRejected, Problem
from app.kinds.registry import KINDS
from app.manifest.build import KindKeys, build_manifest, unanswered, with_lines, with_part
from app.manifest.model import Common, Leaderboard, Manifest, Part
from app.yaml import Document, dotted, read_document

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# A name, not an address that anybody must reach: every server serves it at /schemas/manifest.json.
SCHEMA_ID = "urn:plumbline:manifest:1"

MAX_MANIFEST_BYTES = 1024 * 1024


def parse_manifest(yaml_bytes: bytes) -> Manifest:
    """Read a manifest. Raises Rejected with every problem of its YAML, or ManifestRejected of its meaning."""
    boards = tuple((name, method.spec) for name, method in methods().items())
    return _parse(yaml_bytes, boards, tuple(known_keys().items()))


def known_keys() -> dict[str, KindKeys]:
    """Return what each known kind of evidence has of a manifest."""
    return {name: KindKeys(kind.part, kind.methods, kind.part.vocabulary()) for name, kind in KINDS.items()}


# What is known is part of the key: a manifest read while one method or kind more was known is not found afterwards.
@cache
def _parse(
    yaml_bytes: bytes, boards: tuple[tuple[str, type[Leaderboard]], ...], kinds: tuple[tuple[str, KindKeys], ...]
) -> Manifest:
    document = read_document(yaml_bytes, max_bytes=MAX_MANIFEST_BYTES, what="manifest")
    try:
        return _build(document, dict(boards), dict(kinds))
    except ManifestRejected as error:
        raise ManifestRejected(error.detail, with_lines(error.problems, document)) from None


def _build(document: Document, boards: Mapping[str, type[Leaderboard]], kinds: Mapping[str, KindKeys]) -> Manifest:
    missing = [
        Problem(
            "an answer is missing here; the comment beside it says which", row=document.line(path), column=dotted(path)
        )
        for path in unanswered(document.value)
    ]
    if missing:
        raise ManifestRejected("The manifest has questions that are not answered yet.", missing)
    manifest = build_manifest(document.value, boards, kinds)
    problems = [
        Problem(complaint, column=f"leaderboards.{board.name}.metric")
        for board in manifest.leaderboards
        for metric in board.metric_names()
        if (complaint := board.check_metric(manifest.metrics[metric])) is not None
    ]
    if problems:
        raise ManifestRejected("The manifest breaks the rules below.", problems)
    return manifest


def manifest_document(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest as it is published: with the keys of every kind, those of other kinds at their defaults."""
    keys: dict[str, Any] = {}
    for kind in KINDS.values():
        defaults = kind.part.model_construct().model_dump(mode="json", by_alias=True)
        keys |= {key: defaults.get(key) for key in kind.part.model_fields}
    keys |= manifest.part.model_dump(mode="json", by_alias=True)
    # Where nothing is declared the document stays as short as it was asked for.
    hidden = {"part"} if manifest.metadata else {"part", "metadata"}
    return with_part(manifest.model_dump(mode="json", by_alias=True, exclude=hidden), keys)


def manifest_json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a manifest, with the keys of every known kind and the boards of every known method.

    A key of one kind is never required: which kind it is, a schema of all of them does not ask.
    """
    boards: Any = Annotated[_one_of([method.spec for method in methods().values()]), Field(discriminator="method")]
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in Common.model_fields.items()}
    fields["evidence"] = (Literal[tuple(KINDS)], ...)
    fields["metrics"] = (_one_of([Common.model_fields["metrics"].annotation, *_metrics_forms()]), ...)
    fields["leaderboards"] = (list[boards], ...)
    parts = {name: field for kind in KINDS.values() for name, field in kind.part.model_fields.items()}
    optional = {name: _optional(field) for name, field in parts.items()}
    described = create_model("Manifest", __base__=Part, **with_part(fields, optional))
    return _with_texts({"$schema": DIALECT, "$id": SCHEMA_ID, **described.model_json_schema()})


def _with_texts(schema: dict[str, Any]) -> dict[str, Any]:
    """Say of every key what it means."""
    for name, of_type in (("Manifest", schema), *schema.get("$defs", {}).items()):
        for key, about in of_type.get("properties", {}).items():
            text = text_of(name, key)
            if text is not None:
                about["description"] = text
    return schema


def _one_of(types: Sequence[Any]) -> Any:
    return reduce(or_, types)


def _metrics_forms() -> list[Any]:
    return [kind.part.metrics_form for kind in KINDS.values() if kind.part.metrics_form is not None]


def _optional(field: FieldInfo) -> Any:
    annotation: Any = field.annotation
    return (annotation | None, None) if field.is_required() else (annotation, field)


# What every key of a manifest means, in a sentence. Read by `app.kinds.parse` for the JSON Schema.
#
# By the type that has the key; `*` holds for every board. A test compares the keys with those of the types.

BOARD: Mapping[str, str] = {
    "name": "the board's name in addresses",
    "title": "the title shown on pages; its name by default",
    "description": "what it shows, in Markdown",
    "method": "how it ranks",
    "tasks": "the tasks that count; all of them by default",
    "uncertainty": "how its intervals are drawn",
    "metric": "the metric that ranks",
}

FIELDS: Mapping[str, Mapping[str, str]] = {
    "*": BOARD,
    "Manifest": {
        "schema_version": "the version of this format: 1",
        "slug": "the benchmark's name in addresses; it never changes",
        "title": "what pages call it",
        "description": "what is measured, by whom and how, in Markdown",
        "evidence": "what is uploaded: the kind of evidence",
        "metrics": "the metrics by name, or a choice from a catalog",
        "tasks": "the closed list of tasks, or `{open: true}` to accept any task that the evidence names",
        "grid": "what every entrant must report, and how absent cells count",
        "admission": "the rules that a submission must meet to be admitted",
        "metadata": "metadata that submissions may or must state; shown, and boards can be filtered by it",
        "columns": "which column of a summary holds what",
        "preset": "fev: its older column names are accepted too",
        "episodes": "which columns of an episode hold its condition, seed and item",
        "mode": "what a benchmark of series may claim: ground truth, stress test or observation",
        "contamination": "the operators of a stress test",
        "estimators": "the enrolled estimators; others are refused",
        "asked": "on which records metrics are asked that do not exist on all of them",
        "uncertainty": "how the intervals of series are drawn",
        "predictions": "what is predicted, and the classes",
        "scoring": "how private labels are scored in public: parts, quotas, and when they close",
        "claims": "contrasts that are decided for every entrant",
        "leaderboards": "the boards",
    },
    "Metric": {
        "direction": "whether higher or lower is better",
        "from": "the column it is read from, if not its own name",
        "above": "the score is 1 if the column is above this value, else 0",
        "title": "what pages call it",
        "unit": "the unit of its values, such as ms",
        "min": "the least possible value; anything below is refused",
        "max": "the greatest possible value; anything above is refused",
        "description": "what it measures",
    },
    "Task": {
        "id": "the task's name, as rows give it",
        "title": "what pages call it",
        "where": "the value that each named column must have in the task's rows; others are refused",
        "n_forecasts": "how many forecasts one run of the task makes",
    },
    "OpenTasks": {"open": "true: any task that the evidence names is accepted"},
    "Grid": {
        "seeds": "which seeds, or how many",
        "conditions": "which conditions",
        "items": "which items, how many, or `file`: the steward uploads them as a table",
        "tasks": "exceptions for some tasks",
        "entrants": "exceptions for some entrants",
        "absent": "unranked: entrants with absent cells are listed separately; worst: such cells count as the worst",
        "registration_may_choose": (
            "seeds or conditions that a registration names before the run, such as `{seeds: {at_least: 16}}`; needs "
            "`admission: {prereg: required}`"
        ),
    },
    "Axes": {
        "seeds": "which seeds, or how many",
        "conditions": "which conditions",
        "items": "which items, how many, or `file`: the steward uploads them as a table",
    },
    "AtLeast": {"at_least": "the fewest that a registration must name"},
    "Admission": {
        "prereg": "required: every run must be registered before it begins",
        "prereg_forms": "the forms of preregistration that are accepted",
        "min_seeds": "the fewest seeds of a run",
        "claims": "required: a run must state its intervals, and they must agree",
        "dirty": "whether a run with uncommitted code is admitted",
        "failure_policy": "how rows without a score are judged if the registration does not say",
        "report_within_days": "how long after its registration a run becomes overdue",
        "submissions": "invited: only those appointed submitters of the benchmark may register and submit",
        "started_at": "required: a run must state when it began, so that a later registration is detected",
        "registration": "anyone who asks gets a token to submit here; without it, stewards invite submitters",
    },
    "DescribedBy": {
        "name": "the field's name in the metadata of a submission; may also be one that every benchmark has",
        "type": "the type of its values; a date is a day such as 2026-01-31",
        "title": "its label on pages and in the form",
        "unit": "the unit of its values, such as tokens",
        "values": "the values that a text may have; any by default",
        "required": "true: a submission that does not state it is refused",
        "description": "what it means",
    },
    "Registration": {
        "per_day": "how many tokens are issued in 24 hours",
        "token_days": "after how many days each of them expires",
    },
    "LeastSeeds": {
        "spike": "for a run registered in the axis form",
        "entry": "for a run registered in another form, or not at all",
    },
    "Columns": {
        "entrant": "the column that names the entrant; null: the form field names it",
        "task": "the column that names the task; null: the benchmark has one task, and no column names it",
        "leaked": "the column that says whether the entrant has seen the task's data",
        "training_time_s": "the column of the training time, seconds",
        "inference_time_s": "the column of the inference time, seconds",
        "n_forecasts": "the column of the number of forecasts",
        "recorded": "columns that are stored and shown, never used in computations",
    },
    "Episodes": {
        "entrant": "the column that names the entrant",
        "seed": "the column of the seed; null: there are no seeds, every row has seed 0, and items are resampled",
        "condition": "the column of the condition, or several of which each row has one; null: only one condition",
        "item": "the columns that identify a row within a seed and task",
        "conditions": "the closed list of conditions",
        "task": "the column that names the task",
        "boolean": "metrics whose cells must be true or false",
    },
    "Predictions": {
        "kind": "classification, regression or ranking",
        "classes": "the classes, in the order of the columns",
        "positive": "the positive class, of two",
        "labels": "private: the steward uploads them, and no endpoint returns them",
        "label_holders": "entrants of who can read private labels: reference, listed without a rank, or ranked",
        "missing": "how an item without a prediction is treated",
        "truncation": "the depth of the metrics of a ranking",
        "sum_tolerance": "how far the sum of an item's probabilities may be from 1",
        "thresholds": "decision thresholds: marked in reports, compared by the tests",
    },
    "Scoring": {
        "public_share": "the share of the items that is scored and shown before the close",
        "per_day": "how many submissions of one owner are scored in a day",
        "entrants_per_submission": "how many entrants one submission may bring",
        "ladder": "a score is shown only if it beats the owner's best by more than its standard error",
        "digits": "the most significant digits of a published number",
        "closes_at": "when submissions close and the private part is shown",
    },
    "Truncations": {"ndcg": "the depth of NDCG", "mrr": "the depth of MRR", "map": "the depth of MAP"},
    "CatalogUse": {"catalog": "the catalog: lrdbench", "use": "the metrics of it"},
    "Contamination": {
        "name": "the operator's name",
        "description": "what it does",
        "params": "its parameters",
    },
    "AskedOn": {
        "metrics": "the metrics",
        "estimators": "the estimators that it is about; all by default",
        "tasks": "the strata in which they are asked",
        "records": "single records on which they are asked",
    },
    "SeriesUncertainty": {
        "n_resamples": "how many resamples are drawn",
        "levels": "the confidence levels",
        "rng_seed": "the generator's seed",
        "metrics": "the metrics that have intervals",
        "paired": "whether differences are resampled too",
        "paired_metrics": "the metrics whose differences are resampled",
        "stream": "which random stream",
    },
    "Claim": {
        "contrast": "first minus second, conditions or entrants; a single one is compared with the threshold itself",
        "metric": "the metric that it concerns",
        "threshold": "what the contrast is compared with",
        "direction": "the claimed side of the threshold",
    },
    "Uncertainty": {
        "n_resamples": "how many resamples are drawn; 0: no intervals, if the method allows it",
        "level": "the confidence level",
        "rng_seed": "the generator's seed",
        "stream": "which random stream: an independent one, or that of another system, to reproduce its numbers",
    },
    "EstimateUncertainty": {
        "n_resamples": "how many resamples are drawn",
        "level": "the confidence level",
        "rng_seed": "the generator's seed",
        "stream": "which random stream: an independent one, or that of another system, to reproduce its numbers",
        "method": "which units are resampled, and within which",
    },
    "Mean": {
        "missing": "error: an absent task leaves the board empty; drop: an entrant that lacks one is listed separately"
    },
    "GroupMean": {"groups": "the tasks of each group; groups have equal weight"},
    "Borda": {},
    "MeanRank": {},
    "MeanWinRate": {},
    "SkillScore": {
        "baseline": "the baseline entrant, to which errors are relative",
        "leakage_model": "the entrant whose errors replace those of entrants that have seen the data",
        "missing": "impute: a task without an error counts as the baseline's, and everybody is ranked by that rule, as "
        "in fev; drop: such tasks are left out of the scores, and who lacks one is listed separately; error: the board "
        "is empty then",
        "clip": "the bounds at which relative errors are clipped",
        "rank_by": "whether entrants are ranked by skill score or win rate",
        "normalize_time_per_n_forecasts": "times are given per this many forecasts",
    },
    "EstimateBoard": {
        "metrics": "the metrics of the board",
        "rank_by": "the metric that ranks; by default the first",
        "statistic": "the statistic over items: mean or interquartile mean",
        "statistics": "metrics with another statistic",
        "labels": "entrants that are shown but not ranked, each with the reason",
        "quantiles": "quantiles of the scores, shown as further columns",
        "optimality_gap": "the optimality gap below a threshold, shown as further columns",
        "profile": "the performance profile of a metric",
        "composite": "a weighted mean over tasks",
    },
    "OptimalityGap": {"threshold": "the score that counts as optimal"},
    "Profile": {
        "metric": "the metric; by default the one that ranks",
        "low": "the least threshold; by default the metric's min",
        "high": "the greatest threshold; by default the metric's max",
        "n_points": "how many thresholds",
    },
    "Composite": {
        "title": "what pages call it",
        "weights": "the weight of each task",
        "conditions": "the condition of the task that is scored",
        "against": "the condition it is compared with",
    },
    "WeightedRank": {
        "ranking_rule": "the version of the weighting rule",
        "weights": "the weight of each metric; they sum to one",
        "tie_break": "the metric that breaks ties",
    },
}


def text_of(model: str, key: str) -> str | None:
    """Return what a key means; None for one that nobody described. What all boards have is described once."""
    return FIELDS.get(model, {}).get(key) or (BOARD.get(key) if model in _boards() else None)


@cache
def _boards() -> frozenset[str]:
    return frozenset(method.spec.__name__ for method in methods().values())


# docs/manifest.md: every key of a manifest, made of the types that read it.

HEAD = """\
# The manifest

A benchmark is declared by a manifest, a YAML file. This page is made of the types that read it
(`app/kinds/parse.py`); the same as JSON Schema is at `/schemas/manifest.json`, and an editor completes a file that
begins with `# yaml-language-server: $schema=` and that address. `plumbline benchmark init RESULTS` drafts one from
results, `plumbline benchmark check manifest.yaml` says what is wrong with it, with lines.

"""

EXAMPLES: Mapping[str, str] = {
    "A table with a row per entrant and task": """\
# yaml-language-server: $schema=http://127.0.0.1:8000/schemas/manifest.json
schema_version: 1
slug: embeddings
title: Embeddings
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics:
  main_score: {direction: maximize, min: -1, max: 1}
tasks: [{id: STS12}, {id: STS13}]
leaderboards:
  - {name: mean, method: mean, metric: main_score, missing: drop}
""",
    "A row per item, with seeds": """\
# yaml-language-server: $schema=http://127.0.0.1:8000/schemas/manifest.json
schema_version: 1
slug: quiz
title: Quiz
evidence: episodes
episodes: {entrant: model, task: subject, item: [question], seed: seed, condition: null}
metrics:
  correct: {direction: maximize, min: 0, max: 1}
tasks: [{id: algebra}, {id: geometry}]
grid: {seeds: [0, 1, 2], items: 100}
leaderboards:
  - {name: accuracy, method: estimate, metrics: [correct], statistic: mean}
""",
    "Predictions against private labels": """\
# yaml-language-server: $schema=http://127.0.0.1:8000/schemas/manifest.json
schema_version: 1
slug: screening
title: Screening
evidence: predictions
predictions: {kind: classification, classes: [benign, malignant], positive: malignant, labels: private}
metrics:
  auc: {direction: maximize, min: 0, max: 1}
tasks: [{id: screening}]
leaderboards:
  - {name: auc, method: estimate, metrics: [auc]}
""",
}


def manifest_page() -> str:
    """Return the page."""
    return HEAD + "\n".join([*_examples(), *_types()]) + "\n"


def _examples() -> Iterator[str]:
    for title, text in EXAMPLES.items():
        yield f"## Example: {title.lower()}\n\n```yaml\n{text}```\n"


def _types() -> Iterator[str]:
    schema = manifest_json_schema()
    for name, described in (("Manifest", schema), *sorted(schema["$defs"].items())):
        if "properties" in described:
            yield f"## {name}\n"
            if name != "Manifest" and described.get("description"):
                yield described["description"].partition("\n\n")[0].replace("\n", " ") + "\n"
            yield from _table(described)
            yield ""


def _table(described: Mapping[str, Any]) -> Iterator[str]:
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    required = described.get("required", [])
    for key, about in described["properties"].items():
        default = "required" if key in required else _shown(about.get("default"))
        yield f"| `{key}` | {_value(about)} | {default} | {about.get('description', '')} |"


def _shown(default: Any) -> str:
    return "" if default is None or default in ({}, []) or isinstance(default, dict) else f"`{default}`"


def _value(about: Any) -> str:
    """Return what may stand there, in words."""
    if not isinstance(about, dict):
        return "any"
    if "$ref" in about:
        name = about["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in about or "const" in about:
        return " or ".join(f"`{value}`" for value in about.get("enum", [about.get("const")]))
    choices = about.get("anyOf") or about.get("oneOf") or about.get("allOf")
    if choices:
        return " or ".join(dict.fromkeys(_value(each) for each in choices if each.get("type") != "null"))
    if about.get("type") == "array":
        return f"list of {_value(about.get('items', {}))}"
    if about.get("type") == "object":
        return f"mapping to {_value(about.get('additionalProperties') or {})}"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    return words.get(str(about.get("type")), "any") + _bounds(about)


def _bounds(about: Mapping[str, Any]) -> str:
    words = {"minimum": "from", "maximum": "to", "exclusiveMinimum": "above", "exclusiveMaximum": "below",
             "maxLength": "at most", "pattern": "like"}  # fmt: skip
    named = [f"{word} `{about[key]}`" for key, word in words.items() if key in about]
    return f" ({', '.join(named)})" if named else ""
