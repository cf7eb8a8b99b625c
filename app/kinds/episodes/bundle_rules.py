"""Admission rules on what result bundles state about themselves: registration, schedule, method and claims.

Called by `app.admission.rules`; each rule gives at most one check, none where no file says anything about it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from app.admission.case import CLAIMS_PRESENT, claims_missing
from app.admission.check import Check, Registered, listed, numbers, outcome_of_gap, some
from app.admission.fields import Claims
from app.kinds.episodes import bundles as result_bundles
from app.kinds.episodes import spike_runs
from app.kinds.episodes.claimed import CLAIMED_INTERVAL, DRAWN_WITH, MAX_CLAIMED_RESAMPLES, can_be_drawn
from app.prereg.prereg import Prereg
from app.prereg.shared import IID_REFUSED
from app.values.facts import BundleFacts
from app.values.scores import ScoreTable

MIN_RESAMPLES = 1000
KNOWN_VERSIONS = {*result_bundles.KNOWN_VERSIONS, *spike_runs.KNOWN_VERSIONS}


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
    return bundle.schema_version not in spike_runs.KNOWN_VERSIONS


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
