"""What the tests of predictions share: a benchmark of each kind with its labels, and reading files against them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from app.errors import EvidenceRejected, Problem
from app.files.uploads import SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, read_evidence
from app.manifest.model import Manifest
from app.values.scores import Labels
from tests.cases.evidence_tables import LIMITS

BINARY = "kind: classification, classes: ['no', 'yes']"
COLOURS = "kind: classification, classes: [red, green, blue]"
PROTEIN = """
schema_version: 1
slug: protein
title: Protein
evidence: predictions
predictions: {kind: classification, classes: [a, b, c], labels: submitted}
tasks: [{id: fold}]
metrics: {accuracy: {direction: maximize, min: 0, max: 1}}
leaderboards: [{name: accuracy, method: estimate, metrics: [accuracy]}]
"""
"""A whole benchmark of predictions that come with their labels."""


def manifest(part: str = BINARY, tasks: str = "[{id: t}]") -> Manifest:
    """Return a benchmark of predictions whose part of that name is given."""
    return parse_manifest(yaml(part, tasks).encode())


def yaml(part: str = BINARY, tasks: str = "[{id: t}]", prereg: str = "optional") -> str:
    """Return the manifest's text, with one metric of its kind."""
    metric = "rmse" if "regression" in part else "ndcg" if "ranking" in part else "accuracy"
    direction = "minimize" if metric == "rmse" else "maximize"
    return f"""
schema_version: 1
slug: guess
title: Guess
evidence: predictions
metrics: {{{metric}: {{direction: {direction}}}}}
tasks: {tasks}
admission: {{prereg: {prereg}}}
predictions: {{{part}}}
leaderboards: [{{name: board, method: estimate, metrics: [{metric}]}}]
"""


def labels(*items: str, task: str = "t") -> dict[str, Labels]:
    """Return labels of items, 0 and 1 in turn."""
    return {task: Labels(task, items, np.arange(len(items), dtype=np.float64) % 2)}


def uploaded(folder: Path, files: Mapping[str, bytes | str]) -> list[SentFile]:
    """Return files of the given contents as they arrive."""
    uploads = []
    for position, (name, content) in enumerate(files.items()):
        path = folder / f"upload{position}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        uploads.append(SentFile(name, path))
    return uploads


def read(
    folder: Path,
    content: bytes | str | Mapping[str, bytes | str],
    part: str = BINARY,
    truth: Mapping[str, Labels] | None = None,
    entrant: str | None = "A",
) -> Evidence:
    """Read one CSV, or files of the given names, as a submission against labels of the items a, b, c."""
    files = content if isinstance(content, Mapping) else {"p.csv": content}
    truth = labels("a", "b", "c") if truth is None else truth
    tasks = ", ".join(f"{{id: {task}}}" for task in truth) or "{id: t}"
    return read_evidence(manifest(part, f"[{tasks}]"), uploaded(folder, files), entrant, LIMITS, truth)


def problems(
    folder: Path,
    content: bytes | str | Mapping[str, bytes | str],
    part: str = BINARY,
    truth: Mapping[str, Labels] | None = None,
    entrant: str | None = "A",
) -> list[Problem]:
    """Return what is wrong with a submission that must be refused."""
    with pytest.raises(EvidenceRejected) as refused:
        read(folder, content, part, truth, entrant)
    assert refused.value.n_problems == len(refused.value.problems)
    return list(refused.value.problems)
