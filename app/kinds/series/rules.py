"""Admission rules of series: a record stands in one stratum, and one with fewer records than the others gets a warning.

Called by `app.admission.rules`. What others hold is handed in, read by `app.store.series`; each rule gives one check.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from app.admission.check import Check, StandingRecord, listed, some
from app.boards.weighted_rank.groups import enrolled_estimators
from app.boards.weighted_rank.records import HeldRecords, held_records
from app.values.scores import ScoreTable

SHOWN_RECORDS = 3


def check_records(scores: ScoreTable, standing: Sequence[StandingRecord]) -> list[Check]:
    """Compare a submission's records with those of the other entrants that stand or wait to stand."""
    mine = held_records(scores, enrolled_estimators(scores, None))
    return [_strata(mine, standing), _records(mine, standing)]


def _strata(mine: HeldRecords, standing: Sequence[StandingRecord]) -> Check:
    here = {record: stratum for record, stratum in zip(mine.records, mine.strata, strict=True) if stratum}
    moved = [
        f"{other.record} is in {here[other.record]} here and in {other.stratum} in submission {other.submission}"
        for other in standing
        if other.record in here and here[other.record] != other.stratum
    ]
    if moved:
        return Check("strata", "failed", f"A record stands in one stratum: {some(moved)}.")
    return Check("strata", "passed", "Every record is in the stratum in which the other submissions have it.")


def _records(mine: HeldRecords, standing: Sequence[StandingRecord]) -> Check:
    others = {other.record for other in standing}
    lacking = [f"{name} lacks {gap}" for name, gap in _gaps(mine, others)]
    if lacking:
        reason = (
            f"{some(lacking)}. Who lacks records that more than half of the estimators have is shown without a rank; "
            "a row that says that the estimate failed is a row."
        )
        return Check("records", "warned", reason)
    return Check("records", "passed", "Every record that another estimator has is there.")


def _gaps(mine: HeldRecords, others: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each estimator that lacks records which another one has, here or in another submission, and which."""
    known = np.array(mine.records, dtype=object)
    wanted = others | set(known[mine.known].tolist())
    for at, name in enumerate(mine.contenders):
        gap = wanted - set(known[mine.held[at]].tolist())
        if gap:
            yield name, f"{len(gap)} of {len(wanted)} records that others have ({listed(gap, SHOWN_RECORDS)})"
