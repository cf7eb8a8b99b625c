"""How often two entrants of a few seeds each are called separable, equal ones and others: `python -m bench.few_seeds`.

Every data set is drawn as boards of episodes draw it (`app.kinds.episodes.measure.draw_by_name`), and goes through
`app.stats.rank_sets`. Seeds are the entrants' own, or shared, and each episode as hard for both; equal entrants have
one true mean, but not one law: seeds may collapse altogether, or vary (beta, by the intraclass correlation). Its tables
stand in docs/statistics.md. Its random seeds are used nowhere else.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import stdtrit

from app.boards.calibrated import Precision
from app.kinds.episodes.measure import EQUAL, NEARLY, DrawnScore, left_open
from app.stats.arrays import BoolArray, FloatArray
from app.stats.rank_sets import AllPairs, rank_sets
from app.stats.resample import named_uniforms, named_weights, unit_keys
from app.stats.spreads import SHARE

N_DATASETS, N_RESAMPLES, N_EPISODES, LEVEL = 2_000, 1_000, 20, 0.95
FIRST_SEED = 77
SIZES = (3, 5, 8, 16, 30, 45)


@dataclass(frozen=True)
class Seeds:
    """How seeds succeed: the share `fails` at the rate `failing`, others at a rate that is beta (mean, ICC)."""

    rate: float
    icc: float = 0.0
    fails: float = 0.0
    failing: float = 0.0
    n_episodes: int = N_EPISODES

    @property
    def mean(self) -> float:
        """Return the true mean over seeds."""
        return (1.0 - self.fails) * self.rate + self.fails * self.failing

    def draw(self, rng: np.random.Generator, *shape: int, hardness: FloatArray | None = None) -> FloatArray:
        """Return the share of successful episodes of each seed, in this shape.

        With `hardness`, uniform [*shape, n_episodes], an episode succeeds where the rate is above its own.
        """
        total = (1.0 - self.icc) / self.icc if self.icc else 0.0
        own = rng.beta(self.rate * total, (1.0 - self.rate) * total, shape) if total else np.full(shape, self.rate)
        rates = np.where(rng.random(shape) < self.fails, self.failing, own)
        if hardness is not None:
            return np.asarray((hardness < rates[..., None]).mean(axis=-1))
        return np.asarray(rng.binomial(self.n_episodes, rates) / self.n_episodes)

    def mirrored(self) -> "Mirrored":
        """Return the seeds that fail where these succeed."""
        return Mirrored(self)


@dataclass(frozen=True)
class Mirrored:
    """Seeds that succeed where others fail: collapses at the upper end."""

    of: Seeds

    @property
    def mean(self) -> float:
        """Return the true mean over seeds."""
        return 1.0 - self.of.mean

    def draw(self, rng: np.random.Generator, *shape: int) -> FloatArray:
        """Return the share of successful episodes of each seed, in this shape."""
        return 1.0 - self.of.draw(rng, *shape)


Sides = tuple[Seeds | Mirrored, Seeds | Mirrored]


def beside(rate: float, fails: float, n_episodes: int = N_EPISODES) -> tuple[Seeds, Seeds]:
    """Return an entrant of which some seeds fail, and one of the same mean whose seeds are all alike."""
    return Seeds(rate, fails=fails, n_episodes=n_episodes), Seeds(rate * (1.0 - fails), n_episodes=n_episodes)


SMOOTH: Mapping[str, tuple[Sides, tuple[int, ...]]] = {
    f"{rate}, ICC {icc}": ((Seeds(rate, icc), Seeds(rate, icc)), (5, 8, 16))
    for rate in (0.5, 0.8, 0.95)
    for icc in (0.0, 0.02, 0.1, 0.3)
}

COLLAPSING: Mapping[str, tuple[Sides, tuple[int, ...]]] = {
    "every seed at 0.02, both": ((Seeds(0.02), Seeds(0.02)), (5, 8, 16)),
    "0.5 of the seeds fail, others 0.4; both": ((Seeds(0.4, fails=0.5), Seeds(0.4, fails=0.5)), (5, 8, 16)),
    **{
        f"{fails} of the seeds fail, others {rate}; beside {rate * (1 - fails):.2f}": (beside(rate, fails), (5, 8, 16))
        for fails, rate in ((0.5, 0.4), (0.6, 0.5), (0.7, 0.5), (0.8, 0.5), (0.9, 0.5), (0.95, 1.0), (0.7, 1.0))
    },
    **{
        f"mirrored: {fails} of the seeds always succeed, others {1 - rate:.1f}": (
            (Seeds(rate, fails=fails).mirrored(), Seeds(rate * (1 - fails)).mirrored()),
            (5, 8),
        )
        for fails, rate in ((0.7, 0.5), (0.9, 0.5))
    },
}

RARE: Mapping[str, tuple[Sides, tuple[int, ...]]] = {
    "0.1 of the seeds fail, others 0.9; beside 0.81": (beside(0.9, 0.1), (5, 8, 16, 30, 45)),
    "0.1 of the seeds fail, others 0.9; beside 0.81, of 50 episodes": (beside(0.9, 0.1, 50), SIZES),
    "0.2 of the seeds fail, others 0.9; beside 0.72": (beside(0.9, 0.2), (5, 8, 16, 30, 45)),
    "0.7 of the seeds succeed at 0.02, others always; beside 0.31": (
        (Seeds(1.0, fails=0.7, failing=0.02), Seeds(0.314)),
        (5, 8, 16),
    ),
}
"""What few seeds do not show although they are not equal: boards say so."""

SHARED: Mapping[str, tuple[tuple[Seeds, Seeds], tuple[int, ...]]] = {
    f"shared seeds, each episode as hard for both: {world}": (sides, SIZES)
    for world, sides in {
        "0.1 of the seeds fail, others 0.9; beside 0.81, of 50 episodes": beside(0.9, 0.1, 50),
        "0.8, ICC 0.1, both, of 50 episodes": (Seeds(0.8, 0.1, n_episodes=50), Seeds(0.8, 0.1, n_episodes=50)),
    }.items()
}
"""Pairing takes out what is as hard for both, and leaves the seed that was not seen to fail."""

DIFFERENT: Mapping[str, tuple[Sides, tuple[int, ...]]] = {
    "0.5 against 0.8, ICC 0.02": ((Seeds(0.5, 0.02), Seeds(0.8, 0.02)), (5, 8)),
    "0.7 against 0.8, ICC 0.05": ((Seeds(0.7, 0.05), Seeds(0.8, 0.05)), (16,)),
    "0.6 against 0.8, ICC 0.2": ((Seeds(0.6, 0.2), Seeds(0.8, 0.2)), (16,)),
    "0 against 0.5": ((Seeds(0.0), Seeds(0.5)), (5, 8, 16)),
    "0 against 1": ((Seeds(0.0), Seeds(1.0)), (5, 8)),
}


def replicates_of(entrant: str, shares: FloatArray, *, are_shared: bool = False) -> FloatArray:
    """Return replicates [n_datasets, n_resamples] of the means of seeds [n_datasets, n_seeds].

    They are those of `app.kinds.episodes.measure.draw_by_name`, for seeds of as many episodes each.
    """
    n_seeds = shares.shape[1]
    names = [(str(seed),) if are_shared else (entrant, str(seed)) for seed in range(n_seeds)]
    weights = named_weights(unit_keys(0, names), N_RESAMPLES)
    own = named_uniforms(0, (entrant, EQUAL), N_RESAMPLES)
    replicates: FloatArray = shares @ weights.T / weights.sum(axis=1)
    apart, precision = np.ptp(shares, axis=1), Precision.of_units(n_seeds)
    for at in np.flatnonzero(apart < NEARLY).tolist():
        score = DrawnScore(replicates[at], precision, np.arange(n_seeds), float(apart[at]))
        replicates[at] = left_open(score, SHARE, LEVEL, own).replicates
    return replicates


def are_separated(first: FloatArray, second: FloatArray, *, are_shared: bool = False) -> BoolArray:
    """Say of each data set whether two entrants with these means of seeds [n_datasets, n_seeds] are separable.

    The sets ask for a difference larger than Student's quantile at least: only where it is, are they computed.
    """
    both = (("A", first), ("B", second))
    drawn = [replicates_of(name, shares, are_shared=are_shared) for name, shares in both]
    points = np.stack([first.mean(axis=1), second.mean(axis=1)])
    precision = Precision.of_units(first.shape[1])
    spread = (drawn[0] - drawn[1]).std(axis=1, ddof=1)
    least = np.sqrt(precision.inflation) * spread * stdtrit(precision.freedom, (1.0 + LEVEL) / 2.0)
    found: BoolArray = np.abs(points[0] - points[1]) > 0.999 * least
    of_both = [np.full(2, each) for each in (precision.freedom, precision.inflation)]
    for at in np.flatnonzero(found).tolist():
        all_pairs = AllPairs(points[:, at], np.stack([own[at] for own in drawn], axis=1), *of_both)
        found[at] = rank_sets(all_pairs, LEVEL).separated.any()
    return found


def share_separated(sides: Sides, n_seeds: int, n_datasets: int = N_DATASETS) -> float:
    """Return the share of data sets in which the two are separable."""
    rng = np.random.default_rng([FIRST_SEED, n_seeds])
    return float(are_separated(*(side.draw(rng, n_datasets, n_seeds) for side in sides)).mean())


def share_separated_by_shared(sides: tuple[Seeds, Seeds], n_seeds: int, n_datasets: int = N_DATASETS) -> float:
    """Return the same where seeds are shared, and each episode of one is as hard for both."""
    rng = np.random.default_rng([FIRST_SEED, n_seeds])
    hardness = rng.random((n_datasets, n_seeds, sides[0].n_episodes))
    shares = [side.draw(rng, n_datasets, n_seeds, hardness=hardness) for side in sides]
    return float(are_separated(*shares, are_shared=True).mean())


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the tables as Markdown."""
    shares = {
        title: {world: (partial(share_separated, sides), at) for world, (sides, at) in worlds.items()}
        for title, worlds in (("equal entrants", {**SMOOTH, **COLLAPSING, **RARE}), ("different entrants", DIFFERENT))
    }
    shared = {world: (partial(share_separated_by_shared, sides), at) for world, (sides, at) in SHARED.items()}
    shares["equal entrants"] |= shared
    for title, worlds in shares.items():
        print(f"| two {title} | {SIZES[0]} seeds | {' | '.join(map(str, SIZES[1:]))} |\n|---|{'---|' * len(SIZES)}")
        for world, (share, at) in worlds.items():
            cells = [f"{100 * share(n, n_datasets):.1f} %" if n in at else "" for n in SIZES]
            print(f"| {world} | {' | '.join(cells)} |", flush=True)
        print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
