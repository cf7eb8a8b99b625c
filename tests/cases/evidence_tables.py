"""What the tests of evidence share: a small benchmark, files made on the spot, and reading them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ConfigDict

from app.errors import EvidenceRejected, Problem
from app.files.uploads import Limits, SentFile
from app.kinds.parse import known_keys
from app.kinds.reader import Evidence, read_evidence
from app.manifest.build import build_manifest
from app.manifest.model import Leaderboard, Manifest
from app.yaml import read_yaml

FEV = Path(__file__).parents[1] / "data" / "fev"
LIMITS = Limits(max_unpacked_bytes=10_000_000, max_json_bytes=1_000_000, max_files=50, max_rows=10_000)
OPEN = "{open: true}"
CLOSED = """
  - {id: easy, where: {horizon: 8, target: [a, b], levels: [0.1, 0.5], gap: null}}
  - {id: hard, where: {horizon: 24, target: y, levels: [0.1, 0.5], gap: null}}
"""


class AnyBoard(Leaderboard):
    """A board of any method: reading evidence does not depend on what is computed from it."""

    model_config = ConfigDict(extra="ignore")


def parse(manifest: bytes) -> Manifest:
    """Return a manifest whatever methods its boards have."""
    document = read_yaml(manifest, max_bytes=1 << 20, what="The manifest")
    return build_manifest(document, {"mean": AnyBoard, "skill_score": AnyBoard}, known_keys())


def make_manifest(tasks: str = OPEN, columns: str = "{entrant: model, task: task}", preset: str = "null") -> Manifest:
    """Return a benchmark with the one metric MASE, an error."""
    return parse(
        f"""
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
preset: {preset}
metrics: {{MASE: {{direction: minimize, min: 0}}}}
columns: {columns}
leaderboards: [{{name: mean, method: mean, metric: MASE}}]
tasks: {tasks}
""".encode()
    )


def read(
    folder: Path,
    files: Mapping[str, bytes | str],
    manifest: Manifest | None = None,
    entrant: str | None = None,
    limits: Limits = LIMITS,
) -> Evidence:
    """Read files of the given contents as one submission."""
    uploads = []
    for position, (name, content) in enumerate(files.items()):
        path = folder / f"upload{position}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        uploads.append(SentFile(name, path))
    return read_evidence(manifest or make_manifest(), uploads, entrant, limits)


def problems(
    folder: Path, files: Mapping[str, bytes | str], manifest: Manifest | None = None, entrant: str | None = None
) -> list[Problem]:
    """Return what is wrong with files that must be refused, each problem with its place among what was sent."""
    with pytest.raises(EvidenceRejected) as refused:
        read(folder, files, manifest, entrant)
    assert refused.value.n_problems == len(refused.value.problems)
    for problem in refused.value.problems:
        assert problem.message
        assert problem.file is not None or problem.row is None, problem
        # A name that is refused itself is shown cut and without what cannot be printed.
        is_of_name = problem.message.startswith("a file name")
        assert problem.file is None or is_of_name or problem.file.partition("/")[0] in files, problem
    return list(refused.value.problems)


def the_problem(
    folder: Path, content: bytes | str, manifest: Manifest | None = None, name: str = "results.csv"
) -> Problem:
    """Return the one thing that is wrong with a file."""
    (problem,) = problems(folder, {name: content}, manifest)
    assert problem.file == name
    return problem
