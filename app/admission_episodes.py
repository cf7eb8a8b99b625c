"""Admission rules of episodes: seeds, episodes in each seed, conditions, pairs, and what bundles say of themselves.

Called by `app.admission`. Each rule gives one check. Rules that only bind ranked runs pass for power and debug runs
and say so: such runs are stored and shown, never ranked.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from app.admission_check import Check, Outcome, Registered, listed
from app.facts import BundleFacts
from app.manifest import Manifest
from app.prereg import Prereg
from app.prereg_shared import IID_REFUSED
from app.scores import NONE, ScoreTable

MIN_RESAMPLES = 1000
CLAIMED_INTERVAL = ("success_ci_low", "success_ci_high")
IntArray = NDArray[np.int64]


def check_prereg_episodes(registered: Registered, scores: ScoreTable, bundles: Sequence[BundleFacts]) -> list[Check]:
    """Hold episodes and bundles against the registration."""
    prereg = registered.prereg
    return [
        _seeds(prereg, scores, bundles),
        _episodes_per_seed(prereg, scores),
        _conditions(prereg, scores),
        *_pairs(prereg, scores),
        *_unchanged(registered, bundles),
        *_git_tag(prereg, bundles),
        *_bundle_method(prereg, bundles),
    ]


def check_bundles(manifest: Manifest, bundles: Sequence[BundleFacts], *, has_claims: bool) -> list[Check]:
    """Hold what bundles say of themselves against the benchmark's rules, whatever was registered."""
    return [*_claimed_interval(manifest, bundles, has_claims=has_claims), *_resamples(bundles)]


def check_min_seeds(scores: ScoreTable, minimum: int, run_purpose: str) -> Check:
    """Count the distinct seeds of each entrant in each task; the fewest decides."""
    counts = [(len(np.unique(seeds)), entrant, task) for entrant, task, seeds in _by_entrant_and_task(scores)]
    fewest, entrant, task = min(counts, default=(0, "nobody", "no task"))
    reason = f"{entrant} has {fewest} seeds on {task}; the benchmark requires {minimum}."
    if fewest >= minimum:
        return Check("min_seeds", "passed", f"Every entrant has at least {minimum} seeds on every task.")
    if run_purpose != "leaderboard":
        return Check("min_seeds", "warned", f"{reason} A {run_purpose} run may have fewer: it is never ranked.")
    return Check("min_seeds", "failed", reason)


def _by_entrant_and_task(scores: ScoreTable) -> Iterator[tuple[str, str, IntArray]]:
    if scores.seed is None:
        return
    for code, entrant in enumerate(scores.entrant.words):
        for number, task in enumerate(scores.task.words):
            rows = (scores.entrant.codes == code) & (scores.task.codes == number)
            if rows.any():
                yield entrant, task, scores.seed[rows]


def _seeds(prereg: Prereg, scores: ScoreTable, bundles: Sequence[BundleFacts]) -> Check:
    repeated = sorted({(seed, n) for b in bundles for seed, n in Counter(b.seeds or ()).items() if n > 1})
    if repeated:
        shown = ", ".join(f"seed {seed} is listed {n} times" for seed, n in repeated[:5])
        return Check("seeds", "failed", f"A seed counts once however often it is listed: {shown}.")
    if prereg.seeds is None:
        return Check("seeds", "warned", "The preregistration declares no seeds.")
    declared = set(prereg.seeds)
    missing: dict[str, set[int]] = {}
    for entrant, task, seeds in _by_entrant_and_task(scores):
        delivered = set(seeds.tolist())
        if extra := delivered - declared:
            return Check(
                "seeds", "failed", f"{entrant} on {task} has seeds that were not registered: {_numbers(extra)}."
            )
        if lacking := declared - delivered:
            missing[f"{entrant} on {task}"] = lacking
    if missing:
        shown = "; ".join(f"{who} lacks {_numbers(lacking)}" for who, lacking in list(missing.items())[:5])
        return Check("seeds", _under(prereg), f"Registered seeds are missing: {shown}. {_policy(prereg)}")
    return Check("seeds", "passed", f"Exactly the {len(declared)} registered seeds were delivered.")


def _under(prereg: Prereg) -> Outcome:
    return "failed" if prereg.failure_policy == "strict" else "warned"


def _policy(prereg: Prereg) -> str:
    if prereg.failure_policy == "strict":
        return "The registered failure policy is strict."
    return "The registered failure policy is best_effort: they are left out, and reported here."


