"""How often calibrated intervals and those they were chosen from hold the truth: `python -m bench.interval_coverage`.

Arguments are families (`mean`, `tasks`, `RMSE`, …; none: all), `quick` for a tenth of the data sets or `sets=1000` for
so many, and `choosing` for the seeds that were used in choosing instead of those of the tables in docs/statistics.md; a
number is another seed.
"""

import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.chosen import chosen
from bench.interval_world import OURS, World
from bench.interval_worlds import worlds

N_DATASETS, QUICK = 4_000, 400
SETS = "sets="
REPORTING, CHOOSING = 20_261, 1
ENOUGH, MOST_FLAT = 0.935, 0.05
SLACK = 1e-9
UNIT_OF_WEIGHTS = ("W of Σw", "H of Σw")
"""Methods that are other intervals when all weights are doubled: shown, and no rival in width."""


@dataclass(frozen=True)
class Held:
    """How a method did in one world: the share that held the truth, the mean width, the share without any."""

    held: float
    width: float
    flat: float


def measure(world: World, n_datasets: int, rng_seed: int) -> dict[str, Held]:
    """Return how each method did; the generator is seeded by the world's own name."""
    names = zlib.crc32(f"{world.family}/{world.row}/{world.column}".encode())
    drawn = world.draw(np.random.default_rng([rng_seed, names]), n_datasets)
    result = {}
    for name, (low, high) in drawn.items():
        has = ~np.isnan(low)
        held = (low <= world.truth + SLACK) & (world.truth - SLACK <= high)
        result[name] = Held(
            float(held.mean()), float((high - low)[has].mean()), float((has & (high - low < SLACK)).mean())
        )
    return result


def ratio(result: dict[str, Held]) -> float | None:
    """Return our width over that of the narrowest method that holds enough and has a width; None without another."""
    rivals = [each for name, each in result.items() if name not in UNIT_OF_WEIGHTS]
    widths = [each.width for each in rivals if each.held >= ENOUGH and each.flat <= MOST_FLAT]
    return result[OURS].width / min(widths) if widths and result[OURS].flat <= MOST_FLAT else None


@dataclass(frozen=True)
class Options:
    """What a command asks for: families by name (none: all), data sets a cell, and the seed."""

    families: list[str]
    n_datasets: int
    rng_seed: int


def options(words: Sequence[str]) -> Options:
    """Return what the words of a command line ask for, as the module's head explains them.

    >>> options(["tasks", "sets=1000", "20271"])
    Options(families=['tasks'], n_datasets=1000, rng_seed=20271)
    """
    sizes = [int(word.removeprefix(SETS)) for word in words if word.startswith(SETS)]
    seeds = [int(word) for word in words if word.isdigit()]
    names = [word for word in words if word not in ("quick", "choosing") and not word.startswith(SETS)]
    return Options(
        families=[word for word in names if not word.isdigit()],
        n_datasets=QUICK if "quick" in words else min(sizes, default=N_DATASETS),
        rng_seed=CHOOSING if "choosing" in words else min(seeds, default=REPORTING),
    )


def main() -> None:
    """Print a table for each family, then how low each method's coverage gets in it."""
    asked = options(sys.argv[1:])
    every = list(worlds())
    for family in chosen(asked.families, [world.family for world in every]):
        cells = [world for world in every if world.family == family]
        measured = [(world, measure(world, asked.n_datasets, asked.rng_seed)) for world in cells]
        print(f"\n### {family}\n")
        print("\n".join([*_table(measured), "", *_methods(measured)]), flush=True)


def _table(measured: Sequence[tuple[World, dict[str, Held]]]) -> Iterable[str]:
    """Yield the coverage of ours in each cell, with the ratio of widths where it is above one."""
    columns = list(dict.fromkeys(world.column for world, _ in measured))
    yield f"| | {' | '.join(columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for row in dict.fromkeys(world.row for world, _ in measured):
        result = {world.column: each for world, each in measured if world.row == row}
        yield f"| {row} | {' | '.join(_cell(result[c]) if c in result else '' for c in columns)} |"


def _cell(result: dict[str, Held]) -> str:
    wider = ratio(result)
    return f"{100 * result[OURS].held:.1f}" + (f" ({wider:.2f})" if wider is not None else "")


def _methods(measured: Sequence[tuple[World, dict[str, Held]]]) -> Iterable[str]:
    yield "| method | least coverage | cells below 93.5 % | of | most without width |"
    yield "|---|---|---|---|---|"
    for name in dict.fromkeys(name for _, result in measured for name in result):
        each = [result[name] for _, result in measured if name in result]
        below = sum(one.held < ENOUGH for one in each)
        least, flat = min(one.held for one in each), max(one.flat for one in each)
        yield f"| {name} | {100 * least:.1f} % | {below} | {len(each)} | {100 * flat:.0f} % |"


if __name__ == "__main__":
    main()
