"""Measure speed against peers, in one run, and write docs/performance.md: `make bench`, or `ARGS="rows pages"`.

Each part fails where what it timed did not happen; what it printed replaces its part of the page, with the commit and
the machine. `attacks` is not among those that run when none is named.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial

from bench import growth, plans, readers, workers
from bench.attacks import measure_attacks
from bench.clusters import measure_bootstrap
from bench.imports import measure_imports
from bench.one_more import measure_one_more
from bench.own_numbers import measure_own_numbers
from bench.pages import measure_pages
from bench.predictions import measure_evaluations
from bench.server import N_ROWS, measure_export, measure_ingest, measure_latency
from bench.statistics import measure_boards
from bench.strata import measure_strata
from bench.written import run


def boards() -> None:
    """Boards beside fev's functions, and from a POST to the published board."""
    both_s = measure_boards()
    measure_own_numbers()
    latency_s = measure_latency()
    print(f"from POST to the published board {latency_s:.3f} s: fev computes the same two tables in {both_s:.2f} s")
    print(f"  ratio {latency_s / both_s:.3f} (limit 0.1)")


def ingest() -> None:
    """A million rows beside the server's own COPY."""
    ingest_s, copy_s, peak_mib = measure_ingest()
    print(
        f"{N_ROWS:,} rows from POST to 202: {N_ROWS / ingest_s:,.0f} rows/s, web process {peak_mib:.0f} MiB (limit 600)"
    )
    print(f"  the server's own COPY without indexes or keys: {N_ROWS / copy_s:,.0f} rows/s; "
          f"ratio {copy_s / ingest_s:.2f} (limit 0.5)")  # fmt: skip


def export() -> None:
    """A million rows to a reader beside the server's own COPY."""
    taken, copy_s, peak_mib = measure_export()
    print(f"{N_ROWS:,} rows to a reader: {N_ROWS / taken:,.0f} rows/s, web process {peak_mib:.0f} MiB")
    print(f"  the server's own COPY: {N_ROWS / copy_s:,.0f} rows/s; ratio {copy_s / taken:.2f} (limit 0.5)")


def cached_pages() -> None:
    """A published page beside a bare app."""
    cached, unchanged, bare = measure_pages()
    print(f"cached page {cached:,.0f} requests/s, 304 {unchanged:,.0f}, a bare app {bare:,.0f}")
    print(f"  ratios {cached / bare:.2f} and {unchanged / bare:.2f} (limit 0.75)")


PARTS: Mapping[str, Callable[[], object]] = {
    "boards": boards,
    "ingest": ingest,
    "export": export,
    "pages": cached_pages,
    "readers": readers.report,
    "too-many-writers": partial(readers.report, 20.0, readers.TOO_MANY_PER_S),
    "imports": measure_imports,
    "one-more": measure_one_more,
    "clusters": measure_bootstrap,
    "rows": partial(growth.report, ["rows"]),
    "episodes": partial(growth.report, ["episodes"]),
    "predictions-growth": partial(growth.report, ["predictions"]),
    "workers": workers.report,
    "plans": plans.report,
    "strata": measure_strata,
    "predictions": measure_evaluations,
}

EVERY: Mapping[str, Callable[[], object]] = {**PARTS, "attacks": measure_attacks}


def main() -> None:
    """Run the parts that are named, or all but the attacks."""
    unknown = [name for name in sys.argv[1:] if name not in EVERY]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: no such part; there are {', '.join(EVERY)}")
    for name in sys.argv[1:] or PARTS:
        run(name, EVERY[name])


if __name__ == "__main__":
    main()
