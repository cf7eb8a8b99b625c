"""A kind of evidence may be added from outside: one value, walked from POST to page and CSV.

Nothing of the app is changed or replaced: the kind is added to its registry for the time of a test. What reads its
files stands in this module, because readers of uploads load it by its name.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from app.errors import Problem
from app.files.columns import local_codes, read_numbers
from app.files.tables import open_table
from app.kinds.contract import ColumnUse, Evaluation, Kind, Pages, Reading, Request, Summary, UploadExample
from app.kinds.known import KINDS
from app.kinds.parse import parse_manifest
from app.kinds.reader import reader_of
from app.manifest.model import KindPart, Manifest, part_of
from app.values.frame import Frame, FrameField
from app.values.registry import Entry
from app.values.scores import Coded, ScoreTable
from app.values.table import Column
from tests.cases.walkthrough import rows_of
from tests.fixtures import Site

TALLIES = """\
schema_version: 1
slug: tallied
title: Tallied
evidence: tallies
passed_column: passed
metrics: {pass_rate: {direction: maximize, min: 0, max: 1}}
tasks: [{id: easy}, {id: hard}]
leaderboards: [{name: average, method: mean, metric: pass_rate, missing: drop}]
"""
TALLY_ROWS = b"entrant,task,passed,tried\nAda,easy,9,10\nAda,hard,1,4\nBob,easy,10,10\nBob,hard,1,5\n"


class TalliesPart(KindPart):
    """Which column holds how many tries were passed."""

    passed_column: str = "passed"


def read_tallies(request: Request) -> Reading | None:
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


TALLY_KIND = Kind(
    name="tallies",
    part=TalliesPart,
    methods=frozenset({"mean"}),
    read=read_tallies,
    summarise=summarise_tallies,
    pages=Pages(example=example_of_tallies),
    glossary=lambda: (Entry("pass_rate", "Pass rate", "The share of tries that were passed; higher is better."),),
)


def test_a_kind_of_evidence_is_one_value(site: Site) -> None:
    """Its files are read in a process of their own, its rows ranked, and its words shown, by what the kind says."""
    with KINDS.also("tallies", TALLY_KIND):
        assert site.http.post("/benchmarks", content=TALLIES, headers=site.auth("steward")).status_code == 201
        sent = site.http.post(
            "/benchmarks/tallied/submissions", files=[("files", ("t.csv", TALLY_ROWS))], headers=site.auth()
        )
        assert sent.status_code == 202, sent.text
        site.work()
        rows = rows_of(site, "average", "tallied")
        board = site.http.get("/benchmarks/tallied/leaderboards/average").text
        page, glossary = (site.http.get(address).text for address in ("/benchmarks/tallied", "/glossary"))
        own = site.http.get(f"/submissions/{sent.json()['id']}").text

    assert [(row["rank"], row["entrant"], row["mean_pass_rate"]) for row in rows] == [
        ("1", "Bob", "0.6"),
        ("2", "Ada", "0.575"),
    ]
    assert "Bob" in board
    assert "entrant,task,passed,tried" in page
    assert "share of tries" in glossary
    assert "Own tallies" in own


def test_what_is_wrong_with_files_of_an_added_kind_is_said(site: Site) -> None:
    """The problems that it finds come back from the process that read them."""
    with KINDS.also("tallies", TALLY_KIND):
        assert site.http.post("/benchmarks", content=TALLIES, headers=site.auth("steward")).status_code == 201
        rows = TALLY_ROWS.replace(b"tried", b"attempts")
        sent = site.http.post(
            "/benchmarks/tallied/submissions", files=[("files", ("t.csv", rows))], headers=site.auth()
        )

    assert sent.status_code == 422
    assert "the column tried is missing" in sent.text


def test_a_kind_that_reads_with_what_has_no_name_is_refused() -> None:
    """No other process could load it; the message names it."""
    nameless = replace(TALLY_KIND, read=lambda request: None)
    with KINDS.also("tallies", nameless):
        declared = parse_manifest(TALLIES.encode())
        with pytest.raises(TypeError, match="the kind tallies reads with"):
            reader_of(declared)
