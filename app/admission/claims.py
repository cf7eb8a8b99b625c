"""Numbers that a submission claims about itself, compared with ours, and its deviations from what was registered.

Claims that were registered are decided elsewhere: `app.jobs.claims`.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.admission.case import Check, Claims, Registered, listed, meant
from app.manifest.model import Manifest
from app.names import first_few
from app.prereg.fields import Hypothesis, Prereg
from app.stats.arrays import BoolArray
from app.values.facts import BundleFacts, RunFacts
from app.values.scores import NONE, ScoreTable
from app.values.table import Cell, Column, Table

CLAIM_TOLERANCE = 1e-6

SHOWN = 10

LATER = "decided at evaluation"

Means = Mapping[tuple[Any, Any], Cell]
"""A number for each (entrant, metric), or None."""


@dataclass(frozen=True)
class SubmissionClaims:
    """A submission and its claims about itself, in its fields and in its files.

    `is_request`: somebody waits for the answer, so slow comparisons are left to the evaluation.
    """

    manifest: Manifest
    scores: ScoreTable
    facts: RunFacts
    claims: Claims | None
    is_request: bool = False


def claims_of_means(claimed: SubmissionClaims) -> list[Check]:
    """Compare the claimed means with means over tasks; no check without claims."""
    if claimed.claims is None:
        return []
    return check_claims(claimed.claims, own_means(claimed.manifest, claimed.scores))


def check_claims(claims: Claims | None, ours: Means) -> list[Check]:
    """Compare claimed means, {entrant: {metric: mean}}, with ours; a difference is shown with both numbers."""
    if claims is None:
        return []
    different = []
    for entrant, metrics in claims.items():
        for metric, claimed in metrics.items():
            computed = ours.get((entrant, metric))
            if computed is None:
                different.append(f"{entrant} {metric}: {claimed!r} claimed, nothing to compare it with")
            elif not math.isclose(float(computed), claimed, rel_tol=CLAIM_TOLERANCE, abs_tol=CLAIM_TOLERANCE):
                different.append(f"{entrant} {metric}: {claimed!r} claimed, {computed!r} computed")
    if different:
        shown = first_few(different, SHOWN, between="; ")
        return [Check("claims", "failed", f"Claimed means differ from the rows: {shown}.")]
    return [Check("claims", "passed", "Every claimed mean equals the one computed from the rows.")]


def own_means(manifest: Manifest, scores: ScoreTable) -> Means:
    """Return each entrant's mean of each metric: over tasks, the means of the scored rows of each."""
    return {
        (entrant, metric): _mean_over_tasks(scores, scores.entrant.codes == code, metric)
        for code, entrant in enumerate(scores.entrant.words)
        for metric in manifest.metrics
    }


def _mean_over_tasks(scores: ScoreTable, mine: BoolArray, metric: str) -> float | None:
    values = scores.value(metric)
    scored = mine & ~np.isnan(values)
    if not scored.any():
        return None
    tasks = scores.task.codes[scored]
    counts = np.bincount(tasks)
    sums = np.bincount(tasks, weights=values[scored])
    return float((sums[counts > 0] / counts[counts > 0]).mean())


def decided_later(rule: str) -> Check:
    """Return the check that defers a slow comparison to the evaluation."""
    return Check(rule, "warned", f"There is too much to draw again while you wait: {LATER}.")


# Declared versus delivered, point by point, as the page of a registration shows it beside its outcome.

COLUMNS = (
    Column("what", "What", "text"),
    Column("declared", "Declared", "text"),
    Column("delivered", "Delivered", "text"),
    Column("agrees", "Agrees", "flag"),
)

Row = tuple[str, str | None, str | None, bool | None]