def _episodes_per_seed(prereg: Prereg, scores: ScoreTable) -> Check:
    rule = "episodes_per_seed"
    counts = _counts(scores)
    if not counts:
        return Check(rule, "failed", "There are no episodes.")
    if prereg.episodes_per_seed is not None:
        wrong = [f"{cell} has {n}" for cell, n in counts.items() if n != prereg.episodes_per_seed]
        if wrong:
            reason = f"{prereg.episodes_per_seed} episodes were registered for each seed and condition: {_some(wrong)}."
            return Check(rule, _under(prereg), f"{reason} {_policy(prereg)}")
        return Check(
            rule, "passed", f"Every seed has the {prereg.episodes_per_seed} registered episodes in each condition."
        )
    fewest, most = min(counts.values()), max(counts.values())
    if fewest != most:
        cell = next(cell for cell, n in counts.items() if n == fewest)
        reason = f"Seeds have from {fewest} ({cell}) to {most} episodes in one condition. {_policy(prereg)}"
        return Check(rule, _under(prereg), reason)
    return Check(rule, "warned", f"The preregistration does not say how many episodes; every seed has {most}.")


def _counts(scores: ScoreTable) -> dict[str, int]:
    """Count the episodes of each (entrant, task, condition, seed), the cell in words."""
    if scores.seed is None:
        return {}
    condition = scores.condition.codes if scores.condition else np.full(len(scores), NONE, dtype=np.int64)
    cells = np.column_stack([scores.entrant.codes, scores.task.codes, condition, scores.seed])
    distinct, counts = np.unique(cells, axis=0, return_counts=True)
    words = [None, *(scores.condition.words if scores.condition else ())]
    return {
        " ".join(
            part
            for part in (
                f"{scores.entrant.words[entrant]},",
                f"{scores.task.words[task]},",
                f"{words[code + 1]}," if words[code + 1] else "",
                f"seed {seed}",
            )
            if part
        ): int(n)
        for (entrant, task, code, seed), n in zip(distinct.tolist(), counts.tolist(), strict=True)
    }


def _conditions(prereg: Prereg, scores: ScoreTable) -> Check:
    if prereg.conditions is None:
        return Check("conditions", "passed", "The preregistration does not restrict the conditions.")
    declared = set(prereg.conditions)
    for code, entrant in enumerate(scores.entrant.words):
        delivered = set() if scores.condition is None else _words(scores, scores.entrant.codes == code)
        if extra := delivered - declared:
            return Check("conditions", "failed", f"{entrant} has conditions that were not registered: {listed(extra)}.")
        if missing := declared - delivered:
            reason = f"{entrant} lacks registered conditions: {listed(missing)}. {_policy(prereg)}"
            return Check("conditions", _under(prereg), reason)
    return Check("conditions", "passed", f"Exactly the {len(declared)} registered conditions were delivered.")


def _words(scores: ScoreTable, rows: NDArray[np.bool_]) -> set[str]:
    if scores.condition is None:
        return set()
    return {scores.condition.words[code] for code in np.unique(scores.condition.codes[rows]).tolist() if code != NONE}


def _pairs(prereg: Prereg, scores: ScoreTable) -> list[Check]:
    """Check that each episode of one side of a registered contrast has its partner on the other."""
    if prereg.form != "axis" or prereg.conditions is None or scores.condition is None or scores.item is None:
        return []
    first, second = prereg.conditions[:2]
    unmatched = []
    for code, entrant in enumerate(scores.entrant.words):
        sides = [_keys(scores, (scores.entrant.codes == code), side) for side in (first, second)]
        alone = [len(sides[0] - sides[1]), len(sides[1] - sides[0])]
        unmatched += [f"{entrant}: {alone[0]} in {first}, {alone[1]} in {second}"] if any(alone) else []
    if unmatched:
        reason = f"Episodes without a partner (same seed and item) in the other condition: {_some(unmatched)}."
        return [Check("pairs", _under(prereg), f"{reason} {_policy(prereg)}")]
    return [Check("pairs", "passed", "Every episode has its partner in the other condition.")]


def _keys(scores: ScoreTable, rows: NDArray[np.bool_], condition: str) -> set[tuple[int, int, int]]:
    if scores.condition is None or scores.seed is None or scores.item is None:
        return set()
    words = scores.condition.words
    at = np.flatnonzero(rows & (scores.condition.codes == (words.index(condition) if condition in words else -2)))
    return set(
        zip(scores.task.codes[at].tolist(), scores.seed[at].tolist(), scores.item.codes[at].tolist(), strict=True)
    )


