"""docs/manifest.md: every key of a manifest, made of the types that read it.

Called by the test that holds the page up to date, which writes it anew with REWRITE_DOCS=1.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.kinds.parse import manifest_json_schema

HEAD = """\
# The manifest

A benchmark is declared by a manifest, a YAML file. This page is made of the types that read it
(`app/kinds/reference.py`); the same as JSON Schema is at `/schemas/manifest.json`, and an editor completes a file that
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
