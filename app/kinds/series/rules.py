"""Admission rules of series: a record has one stratum and one class; whoever has fewer than others gets a warning.
What others hold is handed in; each rule gives one check.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from app.admission.case import Check, CurrentRecord, listed, some
from app.boards.methods.weighted_rank.records import (
    HeldRecords,
    clean_series,
    enrolled_estimators,
    held_records,
    record_labels,
)
from app.kinds.series.estimates import DEPENDENT_ABOVE
from app.values.scores import ScoreTable

SHOWN_RECORDS = 3
STEWARD_S_WAY = (
    "Where the other one is wrong, a steward can withdraw it, and name the records of each stratum in the manifest's "
    "grid.tasks, so that no first submission decides."
)
NOTHING: Mapping[str, str] = {}


def check_records(
    scores: ScoreTable, others_records: Sequence[CurrentRecord], declared: Mapping[str, str] = NOTHING
) -> list[Check]:
    """Compare a submission's records with those of the other entrants that stand or wait to stand.

    `declared` are the strata of records that the benchmark's grid names.
    """
    mine = held_records(scores, enrolled_estimators(scores, None))
    return [
        _strata(mine, others_records, declared),
        *_classes(scores, mine, others_records),
        *_clean_series(scores, others_records),
        _records(mine, others_records),
    ]


def _strata(mine: HeldRecords, others_records: Sequence[CurrentRecord], declared: Mapping[str, str]) -> Check:
    here = {record: stratum for record, stratum in zip(mine.records, mine.strata, strict=True) if stratum}
    if strange := [record for record, stratum in here.items() if declared.get(record, stratum) != stratum]:
        of_each = [f"{record} is in {here[record]} here and in {declared[record]} in the grid" for record in strange]
        return Check("strata", "failed", f"The grid names the stratum of each record: {some(of_each)}.")
    moved = [
        f"{other.record} is in {here[other.record]} here and in {other.stratum} in submission {other.submission}"
        for other in others_records
        if other.record in here and here[other.record] != other.stratum
    ]
    if moved:
        return Check("strata", "failed", f"A record belongs to one stratum: {some(moved)}. {STEWARD_S_WAY}")
    if first := set(here) - set(declared) - {other.record for other in others_records}:
        reason = (
            f"Only this run states the strata of {len(first)} of {len(here)} records: neither the benchmark's grid nor "
            "another submission does. Later submissions must have the same."
        )
        return Check("strata", "warned", reason)
    return Check("strata", "passed", "Every record is in the stratum in which the other submissions have it.")


def _classes(scores: ScoreTable, mine: HeldRecords, others_records: Sequence[CurrentRecord]) -> Iterator[Check]:
    """Hold the classes that a run states to those that others state, which no stratum may tell."""
    labels = record_labels(scores, len(mine.records))
    stated = {record: label for record, label in zip(mine.records, labels.tolist(), strict=True) if label == label}
    if not stated:
        return
    turned = [
        f"{other.record} is of class {stated[other.record]:g} here and of {other.class_label:g} in submission "
        f"{other.submission}"
        for other in others_records
        if other.class_label is not None and stated.get(other.record, other.class_label) != other.class_label
    ]
    if turned:
        yield Check("classes", "failed", f"A record is of one class: {some(turned)}.")
        return
    others = {other.record for other in others_records if other.class_label is not None}
    unknown = _undecided(scores, stated)
    if first := unknown - others:
        reason = (
            f"Only this run states the class of {len(first)} of {len(stated)} records: it does not follow from the "
            "truth in their stratum. Later submissions must state the same."
        )
        yield Check("classes", "warned", reason)
    elif unknown:
        yield Check("classes", "passed", "Every record is of the class that its stratum or another submission states.")
    else:
        yield Check("classes", "passed", "The class of every record follows from the truth in its stratum.")


def _clean_series(scores: ScoreTable, others_records: Sequence[CurrentRecord]) -> Iterator[Check]:
    """Compare from which clean series records were made: those are the units that intervals and verdicts rest on."""
    here = clean_series(scores)
    known = {other.record: other for other in others_records if other.clean is not None}
    if not here:
        return
    if wrong := [*_of_two_series(here, known), *_no_clean_ones(here, known)]:
        yield Check("clean_series", "failed", f"A record is made from one series, which is clean: {some(wrong)}.")
    elif first := set(here) - set(known):
        reason = (
            f"Only this run states from which clean series {len(first)} of {len(here)} records were made. Later "
            "submissions must state the same."
        )
        yield Check("clean_series", "warned", reason)
    else:
        yield Check("clean_series", "passed", "Every record was made from the series that the other submissions state.")


def _of_two_series(here: Mapping[str, str], known: Mapping[str, CurrentRecord]) -> Iterator[str]:
    for record, clean in here.items():
        if record in known and known[record].clean != clean:
            other = known[record]
            yield f"{record} was made of {clean} here and of {other.clean} in submission {other.submission}"


def _no_clean_ones(here: Mapping[str, str], known: Mapping[str, CurrentRecord]) -> Iterator[str]:
    """Yield what others were made of, and what itself was made of another: so whole strata would be one unit."""
    made_of = {**here, **{record: other.clean or "" for record, other in known.items()}}
    for record in sorted(set(made_of) & set(made_of.values())):
        yield f"others were made of {record}, and it itself of {made_of[record]}"


def _undecided(scores: ScoreTable, stated: Collection[str]) -> set[str]:
    """Return the records whose class no truth in a stratum decides."""
    strata = scores.recorded.get("stratum_json")
    tells = (
        [] if strata is None else [json.loads(text).get("target_estimand") in DEPENDENT_ABOVE for text in strata.words]
    )
    decided = {
        scores.item.at(at)
        for at in range(len(scores))
        if strata is not None and scores.item is not None and strata.codes[at] >= 0 and tells[strata.codes[at]]
    }
    return {record for record in stated if record not in decided}


def _records(mine: HeldRecords, others_records: Sequence[CurrentRecord]) -> Check:
    others = {other.record for other in others_records}
    lacking = [f"{name} lacks {gap}" for name, gap in _gaps(mine, others)]
    if lacking:
        reason = (
            f"{some(lacking)}. Who lacks records that half of the submitters have is shown without a rank; "
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
