"""Everything that the published bundles and SpikeRuns state of what was run, for the page of their submission."""

import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.kinds.parse import parse_manifest
from tests.cases.chamber import EXAMPLES
from tests.cases.evidence_tables import read

# Claims, which have a check of their own, and hashes of files, which are checked as they are read.
COMPARED = ("summary", "manifest")


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and texts of a document; a list of numbers as one."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    else:
        yield ", ".join(map(str, value)) if isinstance(value, list) else value


def as_shown(value: Any) -> str:
    """Return a value as the page says it."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@pytest.mark.parametrize(
    ("example", "name"),
    [("cocarry", "B-STAT"), ("cocarry", "REF-SCRIPT"), ("handover", "B-RND"), ("handover", "B-STAT")],
)
def test_a_published_bundle_hides_nothing(tmp_path: Path, example: str, name: str) -> None:
    """Commit, policy, partners, package, platform, command, schedule and registration: each value is there."""
    folder = EXAMPLES / f"chamber-{example}"
    archive = folder / "results" / f"{name}.zip"
    with zipfile.ZipFile(archive) as opened:
        (path,) = [path for path in opened.namelist() if path.endswith("bundle.json")]
        document = json.loads(opened.read(path))
    declared = parse_manifest((folder / "manifest.yaml").read_bytes())
    evidence = read(tmp_path, {f"{name}.zip": archive.read_bytes()}, declared, name)
    (facts,) = evidence.facts.bundles
    document["seed_schedule"].pop("substream_labels", None)
    stated = {key: value for key, value in document.items() if key not in COMPARED}

    assert {as_shown(leaf) for leaf in leaves(stated)} <= set(facts.identity.values())
    assert {f"partner {name}" for name in document["partner_hashes"]} <= set(facts.identity)


def test_a_published_spike_run_hides_nothing(tmp_path: Path) -> None:
    """Run, stage, axis, both conditions, seeds and registration."""
    folder = EXAMPLES / "chamber-as"
    content = (folder / "results" / "concerto-stage1b.json.gz").read_bytes()
    document = json.loads(gzip.decompress(content))
    declared = parse_manifest((folder / "manifest.yaml").read_bytes())
    (facts,) = read(tmp_path, {"run.json.gz": content}, declared, "concerto").facts.bundles
    stated = {key: value for key, value in document.items() if key != "episode_results"}

    assert {as_shown(leaf) for leaf in leaves(stated)} == set(facts.identity.values())
