"""raw/truths.csv: the true values of a run's records, by estimand. Called by `app.kinds.series.read`.

A record may have several truths; the primary one is in its stratum too, which every run of the benchmark shares, so
that a run cannot bring easier truths of its own.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from app.boards.methods.weighted_rank.discrimination import CLASS_ESTIMAND, THRESHOLD
from app.errors import Problem
from app.files.blocks import Block
from app.files.findings import Findings
from app.files.flag_cells import FLAGS
from app.files.uploads import ReceivedFile
from app.kinds.block_cells import Cells
from app.kinds.series.claimed_tables import numbers_of
from app.kinds.series.claims import Place
from app.names import clip_for_message
from app.values.scores import ScoreTable

DEPENDENT_ABOVE = {"hurst_scaling_proxy": 0.5, "long_memory_parameter": 0.0}
"""Above which primary truth a series has long-range dependence, as lrdbench's generators say it."""
REQUIRED = ("record_id", "target_estimand", "target_value")
COLUMNS = (*REQUIRED, "is_primary")


@dataclass(frozen=True)
class _Truth:
    """One true value, and where it is written."""

    value: float
    is_primary: bool
    place: Place


class Truths:
    """The truths of every file of a submission, by record and estimand."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._known: dict[str, dict[str, _Truth]] = {}

    def read(self, block: Block, file: ReceivedFile) -> None:
        """Take the truths of a block; one that is there twice with another value is a problem."""
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        values = numbers_of(cells, "target_value").tolist()
        texts = [cells.texts(name).to_pylist() for name in ("record_id", "target_estimand", "is_primary")]
        for row, value, record, estimand, flag in zip(block.rows.tolist(), values, *texts, strict=True):
            if record is None or estimand is None or value != value:
                continue
            truth = _Truth(value, FLAGS.get(flag or "", False), Place(file.name, int(row)))
            earlier = self._known.setdefault(record, {}).setdefault(estimand, truth)
            if earlier.value != value:
                message = f"another truth of this record than in row {earlier.place.row} of {earlier.place.file}"
                self._findings.add(Problem(message, file.name, int(row), "target_value", repr(value)))

    def of(self, record: str | None, estimand: str | None) -> float | None:
        """Return the truth for an estimand, None where there is none; for an unknown one the record's only truth."""
        known = self._known.get(record or "", {})
        if estimand is None:
            return next(iter(known.values())).value if len(known) == 1 else None
        return known[estimand].value if estimand in known else None

    def class_of(self, record: str | None) -> float | None:
        """Return whether the series has long-range dependence, as 1 or 0; None where the run does not say it."""
        truth = self._known.get(record or "", {}).get(CLASS_ESTIMAND)
        return None if truth is None else float(truth.value >= THRESHOLD)

    def estimands(self) -> frozenset[str]:
        """Return what the truths are of."""
        return frozenset(estimand for known in self._known.values() for estimand in known)

    def check_strata(self, scores: ScoreTable) -> None:
        """Add a problem for each primary truth that is not the one in the stratum of its record."""
        strata = scores.recorded.get("stratum_json")
        if strata is None or scores.item is None:
            return
        targets = [_target(json.loads(text)) for text in strata.words]
        seen: set[str] = set()
        for at in range(len(scores)):
            record, code = scores.item.at(at) or "", int(strata.codes[at])
            if record not in seen and code >= 0 and targets[code] is not None:
                self._check(record, *targets[code])  # type: ignore[misc]
            seen.add(record)

    def _check(self, record: str, estimand: str, value: float) -> None:
        truth = self._known.get(record, {}).get(estimand)
        if truth is not None and truth.is_primary and truth.value != value:
            message = f"not the truth of {clip_for_message(record)} in its stratum, {value!r}"
            self._findings.add(Problem(message, truth.place.file, truth.place.row, "target_value", repr(truth.value)))
        self._check_class(record, estimand, value)

    def _check_class(self, record: str, estimand: str, value: float) -> None:
        """Compare the class of a record with the primary truth, which its stratum states and every run shares."""
        class_label, bound = self.class_of(record), DEPENDENT_ABOVE.get(estimand)
        if class_label is not None and bound is not None and class_label != float(value > bound):
            truth = self._known[record][CLASS_ESTIMAND]
            message = (
                f"not the class of {clip_for_message(record)}: {estimand} is {value!r} in its stratum, and a series "
                f"has long-range dependence where that is above {bound:g}"
            )
            self._findings.add(Problem(message, truth.place.file, truth.place.row, "target_value", repr(truth.value)))


def _target(stratum: Mapping[str, object]) -> tuple[str, float] | None:
    estimand, value = stratum.get("target_estimand"), stratum.get("target_value")
    is_whole = isinstance(estimand, str) and isinstance(value, int | float) and not isinstance(value, bool)
    return (estimand, float(value)) if is_whole else None  # type: ignore[arg-type, return-value]
