"""Metrics of predictions with their bootstrap intervals against YDF's own evaluation, on the same predictions.

ydf is installed from the registry into an environment of its own; both sides read the same files, each in a process of
its own. YDF resamples the areas of both classes (for a ranking also its MRR) and has no bootstrap of accuracy; ours
resamples the named metrics, and makes the report's tables too.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
N_RESAMPLES, LEVEL, RNG_SEED = 2_000, 0.95, 1234
SHARE_POSITIVE, N_ITEMS, N_RELEVANCES = 0.3, 10, 5
MAX_MIB = 1024
PEER = """
import json, sys, time
from pathlib import Path
import numpy as np
import ydf
folder, kind, n_resamples = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
scores, labels, groups = (np.load(folder / f"{name}.npy") for name in ("scores", "labels", "groups"))
if kind == "ranking":
    given = dict(task=ydf.Task.RANKING, labels=labels.astype(np.float32), ranking_groups=groups)
else:
    given = dict(task=ydf.Task.CLASSIFICATION, labels=labels.astype(np.int64))
def evaluate(bootstrapping):
    began = time.perf_counter()
    made = ydf.evaluate_predictions(scores, bootstrapping=bootstrapping, **given)
    return time.perf_counter() - began, made
points_alone = evaluate(False)[0]
taken, made = evaluate(n_resamples)
found = {"seconds": taken, "points_alone": points_alone}
# The intervals are printed nowhere: only the message behind the evaluation has them.
message = made._evaluation_proto
if kind == "ranking":
    ndcg = message.ranking.ndcg
    found["ndcg"] = [ndcg.value, ndcg.bootstrap_based_95p.lower, ndcg.bootstrap_based_95p.upper]
else:
    curve = message.classification.rocs[2]
    for name in ("auc", "pr_auc"):
        ends = (curve.bootstrap_lower_bounds_95p, curve.bootstrap_upper_bounds_95p)
        found[name] = [getattr(curve, name), *(getattr(end, name) for end in ends)]
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(json.dumps({**found, "peak_mib": int(peak.split()[1]) / 1024}))
"""

# A child's ru_maxrss begins at its parent's: the kernel's own high-water mark does not.
OURS = """
import os
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command of a worker does
import json, sys, time
from pathlib import Path
from statistics import median
import numpy as np
from app.kinds.predictions import measure as measuring
from app.boards.measured import EntrantEvidence
from app.kinds.parse import parse_manifest
from app.cache import COMPUTED
from app.values.scores import Labels, PredictionBlock
from app.values.scores import Coded, ScoreTable
folder = Path(sys.argv[1])
manifest = parse_manifest((folder / "manifest.yaml").read_bytes())
scores, labels, groups = (np.load(folder / f"{name}.npy") for name in ("scores", "labels", "groups"))
one = np.zeros(1, dtype=np.int64)
rows = ScoreTable(Coded(("A",), one), Coded(("t",), one), (), np.empty((1, 0)), one.astype(bool), one, one + 1)
def measure(n_items):
    truth = Labels("t", (), labels[:n_items], group=groups[:n_items] if len(groups) else None)
    block = PredictionBlock("A", "t", scores[:n_items, None].astype(np.float64))
    COMPUTED.clear()  # the first entrant of a board: the next ones are weighed with counts that are drawn already
    began = time.perf_counter()
    evidence = EntrantEvidence("A", rows, [block], {"t": truth})
    made = measuring.measure_predictions(manifest, manifest.leaderboards[0], evidence)
    return time.perf_counter() - began, made
# A worker compiles its loops, or loads them, once in its life.
loading, _ = measure(2_000)
runs = [measure(len(labels)) for _ in range(3)]
taken, made = median(seconds for seconds, _ in runs), runs[0][1]
found = {name: [each.point, each.low, each.high] for name, each in made.estimates.items()}
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
# The peer resamples nothing of the kind: an NDCG at each truncation, and bands around curves.
measuring.report_metrics, measuring.report_rows = lambda task: (), lambda *of: {}
bare = median(measure(len(labels))[0] for _ in range(3))
found |= {"seconds": taken, "bare": bare, "loading": loading, "peak_mib": int(peak.split()[1]) / 1024}
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Case:
    """One comparison: how much is predicted, on how many resamples the peer is measured, what we promise."""

    kind: str
    n_units: int
    n_measured: int
    limit: float

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of our board."""
        return ("ndcg",) if self.kind == "ranking" else ("auc", "pr_auc", "accuracy")

    @property
    def title(self) -> str:
        """What is predicted, in words."""
        return f"{self.n_units:,} groups of {N_ITEMS}" if self.kind == "ranking" else f"{self.n_units:,} examples"


# Of a million examples YDF is measured on fewer resamples. What they add to its points grows in proportion to them.
CASES = (
    Case("classification", 100_000, N_RESAMPLES, limit=30),
    Case("classification", 1_000_000, 200, limit=60),
    Case("ranking", 20_000, N_RESAMPLES, limit=6),
)


def measure_evaluations() -> None:
    """Print how much faster the metrics and their intervals are than YDF's, their difference, and peak memory."""
    with _peer() as python:
        for case in CASES:
            _compare(case, python)


