"""Tallies: how many of its tries an entrant passed on each task."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from app.errors import Problem
from app.files.tables import local_codes, open_table, read_numbers
from app.kinds.contract import (
    ColumnUse,
    CsvRow,
    Evaluation,
    Kind,
    Pages,
    RawFile,
    Reading,
    ReadRequest,
    RowStorage,
    Summary,
    UploadExample,
)
from app.manifest.model import KindPart, Manifest, part_of
from app.values.frame import Frame, FrameField
from app.values.glossary import GlossaryEntry
from app.values.scores import Coded, ScoreTable
from app.values.table import Column


class TalliesPart(KindPart):
    """Which column holds how many tries were passed."""

    passed_column: str = "passed"


def read_tallies(request: ReadRequest) -> Reading | None:
    """Read rows of entrant, task, passed and tried; the share that was passed is the score."""
    passed_column = part_of(request.manifest, TalliesPart).passed_column
    wanted = ("entrant", "task", passed_column, "tried")
    table = open_table(request.files[0], request.findings, [], request.max_rows)
    if table is None:
        return None
    for name in wanted:
        if name not in table.header:
            request.findings.add(Problem(f"the column {name} is missing", request.files[0].name, column=name))
            return None
    cells = [block.columns for block in table.blocks(wanted)]
    names = {name: pa.concat_arrays([pa.array(each[name]) for each in cells]) for name in wanted}
    n_rows = len(names["task"])
    words = {name: local_codes(names[name]) for name in ("entrant", "task")}
    passed, tried = (read_numbers(names[name]).values for name in (passed_column, "tried"))
    scores = ScoreTable(
        *(Coded(tuple(words[name][0]), words[name][1]) for name in ("entrant", "task")),
        columns=("pass_rate",),
        values=(passed / tried)[:, None],
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(2, n_rows + 2),
    )
    return Reading(scores, {0: n_rows}, ())


def summarise_tallies(evaluation: Evaluation) -> Summary:
    """Show the tasks that an entrant was counted on."""
    rows = evaluation.rows
    column = Frame(
        [
            FrameField(Column("entrant", "Entrant", "text"), lambda at: rows.entrant.at(at)),
            FrameField(Column("pass_rate", "Passed"), lambda at: float(rows.values[at, 0])),
        ]
    )
    return Summary([column.table("summary", "Own tallies", range(len(rows)))], [])


def example_of_tallies(manifest: Manifest) -> UploadExample:
    """Say what an upload looks like."""
    del manifest
    cells = {"entrant": "Ada", "task": "easy", "passed": "9", "tried": "10"}
    return UploadExample(
        columns=[ColumnUse(name, f"the {name}", cell) for name, cell in cells.items()], a_row_is="per task"
    )


def rates_of(scores: ScoreTable) -> Iterator[CsvRow]:
    """Hand out what was read, row by row."""
    for at in range(len(scores)):
        yield (scores.entrant.at(at), scores.task.at(at), float(scores.values[at, 0]))


TALLIES = Kind(
    name="tallies",
    part=TalliesPart,
    methods=frozenset({"mean"}),
    read=read_tallies,
    summarise=summarise_tallies,
    pages=Pages(example=example_of_tallies),
    rows=RowStorage(
        raw={"rates.csv": RawFile(title="Every rate", header=("entrant", "task", "pass_rate"), of_sent=rates_of)}
    ),
    glossary=lambda: (
        GlossaryEntry("pass_rate", "Pass rate", "The share of tries that were passed; higher is better."),
    ),
)
