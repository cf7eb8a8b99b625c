"""How fast the files of each harness are read: result files and rows in a second of a processor, upload to evidence.

Part of `make bench`; `python -m bench.imports` prints it alone. The layout of MTEB's results repository has 104,926
files, so at least 2,000 of them a second are wanted.
"""

import json
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import read_evidence

DATA = Path(__file__).parent.parent / "tests" / "data"
MTEB = DATA / "mteb" / "results.zip"
WANTED, N_FILES, N_ROWS, ROUNDS = 2000, 3000, 20_000, 5
LIMITS = Limits.from_settings(Settings(max_files=200_000))

MANIFEST = """
schema_version: 1
slug: imports
title: Imports
evidence: {evidence}
{keys}
metrics: {{score: {{direction: maximize, from: "{column}"}}}}
tasks: {{open: true}}
leaderboards: [{board}]
"""
MEAN = "{name: score, method: mean, metric: score, missing: drop}"
ESTIMATE = "{name: score, method: estimate, metrics: [score], statistic: mean}"
ITEMS = "episodes: {entrant: entrant, task: task, item: [item], condition: null, seed: null}"


def measure_imports() -> None:
    """Print what is read in a second: MTEB's result files, and items that lm-eval and Every Eval Ever wrote."""
    with tempfile.TemporaryDirectory(prefix="plumbline-imports-") as folder:
        place = Path(folder)
        files = _result_files(place)
        text = MANIFEST.format(evidence="evaluation_summary", keys="", column="main_score@eng", board=MEAN)
        seconds = _fastest([files], text)
        print(f"MTEB: {N_FILES / seconds:,.0f} result files/s from a zip (wanted {WANTED:,})")
        lm_eval, instances = (
            next((DATA / "lm_eval").glob("samples_*")),
            next((DATA / "harnesses").rglob("*_samples.jsonl")),
        )
        items = {
            "lm-eval": (_repeated(lm_eval, place, "doc_id"), "exact_match,none", "model"),
            "Every Eval Ever": (_repeated(instances, place, "sample_id"), "score", None),
        }
        for name, (path, column, entrant) in items.items():
            text = MANIFEST.format(evidence="episodes", keys=ITEMS, column=column, board=ESTIMATE)
            seconds, mib = _fastest([path], text, entrant), path.stat().st_size / 2**20
            print(f"{name}: {N_ROWS / seconds:,.0f} items/s, {mib / seconds:,.0f} MiB/s")


def _result_files(folder: Path) -> Path:
    """Return a zip of as many of MTEB's own result files, under further revisions of their models."""
    target, n_written = folder / "results.zip", 0
    with zipfile.ZipFile(MTEB) as given, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as created:
        names = [name for name in given.namelist() if name.endswith(".json") and "model_meta" not in name]
        while n_written < N_FILES:
            name = names[n_written % len(names)]
            *_, model, revision, file = name.split("/")
            created.writestr(f"{model}-{n_written // len(names)}/{revision}/{file}", given.read(name))
            n_written += 1
    return target


def _repeated(sample: Path, folder: Path, key: str) -> Path:
    """Return the lines of a sample as often as wanted, each an item of its own."""
    lines = [json.loads(line) for line in sample.read_text("utf-8").splitlines()]
    target = folder / sample.name
    with target.open("w") as written:
        for at in range(N_ROWS):
            line = lines[at % len(lines)]
            item = at if isinstance(line[key], int) else str(at)
            written.write(json.dumps({**line, key: item}) + "\n")
    return target


def _fastest(paths: Sequence[Path], manifest: str, entrant: str | None = None) -> float:
    """Return the processor seconds of the fastest of some readings, which is one process and one thread."""
    parsed, taken = parse_manifest(manifest.encode()), []
    for _ in range(ROUNDS):
        began = time.process_time()
        read_evidence(parsed, [SentFile(path.name, path) for path in paths], entrant, LIMITS)
        taken.append(time.process_time() - began)
    return min(taken)


if __name__ == "__main__":
    measure_imports()
