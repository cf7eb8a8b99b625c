"""JSON and JSON Lines as text cells: a list of objects, or columns and rows.

Called by `app.files.tables`. A record of JSON Lines has the number of its line, one of a list its place in
the list. A file is read twice, once for its keys and its errors and once for its cells, so that it need not be held.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem, TooLarge
from app.files.blocks import MAX_COLUMNS, Block, Texts
from app.files.findings import Findings
from app.files.json_records import BadRecord, Record, records_of_document, records_of_lines
from app.files.uploads import ReceivedFile
from app.names import clip_for_message

RECORDS_PER_BLOCK = 20_000


@dataclass
class JsonTable:
    """A file of records whose keys are known."""

    file: ReceivedFile
    findings: Findings
    header: tuple[str, ...]
    n_counted: int

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the records with the wanted columns; a record without a key has an empty cell there."""
        records = (record for record in _records(self.file) if isinstance(record, Record))
        while chunk := list(islice(records, RECORDS_PER_BLOCK)):
            rows = np.array([record.row for record in chunk], dtype=np.int64)
            columns = {name: self._column(name, rows.tolist(), [r.cells.get(name) for r in chunk]) for name in wanted}
            yield Block(rows, columns)

    def _column(self, name: str, rows: Sequence[int], cells: Sequence[Any]) -> Texts:
        texts = [_text(cell) for cell in cells]
        try:
            column = pa.array(texts, pa.string())
        except UnicodeEncodeError:
            column = None
        if column is not None and not pc.any(pc.match_substring(column, "\0")).as_py():
            return column
        return pa.array([self._storable(name, row, text) for row, text in zip(rows, texts, strict=True)], pa.string())

    def _storable(self, name: str, row: int, text: str | None) -> str | None:
        if text is None or ("\0" not in text and text.encode(errors="ignore").decode() == text):
            return text
        message = "the text contains a zero character or half of a surrogate pair"
        self.findings.add(Problem(message, self.file.name, row, clip_for_message(name), clip_for_message(text)))
        return None


def open_json(file: ReceivedFile, findings: Findings, max_rows: int, n_earlier: int = 0) -> JsonTable | None:
    """Read the keys of every record; None when the file is no table, with every reason in `findings`.

    Raises TooLarge beyond `max_rows` records, good or bad, with the `n_earlier` of the files before it.
    """
    keys: dict[str, None] = {}
    n_before, n_records = findings.n_problems, 0
    for n_records, record in enumerate(_records(file), start=1):
        if n_earlier + n_records > max_rows:
            those_before = "with those of the files before it " if n_earlier else ""
            raise TooLarge(f"{file.name} {those_before}has more than {max_rows:,} records.")
        if isinstance(record, BadRecord):
            findings.add(Problem(record.message, file.name, record.row, value=record.value))
        else:
            keys.update(dict.fromkeys(record.cells))
        if len(keys) > MAX_COLUMNS:
            findings.add(Problem(f"the records have more than {MAX_COLUMNS} different keys", file=file.name))
            return None
    if findings.n_problems > n_before and not keys:
        return None
    return JsonTable(file, findings, tuple(keys), n_records)


def _records(file: ReceivedFile) -> Iterator[Record | BadRecord]:
    return records_of_lines(file.path) if file.suffix == ".jsonl" else records_of_document(file.path)


def _text(cell: Any) -> str | None:
    """Return a cell as the text that it would have in a CSV file."""
    if cell is None or isinstance(cell, str):
        return cell or None
    if isinstance(cell, Mapping | list):
        return json.dumps(cell, ensure_ascii=False)
    return repr(cell) if isinstance(cell, float) else str(cell)
