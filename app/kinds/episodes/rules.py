"""Admission rules of episodes: seeds, episodes in each seed, conditions and pairs, compared with the registration."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from app.admission.case import (
    CLAIMS_PRESENT,
    Case,
    Check,
    Claims,
    Registered,
    claims_missing,
    listed,
    numbers,
    outcome_of_gap,
    policy_in_words,
    some,
)
from app.admission.rules import Cell, Runs, codes_of, count_runs, number_rows, seeds_of
from app.boards.coverage import has_rankings, missing_rankings
from app.kinds.episodes import bundles
from app.kinds.episodes.coverage import TaskCells, of_task, task_cells
from app.kinds.episodes.summary import CLAIMED_INTERVAL, DRAWN_WITH, MAX_CLAIMED_RESAMPLES, can_be_drawn
from app.manifest.model import Manifest, RequiredGrid
from app.prereg.fields import IID_REFUSED, Prereg
from app.stats.arrays import BoolArray
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


# Admission rule of episodes: they are compared with the benchmark's grid, whatever their registration names. Episodes
# beyond the grid are refused, so that nobody improves a mean with additional ones; missing ones give a warning, and
# the boards account for them.

RULE = "grid"


def check_grid(case: Case) -> list[Check]:
    """Compare each entrant's episodes with the grid; no check where the manifest leaves an axis of it open."""
    asked = _asked(case)
    if case.manifest.grid is None or asked.tasks is None:
        return []
    compared = list(_cells(case, asked))
    if any(cells is None for *_, cells in compared):
        return []
    known = [(entrant, task, cells) for entrant, task, cells in compared if cells is not None]
    beyond = [f"{e} on {t} has {n} episodes" for e, t, c in known if (n := _n_beyond(case, e, t, c))]
    gaps = [f"{e} on {t} has {n} of {n_all}" for e, t, c in known for n, n_all in [_counts(c)] if n < n_all]
    if beyond:
        return [Check(RULE, "failed", f"Beyond the benchmark's grid: {some(beyond)}.")]
    if gaps:
        becomes = (
            "counts as the worst there is" if case.manifest.absent == "worst" else "keeps an entrant off the ranks"
        )
        return [Check(RULE, "warned", f"Absent from the benchmark's grid: {some(gaps)}. What is absent {becomes}.")]
    if others := list(_other_seeds(known)):
        reason = "Each task has as many seeds as the grid asks for, but not the same ones"
        return [Check(RULE, "warned", f"{reason}: {some(others)}. Who chooses them task by task can choose the best.")]
    return [Check(RULE, "passed", "Every episode of the benchmark's grid is there, and no other.")]


def _other_seeds(known: Sequence[tuple[str, str, TaskCells]]) -> Iterator[str]:
    """Yield entrants with more distinct seeds over their tasks than the grid asks for in any task."""
    for entrant in dict.fromkeys(name for name, _, _ in known):
        own = [cells for name, _, cells in known if name == entrant]
        n_seeds = len({seed for cells in own for seed in cells.seeds})
        if n_seeds > max(cells.n_seeds for cells in own):
            yield f"{entrant} has {n_seeds} in all"


def _asked(case: Case) -> RequiredGrid:
    """Return the grid with what the registration names of the axes that it may choose."""
    asked = case.manifest.asked
    if case.registered is None:
        return asked
    prereg = case.registered.prereg
    axes: dict[str, Any] = {
        axis: tuple(named) for axis in asked.grid.registration_may_choose if (named := getattr(prereg, axis))
    }
    chosen = dict.fromkeys(case.scores.entrant.words, axes)
    return replace(asked, facts=replace(asked.facts, chosen=chosen))


def _cells(case: Case, asked: RequiredGrid) -> Iterator[tuple[str, str, TaskCells | None]]:
    metric = case.manifest.leaderboards[0].required_metrics()[0]
    for code, entrant in enumerate(case.scores.entrant.words):
        mine = case.scores.entrant.codes == code
        for task in asked.tasks or ():
            rows = mine & of_task(case.scores, task)
            yield entrant, task, task_cells(asked.cells_of(task, entrant), case.scores, rows, metric)


def _counts(cells: TaskCells) -> tuple[int, int]:
    coverage = cells.coverage()
    return coverage.n_included, coverage.n_attempted


