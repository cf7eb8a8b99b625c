"""Files of others that stand in the repository: unchanged, listed, and under a licence that comes with them."""

import hashlib
import json
from typing import Any

import pytest

from bench.bill import component_of
from bench.licences import ALLOWED, VENDORED, licence_by_text, stated_of, vendored
from tests.cases.packaging import ROOT

OURS = {"plumbline.css", "plumbline.js"}


def test_every_file_of_others_is_listed() -> None:
    """What is served and not ours is in `static/vendored.json`, and nothing else is."""
    served = {path.name for path in VENDORED.parent.iterdir() if path.suffix in (".css", ".js")}

    assert served == OURS | {each["file"] for each in vendored()}


@pytest.mark.parametrize("each", vendored(), ids=lambda each: each["file"])
def test_a_file_of_others_is_as_it_was_released(each: dict[str, str]) -> None:
    """Its digest is the one of the release, its licence may be shipped, comes with it and is explained."""
    assert hashlib.sha256((VENDORED.parent / each["file"]).read_bytes()).hexdigest() == each["sha256"]
    assert ALLOWED.search(each["licence"])
    assert "Permission to use, copy, modify" in stated_of(each)
    assert f"| {each['name']} {each['version']} " in (ROOT / "docs" / "dependencies.md").read_text("utf-8")


def test_the_bill_of_materials_names_files_of_others() -> None:
    """By name, version, licence and digest, as the packages of the lock."""
    components: list[dict[str, Any]] = [component_of(each) for each in vendored()]
    listed = json.loads(VENDORED.read_text("utf-8"))

    assert [each["purl"] for each in components] == [each["purl"] for each in listed]
    assert components[0]["licenses"] == [{"license": {"id": "0BSD"}}]
    assert components[0]["hashes"][0]["content"] == listed[0]["sha256"]


def test_a_licence_that_is_not_named_is_known_by_its_text() -> None:
    """A package may bring the text of its licence and say nowhere which one it is."""
    text = "Copyright (C) 2024, somebody\n\nPermission is hereby granted, free of charge, to any person obtaining a\n"
    text += "copy of this software and associated documentation files"

    assert licence_by_text(text) == "MIT"
    assert licence_by_text("All rights reserved.") is None
