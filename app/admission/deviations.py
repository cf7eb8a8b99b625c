"""Declared versus delivered, point by point, as the page of a registration shows it beside its outcome.

Called by `app.receiving.receive` when an upload arrives, admitted or not.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from app.admission.check import Registered, listed
from app.prereg.prereg import Prereg
from app.stats.arrays import BoolArray
from app.values.facts import BundleFacts
from app.values.scores import NONE, ScoreTable
from app.values.table import Column, Table

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
    return Table("deviations", "Declared against delivered", COLUMNS, rows)


def _rows(prereg: Prereg, scores: ScoreTable, predicted: Sequence[str]) -> Iterator[Row]:
    yield _names("entrants", prereg.entrants, scores.entrant.words)
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
) -> Row:
    present = set(delivered)
    if declared is None:
        return (what, None, listed(present), None)
    wanted = set(declared)
    agrees = wanted <= present and (may_have_more or present <= wanted)
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