def _n_beyond(case: Case, entrant: str, task: str, cells: TaskCells) -> int:
    mine = case.scores.entrant.codes == case.scores.entrant.words.index(entrant)
    rows = mine & of_task(case.scores, task)
    return int(np.sum(rows & ~cells.rows)) + cells.coverage().n_over


# Admission rule of episodes without a score: an empty cell is a failure to report, never a way to leave one out.

SCORES_RULE = "scores_present"


def check_scores_present(manifest: Manifest, prereg: Prereg | None, scores: ScoreTable) -> Check:
    """Require a score of every ranking metric in every episode; the failure policy decides on missing ones.

    A failure of another kind of evidence is an absent row or an item without a prediction: the boards count it.
    """
    missing = {metric: rows for metric, rows in missing_rankings(manifest, scores).items() if rows.any()}
    if missing:
        gaps = [gap for metric, rows in missing.items() for gap in _by_entrant(scores, metric, rows)]
        return _judge(manifest, prereg, list(missing), f"Episodes without a score that ranks: {some(gaps)}.")
    if partial := list(_partial(manifest, scores)):
        reason = (
            f"Every episode has the scores that rank. Left out of the averages, for want of a value: {some(partial)}."
        )
        return Check(SCORES_RULE, "warned", reason)
    return Check(SCORES_RULE, "passed", "Every episode has the scores that rank.")


def _judge(manifest: Manifest, prereg: Prereg | None, metrics: list[str], gaps: str) -> Check:
    whose = "The benchmark's" if prereg is None else "The registered"
    policy = manifest.admission.failure_policy if prereg is None else prereg.failure_policy
    if policy == "strict":
        return Check(SCORES_RULE, "failed", f"{gaps} {whose} failure policy is strict.")
    worst = {metric: manifest.metrics[metric].worst for metric in metrics}
    if unbounded := [metric for metric, value in worst.items() if value is None]:
        reason = f"{gaps} The manifest declares no worst value that they could count as: {some(unbounded)}."
        return Check(SCORES_RULE, "failed", reason)
    counted = some([f"{metric} {value:g}" for metric, value in worst.items()])
    reason = f"{gaps} {whose} failure policy is best_effort: each counts as the worst there is ({counted})."
    return Check(SCORES_RULE, "warned", reason)


def _by_entrant(scores: ScoreTable, metric: str, rows: BoolArray) -> Iterator[str]:
    for code, entrant in enumerate(scores.entrant.words):
        mine = scores.entrant.codes == code
        if n_missing := int((rows & mine).sum()):
            yield f"{metric} of {entrant} in {n_missing} of {int(mine.sum())}"


def _partial(manifest: Manifest, scores: ScoreTable) -> Iterator[str]:
    """Yield the other metrics that some episodes of an entrant have and some have not."""
    ranking = {metric for board in manifest.leaderboards for metric in board.required_metrics()}
    for metric in scores.columns:
        missing = np.isnan(scores.value(metric))
        measured = np.unique(scores.entrant.codes[~missing])
        if metric not in ranking:
            yield from _by_entrant(scores, metric, missing & np.isin(scores.entrant.codes, measured))


# Admission rules on what result bundles state about themselves: registration, schedule, method and claims.

MIN_RESAMPLES = 1000

KNOWN_VERSIONS = {*bundles.KNOWN_VERSIONS, *bundles.SPIKE_VERSIONS}


def check_prereg_bundles(registered: Registered, scores: ScoreTable, bundles: Sequence[BundleFacts]) -> list[Check]:
    """Compare bundles with the registration and with their own schedule."""
    prereg = registered.prereg
    return [
        *_unchanged(registered, bundles),
        *_git_tag(prereg, bundles),
        *_bundle_method(prereg, bundles),
        *_bundle_purpose(prereg, bundles),
        *_schedule(prereg, scores, bundles),
    ]


def check_bundles(bundles: Sequence[BundleFacts]) -> list[Check]:
    """Compare bundles with the rules of their own layout, whatever was registered."""
    return [*_schema_version(bundles), *_resamples(bundles)]


