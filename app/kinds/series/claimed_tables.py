"""The tables in which a run repeats its aggregates, intervals and leaderboards, as claims.

Called by `app.kinds.series.read`. The cells of these tables count, not what their metadata repeats.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from app.errors import Problem
from app.files.blocks import Block
from app.files.findings import Findings
from app.files.number_cells import Bounds, describe_wrong, read_numbers, wrong_cells
from app.files.uploads import ReceivedFile
from app.kinds.block_cells import Cells
from app.kinds.series import run as series_run
from app.kinds.series.claims import BoardRow, Place, claims_of_rows
from app.kinds.series.json_cells import NotAnObject, object_of
from app.kinds.series.names import is_estimator_cell
from app.kinds.series.rows import MetricRowReader
from app.names import clip_for_message
from app.stats.arrays import FloatArray
from app.values.facts import ClaimedValue

ROW_COLUMNS = ("estimator_name", "metric_name", "value", "stratum_json", "metadata_json")
INTERVAL_COLUMNS = ("nominal", "ci_low", "ci_high")
AGGREGATION = "aggregation"
# The tables of claims, with the columns that each must have.
CLAIMED = {series_run.STRATA: ROW_COLUMNS, series_run.UNCERTAIN: (*ROW_COLUMNS, *INTERVAL_COLUMNS)}
BOARD_COLUMNS = ("estimator_name", "rank", "score")
COMPONENTS, PREFIX = "components_json", "metric__"
LOOSE = Bounds(None, None, nan_is_empty=True)


@dataclass(frozen=True)
class ClaimedTable:
    """A table of claims, by its name in the contract; `reader` reads its cells as those of raw/metrics.csv."""

    name: str
    file: ReceivedFile
    blocks: Iterator[Block]
    reader: MetricRowReader
    findings: Findings

    def claims(self) -> Iterator[tuple[ClaimedValue, Place]]:
        """Yield what each row claims."""
        for block in self.blocks:
            rows = self.reader.read(self._as_metric_rows(block), self.file)
            stated = claims_of_rows(rows, self.reader.words(), {self.file.position: self.file.name})
            yield from stated if self.name == series_run.STRATA else self._with_cells(stated, block)

    def _as_metric_rows(self, block: Block) -> Block:
        scope = pa.array(["aggregate" if self.name == series_run.STRATA else "uncertainty"] * len(block), pa.string())
        return Block(block.rows, {**block.columns, "scope": scope, "record_id": pa.nulls(len(block), pa.string())})

    def _with_cells(
        self, claims: Iterator[tuple[ClaimedValue, Place]], block: Block
    ) -> Iterator[tuple[ClaimedValue, Place]]:
        cells = Cells(self.file.name, block.rows, block.columns, self.findings)
        nominal, low, high = (numbers_of(cells, column).tolist() for column in INTERVAL_COLUMNS)
        aggregation = cells.texts(AGGREGATION).to_pylist()
        position = {row: at for at, row in enumerate(block.rows.tolist())}
        for claim, place in claims:
            at = position[place.row]
            level, ends = _known(nominal[at]), (_known(low[at]), _known(high[at]))
            stated_aggregation = aggregation[at] or claim.aggregation
            yield replace(claim, nominal=level, low=ends[0], high=ends[1], aggregation=stated_aggregation), place


def numbers_of(cells: Cells, column: str) -> FloatArray:
    """Return a column of numbers, NaN where a cell is empty; one that is no finite number is a problem."""
    texts = cells.texts(column)
    numbers = read_numbers(texts)
    wrong = wrong_cells(numbers, LOOSE)
    cells.refuse(column, wrong, lambda at: describe_wrong(numbers.values[at], texts[at].as_py(), LOOSE))
    return np.where(wrong, np.nan, numbers.values)


def board_rows(file: ReceivedFile, blocks: Iterator[Block], findings: Findings) -> Iterator[tuple[BoardRow, Place]]:
    """Yield the rows of a table of leaderboards; components are in columns, or in a column of JSON."""
    seen: Counter[str] = Counter()
    for block in blocks:
        cells = Cells(file.name, block.rows, block.columns, findings)
        wanted = [*BOARD_COLUMNS[1:], *(name for name in block.columns if name.startswith(PREFIX))]
        numbers = {name.removeprefix(PREFIX): numbers_of(cells, name).tolist() for name in wanted}
        for at, name in enumerate(_names(cells)):
            values = {column: _known(cells_of[at]) for column, cells_of in numbers.items()}
            place = Place(file.name, int(block.rows[at]))
            yield BoardRow(name, seen[name], {**values, **_components(cells, at)}), place
            seen[name] += 1


def _names(cells: Cells) -> list[str]:
    texts = cells.texts("estimator_name").to_pylist()
    wrong = np.array([text is None or not is_estimator_cell(text) for text in texts], dtype=np.bool_)
    cells.refuse("estimator_name", wrong, lambda _: "not the name of an estimator")
    return [text or "" for text in texts]


def _components(cells: Cells, at: int) -> Mapping[str, float | None]:
    text = cells.texts(COMPONENTS)[at].as_py()
    try:
        components = {} if text is None else object_of(text)
    except NotAnObject as error:
        row, value = int(cells.rows[at]), clip_for_message(text)
        cells.findings.add(Problem(str(error), cells.file, row, COMPONENTS, value))
        return {}
    return {name: float(value) if isinstance(value, float | int) else None for name, value in components.items()}


def _known(value: float) -> float | None:
    return None if value != value else value
