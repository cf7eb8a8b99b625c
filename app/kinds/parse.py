"""Reading a manifest with what every ranking method and every kind of evidence knows of it, and its JSON Schema.

Called by `app.store.benchmarks`, the web and the command line.
"""

from collections.abc import Mapping, Sequence
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from pydantic import Field, create_model
from pydantic.fields import FieldInfo

from app.boards.registry import methods
from app.errors import ManifestRejected, Problem
from app.kinds.field_texts import text_of
from app.kinds.known import KINDS
from app.manifest.base import Part
from app.manifest.build import KindKeys, build_manifest
from app.manifest.key_order import with_part
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Common, Manifest
from app.manifest.positions import unanswered, with_lines
from app.yaml.builder import dotted
from app.yaml.strict import Document, read_document

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
