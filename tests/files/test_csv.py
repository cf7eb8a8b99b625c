"""CSV files as people and spreadsheets write them."""

from pathlib import Path

import pytest

from app.errors import EvidenceRejected
from app.files.tables import MOST_RAGGED
from tests.cases.evidence_tables import problems, read, the_problem

GOOD = "model,task,MASE\nA,easy,0.5\nB,easy,0.25\n"


def test_a_plain_table_is_read(tmp_path: Path) -> None:
    """Each record becomes a row with its entrant, task, value and number."""
    scores = read(tmp_path, {"results.csv": GOOD}).scores

    assert scores.entrant.to_list() == ["A", "B"]
    assert scores.task.to_list() == ["easy", "easy"]
    assert scores.value("MASE").tolist() == [0.5, 0.25]
    assert scores.row.tolist() == [2, 3]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\r"),
        GOOD.rstrip("\n"),
        '"model","task","MASE"\n"A","easy","0.5"\n"B","easy","0.25"\n',
        "MASE,model,task\n0.5,A,easy\n0.25,B,easy\n",
    ],
    ids=["byte order mark", "CRLF", "CR", "no last newline", "quoted", "other order"],
)
def test_ways_to_write_the_same_table(tmp_path: Path, content: bytes | str) -> None:
    """Line ends, quotes, a byte order mark and the order of columns do not matter."""
    scores = read(tmp_path, {"results.csv": content}).scores

    assert scores.entrant.to_list() == ["A", "B"]
    assert scores.value("MASE").tolist() == [0.5, 0.25]


def test_rows_are_numbered_behind_quoted_newlines_and_blank_lines(tmp_path: Path) -> None:
    """A newline inside quotes does not begin a row, a blank line is one."""
    content = 'model,task,MASE,note\nA,easy,0.5,"two\nlines"\n\nB,easy,oops,\n'

    problem = the_problem(tmp_path, content)

    assert (problem.row, problem.column, problem.value) == (4, "MASE", "oops")


@pytest.mark.parametrize(
    ("content", "n_rows", "words"),
    [
        (GOOD + "\n\n", 2, "ignored, because empty in every column that is read: 2 rows"),
        (",model,task,MASE\n0,A,easy,0.5\n", 1, "index written by pandas"),
    ],
)
def test_blank_lines_and_an_index_of_pandas_are_ignored_with_a_warning(
    tmp_path: Path, content: str, n_rows: int, words: str
) -> None:
    """A submitter is told what was left out."""
    evidence = read(tmp_path, {"results.csv": content})

    assert len(evidence.scores) == n_rows
    assert words in evidence.warnings[0].message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"\n \r\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"model,task,MASE", "the file contains no rows"),
        (b"model,task,MASE\n", "the file contains no rows"),
        (b"\nmodel,task,MASE\nA,easy,1\n", "the first row is empty"),
        (b"model;task;MASE\nA;easy;0,5\n", "separated by semicolons"),
        (b"model\ttask\tMASE\nA\teasy\t0.5\n", "separated by tabs"),
        (GOOD.encode("utf-16"), "UTF-16"),
        (GOOD.encode("utf-16-le"), "UTF-16"),
        (b"model,task,MASE,model\nA,easy,1,A\n", "two columns have this name"),
        (b"\x1f\x8b\x08\x00", "is a gzip"),
        (b"PK\x03\x04 and so on", "Excel workbook"),
        (b'"model,task,MASE\nA,easy,1\n', "not closed"),
        (b'model,task,MASE\nA,"easy,1\nB,easy,2\n', "not closed"),
        (b"model,task,MASE\nA,ea\0sy,1,,,,,,,,,,,\n", "zero byte"),
        (b"c," * 3000 + b"c\n", "at most 2000"),
        (b"c," * 1_000_000, "columns or more; at most 2000 are allowed"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    """One problem says what the file looks like and what to do."""
    assert words in the_problem(tmp_path, content).message


def test_bytes_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    """The message has the byte, its place in the file and its line."""
    problem = the_problem(tmp_path, b"model,task,MASE\nCaf\xe9,easy,1\n")

    assert (problem.row, problem.value) == (2, "0xe9")
    assert "byte 20 of the file" in problem.message


def test_a_character_cut_between_two_pieces_is_read(tmp_path: Path) -> None:
    """Bytes are checked piece by piece; a character may stand across the edge, and a half one is still found."""
    filler = "x" * ((1 << 20) - len("note,model,task,MASE\n") - 1)
    table = f"note,model,task,MASE\n{filler}é,A,easy,1\n".encode()

    assert len(read(tmp_path, {"results.csv": table}).scores) == 1
    assert f"byte {(1 << 20)} of the file" in the_problem(tmp_path, table.replace(b"\xc3\xa9", b"\xc3x")).message


def test_ragged_rows_are_all_reported(tmp_path: Path) -> None:
    """Each has its own number, and the numbers of other problems stay right between them."""
    content = "model,task,MASE\nA,easy\nB,easy,oops\nC,easy,1,2\nD,easy,oops\n"

    actual = problems(tmp_path, {"results.csv": content})

    assert [(p.row, p.value) for p in actual] == [(2, "A,easy"), (3, "oops"), (4, "C,easy,1,2"), (5, "oops")]
    assert actual[0].message == "the row has 2 cells; the header has 3"


def test_a_row_longer_than_a_block_is_refused(tmp_path: Path) -> None:
    """The reader's memory is bounded, so a row of megabytes is an error."""
    content = 'model,task,MASE\nA,"' + "x\n" * 4_600_000 + '",1\n'

    assert "longer than 4 MiB" in the_problem(tmp_path, content).message


def test_rows_are_numbered_across_blocks(tmp_path: Path) -> None:
    """A problem far into a long file has its own row."""
    filler = "z" * 1000
    rows = [f"M{number},easy,1,{filler}" for number in range(2, 9_500)]
    rows[9_000] = rows[9_000].replace(",1,", ",bad,")
    rows[3] = "ragged"

    actual = problems(tmp_path, {"results.csv": "\n".join(["model,task,MASE,note", *rows])})

    assert [p.row for p in actual] == [5, 9_002]


@pytest.mark.heavy
def test_a_file_of_ragged_rows_is_given_up(tmp_path: Path) -> None:
    """After enough of them the rest is not read, and the message says so."""
    with pytest.raises(EvidenceRejected) as refused:
        read(tmp_path, {"results.csv": "model,task,MASE\n" + "a,b\n" * (MOST_RAGGED + 5)})

    assert refused.value.n_problems == MOST_RAGGED + 1
