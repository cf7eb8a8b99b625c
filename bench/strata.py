"""Uncertainty of a series benchmark against lrdbench's own, on the same rows and with equal numbers.

lrdbench is installed from the registry into an environment of its own. Its time grows in proportion to the resamples,
so it is measured with fewer of them and scaled; the numbers are compared at that number of resamples.
"""

import json
import subprocess
import sys
import tempfile
import time

import numpy as np

from app.boards.methods.weighted_rank.records import stratum_aggregates
from app.kinds.series.contract import SeriesInterval, series_intervals
from app.kinds.series.manifest_part import SeriesUncertainty
from app.stats.strata import Group

N_ESTIMATORS, N_STRATA, N_RECORDS, N_METRICS = 20, 50, 10, 5
N_RESAMPLES, N_MEASURED = 1_000, 100
PEER = """
import itertools, json, sys, time
from types import SimpleNamespace
import numpy as np
from lrdbench.evaluator import GroundTruthEvaluator
from lrdbench.schema import MetricValue
n_estimators, n_strata, n_records, n_metrics, n_boot = map(int, sys.argv[1:6])
values = np.random.default_rng(1).normal(size=(n_estimators, n_strata, n_records, n_metrics))
def row(e, s, r, m, value):
    return MetricValue(run_id="r", record_id=r, estimator_name=f"E{e:02}", metric_name=f"m{m}", value=float(value),
                       stratum={"s": s}, metadata={"stratum_key": (("s", s),)})
cells = itertools.product(range(n_strata), range(n_records), range(n_estimators), range(n_metrics))
rows = [row(e, s, f"r{s}-{r}", m, values[e, s, r, m]) for s, r, e, m in cells]
cells = itertools.product(range(n_strata), range(n_estimators), range(n_metrics))
aggregate = [row(e, s, None, m, np.mean(values[e, s, :, m])) for s, e, m in cells]
found = {}
for name, paired in (("aggregates", False), ("paired", True)):
    manifest = SimpleNamespace(metric_specs=[], seed_spec={}, uncertainty_spec={
        "enabled": True, "n_bootstrap": n_boot, "ci_levels": [0.95], "seed": 7, "paired": paired})
    began = time.perf_counter()
    made = GroundTruthEvaluator.__new__(GroundTruthEvaluator)._benchmark_uncertainty("r", rows, aggregate, manifest)
    found[name] = [time.perf_counter() - began, [[v.metadata["ci_low"], v.metadata["ci_high"]] for v in made]]
print(json.dumps(found))
"""


def measure_strata() -> None:
    """Print how much faster the intervals are than lrdbench's, without and with the paired differences."""
    peer = _time_peer()
    groups = _groups()
    for name, paired in (("aggregates", False), ("paired", True)):
        seconds, theirs = peer[name]
        scaled = seconds * N_RESAMPLES / N_MEASURED
        same = _intervals(groups, N_MEASURED, paired=paired)
        ends = np.array([[interval.low, interval.high] for interval in same])
        difference = float(np.abs(ends - np.array(theirs)).max())
        began = time.perf_counter()
        _intervals(groups, N_RESAMPLES, paired=paired)
        ours = time.perf_counter() - began
        print(f"{name}: {len(same):,} intervals, {N_RESAMPLES:,} resamples")
        print(f"  lrdbench 2.0 {scaled:.1f} s, ours {ours:.2f} s")
        print(f"  {scaled / ours:.0f} times faster (limit 60); largest difference of a bound {difference:.1e}")


def _intervals(groups: list[Group], n_resamples: int, *, paired: bool) -> list[SeriesInterval]:
    drawn = SeriesUncertainty(n_resamples=n_resamples, rng_seed=7, paired=paired, stream="lrdbench")
    return list(series_intervals(groups, stratum_aggregates(groups), drawn))


def _groups() -> list[Group]:
    """Return the same rows as the peer's, grouped in order of their first appearance."""
    values = np.random.default_rng(1).normal(size=(N_ESTIMATORS, N_STRATA, N_RECORDS, N_METRICS))
    return [
        Group(f"E{e:02}", f"m{m}", f"s{s}", values[e, s, :, m], np.arange(N_RECORDS) + 100 * s)
        for s in range(N_STRATA)
        for e in range(N_ESTIMATORS)
        for m in range(N_METRICS)
    ]


def _time_peer() -> dict[str, tuple[float, list[list[float]]]]:
    sizes = [str(size) for size in (N_ESTIMATORS, N_STRATA, N_RECORDS, N_METRICS, N_MEASURED)]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "lrdbench==2.0.*"], check=True)
        done = subprocess.run([python, "-c", PEER, *sizes], check=True, capture_output=True, text=True)
    result: dict[str, tuple[float, list[list[float]]]] = json.loads(done.stdout.splitlines()[-1])
    return result
