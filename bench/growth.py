"""How one more submission costs as a benchmark grows: `python -m bench.growth [rows|episodes|predictions] [share]`.

Rows are sent, all of them (`bench.growing_rows`). Of episodes and predictions the first ten submissions are, and the
others are copies of these (`bench.copied`); the one that is timed is sent.

Why: docs/adr/048-benches.md.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from app.prereg.prereg import sha256_hex
from bench import growing_rows
from bench.copied import N_TEMPLATES
from bench.growing import YAML, Grown, growing_benchmark
from bench.machine import machine
from tests.cases.chamber import MANIFEST, PREREG, bundle, episode, zipped

SHARES = (0.01, 0.1, 0.3, 1.0)
N_RUNS, N_SEEDS, N_PER_SEED = 1_000, 5, 400
N_ITEMS = 100_000
PLAN = PREREG.replace(b"episodes_per_seed: 4", b"episodes_per_seed: 200")
PREDICTIONS_MANIFEST = b"""\
schema_version: 1
slug: guess
title: Guess
evidence: predictions
predictions: {kind: classification, classes: ['no', 'yes'], positive: 'yes', labels: public}
tasks: [{id: t}]
metrics:
  auc: {direction: maximize, min: 0, max: 1}
  accuracy: {direction: maximize, min: 0, max: 1}
  logloss: {direction: minimize, min: 0}
admission: {prereg: optional}
leaderboards:
  - {name: auc, method: estimate, metrics: [auc, accuracy, logloss], rank_by: auc, uncertainty: {n_resamples: 1000}}
"""


def episode_run(number: int) -> bytes:
    """Return a bundle of 2,000 episodes of its own results."""
    rng = np.random.default_rng(number)
    won = rng.random((N_SEEDS, N_PER_SEED)) < 0.3 + 0.4 * rng.random()
    records = [
        episode(seed, at, "left" if at < N_PER_SEED // 2 else "right", success=bool(won[seed, at]),
                constraint_violation_peak=float(rng.random()))
        for seed in range(N_SEEDS) for at in range(N_PER_SEED)
    ]  # fmt: skip
    schedule = {"root_seed": 0, "seeds": list(range(N_SEEDS)), "episodes_per_seed": N_PER_SEED}
    return zipped(bundle(records, prereg=PLAN, seed_schedule=schedule, policy_id=f"arm-{number}"))


def grow_episodes(shares: Sequence[float] = SHARES) -> Iterator[Grown]:
    """Yield what one more submission costs on a benchmark of episodes, as it grows to a thousand."""
    with growing_benchmark("arm", MANIFEST.replace(b"prereg: required, ", b"prereg: optional, ")) as growing:
        site = growing.site
        site.http.post("/preregs?benchmark=arm", content=PLAN, headers=site.auth() | YAML).raise_for_status()
        n = 0

        def next_one() -> Callable[[], int]:
            nonlocal n
            n += 1
            form = {"prereg_sha256": sha256_hex(PLAN), "entrant": f"arm-{n}"}
            return partial(growing.send, "run.zip", episode_run(n), **form)

        for share in shares:
            while n < min(N_TEMPLATES, round(share * N_RUNS)):
                next_one()()
            n += growing.copy_up_to(round(share * N_RUNS), n)
            size = f"{n:,} submissions"
            yield growing.several_more(size, "2,000 episodes", next_one, n)


def grow_predictions(shares: Sequence[float] = SHARES) -> Iterator[Grown]:
    """Yield what one more submission costs on a benchmark of predictions, as it grows to a thousand."""
    with growing_benchmark("guess", PREDICTIONS_MANIFEST) as growing:
        growing.put_labels("".join(f"i{at:06},{'no' if at % 3 else 'yes'}\n" for at in range(N_ITEMS)))
        n = 0

        def next_one() -> Callable[[], int]:
            nonlocal n
            n += 1
            return partial(growing.send, "predictions.csv", predicted(n), entrant=f"model-{n}")

        for share in shares:
            while n < min(N_TEMPLATES, round(share * N_RUNS)):
                next_one()()
            n += growing.copy_up_to(round(share * N_RUNS), n)
            size = f"{n:,} submissions"
            yield growing.several_more(size, f"{N_ITEMS:,} predictions", next_one, n)


def predicted(number: int) -> bytes:
    """Return predictions of its own for every item, of a quality of its own."""
    rng = np.random.default_rng(number)
    logits = rng.uniform(0.5, 2.0) * (np.arange(N_ITEMS) % 3 == 0) + rng.normal(size=N_ITEMS)
    lines = [f"i{at:06},{each:.6f}\n" for at, each in enumerate((1.0 / (1.0 + np.exp(-logits))).tolist())]
    return ("item,prediction\n" + "".join(lines)).encode()


CURVES = {"episodes": grow_episodes, "predictions": grow_predictions}


def report(curves: Sequence[str] = ("rows", *CURVES), largest: float = 1.0) -> None:
    """Print the curves as tables for docs/performance.md."""
    shares = [share for share in SHARES if share <= largest]
    if "rows" in curves:
        growing_rows.report(shares)
    if set(curves) & set(CURVES):
        print("| on the board | one more | POST to board, s | memory, MiB |\n|---|---|---|---|")
    for name in [name for name in curves if name in CURVES]:
        for grown in CURVES[name](shares):
            print(f"| {grown.size} | {grown.sent} | {grown.seconds:.2f} | {grown.peak_mib:.0f} |", flush=True)


if __name__ == "__main__":
    print(f"{machine()}\n")
    report(sys.argv[1:2] or ("rows", *CURVES), float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
