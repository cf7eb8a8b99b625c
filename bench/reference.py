"""docs/manifest.md and docs/prereg.md, made of the types and modules that read them: `python -m bench.reference`.

Tests hold the pages to it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from app.kinds.parse import manifest_json_schema
from app.prereg.document import DOCUMENT_KEYS
from app.prereg.fields import SHARED_KEYS
from app.prereg.prereg import AXIS_KEYS, EVALUATION_KEYS, VERSIONS

DOCS = Path(__file__).parents[1] / "docs"

MANIFEST_HEAD = """\
# The manifest

A benchmark is declared by a manifest, a YAML file. This page is made of the types that read it
(`bench/reference.py`); the same as JSON Schema is at `/schemas/manifest.json`, and an editor completes a file that
begins with `# yaml-language-server: $schema=` and that address. `plumbline benchmark init RESULTS` drafts one from
results, `plumbline benchmark check manifest.yaml` says what is wrong with it, with lines.

"""

MANIFESTS: Mapping[str, str] = {
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
    """Return docs/manifest.md."""
    return MANIFEST_HEAD + "\n".join([*_manifests(), *_types()]) + "\n"


def _manifests() -> Iterator[str]:
    for title, text in MANIFESTS.items():
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
        default = "required" if key in required else _default(about.get("default"))
        yield f"| `{key}` | {_value(about)} | {default} | {about.get('description', '')} |"


def _default(default: Any) -> str:
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


PREREG_HEAD = """\
# Preregistrations

A preregistration states before a run what will be measured. It is a YAML file, stored byte for byte under its SHA-256
(`plumbline prereg register`, `POST /preregs`), and never changes. There are three forms; `plumbline prereg check` says
which form a file has and what it commits its run to. This page is made of the modules that read the forms
(`bench/reference.py`).

"""

PREREG = """\
benchmark: fev-bench
entrants: [my-model]
tasks: all
metrics: [SQL, MASE]
seeds: [0, 1, 2]
notes: One run, after the last change of the model.
"""

PRML = f"""\
## PRML

A Pre-Registered ML Manifest ({" and ".join(VERSIONS)}) is accepted unchanged wherever the evaluation form is. Its
metric, comparator and threshold form a claim, decided with an interval (`==` is neither greater nor less, and is
refused); its `seed` is the seed of the run, `null` leaves it open, and a benchmark without seeds counts as seed 0;
`model.id` is the entrant. `dataset`, `producer`, `created_at` and `claim_id` are stored and shown, but bind nothing:
the time that counts is that of the registration. Register the canonical bytes, and their address here is the hash that
`falsify lock` prints.
"""


def prereg_page() -> str:
    """Return docs/prereg.md."""
    return PREREG_HEAD + "\n".join(_forms()) + "\n"


def _forms() -> Iterator[str]:
    yield f"## Example: the evaluation form\n\n```yaml\n{PREREG}```\n"
    yield from _form("Keys of every form", SHARED_KEYS)
    for form, keys in (("evaluation", EVALUATION_KEYS), ("axis", AXIS_KEYS), ("document", DOCUMENT_KEYS)):
        yield from _form(f"The {form} form", {key: text for key, text in keys.items() if key not in SHARED_KEYS})
    yield PRML


def _form(title: str, keys: Mapping[str, str]) -> Iterator[str]:
    yield f"## {title}\n"
    yield "| key | meaning |\n|---|---|"
    yield from (f"| `{key}` | {text} |" for key, text in keys.items())
    yield ""


if __name__ == "__main__":
    (DOCS / "manifest.md").write_text(manifest_page(), "utf-8")
    (DOCS / "prereg.md").write_text(prereg_page(), "utf-8")
