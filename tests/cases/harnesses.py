"""Files that harnesses wrote, as a submission would bring them, and manifests that read them."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.config import Settings
from app.files.findings import Findings
from app.files.uploads import Limits, SentFile, Unpacking
from app.harnesses.contract import HarnessRun, Row
from app.harnesses.registry import split_harnesses
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, read_evidence

DATA = Path(__file__).parents[1] / "data"
SAMPLES = DATA / "harnesses"
LM_EVAL = DATA / "lm_eval"
MTEB_RESULTS = DATA / "mteb" / "results.zip"
SUFFIXES = (".csv", ".json", ".jsonl", ".eval", ".yaml", ".yml", ".md")
LIMITS = Limits.from_settings(Settings())

ITEMS = """\
schema_version: 1
slug: items
title: Items
evidence: episodes
episodes: {{entrant: entrant, task: task, item: [item], condition: null, seed: {seed}}}
metrics:
  score: {{direction: maximize, min: 0, max: 1, from: "{column}"}}
tasks: {{open: true}}
leaderboards:
  - {{name: score, method: estimate, metrics: [score], statistic: mean, uncertainty: {{n_resamples: 100}}}}
"""

SUMMARY = """\
schema_version: 1
slug: summaries
title: Summaries
evidence: evaluation_summary
metrics:
  score: {{direction: maximize, from: "{column}"}}
tasks: {{open: true}}
leaderboards:
  - {{name: score, method: mean, metric: score, missing: drop}}
"""


def zipped(folder: Path, target: Path, pattern: str = "*") -> Path:
    """Pack the files of a folder as the command line sends it."""
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob(pattern)):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return target


def written(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into a folder and return their paths."""
    paths = [folder / name for name in files]
    for path in paths:
        path.write_bytes(files[path.name])
    return paths


def rows_of(paths: Sequence[Path], folder: Path, level: str = "items") -> tuple[list[Row], HarnessRun]:
    """Return the rows of the one harness whose files these are, and what was found of them."""
    findings = Findings()
    unpacking = Unpacking(LIMITS, folder, findings, SUFFIXES)
    unpacking.take_all([SentFile(path.name, path) for path in paths])
    ((harness, files),) = split_harnesses(unpacking.files)[0]
    run = HarnessRun(files, findings)
    return list(getattr(harness, level)(run)), run


def read(paths: Sequence[Path], manifest: str, entrant: str | None = None) -> Evidence:
    """Read files as the evidence of a manifest."""
    uploads = [SentFile(path.name, path) for path in paths]
    return read_evidence(parse_manifest(manifest.encode()), uploads, entrant, LIMITS)
