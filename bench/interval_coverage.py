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


def main() -> None:
    """Print a table for each family, then how low each method's coverage gets in it."""
    asked = set(sys.argv[1:])
    sizes = {int(word.removeprefix(SETS)) for word in asked if word.startswith(SETS)}
    n_datasets = QUICK if "quick" in asked else min(sizes, default=N_DATASETS)
    own = {int(word) for word in asked if word.isdigit()}
    rng_seed = CHOOSING if "choosing" in asked else min(own, default=REPORTING)
    words = [word for word in asked - {"quick", "choosing"} if not (word.isdigit() or word.startswith(SETS))]
    every = list(worlds())
    for family in chosen(words, [world.family for world in every]):
        measured = [(world, measure(world, n_datasets, rng_seed)) for world in every if world.family == family]
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
