"""The boards of fev-bench against fev's own functions, on the same rows, and a large board against limits.

fev is installed from the registry into an environment of its own for the time of the measurement.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from app.boards.methods.skill_score import compute
from app.boards.registry import compute_board
from app.cache import COMPUTED
from app.kinds.parse import parse_manifest
from app.manifest.model import Leaderboard, Manifest
from app.values.scores import Coded, ScoreTable
from app.values.table import Table
from tests.cases.fev_rows import FEV, fev_scores

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "fev-bench" / "manifest.yaml"
PEER = """
import json, resource, sys, time
import pandas as pd
import fev
rows = pd.concat([pd.read_csv(path) for path in sys.argv[1:]], ignore_index=True)
common = dict(metric_column="SQL", missing_strategy="impute", baseline_model="Seasonal Naive",
              n_resamples=1000, seed=123)
found = {}
for name, function in (("leaderboard", fev.leaderboard), ("pairwise", fev.pairwise_comparison)):
    began = time.perf_counter()
    function(rows, **common)
    found[name] = time.perf_counter() - began
found["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""

# A child's ru_maxrss begins at its parent's: the kernel's own high-water mark does not.
ALONE = """
import json, sys, time
from pathlib import Path
from app.boards.registry import compute_board
from bench.statistics import MANIFEST, SCORES
spec = MANIFEST.leaderboard("sql")
drawn = spec.uncertainty.model_copy(update={"n_resamples": int(sys.argv[1])})
began = time.perf_counter()
assert compute_board(MANIFEST, spec.model_copy(update={"uncertainty": drawn}), SCORES).pairwise is not None
taken = time.perf_counter() - began
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(json.dumps([int(peak.split()[1]) / 1024, taken]))
"""


def measure_boards() -> float:
    """Print each figure with its ratio and return how long fev needs for both tables, in seconds."""
    peer = time_peer()
    spec = MANIFEST.leaderboard("sql")
    both = best_of(5, lambda: with_pairs(MANIFEST, spec, SCORES))
    alone = best_of(5, lambda: compute_leaderboard(MANIFEST, spec, SCORES))
    print(f"fev leaderboard {peer['leaderboard']:.2f} s, pairwise {peer['pairwise']:.2f} s, {peer['peak_mib']:.0f} MiB")
    print(
        f"ours: leaderboard {alone:.4f} s, {peer['leaderboard'] / alone:.0f} times faster; with its pairs {both:.4f} s"
    )
    print(f"  pairs alone {both - alone:.4f} s, {peer['pairwise'] / (both - alone):.0f} times faster")
    for n_resamples in (1_000, 10_000):
        added, taken = peak_of(n_resamples)
        print(f"  both tables, {n_resamples:,} resamples, in a process of its own: {taken:.2f} s, {added:.0f} MiB")
    large = best_of(1, large_board)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"100 entrants x 1,000 tasks x 1,000 resamples, both tables: {large:.2f} s (limit 3), peak {peak:.0f} MiB")
    return peer["leaderboard"] + peer["pairwise"]


def with_pairs(manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> Table:
    """Compute the board and return its pairs, which are made only when they are asked for."""
    pairs = compute_board(manifest, spec, scores).pairwise
    if pairs is None:
        raise SystemExit("the board has no pairs")
    return pairs


def compute_leaderboard(manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> object:
    """Compute the board without its pairs."""
    return compute(manifest, spec, scores, with_pairs=False)  # type: ignore[arg-type]


def peak_of(n_resamples: int) -> tuple[float, float]:
    """Return the peak MiB of a process that computes both tables from the files, and its seconds for the tables."""
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(n_resamples)], check=True, capture_output=True, text=True, cwd=ROOT
    )
    peak, taken = json.loads(done.stdout)
    return peak, taken


def best_of(n_times: int, work: Callable[[], object]) -> float:
    """Return the shortest of several runs, in seconds; none remembers what an earlier one computed."""
    taken = []
    for _ in range(n_times):
        COMPUTED.clear()
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def time_peer() -> dict[str, float]:
    """Install fev into an environment of its own and time it on the given rows."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "fev==0.10.*"], check=True)
        files = [str(path) for path in sorted((FEV / "results").glob("*.csv"))]
        done = subprocess.run([python, "-c", PEER, *files], check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def large_board() -> object:
    """Compute a board of the size that fev cannot do."""
    return with_pairs(*large_inputs())


def large_inputs() -> tuple[Manifest, Leaderboard, ScoreTable]:
    """Return a board of random errors of the size that fev cannot do, with its manifest and rows."""
    n_entrants, n_tasks = 100, 1000
    entrants = tuple(f"e{number:03}" for number in range(n_entrants))
    tasks = tuple(f"t{number:04}" for number in range(n_tasks))
    n_rows = n_entrants * n_tasks
    scores = ScoreTable(
        entrant=Coded(entrants, np.repeat(np.arange(n_entrants), n_tasks)),
        task=Coded(tasks, np.tile(np.arange(n_tasks), n_entrants)),
        columns=("SQL",),
        values=np.exp(np.random.default_rng(1).normal(size=(n_rows, 1))),
        leaked=np.zeros(n_rows, dtype=bool),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows),
    )
    board = "{name: b, method: skill_score, metric: SQL, baseline: e000, uncertainty: {n_resamples: 1000}}"
    text = (
        "schema_version: 1\nslug: large\ntitle: large\nevidence: evaluation_summary\ntasks: {open: true}\n"
        f"metrics: {{SQL: {{direction: minimize}}}}\nleaderboards: [{board}]\n"
    )
    manifest = parse_manifest(text.encode())
    return manifest, manifest.leaderboards[0], scores


MANIFEST = parse_manifest(EXAMPLE.read_bytes())
SCORES = fev_scores()
