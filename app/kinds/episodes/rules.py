"""Admission rules of episodes: seeds, episodes in each seed, conditions and pairs, compared with the registration.

Called by `app.admission.rules`; each rule gives one check.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np

from app.admission.cells import Cell, Runs, codes_of, count_runs, number_rows, seeds_of
from app.admission.check import Check, listed, numbers, outcome_of_gap, policy_in_words, some
from app.boards.missing_scores import has_rankings
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg
from app.values.facts import BundleFacts
from app.values.scores import Coded, ScoreTable


def check_prereg_episodes(
    manifest: Manifest, prereg: Prereg, scores: ScoreTable, bundles: Sequence[BundleFacts]
) -> list[Check]:
    """Compare episodes, and the seeds that bundles list, with the registration."""
    runs = count_runs(scores, has_rankings(manifest, scores))
    return [
        _failure_policy(prereg),
        _seeds(prereg, runs, bundles),
        _episodes_per_seed(manifest, prereg, runs),
        _conditions(prereg, runs),
        *_pairs(prereg, scores),
    ]


def _failure_policy(prereg: Prereg) -> Check:
    if prereg.failure_policy == "strict":
        reason = "The failure policy in force is strict: missing seeds, episodes, scores or pairs keep a run out."
    else:
        reason = "The failure policy in force is best_effort: missing seeds, episodes, scores or pairs are reported."
    return Check("failure_policy", "passed", reason)


def _seeds(prereg: Prereg, runs: Runs, bundles: Sequence[BundleFacts]) -> Check:
    unregistered = list(_unregistered_seeds(prereg, runs, bundles))
    wrong = [*_repeated_seeds(bundles), *([f"{some(unregistered)}."] if unregistered else [])]
    missing = _missing_seeds(prereg, runs)
    gaps = [f"Registered seeds are missing: {some(missing)}. {policy_in_words(prereg)}"] if missing else []
    if wrong:
        return Check("seeds", "failed", " ".join([*wrong, *gaps]))
    if gaps:
        return Check("seeds", outcome_of_gap(prereg), gaps[0])
    if prereg.seeds is None:
        return Check("seeds", "warned", "The preregistration declares no seeds.")
    return Check("seeds", "passed", f"Exactly the {len(prereg.seeds)} registered seeds were delivered.")


def _repeated_seeds(bundles: Sequence[BundleFacts]) -> Iterator[str]:
    repeated = sorted({(seed, n) for b in bundles for seed, n in Counter(b.seeds or ()).items() if n > 1})
    if repeated:
        shown = some([f"seed {seed} is listed {n} times" for seed, n in repeated])
        yield f"A seed counts once however often it is listed: {shown}."


def _unregistered_seeds(prereg: Prereg, runs: Runs, bundles: Sequence[BundleFacts]) -> Iterator[str]:
    if prereg.seeds is None:
        return
    known = set(prereg.seeds)
    for run, cells in runs.items():
        if extra := seeds_of(cells) - known:
            yield f"{run} has seeds that were not registered: {numbers(extra)}"
    known |= {seed for cells in runs.values() for seed in seeds_of(cells)}
    for bundle in bundles:
        if extra := set(bundle.seeds or ()) - known:
            yield f"{bundle.name} lists seeds that were not registered: {numbers(extra)}"


def _missing_seeds(prereg: Prereg, runs: Runs) -> list[str]:
    lacking = {run: set(prereg.seeds or ()) - seeds_of(cells) for run, cells in runs.items()}
    return [f"{run} lacks {numbers(seeds)}" for run, seeds in lacking.items() if seeds]


def _episodes_per_seed(manifest: Manifest, prereg: Prereg, runs: Runs) -> Check:
    all_cells = [cell for cells in runs.values() for cell in (*cells, *_empty_cells(prereg, cells))]
    if not all_cells:
        return Check("episodes_per_seed", "failed", "There are no episodes.")
    if prereg.episodes_per_seed is None:
        return _equal_episodes(prereg, _of_one_size(manifest, all_cells))
    return _declared_episodes(prereg, prereg.episodes_per_seed, all_cells)


def _empty_cells(prereg: Prereg, cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the cells without any episode, where both the seed and the registered condition have others."""
    delivered_cells = {(cell.condition, cell.seed) for cell in cells}
    delivered = {cell.condition for cell in cells}
    for condition in prereg.conditions or ():
        for seed in sorted(seeds_of(cells)):
            if condition in delivered and (condition, seed) not in delivered_cells:
                yield Cell(cells[0].entrant, cells[0].task, condition, seed, 0, 0)


def _declared_episodes(prereg: Prereg, declared: int, cells: Sequence[Cell]) -> Check:
    rule = "episodes_per_seed"
    wrong = [f"{cell} has {_n_episodes(cell)}" for cell in cells if {cell.n_episodes, cell.n_scored} != {declared}]
    if not wrong:
        return Check(rule, "passed", f"Every seed has the {declared} registered episodes in each condition.")
    reason = f"{declared} episodes were registered for each seed and condition: {some(wrong)}."
    if any(cell.n_episodes > declared for cell in cells):
        # As with a seed that nobody registered: a failure leaves out episodes, it does not add any.
        reason += " More episodes than registered are not admitted under any policy: a run could choose when to end."
        return Check(rule, "failed", reason)
    return Check(rule, outcome_of_gap(prereg), f"{reason} {policy_in_words(prereg)}")