@contextmanager
def _peer() -> Iterator[str]:
    """Yield a Python that has ydf."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "ydf==0.16.*"], check=True)
        yield python


def _compare(case: Case, python: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _write(case, Path(folder))
        theirs = _run([python, "-c", PEER, folder, case.kind, str(case.n_measured)])
        ours = _run([sys.executable, "-c", OURS, folder])
    scaled = _scaled(case, theirs)
    measured = "" if case.n_measured == N_RESAMPLES else f" (scaled from {case.n_measured} resamples)"
    print(f"{case.kind}, {case.title}, {N_RESAMPLES:,} resamples, {', '.join(case.metrics)}")
    print(f"  ydf 0.16 {scaled:.2f} s{measured}, {theirs['peak_mib']:.0f} MiB")
    print(
        f"  ours {ours['seconds']:.2f} s, {scaled / ours['seconds']:.1f} times faster (limit {case.limit:.0f}); "
        f"{ours['peak_mib']:.0f} MiB (limit {MAX_MIB}); before the first, once in a process, {ours['loading']:.1f} s"
    )
    faster = scaled / ours["bare"]
    print(f"  without the resampled tables of the report: {ours['bare']:.2f} s, {faster:.1f} times faster")
    shared = [metric for metric in case.metrics if metric in theirs]
    points, ends = _differences(shared, theirs, ours)
    print(f"  {', '.join(shared)}: points differ by {points:.1e}, ends of intervals by {ends:.2f} of their width")


def _scaled(case: Case, theirs: Mapping[str, float]) -> float:
    """Return the peer's seconds for all resamples."""
    added = theirs["seconds"] - theirs["points_alone"]
    return theirs["points_alone"] + added * N_RESAMPLES / case.n_measured


def _differences(metrics: list[str], theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> tuple[float, float]:
    """Return the largest difference of a point, and of an end as a share of the interval's width."""
    a = np.array([theirs[metric] for metric in metrics])
    b = np.array([ours[metric] for metric in metrics])
    apart = np.abs(a - b)
    return float(apart[:, 0].max()), float((apart[:, 1:].max(axis=1) / (b[:, 2] - b[:, 1])).max())


def _run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _write(case: Case, folder: Path) -> None:
    """Write the predictions, the labels, the groups (none for classification) and the manifest."""
    rng = np.random.default_rng(1)
    is_ranking = case.kind == "ranking"
    n_items = case.n_units * N_ITEMS if is_ranking else case.n_units
    labels = rng.integers(0, N_RELEVANCES, n_items) if is_ranking else rng.random(n_items) < SHARE_POSITIVE
    # Ranks instead of probabilities: float32 has no room for a million random ones without ties.
    place = np.argsort(np.argsort(rng.normal(size=n_items) + labels))
    np.save(folder / "labels.npy", labels.astype(np.float64))
    np.save(folder / "scores.npy", ((place + 0.5) / n_items).astype(np.float32))
    np.save(folder / "groups.npy", np.repeat(np.arange(case.n_units if is_ranking else 0), N_ITEMS))
    (folder / "manifest.yaml").write_text(_manifest(case))


def _manifest(case: Case) -> str:
    part = "" if case.kind == "ranking" else ", classes: [negative, positive]"
    return (
        "schema_version: 1\nslug: large\ntitle: large\nevidence: predictions\ntasks: [{id: t}]\n"
        f"predictions: {{kind: {case.kind}{part}}}\n"
        f"metrics: {{{', '.join(f'{name}: {{direction: maximize}}' for name in case.metrics)}}}\n"
        f"leaderboards: [{{name: b, method: estimate, metrics: [{', '.join(case.metrics)}], "
        f"uncertainty: {{n_resamples: {N_RESAMPLES}, level: {LEVEL}, rng_seed: {RNG_SEED}}}}}]\n"
    )
