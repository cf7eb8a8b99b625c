"""Files made to take a reader's memory or time, and what they are told."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

from app.files.tables import has_more_blank_lines, most_blank_lines
from app.files.uploads import MAX_MEMBERS
from tests.cases.evidence_tables import read, the_problem
from tests.cases.predictions import labels, problems
from tests.cases.read import parquet

GOOD = "model,task,MASE\nA,easy,0.5\n"
EMPTY = gzip.compress(b"")


def test_blank_lines_are_counted_before_they_are_parsed(tmp_path: Path) -> None:
    """Each would be a cell in every column."""
    wide = "model,task,MASE," + ",".join(f"c{at}" for at in range(1997)) + "\n"

    assert "10,000 blank lines" in the_problem(tmp_path, wide + "\n" * 20_000).message


@pytest.mark.parametrize(
    ("body", "n_blank"),
    [
        (b"a\n\nb\n\n\n", 3),
        (b"a\r\n\r\nb\r\n", 1),
        (b"a\r\rb\r", 1),
        (b"a\nb\nc\n", 0),
        (b'"x\n\n\n\ny"\n\n', 1),
        (b'"say ""\n\n"""\n', 0),
    ],
)
def test_blank_lines_outside_quotation_marks_count(tmp_path: Path, body: bytes, n_blank: int) -> None:
    """Whatever ends a line; newlines inside a cell are the cell's."""
    path = tmp_path / "body"
    path.write_bytes(body)

    assert not has_more_blank_lines(path, 0, n_blank)
    assert n_blank == 0 or has_more_blank_lines(path, 0, n_blank - 1)


def test_a_wide_table_may_have_fewer_blank_lines() -> None:
    """Cells are what memory holds."""
    assert [most_blank_lines(n) for n in (1, 200, 2000)] == [100_000, 100_000, 10_000]


def test_members_of_a_gzip_are_counted(tmp_path: Path) -> None:
    """A million empty ones are 20 MB of nothing that would take seconds."""
    assert "100,000 members" in the_problem(tmp_path, EMPTY * (MAX_MEMBERS + 1), name="a.csv.gz").message


def test_a_long_name_in_a_gzip_costs_little(tmp_path: Path) -> None:
    """The name of a file in the header is skipped; here it has 1 MiB."""
    named = b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * (1 << 20) + b"\0" + gzip.compress(GOOD.encode())[10:]

    assert len(read(tmp_path, {"a.csv.gz": named}).scores) == 1


def test_members_and_padding_of_a_gzip_are_read(tmp_path: Path) -> None:
    """As bgzip and tapes write them."""
    packed = gzip.compress(GOOD.encode()) + EMPTY + gzip.compress(b"B,easy,1\n") + bytes(5000)

    assert len(read(tmp_path, {"a.csv.gz": packed}).scores) == 2


@pytest.mark.heavy
def test_bytes_that_are_no_text_are_named_with_their_place(tmp_path: Path) -> None:
    """Parquet calls any bytes text."""
    items = pa.array([b"a", b"\xff\xfe"], pa.binary()).view(pa.string())
    content = {"p.parquet": parquet({"item": items, "prediction": [0.5, 0.5]})}

    (actual,) = problems(tmp_path, content, truth=labels("a", "b"))
    assert (actual.file, actual.row, actual.column, actual.message) == ("p.parquet", 2, "item", "the text is not UTF-8")


@pytest.mark.parametrize("is_dictionary", [False, True])
def test_a_zero_character_is_named_with_its_place(tmp_path: Path, is_dictionary: bool) -> None:
    """It is UTF-8, and no database stores it: what is not read is not looked at."""
    plain = pa.array(["a", None, "b\0"])
    items = plain.dictionary_encode() if is_dictionary else plain
    content = {"p.parquet": parquet({"item": items, "unread": ["\0"] * 3, "prediction": [0.5, 0.5, 0.5]})}

    (actual,) = problems(tmp_path, content, truth=labels("a", "b"))
    expected = ("p.parquet", 3, "item", "the text contains a zero character")
    assert (actual.file, actual.row, actual.column, actual.message) == expected