def _unchanged(registered: Registered, bundles: Sequence[BundleFacts]) -> list[Check]:
    """Compare the registered bytes with those in each bundle, and with the git blob that the bundle cites."""
    if not bundles:
        return []
    wrong = []
    for bundle in bundles:
        if bundle.prereg_sha256 is not None and bundle.prereg_sha256 != registered.sha256:
            wrong.append(f"the prereg.yaml in {bundle.name} has SHA-256 {bundle.prereg_sha256}")
        if bundle.cited_blob_sha1 is not None and bundle.cited_blob_sha1 != registered.git_blob_sha1:
            wrong.append(f"{bundle.name} cites git blob {bundle.cited_blob_sha1}")
    if wrong:
        known = f"SHA-256 {registered.sha256}, git blob {registered.git_blob_sha1}"
        reason = f"Not what was registered ({known}): {_some(wrong)}."
        return [Check("prereg_unchanged", "failed", reason)]
    silent = [bundle.name for bundle in bundles if bundle.prereg_sha256 is None and bundle.cited_blob_sha1 is None]
    if silent:
        return [
            Check("prereg_unchanged", "warned", f"These do not say which preregistration they ran: {_some(silent)}.")
        ]
    return [Check("prereg_unchanged", "passed", "Every bundle ran the bytes that were registered.")]


def _git_tag(prereg: Prereg, bundles: Sequence[BundleFacts]) -> list[Check]:
    tags = {bundle.git_tag for bundle in bundles if bundle.git_tag is not None}
    if not tags or prereg.git_tag is None:
        return []
    if other := tags - {prereg.git_tag}:
        # The bytes decide; a tag is a name that can be moved, and revisions of one document carry a suffix.
        reason = f"The registration names the tag {prereg.git_tag}, the files name {listed(other)}; the bytes decide."
        return [Check("git_tag", "warned", reason)]
    return [Check("git_tag", "passed", f"The files name the registered tag {prereg.git_tag}.")]


def _bundle_method(prereg: Prereg, bundles: Sequence[BundleFacts]) -> list[Check]:
    if prereg.run_purpose == "leaderboard" and any(bundle.bootstrap_method == "iid" for bundle in bundles):
        return [Check("bundle_bootstrap_method", "failed", IID_REFUSED)]
    purposes = {bundle.run_purpose for bundle in bundles if bundle.run_purpose is not None}
    if other := purposes - {prereg.run_purpose}:
        reason = f"The registered run purpose is {prereg.run_purpose}, the files say {listed(other)}."
        return [Check("bundle_run_purpose", "failed", reason)]
    return []


def _claimed_interval(manifest: Manifest, bundles: Sequence[BundleFacts], *, has_claims: bool) -> list[Check]:
    if manifest.admission.claims == "optional" or has_claims:
        return []
    without = [b.name for b in bundles if any(b.summary.get(name) is None for name in CLAIMED_INTERVAL)]
    if bundles and not without:
        return [Check("claims", "passed", "Every bundle claims its interval.")]
    reason = f"The benchmark requires a claimed interval ({', '.join(CLAIMED_INTERVAL)})"
    return [Check("claims", "failed", f"{reason}; it is missing in {_some(without) if without else 'the submission'}.")]


def _resamples(bundles: Sequence[BundleFacts]) -> list[Check]:
    few = [
        f"{bundle.name}: {bundle.summary['n_resamples']}"
        for bundle in bundles
        if bundle.summary.get("n_resamples") is not None and float(bundle.summary["n_resamples"] or 0) < MIN_RESAMPLES
    ]
    if few:
        reason = f"An interval from fewer than {MIN_RESAMPLES} resamples is not one: {_some(few)}."
        return [Check("resamples", "failed", reason)]
    counted = [bundle for bundle in bundles if bundle.summary.get("n_resamples") is not None]
    return [Check("resamples", "passed", "Claimed intervals have enough resamples.")] if counted else []


def _numbers(seeds: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(seeds)[:10])) + (" …" if len(set(seeds)) > 10 else "")


def _some(sentences: Sequence[str], shown: int = 5) -> str:
    rest = f"; and {len(sentences) - shown} more" if len(sentences) > shown else ""
    return "; ".join(sentences[:shown]) + rest
