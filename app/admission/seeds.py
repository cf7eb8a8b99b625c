"""The admission rule that counts seeds, where a benchmark requires some. Called by `app.admission.rules`."""

from collections.abc import Sequence

from app.admission.cells import Cell, count_runs, scored_seeds, seeds_of
from app.admission.check import Check, some
from app.boards.missing_scores import has_rankings
from app.manifest.manifest import Manifest
from app.values.counts import count
from app.values.scores import ScoreTable


def check_min_seeds(manifest: Manifest, scores: ScoreTable, minimum: int, run_purpose: str) -> Check:
    """Count the distinct seeds with scores of each entrant in each task. Power and debug runs may have fewer."""
    runs = count_runs(scores, has_rankings(manifest, scores))
    few = [cells for cells in runs.values() if len(scored_seeds(cells)) < minimum]
    if runs and not few:
        return Check("min_seeds", "passed", f"Every entrant has at least {count(minimum, 'seed')} on every task.")
    counts = [f"{cells[0].entrant} has {_n_seeds(cells)} on {cells[0].task}" for cells in few]
    reason = f"{some(counts or ['The rows carry no seeds'])}; the benchmark requires {minimum}."
    if run_purpose != "leaderboard":
        return Check("min_seeds", "warned", f"{reason} A {run_purpose} run may have fewer: it is never ranked.")
    return Check("min_seeds", "failed", reason)


def _n_seeds(cells: Sequence[Cell]) -> str:
    n_seeds = len(scored_seeds(cells))
    return count(n_seeds, "seed") + ("" if n_seeds == len(seeds_of(cells)) else " with scores")
