"""docs/manifest.md and the JSON Schema say every key of a manifest, and their examples are manifests."""

import pytest

from app.boards.registry import methods
from app.kinds.parse import manifest_json_schema, parse_manifest
from bench.reference import DOCS, MANIFESTS, manifest_page

pytestmark = [pytest.mark.heavy, pytest.mark.unmutated]


def test_the_page_is_up_to_date() -> None:
    """`python -m bench.reference` writes it anew."""
    assert (DOCS / "manifest.md").read_text("utf-8") == manifest_page()


def test_every_key_is_described() -> None:
    """A new key needs its sentence."""
    schema = manifest_json_schema()
    types = {"Manifest": schema, **schema["$defs"]}

    assert types.keys() >= {method.spec.__name__ for method in methods().values()}
    assert [f"{name}.{key}" for name, about in types.items() for key, said in about.get("properties", {}).items()
            if "description" not in said] == []  # fmt: skip


@pytest.mark.parametrize("title", list(MANIFESTS))
def test_an_example_is_a_manifest_that_names_its_schema(title: str) -> None:
    """So an editor completes what is copied from the page."""
    text = MANIFESTS[title]

    assert text.startswith("# yaml-language-server: $schema=")
    assert parse_manifest(text.encode()).leaderboards


def test_the_schema_has_an_identity() -> None:
    """Tools tell it from others by it."""
    schema = manifest_json_schema()

    assert schema["$schema"].startswith("https://json-schema.org/")
    assert schema["$id"] == "urn:plumbline:manifest:1"
