"""Measure speed against peers, as ratios in one run: `make bench`. Figures go to docs/performance.md by hand."""

from bench.clusters import measure_bootstrap, measure_growth
from bench.server import N_ROWS, measure_ingest, measure_latency
from bench.statistics import measure_boards


def main() -> None:
    """Print each figure with its ratio."""
    both_s = measure_boards()
    latency_s = measure_latency()
    print(f"from POST to the published board {latency_s:.3f} s: fev computes the same two tables in {both_s:.2f} s")
    print(f"  ratio {latency_s / both_s:.3f} (limit 0.1)")
    ingest_s, peak_mib = measure_ingest()
    print(
        f"{N_ROWS:,} rows from POST to 202: {N_ROWS / ingest_s:,.0f} rows/s, web process {peak_mib:.0f} MiB (limit 600)"
    )
    measure_bootstrap()
    print("one more submission on a benchmark of episodes, from its evaluation to the published board:")
    measure_growth()


if __name__ == "__main__":
    main()
