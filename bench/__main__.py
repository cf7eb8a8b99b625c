"""Measure speed against peers, as ratios in one run: `make bench`. Figures go to docs/performance.md by hand."""

from bench.statistics import main

if __name__ == "__main__":
    main()
