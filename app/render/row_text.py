"""Rows as CSV in parts, for who computes with them: `app.web.exports`.

Written by Arrow, which takes a column at a time; it is loaded when first asked for, as in `app.render.columnar`.
"""

import io
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from app.stats.arrays import FloatArray
from app.values.formulas import guard_formula
from app.values.scores import NONE, Coded, ScoreTable

ABOUT = ("entrant", "task", "condition", "seed", "item")
FLAGS = ("False", "True")


def rows_to_csv(columns: Iterable[str], parts: Iterable[ScoreTable]) -> Iterator[bytes]:
    r"""Yield CSV with \n line ends, the header first: floats to the last digit, null empty, True/False.

    Text that a spreadsheet would take for a formula gets an apostrophe in front, as in `app.render.exports`.
    """
    import pyarrow as pa
    import pyarrow.csv

    names = [*ABOUT, *(guard_formula(name) for name in columns), "leaked", "reason"]
    plain = pa.csv.WriteOptions(include_header=False, quoting_style="needed")
    yield _written(pa, pa.table([pa.array([name]) for name in names], names=names), plain)
    for part in parts:
        yield _written(pa, pa.table(_arrays(pa, part), names=names), plain)


def _written(pa: Any, table: Any, options: Any) -> bytes:
    sink = io.BytesIO()
    pa.csv.write_csv(table, sink, options)
    return sink.getvalue()


def _arrays(pa: Any, part: ScoreTable) -> list[Any]:
    n_rows = len(part)
    return [
        *(_texts(pa, coded, n_rows) for coded in (part.entrant, part.task, part.condition)),
        pa.nulls(n_rows) if part.seed is None else pa.array(part.seed),
        _texts(pa, part.item, n_rows),
        *(_numbers(pa, part.values[:, at]) for at in range(len(part.columns))),
        _texts(pa, Coded(FLAGS, part.leaked.astype(np.int64)), n_rows),
        _texts(pa, part.reason, n_rows),
    ]


def _numbers(pa: Any, values: FloatArray) -> Any:
    return pa.array(values, mask=np.isnan(values))


def _texts(pa: Any, coded: Coded | None, n_rows: int) -> Any:
    if coded is None:
        return pa.nulls(n_rows)
    words = pa.array([guard_formula(word) for word in coded.words], pa.string())
    codes = pa.array(coded.codes, mask=coded.codes == NONE)
    return pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())
