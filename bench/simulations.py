"""Make the tables of docs/statistics.md about separations, claims and failing intervals: `python -m bench.simulations`.

Words after it choose among them. What each prints replaces its part of the page, with the commit it holds for.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import claims, families, few_seeds, interval_failures, looks, ranks
from bench.written import run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "statistics.md"
PARTS: Mapping[str, Callable[[], object]] = {
    "families": families.main,
    "ranks": ranks.main,
    "few-seeds": few_seeds.main,
    "claims": claims.main,
    "failures": interval_failures.main,
    "looks": looks.main,
}


def main() -> None:
    """Run the simulations that are named, or all."""
    unknown = [name for name in sys.argv[1:] if name not in PARTS]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: no such part; there are {', '.join(PARTS)}")
    for name in sys.argv[1:] or PARTS:
        run(name, PARTS[name], PAGE)


if __name__ == "__main__":
    main()
