"""Labels, weights and groups as the columns of one file have them. For `app.kinds.predictions.labels`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem
from app.files.blocks import Texts
from app.files.findings import Findings
from app.files.vocabulary import local_codes
from app.kinds.predictions.cells import NumberRule, RowCells
from app.kinds.predictions.declared import Predictions
from app.stats.arrays import FloatArray, IntArray
from app.values.magnitude import LARGEST
from app.values.predictions import Labels

LABEL, WEIGHT, GROUP = "label", "weight", "group"
WEIGHT_RULE = NumberRule("a weight", 0.0, LARGEST)
RELEVANCE_RULE = NumberRule("a relevance", 0.0, 50.0)
VALUE_RULE = NumberRule("a label", -LARGEST, LARGEST)


@dataclass(frozen=True)
class LabelCells:
    """The label columns of some rows; `group` holds the groups' own names."""

    label: FloatArray
    weight: FloatArray | None
    group: Texts | None

    def take(self, rows: IntArray) -> "LabelCells":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return LabelCells(self.label[rows], weight, None if self.group is None else self.group.take(pa.array(rows)))

    def as_labels(self, task: str, items: Sequence[str], rows: IntArray) -> Labels:
        """Return the rows as labels; groups are numbered in the order of the cells, `rows` is that of the files."""
        if self.group is None:
            return Labels(task, items, self.label, self.weight)
        group, row = local_codes(self.group)[1], np.argsort(np.argsort(rows, kind="stable"), kind="stable")
        return Labels(task, items, self.label, self.weight, group, row=row)


class LabelReader:
    """Reads the label columns of one benchmark."""

    def __init__(self, part: Predictions) -> None:
        self._part = part
        self._classes = None if part.classes is None else pa.array(part.classes, pa.string())

    def wanted(self) -> list[str]:
        """Return the columns that are read; groups only matter to a ranking."""
        return [LABEL, WEIGHT, GROUP] if self._part.kind == "ranking" else [LABEL, WEIGHT]

    def texts(self) -> list[str]:
        """Return the columns that hold names."""
        return [GROUP] if self._classes is None else [GROUP, LABEL]

    def problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield which columns a file lacks."""
        required = [LABEL, GROUP] if self._part.kind == "ranking" else [LABEL]
        for column in required:
            if column not in header:
                yield Problem(f"the column {column} is missing", file, column=column)

    def read(self, cells: RowCells) -> LabelCells:
        """Return the columns of a block; every wrong cell is a problem."""
        return LabelCells(
            label=self._read_label(cells),
            weight=cells.required_numbers(WEIGHT, WEIGHT_RULE) if WEIGHT in cells.columns else None,
            group=cells.required_texts(GROUP) if GROUP in cells.columns else None,
        )

    def _read_label(self, cells: RowCells) -> FloatArray:
        if self._classes is None:
            return cells.required_numbers(LABEL, RELEVANCE_RULE if self._part.kind == "ranking" else VALUE_RULE)
        class_numbers = pc.index_in(cells.texts(LABEL), value_set=self._classes)
        numbers: FloatArray = np.array(class_numbers.cast(pa.float64()).fill_null(np.nan))
        cells.refuse(LABEL, np.isnan(numbers), lambda _: "empty, or not one of the benchmark's classes")
        return numbers


def join_cells(parts: Sequence[LabelCells]) -> LabelCells:
    """Return the label columns of several blocks as one; a column must be in all of them or in none."""
    weights = [part.weight for part in parts if part.weight is not None]
    groups = [part.group for part in parts if part.group is not None]
    return LabelCells(
        label=np.concatenate([part.label for part in parts]),
        weight=np.concatenate(weights) if len(weights) == len(parts) else None,
        group=pa.concat_arrays(groups) if len(groups) == len(parts) else None,
    )


def refuse_mixed_weights(headers: Mapping[str, Sequence[str]], findings: Findings) -> None:
    """Add a problem for each file without weights where another one has them."""
    lacking = [file for file, header in headers.items() if WEIGHT not in header]
    if len(lacking) < len(headers):
        message = "the column weight is missing, which another file has"
        findings.extend(Problem(message, file, column=WEIGHT) for file in lacking)
