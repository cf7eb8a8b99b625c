"""The description of the API as a page: one section an operation, made from the same document as /openapi.json."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """One parameter of an operation, or one field of its body: its name, its place, what it holds."""

    name: str
    place: str
    is_required: bool
    about: str


@dataclass(frozen=True)
class Answer:
    """One status that an operation answers, in words and with its media types."""

    status: str
    phrase: str
    media_types: str


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    anchor: str
    method: str
    path: str
    summary: str
    about: str
    needs_token: bool
    body: str
    fields: Sequence[Field]
    answers: Sequence[Answer]


def list_operations(description: Json) -> dict[str, list[Operation]]:
    """Return the operations by their tag, in the order of the description."""
    by_tag: dict[str, list[Operation]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            by_tag.setdefault(tag, []).append(_operation(description, path, method, operation))
    return by_tag


def _operation(description: Json, path: str, method: str, operation: Json) -> Operation:
    return Operation(
        anchor=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation.get("summary", ""),
        about=operation.get("description", ""),
        needs_token="security" in operation,
        body=", ".join(operation.get("requestBody", {}).get("content", {})),
        fields=(*_parameters(operation), *_body_fields(description, operation)),
        answers=tuple(
            Answer(status, answer["description"], ", ".join(answer.get("content", {})) or "no body")
            for status, answer in operation["responses"].items()
        ),
    )


def _parameters(operation: Json) -> Iterator[Field]:
    for each in operation.get("parameters", ()):
        yield Field(each["name"], each["in"], each.get("required", False), _about(each, each["schema"]))


def _body_fields(description: Json, operation: Json) -> Iterator[Field]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = _resolve(description, content["schema"])
        for name, field in schema.get("properties", {}).items():
            yield Field(name, "body", name in schema.get("required", ()), _about(field, field))


def _resolve(description: Json, schema: Json) -> Json:
    name = schema.get("$ref", "").rpartition("/")[2]
    resolved: Json = description["components"]["schemas"][name] if name else schema
    return resolved


def _about(named: Json, schema: Json) -> str:
    return named.get("description") or _kind(schema)


def _kind(schema: Json) -> str:
    """Return the type of a value in a word; null, which leaving the field out says too, is not named."""
    choices = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
    return " or ".join(dict.fromkeys(str(part.get("format") or part.get("type", "value")) for part in choices))
