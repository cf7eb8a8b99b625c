"""Measure speed against peers, as ratios in one run: `make bench`. Figures go to docs/performance.md by hand."""

import sys

from bench.attacks import measure_attacks
from bench.clusters import measure_bootstrap
from bench.growth import report as report_growth
from bench.imports import measure_imports
from bench.own_numbers import measure_own_numbers
from bench.pages import measure_pages
from bench.predictions import measure_evaluations
from bench.readers import report
from bench.server import N_ROWS, measure_ingest, measure_latency
from bench.statistics import measure_boards
from bench.strata import measure_strata


def main() -> None:
    """Print each figure with its ratio; `attacks` prints what strangers do to a server instead."""
    if sys.argv[1:] == ["attacks"]:
        measure_attacks()
        return
    both_s = measure_boards()
    measure_own_numbers()
    latency_s = measure_latency()
    print(f"from POST to the published board {latency_s:.3f} s: fev computes the same two tables in {both_s:.2f} s")
    print(f"  ratio {latency_s / both_s:.3f} (limit 0.1)")
    ingest_s, copy_s, peak_mib = measure_ingest()
    print(
        f"{N_ROWS:,} rows from POST to 202: {N_ROWS / ingest_s:,.0f} rows/s, web process {peak_mib:.0f} MiB (limit 600)"
    )
    print(f"  the server's own COPY of them: {N_ROWS / copy_s:,.0f} rows/s; ratio {copy_s / ingest_s:.2f} (limit 0.35)")
    cached, unchanged, bare = measure_pages()
    print(f"cached page {cached:,.0f} requests/s, 304 {unchanged:,.0f}, a bare app {bare:,.0f}")
    print(f"  ratios {cached / bare:.2f} and {unchanged / bare:.2f} (limit 0.7)")
    report()
    measure_imports()
    measure_bootstrap()
    report_growth()
    measure_strata()
    measure_evaluations()


if __name__ == "__main__":
    main()
