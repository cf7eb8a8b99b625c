"""Writes plumbline/documents.py, the types of the client's answers, out of the description of the HTTP API.

Run as `python -m client.typed`; tests/client/test_typed.py holds the file against it.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from app.config import Settings
from app.main import create_app

TARGET = Path(__file__).parent.parent / "plumbline" / "documents.py"
SUBMIT = ("/benchmarks/{slug}/submissions", "post")
# Which answer of which address each type is of.
ANSWERS = {
    "Submission": (*SUBMIT, "202"),
    "DryRun": (*SUBMIT, "200"),
    "Table": ("/benchmarks/{slug}/leaderboards/{board}", "get", "200"),
}
# Names that Python has for something else.
RENAMED = {"Warning": "Notice", "File": "SentFile"}
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''"""The types of what a server answers. Written by `python -m client.typed` out of the API's description."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

'''
RUN = '''

class RunFields(TypedDict, total=False):
    """What is said of a run beside its files."""

    prereg: str | Path | None
    prereg_sha256: str | None
    entrant: str | None
    metadata: Mapping[str, Any] | None
    claims: Mapping[str, Mapping[str, float]] | None
'''


class _Types:
    """The types of some schemas, each after those that it is made of."""

    def __init__(self, components: Mapping[str, Any]) -> None:
        self._components = components
        self.written: dict[str, str] = {}

    def of(self, schema: Mapping[str, Any]) -> str:
        """Return a schema as a type, writing the classes that it needs."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            short = name.removesuffix("Document")
            short = RENAMED.get(short, short)
            self.write(short, self._components[name])
            return str(short)
        if "anyOf" in schema:
            return " | ".join(dict.fromkeys(self.of(each) for each in schema["anyOf"]))
        kind = schema.get("type")
        if kind == "array":
            return f"list[{self.of(schema.get('items', {}))}]"
        if kind == "object":
            more = schema.get("additionalProperties")
            return f"dict[str, {self.of(more)}]" if isinstance(more, dict) else "dict[str, Any]"
        return PLAIN.get(str(kind), "Any")

    def write(self, name: str, schema: Mapping[str, Any]) -> None:
        """Write an object as a class."""
        if name in self.written:
            return
        required = set(schema.get("required", ()))
        fields = {key: self.of(each) for key, each in schema["properties"].items()}
        lines = [f"class {name}(TypedDict):", f'    """{schema["description"].splitlines()[0]}"""', ""]
        for key, kind in fields.items():
            lines.append(f"    {key}: {kind}" if key in required else f"    {key}: NotRequired[{kind}]")
        self.written[name] = "\n".join(lines)


def _schemas(described: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, (path, method, status) in ANSWERS.items():
        yield name, described["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]


def documents(described: Mapping[str, Any]) -> str:
    """Return the text of the module out of an OpenAPI document."""
    components = described["components"]["schemas"]
    types = _Types(components)
    for name, schema in _schemas(described):
        result = components[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
        types.write(name, result)
    return HEAD + "\n" + "\n\n\n".join(types.written.values()) + "\n" + RUN


def described() -> Mapping[str, Any]:
    """Return the description of the API, which needs no database."""
    app: Any = create_app(Settings(), "postgresql+psycopg://nobody@localhost/none")
    while not isinstance(app, FastAPI):
        app = getattr(app, "app", None) or app._app
    result: Mapping[str, Any] = json.loads(json.dumps(app.openapi()))
    return result


def main() -> None:
    """Write the file."""
    TARGET.write_text(documents(described()), "utf-8")


if __name__ == "__main__":
    main()