def _n_episodes(cell: Cell) -> str:
    return (
        str(cell.n_episodes) if cell.n_scored == cell.n_episodes else f"{cell.n_episodes}, {cell.n_scored} with scores"
    )


def _of_one_size(manifest: Manifest, cells: Iterable[Cell]) -> Mapping[str, Sequence[Cell]]:
    """Return the cells that should have the same number of episodes, by task.

    A task may have more items than another. The grid may ask an entrant for a number of its own, too: such cells are
    apart from those of the others in the task.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        own = None if manifest.grid is None or cell.entrant not in manifest.grid.entrants else cell.entrant
        groups.setdefault(cell.task if own is None else f"{cell.task}, {own}", []).append(cell)
    return groups


def _equal_episodes(prereg: Prereg, groups: Mapping[str, Sequence[Cell]]) -> Check:
    rule, sizes = "episodes_per_seed", {}
    for task, cells in groups.items():
        fewest, most = (of(cells, key=attrgetter("n_scored")) for of in (min, max))
        if fewest.n_scored < most.n_scored:
            range_ = f"from {fewest.n_scored} ({fewest}) to {most.n_scored} episodes in one condition"
            return Check(rule, outcome_of_gap(prereg), f"Seeds have {range_}. {policy_in_words(prereg)}")
        sizes[task] = most.n_scored
    each = f"has {most.n_scored}" if len(set(sizes.values())) == 1 else f"of a task has as many: {_by_task(sizes)}"
    return Check(rule, "warned", f"The preregistration does not say how many episodes; every seed {each}.")


def _by_task(sizes: Mapping[str, int]) -> str:
    return listed(f"{task} {n:,}" for task, n in sizes.items())


def _conditions(prereg: Prereg, runs: Runs) -> Check:
    if prereg.conditions is None:
        return Check("conditions", "passed", "The preregistration does not restrict the conditions.")
    declared = set(prereg.conditions)
    pairs = [cells for cells in runs.values() if cells[0].entrant in prereg.own_partner]
    others = [cells for cells in runs.values() if cells[0].entrant not in prereg.own_partner]
    wrong = [sentence for cells in others for sentence in _wrong_conditions(cells, declared)]
    wrong += [sentence for cells in pairs for sentence in _wrong_partners(cells, declared)]
    if wrong:
        return Check("conditions", "failed", some(list(dict.fromkeys(wrong))) + ".")
    sentences = [f"Exactly the {len(declared)} registered conditions were delivered."] if others else []
    sentences += [f"{cells[0].entrant} has its own trained partner only, as registered." for cells in pairs]
    return Check("conditions", "passed", " ".join(dict.fromkeys(sentences)))


def _wrong_partners(cells: Sequence[Cell], declared: set[str]) -> Iterator[str]:
    """Require that an entrant registered with its own partner has that partner, and no other, in every seed."""
    registered = f"{cells[0].entrant} is registered with its own trained partner only"
    if foreign := {cell.condition for cell in cells if cell.condition is not None} & declared:
        yield f"{registered} and has partners of the others: {listed(foreign)}"
    by_seed = Counter(cell.seed for cell in cells)
    if several := [seed for seed, n_partners in by_seed.items() if n_partners > 1]:
        yield f"{registered} and has more than one partner in seeds {numbers(several)}"


def _wrong_conditions(cells: Sequence[Cell], declared: set[str]) -> Iterator[str]:
    delivered = {cell.condition for cell in cells if cell.condition is not None}
    if extra := delivered - declared:
        yield f"{cells[0].entrant} has conditions that were not registered: {listed(extra)}"
    if missing := declared - delivered:
        # No failure policy excuses this, because leaving out the hardest partner raises the mean.
        yield f"{cells[0].entrant} lacks registered conditions: {listed(missing)}"


def _pairs(prereg: Prereg, scores: ScoreTable) -> list[Check]:
    """Check that each episode of one side of a registered contrast has its partner on the other."""
    if prereg.form != "axis" or prereg.conditions is None or scores.condition is None:
        return []
    first, second = prereg.conditions[:2]
    alone = [_count_alone(scores, scores.condition, sides) for sides in ((first, second), (second, first))]
    unmatched = [
        f"{entrant}: {alone[0][entrant]} in {first}, {alone[1][entrant]} in {second}"
        for entrant in scores.entrant.words
        if alone[0][entrant] or alone[1][entrant]
    ]
    if unmatched:
        reason = f"Episodes without a partner (same seed and item) in the other condition: {some(unmatched)}."
        return [Check("pairs", outcome_of_gap(prereg), f"{reason} {policy_in_words(prereg)}")]
    return [Check("pairs", "passed", "Every episode has its partner in the other condition.")]


def _count_alone(scores: ScoreTable, condition: Coded, sides: tuple[str, str]) -> Counter[str]:
    """Count by entrant the episodes in the first of `sides` that have no partner in the second."""
    if scores.seed is None:
        return Counter()
    episode = number_rows(scores.entrant.codes, scores.task.codes, scores.seed, codes_of(scores.item, len(scores)))
    ours, theirs = (condition.codes == _code_of(condition, name) for name in sides)
    rows = np.flatnonzero(ours & ~np.isin(episode, episode[theirs]))
    return Counter(scores.entrant.words[code] for code in scores.entrant.codes[rows].tolist())


def _code_of(column: Coded, word: str) -> int:
    # A word that does not occur matches no row, not even rows without a word.
    return column.words.index(word) if word in column.words else len(column.words)
