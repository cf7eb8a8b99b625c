"""Episodes: the cluster bootstrap against its definition as a double loop, and how a publication grows."""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app.config import Settings
from app.db.embedded.running import running_server as embedded_server
from app.db.migrate import upgrade
from app.jobs.evaluate import evaluate
from app.jobs.publish import publish
from app.jobs.queue import QueuedJobs
from app.prereg.prereg import sha256_hex
from app.stats.aggregate import estimate, interquartile_mean, mean
from app.stats.cluster import chamber_generator, draw_chamber, draw_clusters, group_sample
from app.store import benchmarks
from tests.cases.chamber import MANIFEST, PREREG, bundle, episodes, zipped
from tests.cases.cluster_oracle import double_loop
from tests.cases.running_server import fresh_data_dir
from tests.conftest import Site, open_site

N_SEEDS, N_EPISODES, N_RESAMPLES = 16, 100, 10_000
N_LOOPED = 1_000
SIZES = (10, 100, 1_000)
PLAN = PREREG.replace(b"episodes_per_seed: 4", b"episodes_per_seed: 200")
YAML = {"Content-Type": "application/yaml"}


def _seconds(work: Callable[[], object], repeats: int = 5) -> float:
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return median(taken)


def measure_bootstrap() -> None:
    """Print how much faster the two streams are than the double loop, whose time is scaled from fewer resamples."""
    rng = np.random.default_rng(0)
    scores = {seed: (rng.random(N_EPISODES) < 0.3 + 0.02 * seed).astype(float).tolist() for seed in range(N_SEEDS)}
    values = np.array([value for by_seed in scores.values() for value in by_seed])
    sample = group_sample(values, np.repeat(np.arange(N_SEEDS), N_EPISODES))
    aggregates = {"mean": mean, "iqm": interquartile_mean}
    loop_s = _seconds(lambda: double_loop(scores, N_LOOPED, chamber_generator(0, "a")), 1) * N_RESAMPLES / N_LOOPED
    ours = {
        "default": lambda: draw_clusters(sample, N_RESAMPLES, np.random.default_rng(0)),
        "chamber": lambda: draw_chamber(sample, N_RESAMPLES, chamber_generator(0, "a")),
    }
    print(f"{N_SEEDS} seeds x {N_EPISODES} episodes x {N_RESAMPLES:,} resamples: the double loop takes {loop_s:.2f} s")
    for name, draw in ours.items():
        taken = _seconds(lambda draw=draw: estimate(sample, aggregates, draw(), level=0.95))  # type: ignore[misc]
        print(f"  stream {name}: {taken:.4f} s, {loop_s / taken:.0f} times faster")


def measure_growth() -> None:
    """Print how long a publication takes, and how many score rows it reads, as a benchmark grows."""
    with fresh_data_dir() as data_dir, embedded_server(data_dir) as url:
        upgrade(url)
        with open_site(url, Settings(max_requests_per_minute=1_000_000)) as site:
            manifest = MANIFEST.replace(b"prereg: required, ", b"prereg: optional, ")
            site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | YAML)
            site.http.post("/preregs", content=PLAN, headers=site.auth() | YAML)
            rows_read = _count_score_queries(site.sessions().get_bind())  # type: ignore[arg-type]
            content = zipped(bundle(episodes(n=200), prereg=PLAN))
            done = 0
            for size in SIZES:
                for number in range(done, size):
                    _submit(site, content, f"arm-{number}")
                done = size
                taken, n_queries = _publish_one_more(site, content, size, rows_read)
                print(f"  {size:>5} submissions of 2,000 episodes: {taken:.2f} s, {n_queries} reads of score rows")


def _count_score_queries(engine: Engine) -> list[int]:
    counted = [0]

    @event.listens_for(engine, "before_cursor_execute")
    def count(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        counted[0] += "FROM score" in statement

    return counted


def _submit(site: Site, content: bytes, entrant: str) -> None:
    answer = site.http.post(
        "/benchmarks/arm/submissions",
        files=[("files", ("run.zip", content))],
        data={"prereg_sha256": sha256_hex(PLAN), "entrant": entrant},
        headers=site.auth(),
    )
    evaluate(site.sessions, QueuedJobs(), answer.json()["id"])


def _publish_one_more(site: Site, content: bytes, size: int, rows_read: list[int]) -> tuple[float, int]:
    with site.sessions() as session:
        benchmark_id = benchmarks.find_benchmark(session, "arm").id
    publish(site.sessions, QueuedJobs(), benchmark_id)
    _submit(site, content, f"one-more-{size}")
    rows_read[0] = 0
    began = time.perf_counter()
    publish(site.sessions, QueuedJobs(), benchmark_id)
    return time.perf_counter() - began, rows_read[0]