def check_claims_present(entrants: Sequence[str], bundles: Sequence[BundleFacts], claims: Claims | None) -> list[Check]:
    """Require a claim for every entrant: an interval where there is a bundle to contain it."""
    without_interval = [bundle.name for bundle in bundles if not _has_interval(bundle) and _may_claim(bundle)]
    if without_interval:
        reason = f"The benchmark requires a claimed interval ({', '.join(CLAIMED_INTERVAL)})"
        return [Check("claims", "failed", f"{reason}; it is missing in {some(without_interval)}.")]
    if vague := [bundle.name for bundle in bundles if _has_interval(bundle) and not can_be_drawn(bundle.summary)]:
        reason = f"A claimed interval is compared by drawing it again, with {' and '.join(DRAWN_WITH)}"
        return [Check("claims", "failed", f"{reason}; these are no whole numbers in {some(vague)}.")]
    covered = {bundle.entrant for bundle in bundles if _has_interval(bundle)}
    by_field = {entrant for entrant, values in (claims or {}).items() if values}
    if silent := set(entrants) - covered - by_field:
        return [claims_missing(silent)]
    if set(entrants) - covered:
        reason = "The claims hold averages and no interval: only a bundle's summary can claim one."
        return [Check("claims", "warned", reason)]
    return [CLAIMS_PRESENT]


def _has_interval(bundle: BundleFacts) -> bool:
    return all(bundle.summary.get(name) is not None for name in CLAIMED_INTERVAL)


def _may_claim(bundle: BundleFacts) -> bool:
    # A SpikeRun has no place for a summary; a bundle of schema 3 has one.
    return bundle.schema_version not in bundles.SPIKE_VERSIONS


def _unchanged(registered: Registered, bundles: Sequence[BundleFacts]) -> list[Check]:
    """Compare the registered bytes with those in each bundle, and with the git blob that the bundle cites."""
    if not bundles:
        return []
    if wrong := [sentence for bundle in bundles for sentence in _other_bytes(registered, bundle)]:
        known = f"SHA-256 {registered.sha256}, git blob {registered.git_blob_sha1}"
        reason = f"Not what was registered ({known}): {some(wrong)}."
        return [Check("prereg_unchanged", "failed", reason)]
    silent = [bundle.name for bundle in bundles if bundle.prereg_sha256 is None and bundle.cited_blob_sha1 is None]
    if silent:
        reason = f"These do not say which preregistration they ran: {some(silent)}."
        return [Check("prereg_unchanged", "warned", reason)]
    return [Check("prereg_unchanged", "passed", "Every bundle ran the bytes that were registered.")]


def _other_bytes(registered: Registered, bundle: BundleFacts) -> Iterator[str]:
    if bundle.prereg_sha256 not in (None, registered.sha256):
        yield f"the prereg.yaml in {bundle.name} has SHA-256 {bundle.prereg_sha256}"
    elif bundle.prereg_blob_sha1 not in (None, registered.git_blob_sha1):
        yield f"the prereg.yaml in {bundle.name} is git blob {bundle.prereg_blob_sha1}"
    if bundle.cited_blob_sha1 not in (None, registered.git_blob_sha1):
        yield f"{bundle.name} cites git blob {bundle.cited_blob_sha1}"


def _git_tag(prereg: Prereg, bundles: Sequence[BundleFacts]) -> list[Check]:
    tags = {bundle.git_tag for bundle in bundles if bundle.git_tag is not None}
    if not tags or prereg.git_tag is None:
        return []
    if other := tags - {prereg.git_tag}:
        # Only the bytes count: tags can be moved, and revisions of one document carry a suffix.
        reason = f"The registration names the tag {prereg.git_tag}, the files name {listed(other)}; the bytes decide."
        return [Check("git_tag", "warned", reason)]
    return [Check("git_tag", "passed", f"The files name the registered tag {prereg.git_tag}.")]


def _bundle_method(prereg: Prereg, bundles: Sequence[BundleFacts]) -> list[Check]:
    rule = "bundle_bootstrap_method"
    methods = {bundle.bootstrap_method for bundle in bundles if bundle.bootstrap_method is not None}
    if not methods:
        return []
    if prereg.run_purpose == "leaderboard" and "iid" in methods:
        return [Check(rule, "failed", IID_REFUSED)]
    if other := methods - _alike(prereg.bootstrap_method):
        reason = f"The registered bootstrap method is {prereg.bootstrap_method}, the files say {listed(other)}."
        return [Check(rule, "failed", reason)]
    return [Check(rule, "passed", f"The files say the registered bootstrap method, {prereg.bootstrap_method}.")]


def _alike(method: str) -> set[str]:
    # Hierarchical is another name for the cluster bootstrap.
    return {"cluster", "hierarchical"} if method in ("cluster", "hierarchical") else {method}


