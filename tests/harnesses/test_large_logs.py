"""A log of a gigabyte is read line by line: memory stays that of its rows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.harnesses import ITEMS, LM_EVAL

MIB = 1024 * 1024
MOST_MIB = 700
READ = """
import resource, sys
from pathlib import Path
from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import read_evidence
limits, path = Limits.from_settings(Settings(max_unpacked_mib=2048)), Path(sys.argv[1])
found = read_evidence(parse_manifest(sys.argv[2].encode()), [SentFile(path.name, path)], "m", limits)
print(len(found.scores), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
def test_a_gigabyte_of_samples_is_read_within_bounded_memory(tmp_path: Path) -> None:
    """Real samples of lm-eval with long prompts, 1 GiB of them."""
    sample = next(LM_EVAL.glob("samples_*.jsonl"))
    line = json.loads(sample.read_text("utf-8").splitlines()[0])
    path, n_rows = tmp_path / sample.name, 2048
    with path.open("w") as log:
        for number in range(n_rows):
            log.write(json.dumps({**line, "doc_id": number, "prompt": "x" * (MIB // 2)}) + "\n")
    manifest = ITEMS.format(column="exact_match,none", seed="null")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), manifest], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    n_read, peak_mib = map(int, done.stdout.split())

    assert path.stat().st_size > 1024 * MIB
    assert n_read == n_rows
    assert peak_mib < MOST_MIB
