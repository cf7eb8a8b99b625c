"""A Parquet file as a table whose cells are texts, numbers or lists of numbers.

Called by the kinds of evidence that take such files. Another process unpacks the file, with
bounds on memory, time, rows, columns and bytes; what it writes is read block after block from disk.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from app.config.settings import PREFIX
from app.errors import Problem
from app.files.blocks import MAX_COLUMNS, Block
from app.files.findings import Findings
from app.files.parquet_child import Order
from app.files.uploads import ReceivedFile
from app.names import clip_for_message

PARQUET = ".parquet"
LONGEST_S = 180
MAX_BYTES = 1 << 29


@dataclass(frozen=True)
class ParquetTable:
    """The columns of a Parquet file, unpacked beside it."""

    header: tuple[str, ...]
    unpacked: Path
    n_counted: int

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the records with the wanted columns; the first record is row 1."""
        if not self.unpacked.stat().st_size:
            return
        n_before = 0
        with pa.OSFile(str(self.unpacked)) as content, pa.ipc.open_stream(content) as reader:
            for batch in reader:
                rows = np.arange(n_before + 1, n_before + len(batch) + 1, dtype=np.int64)
                n_before += len(batch)
                yield Block(rows, {name: batch.column(name) for name in wanted})


@dataclass(frozen=True)
class Wanted:
    """The columns to read: `texts` hold names, which may be integers too; `lists` may hold lists of numbers.

    `as_text`: every cell, whatever it is, becomes the text that it would have in a CSV file.
    """

    columns: Sequence[str]
    texts: Sequence[str] = ()
    lists: Sequence[str] = ()
    as_text: bool = False

    def complaint(self, column: str, kind: str) -> str | None:
        """Say what is wrong with the kind of a column."""
        if kind.startswith("list") and column not in self.lists:
            return "the column contains lists"
        if kind != "string" and kind != "int64" and column in self.texts:
            return "the column contains numbers with a fraction; names are texts or integers"
        return None


def open_parquet(
    file: ReceivedFile, wanted: Wanted, findings: Findings, max_rows: int, folder: Path
) -> ParquetTable | None:
    """Unpack the wanted columns into the folder; None when the file cannot be read, with the reason in `findings`."""
    unpacked = folder / f"{file.position}.arrow"
    unpacked.touch()
    limits = (MAX_COLUMNS, max_rows, MAX_BYTES)
    outcome = _run(Order(str(file.path), str(unpacked), list(wanted.columns), *limits, wanted.as_text))
    if "refused" in outcome:
        message = clip_for_message(outcome["refused"], 300)
        findings.add(Problem(message, file=file.name, row=outcome.get("row"), column=outcome.get("column")))
        return None
    complaints = {name: wanted.complaint(name, kind) for name, kind in outcome["kinds"].items()}
    wrong = {name: complaint for name, complaint in complaints.items() if complaint is not None}
    findings.extend(Problem(complaint, file=file.name, column=name) for name, complaint in wrong.items())
    return None if wrong else ParquetTable(tuple(outcome["names"]), unpacked, outcome["n_rows"])


def _run(order: Order) -> dict[str, Any]:
    # Secrets stay here. The system's allocator, unlike Arrow's own, respects the limit of the process.
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    environment = {**kept, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-m", "app.files.parquet_child", json.dumps(asdict(order))]
    try:
        done = subprocess.run(  # noqa: S603 - the command is our own
            command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=LONGEST_S, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"refused": "unpacking it takes longer than is allowed"}
    except subprocess.CalledProcessError:
        return {"refused": "cannot be read as Parquet: its reader gave up"}
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome
