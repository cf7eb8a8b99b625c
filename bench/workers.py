"""Fair workers: `python -m bench.workers`. A hundred benchmarks are stale at once, with and without a big one.

For 1, 2 and 4 workers: when the boards of the small ones are published, counted from the first of all. Checked: every
submission is published.
"""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import text

from app.config import Settings
from app.db.embedded import running_server as embedded_server
from app.db.migrate import upgrade
from bench.growing import YAML
from bench.growing_rows import N_TASKS, ROWS_MANIFEST, summary_rows
from bench.readers import percentile
from tests.cases.running_server import environment, fresh_data_dir
from tests.fixtures import Site, open_site

N_SMALL, N_BIG_ENTRANTS, WORKERS, WITHIN_S = 100, 300, (1, 2, 4), 300.0
SMALL = b"model,task,MASE\n" + b"".join(b"m%05d,t%d,%d\n" % (m, t, 1 + m + t) for m in range(5) for t in range(20))
ENDS_WITHIN_S = 30


def report(workers: Sequence[int] = WORKERS) -> None:
    """Print p95 of the small ones. Raises where something was not published."""
    beside_what = f"beside {N_BIG_ENTRANTS * N_TASKS:,} rows, p95, s"
    print(f"| workers | small alone, p95, s | {beside_what} | ratio (limit 2 from two on) |")
    print("|---|---|---|---|")
    for n_workers in workers:
        alone, beside = (percentile(_published(n_workers, with_big=big), 0.95) for big in (False, True))
        print(f"| {n_workers} | {alone:.1f} | {beside:.1f} | {beside / alone:.2f} |", flush=True)


def _published(n_workers: int, *, with_big: bool) -> list[float]:
    """Return when each small benchmark was published, in seconds since the first."""
    with ExitStack() as stack:
        data_dir = stack.enter_context(fresh_data_dir())
        url = stack.enter_context(embedded_server(data_dir))
        upgrade(url)
        site = stack.enter_context(open_site(url, Settings(max_requests_per_minute=1_000_000)))
        if with_big:
            _send(site, "big", summary_rows(0, N_BIG_ENTRANTS))
        for number in range(N_SMALL):
            _send(site, f"small-{number:03}", SMALL)
        for _ in range(n_workers):
            stack.enter_context(_worker(url))
        _wait(site)
        query = "SELECT extract(epoch FROM s.published_at - min(s.published_at) OVER ()), b.slug FROM snapshot s "
        query += "JOIN benchmark b ON b.id = s.benchmark_id"
        with site.sessions() as session:
            return [float(since) for since, slug in session.execute(text(query)) if slug != "big"]


def _send(site: Site, slug: str, rows: bytes) -> None:
    manifest = ROWS_MANIFEST.replace(b"slug: rows", f"slug: {slug}".encode())
    for answer in (
        site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | YAML),
        # The baseline is among the rows, and its name is the steward's.
        site.http.post(
            f"/benchmarks/{slug}/submissions", files=[("files", ("a.csv", rows))], headers=site.auth("steward")
        ),
    ):
        answer.raise_for_status()


@contextmanager
def _worker(url: str) -> Iterator[None]:
    settings = {name: text for name, text in environment(Path()).items() if name != "PLUMBLINE_DATA_DIR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "worker"], env={**settings, "PLUMBLINE_DATABASE_URL": url}
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(ENDS_WITHIN_S)


def _wait(site: Site) -> None:
    until = time.monotonic() + WITHIN_S
    query = text("SELECT count(*) FROM submission WHERE status <> 'published'")
    while True:
        with site.sessions() as session:
            left = session.execute(query).scalar_one()
        if not left:
            return
        if time.monotonic() > until:
            raise RuntimeError(f"{left} submissions are not published after {WITHIN_S:.0f} s")
        time.sleep(0.2)


if __name__ == "__main__":
    report([int(number) for number in sys.argv[1:]] or WORKERS)