def _bundle_purpose(prereg: Prereg, bundles: Sequence[BundleFacts]) -> list[Check]:
    rule = "bundle_run_purpose"
    purposes = {bundle.run_purpose for bundle in bundles if bundle.run_purpose is not None}
    if not purposes:
        return []
    if other := purposes - {prereg.run_purpose}:
        reason = f"The registered run purpose is {prereg.run_purpose}, the files say {listed(other)}."
        return [Check(rule, "failed", reason)]
    return [Check(rule, "passed", f"The files say the registered run purpose, {prereg.run_purpose}.")]


def _schedule(prereg: Prereg, scores: ScoreTable, bundles: Sequence[BundleFacts]) -> list[Check]:
    """Compare the seeds and episodes that each bundle lists with those in its files."""
    scheduled = [bundle for bundle in bundles if bundle.seeds is not None]
    wrong = [sentence for bundle in scheduled for sentence in _off_schedule(scores, bundle)]
    if wrong:
        return [Check("schedule", outcome_of_gap(prereg), f"The files differ from their own list: {some(wrong)}.")]
    return [Check("schedule", "passed", "The files hold the seeds that they list.")] if scheduled else []


def _off_schedule(scores: ScoreTable, bundle: BundleFacts) -> Iterator[str]:
    if scores.seed is None:
        return
    counts = Counter(scores.seed[np.isin(scores.file, bundle.files)].tolist())
    if missing := set(bundle.seeds or ()) - set(counts):
        yield f"{bundle.name} lists seeds without episodes ({numbers(missing)})"
    if unlisted := set(counts) - set(bundle.seeds or ()):
        yield f"{bundle.name} has episodes of seeds that it does not list ({numbers(unlisted)})"
    wrong = set(counts.values()) - {bundle.episodes_per_seed}
    if bundle.episodes_per_seed is not None and wrong:
        yield f"{bundle.name} lists {bundle.episodes_per_seed} episodes in each seed and has {numbers(wrong)}"


def _schema_version(bundles: Sequence[BundleFacts]) -> list[Check]:
    if not bundles:
        return []
    unknown = [
        f"{bundle.name}: {bundle.schema_version}" for bundle in bundles if bundle.schema_version not in KNOWN_VERSIONS
    ]
    if unknown:
        known = numbers(KNOWN_VERSIONS)
        return [Check("schema_version", "failed", f"Unknown schema version ({some(unknown)}); known are {known}.")]
    return [Check("schema_version", "passed", "The files have a schema version that is known here.")]


def _resamples(bundles: Sequence[BundleFacts]) -> list[Check]:
    claiming = [bundle for bundle in bundles if _has_interval(bundle) or "n_resamples" in bundle.summary]
    if wrong := [*_too_few_resamples(claiming), *_impossible_intervals(claiming)]:
        return [Check("resamples", "failed", " ".join(wrong))]
    many = [b.name for b in claiming if (b.summary.get("n_resamples") or 0) > MAX_CLAIMED_RESAMPLES]
    if many:
        reason = f"More than {MAX_CLAIMED_RESAMPLES:,} resamples are not drawn again to compare: {some(many)}."
        return [Check("resamples", "warned", reason)]
    return [Check("resamples", "passed", "Claimed intervals have enough resamples.")] if claiming else []


def _too_few_resamples(claiming: Sequence[BundleFacts]) -> Iterator[str]:
    counts = {bundle.name: bundle.summary.get("n_resamples") for bundle in claiming}
    if unknown := [name for name, n in counts.items() if n is None]:
        yield f"An interval cannot be drawn again without the number of its resamples (n_resamples): {some(unknown)}."
    few = [f"{name}: {n}" for name, n in counts.items() if n is not None and (n < MIN_RESAMPLES or n % 1 != 0)]
    if few:
        yield f"An interval from fewer than {MIN_RESAMPLES} resamples is not one: {some(few)}."


def _impossible_intervals(claiming: Sequence[BundleFacts]) -> Iterator[str]:
    ends = {bundle.name: [bundle.summary.get(name) for name in CLAIMED_INTERVAL] for bundle in claiming}
    backwards = [
        f"{name}: {low} to {high}"
        for name, (low, high) in ends.items()
        if low is not None and high is not None and low > high
    ]
    if backwards:
        yield f"The low end of a claimed interval lies above its high end: {some(backwards)}."
