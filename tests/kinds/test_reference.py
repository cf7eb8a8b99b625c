"""docs/manifest.md and the JSON Schema say every key of a manifest, and their examples are manifests."""

import os
from pathlib import Path

import pytest

from app.boards.registry import methods
from app.kinds.parse import EXAMPLES, FIELDS, manifest_json_schema, manifest_page, parse_manifest, text_of

pytestmark = pytest.mark.heavy


PAGE = Path(__file__).parents[2] / "docs" / "manifest.md"


def types() -> dict[str, list[str]]:
    """Return the keys of every type of the schema."""
    schema = manifest_json_schema()
    result = {"Manifest": schema, **schema["$defs"]}
    return {name: list(about["properties"]) for name, about in result.items() if "properties" in about}


def test_the_page_is_up_to_date() -> None:
    """REWRITE_DOCS=1 writes it anew."""
    if os.environ.get("REWRITE_DOCS"):
        PAGE.write_text(manifest_page(), "utf-8")

    assert PAGE.read_text("utf-8") == manifest_page()


def test_every_key_is_described_and_no_other() -> None:
    """A new key needs its sentence, and one that is gone leaves none behind."""
    known = types()
    undescribed = [f"{name}.{key}" for name, keys in known.items() for key in keys if text_of(name, key) is None]
    gone = [f"{name}.{key}" for name, keys in FIELDS.items() if name != "*" for key in keys
            if key not in known.get(name, ())]  # fmt: skip

    assert (undescribed, gone) == ([], [])
    assert set(known) >= {method.spec.__name__ for method in methods().values()}


@pytest.mark.parametrize("title", list(EXAMPLES))
def test_an_example_is_a_manifest_that_names_its_schema(title: str) -> None:
    """So an editor completes what is copied from the page."""
    text = EXAMPLES[title]

    assert text.startswith("# yaml-language-server: $schema=")
    assert parse_manifest(text.encode()).leaderboards


def test_the_schema_has_an_identity() -> None:
    """Tools tell it from others by it."""
    schema = manifest_json_schema()

    assert schema["$schema"].startswith("https://json-schema.org/")
    assert schema["$id"] == "urn:plumbline:manifest:1"