def deviations_table(
    registered: Registered, scores: ScoreTable, bundles: Sequence[BundleFacts], predicted: Sequence[str] = ()
) -> Table:
    """Return one row for each thing that a registration can declare.

    `agrees` is null where nothing is declared, or where the run's files state nothing. `predicted` are the metrics that
    predictions deliver.
    """
    rows = (*_rows(registered.prereg, scores, predicted), *_stated_by_files(registered, bundles))
    return Table("deviations", "Declared against delivered", COLUMNS, rows, tuple(_notes(registered.prereg, scores)))


def _notes(prereg: Prereg, scores: ScoreTable) -> Iterator[str]:
    """Yield why a part of what was registered may be all that one submission delivers, and what a dash means."""
    declared, delivered = set(prereg.entrants or ()), set(scores.entrant.words)
    if delivered < declared:
        n_left, n_all = len(declared - delivered), len(declared)
        yield f"Every entrant here is registered; {n_left:,} of the {n_all:,} registered are not in this submission."
    yield "What a registration does not name (–) is as the benchmark asks."


def _rows(prereg: Prereg, scores: ScoreTable, predicted: Sequence[str]) -> Iterator[Row]:
    # One of several submissions may deliver a part of what is registered, as the admission rule allows.
    yield _names("entrants", prereg.entrants, scores.entrant.words, may_have_fewer=True)
    yield _names("tasks", prereg.tasks, scores.task.words)
    yield from _conditions(prereg, scores)
    measured = [*predicted, *(name for name in scores.columns if not np.isnan(scores.value(name)).all())]
    yield _names("metrics", prereg.metrics or None, measured, may_have_more=True)
    if scores.seed is not None:
        yield _names("seeds", _texts(prereg.seeds), _texts(np.unique(scores.seed).tolist()) or ())
        yield _episodes(prereg, scores)


def _conditions(prereg: Prereg, scores: ScoreTable) -> Iterator[Row]:
    """Yield the conditions, and separately the partners of entrants registered with their own."""
    paired = [entrant for entrant in scores.entrant.words if entrant in prereg.own_partner]
    is_paired = np.isin(scores.entrant.codes, [scores.entrant.words.index(entrant) for entrant in paired])
    if not is_paired.all():
        yield _names("conditions", prereg.conditions, _words(scores, ~is_paired))
    if paired:
        partners = _words(scores, is_paired)
        agrees = not partners & set(prereg.conditions or ())
        yield (f"partner of {listed(paired)}", "its own only", listed(partners), agrees)


def _words(scores: ScoreTable, rows: BoolArray) -> set[str]:
    if scores.condition is None:
        return set()
    return {scores.condition.words[code] for code in np.unique(scores.condition.codes[rows]).tolist() if code != NONE}


def _stated_by_files(registered: Registered, bundles: Sequence[BundleFacts]) -> Iterator[Row]:
    """Yield what the run's files state about the run; tables of scores state nothing."""
    if not bundles:
        return
    prereg, blob = registered.prereg, registered.git_blob_sha1
    yield _stated("run purpose", prereg.run_purpose, [bundle.run_purpose for bundle in bundles])
    yield _stated("bootstrap method", prereg.bootstrap_method, [bundle.bootstrap_method for bundle in bundles])
    yield _stated("git tag", prereg.git_tag, [bundle.git_tag for bundle in bundles])
    yield _stated("git blob that is cited", blob, [bundle.cited_blob_sha1 for bundle in bundles])
    yield _stated("git blob of the prereg sent", blob, [bundle.prereg_blob_sha1 for bundle in bundles])


def _stated(what: str, declared: str | None, words: Iterable[str | None]) -> Row:
    stated = {word for word in words if word is not None}
    agrees = None if declared is None or not stated else stated == {declared}
    return (what, declared, listed(stated) or None, agrees)


def _texts(numbers: Iterable[int] | None) -> list[str] | None:
    return None if numbers is None else [str(number) for number in numbers]


def _names(
    what: str,
    declared: Iterable[str] | None,
    delivered: Iterable[str],
    *,
    may_have_more: bool = False,
    may_have_fewer: bool = False,
) -> Row:
    present = set(delivered)
    if declared is None:
        return (what, None, listed(present), None)
    wanted = set(declared)
    agrees = (may_have_fewer or wanted <= present) and (may_have_more or present <= wanted)
    return (what, listed(wanted), listed(present), agrees)


def _episodes(prereg: Prereg, scores: ScoreTable) -> Row:
    condition = np.full(len(scores), NONE) if scores.condition is None else scores.condition.codes
    seeds = np.zeros(len(scores), dtype=np.int64) if scores.seed is None else scores.seed
    cells = np.column_stack([scores.entrant.codes, scores.task.codes, condition, seeds])
    counts = np.unique(cells, axis=0, return_counts=True)[1]
    fewest, most = int(counts.min()), int(counts.max())
    delivered = str(most) if fewest == most else f"{fewest} to {most}"
    declared = prereg.episodes_per_seed
    agrees = None if declared is None else fewest == most == declared
    return ("episodes per seed and condition", None if declared is None else str(declared), delivered, agrees)


# What the hypotheses of a registration compare, held against what the benchmark knows, to be said before the run. A
# hypothesis about a name without rows stays inconclusive, which a submitter would otherwise learn only after the run.
# An entrant may still come, so nothing here refuses a registration.


def unknown_sides(prereg: Prereg, conditions: Collection[str] | None, entrants: Collection[str]) -> list[str]:
    """Return, in sentences, which registered conditions and sides of hypotheses the benchmark does not know.

    `conditions` is the closed list of conditions, empty where the evidence has none, None where any may come;
    `entrants` are those that evidence was ever submitted for.
    """
    known = {*entrants, *(prereg.entrants or ())}
    written = [each for each in prereg.hypotheses if each.name is None]  # a form implies the others
    strange = [] if conditions is None else _strange_conditions(prereg, written, conditions, known)
    explained = {*known, *strange, *(conditions or ()), *(prereg.conditions or ())}
    nobody = dict.fromkeys(side for each in written for side in each.contrast if side not in explained)
    return [
        *([_no_conditions(strange, conditions or ())] if strange else []),
        *(_nobody(side, known, is_open=conditions is None) for side in nobody),
        *(sentence for each in written for sentence in _mixed(each, conditions or (), known)),
    ]


def _strange_conditions(
    prereg: Prereg, written: list[Hypothesis], conditions: Collection[str], entrants: Collection[str]
) -> list[str]:
    """Return the names that can only be conditions, by the form or by what they are compared with, and are none."""
    beside = (side for each in written if set(each.contrast) & set(conditions) for side in each.contrast)
    named = dict.fromkeys((*(prereg.conditions or ()), *beside))
    return [name for name in named if name not in conditions and name not in entrants]


def _no_conditions(strange: list[str], conditions: Collection[str]) -> str:
    instead = f"it has {listed(conditions)}" if conditions else "its evidence has none"
    return f"The benchmark has no conditions {listed(strange)}; {instead}.{meant(strange, conditions)}"


def _nobody(side: str, entrants: Collection[str], *, is_open: bool) -> str:
    """Return the sentence about a name without results that nobody has announced."""
    too = " (no condition of this name is declared either)" if is_open else ""
    return (
        f"Nobody has submitted {side}, and the registration does not list it{too}: "
        f"a hypothesis about it stays inconclusive until there are results of {side}.{meant([side], entrants)}"
    )


def _mixed(hypothesis: Hypothesis, conditions: Collection[str], entrants: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with comparing an entrant with a condition."""
    is_condition = [side in conditions and side not in entrants for side in hypothesis.contrast]
    is_entrant = [side in entrants for side in hypothesis.contrast]
    if any(is_condition) and any(is_entrant):
        sides = listed(hypothesis.contrast)
        yield f"A hypothesis compares an entrant with a condition ({sides}): no rows decide it. Compare two of a kind."
