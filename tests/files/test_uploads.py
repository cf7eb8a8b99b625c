"""From uploaded files to plain tables: gzip, zip, names, limits, hashes."""

import gzip
import hashlib
import io
import stat
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.errors import EvidenceRejected, TooLarge
from app.files.uploads import Limits, SentFile
from app.kinds.reader import read_evidence
from tests.cases.evidence_tables import LIMITS, make_manifest, problems, read, the_problem

A = b"model,task,MASE\nA,easy,0.5\n"
B = b"model,task,MASE\nB,easy,0.25\n"


def make_zip(members: Iterable[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of the given members."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a name that is there twice
        with zipfile.ZipFile(buffer, "w", method) as archive:
            for name, content in members:
                archive.writestr(name, content)
    return buffer.getvalue()


def test_files_are_joined_and_hashed_as_sent(tmp_path: Path) -> None:
    """Rows keep the position of their file; each file has the hash, size and rows of what was sent."""
    packed = gzip.compress(B, mtime=0)

    evidence = read(tmp_path, {"a.csv": A, "b.csv.gz": packed})

    assert evidence.scores.file.tolist() == [0, 1]
    assert [(f.name, f.sha256, f.n_bytes, f.n_rows) for f in evidence.files] == [
        ("a.csv", hashlib.sha256(A).hexdigest(), len(A), 1),
        ("b.csv.gz", hashlib.sha256(packed).hexdigest(), len(packed), 1),
    ]


def test_members_of_an_archive_are_files_of_their_own(tmp_path: Path) -> None:
    """An archive is recorded with its members; rows and problems name the member."""
    lines = b'{"model": "C", "task": "easy", "MASE": 1}\n'
    archive = make_zip(
        [("run/", b""), ("run/a.csv", A), ("run/b.csv.gz", gzip.compress(B, mtime=0)), ("c.jsonl", lines)]
    )

    evidence = read(tmp_path, {"all.zip": archive})

    assert evidence.scores.entrant.to_list() == ["A", "B", "C"]
    assert [(f.name, f.n_rows) for f in evidence.files] == [
        ("all.zip", 0),
        ("all.zip/run/a.csv", 1),
        ("all.zip/run/b.csv.gz", 1),
        ("all.zip/c.jsonl", 1),
    ]
    assert evidence.files[1].sha256 == hashlib.sha256(A).hexdigest()
    assert evidence.scores.file.tolist() == [1, 2, 3]


def test_what_file_managers_add_is_ignored_with_a_warning(tmp_path: Path) -> None:
    """Hidden files and the folder of macOS are no tables."""
    archive = make_zip([("a.csv", A), ("__MACOSX/._a.csv", b"x"), (".DS_Store", b"x")])

    evidence = read(tmp_path, {"all.zip": archive})

    assert [f.name for f in evidence.files] == ["all.zip", "all.zip/a.csv"]
    assert evidence.warnings[0].message == "2 hidden members were ignored: __MACOSX/._a.csv, .DS_Store"


@pytest.mark.parametrize(
    "name",
    ["../a.csv", "x/../../a.csv", "/etc/a.csv", "C:/a.csv", "..\\a.csv", "a\nb.csv", "a\0b.csv", "../", "y" * 600],
)
def test_unsafe_member_names_are_refused(tmp_path: Path, name: str) -> None:
    """Nothing is written under a stranger's path, and the name is in the problem."""
    member = zipfile.ZipInfo("harmless")
    member.filename = name
    actual = problems(tmp_path, {"all.zip": make_zip([(member, A), ("b.csv", B)])})

    assert [p.message.rpartition(": ")[2] for p in actual] == [
        "a member's name must be relative, printable, without .., drive or backslash"
    ]
    assert actual[0].file == "all.zip"
    assert actual[0].value is not None
    assert actual[0].value.isprintable()


def linked() -> zipfile.ZipInfo:
    """Return a member that is a symbolic link."""
    member = zipfile.ZipInfo("link.csv")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member


def encrypted() -> bytes:
    """Return an archive whose member says that it is encrypted."""
    archive = bytearray(make_zip([("a.csv", A)]))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        archive[archive.index(signature) + offset] |= 1
    return bytes(archive)


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (make_zip([(linked(), b"/etc/passwd")]), "symbolic links"),
        (encrypted(), "encrypted"),
        (make_zip([("inner.zip", make_zip([("a.csv", A)]))]), "an archive inside an archive"),
        (make_zip([("a.csv", A), ("a.csv", A)]), "two members have this name"),
        (make_zip([("a.csv", A)], zipfile.ZIP_LZMA), "only stored and deflated"),
        (make_zip([("a.exe", A)]), "contains no table; a.exe is of a kind that is not read"),
        (make_zip([]), "contains no table"),
        (make_zip([(".hidden", A)]), "contains no table"),
        (b"PK\x05\x06", "not a complete zip"),
        (make_zip([("a.csv", A)])[:-30], "not a complete zip"),
        (b"not a zip at all", "not a complete zip"),
        (make_zip([("a.csv", A * 50)]).replace(b"PK\x03\x04", b"PK\x03\x05"), "cannot be unpacked"),
    ],
)
def test_archives_that_are_not_read(tmp_path: Path, archive: bytes, words: str) -> None:
    """Each says why."""
    assert words in problems(tmp_path, {"all.zip": archive})[0].message


def test_a_damaged_member_is_named(tmp_path: Path) -> None:
    """A checksum that does not agree is a problem of the member, not of the server."""
    archive = bytearray(make_zip([("a.csv", A)], zipfile.ZIP_STORED))
    archive[archive.index(b"0.5")] = ord("9")

    (problem,) = problems(tmp_path, {"all.zip": bytes(archive)})

    assert problem.file == "all.zip/a.csv"
    assert "Bad CRC-32" in problem.message


@pytest.mark.parametrize(
    "content", [b"not a gzip", gzip.compress(A, mtime=0)[:-10], gzip.compress(A, mtime=0) + b"trailing", b""]
)
def test_a_broken_gzip_is_named(tmp_path: Path, content: bytes) -> None:
    """A file that is no gzip, or half of one, is a problem of that file."""
    assert the_problem(tmp_path, content, name="a.csv.gz").file == "a.csv.gz"


@pytest.mark.heavy
def test_a_bomb_stops_at_the_budget(tmp_path: Path) -> None:
    """What really comes out is counted, so zeros do not fill the disk, zipped or gzipped, or both."""
    zeros = bytes(LIMITS.max_unpacked_bytes * 3)

    for name, content in [
        ("a.zip", make_zip([("a.csv", zeros)])),
        ("a.csv.gz", gzip.compress(zeros, mtime=0)),
        ("b.zip", make_zip([("a.csv.gz", gzip.compress(zeros, mtime=0))])),
        ("c.zip", make_zip([(f"{part}.csv", zeros[: len(zeros) // 6]) for part in range(4)])),
    ]:
        with pytest.raises(TooLarge, match="unpacks to more than 10,000,000 bytes"):
            read(tmp_path, {name: content})


def test_an_archive_that_lies_about_its_sizes_is_refused(tmp_path: Path) -> None:
    """A member that holds more than it says does not pass for what it says."""
    archive = make_zip([("a.csv", A * 1000)])
    archive = archive.replace(struct.pack("<L", len(A) * 1000), struct.pack("<L", 10))

    assert problems(tmp_path, {"all.zip": archive})[0].file == "all.zip/a.csv"


def test_a_directory_of_many_members_is_not_read(tmp_path: Path) -> None:
    """The entries of an archive are counted by their bytes before an object is made for each."""
    many = bytearray(make_zip((f"{number}.csv", b"") for number in range(2000)))
    assert "at most 50 are allowed" in problems(tmp_path, {"all.zip": bytes(many)})[0].message

    struct.pack_into("<HH", many, len(many) - 14, 1, 1)

    assert "at most 50 are allowed" in problems(tmp_path, {"all.zip": bytes(many)})[0].message


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    """Members count as files."""
    with pytest.raises(TooLarge, match="more than 50 files"):
        read(tmp_path, {f"{number}.csv": A for number in range(51)})


def test_too_many_rows_are_refused(tmp_path: Path) -> None:
    """Rows of all files count together."""
    limits = Limits(max_unpacked_bytes=10_000, max_json_bytes=1000, max_files=5, max_rows=1)

    with pytest.raises(TooLarge, match="more than 1 rows"):
        read(tmp_path, {"a.csv": A, "b.csv": B}, limits=limits)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", ["", "a.txt", "a.parquet", "a", "dir/a.csv", "..\\a.csv", "a\n.csv", "x" * 300 + ".csv"]
)
def test_file_names_that_are_refused(tmp_path: Path, name: str) -> None:
    """A name must promise a table and be printable; it is shown harmlessly."""
    (problem,) = problems(tmp_path, {name: A})

    assert problem.file is not None
    assert problem.file.isprintable()


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    """Problems could not say which of them is meant."""
    from_upload = tmp_path / "a"
    from_upload.write_bytes(A)
    twice = [SentFile("a.csv", from_upload), SentFile("a.csv", from_upload)]

    with pytest.raises(EvidenceRejected) as refused:
        read_evidence(make_manifest(), twice, None, LIMITS)

    assert "two files of the submission have this name" in refused.value.problems[0].message


def test_problems_of_every_file_are_reported_in_their_order(tmp_path: Path) -> None:
    """A file that cannot be read does not hide what is wrong with the others."""
    actual = problems(
        tmp_path, {"a.csv": b"", "b.csv.gz": b"no", "c.zip": b"no", "d.csv": A + b"A,easy,-1\nB,easy,x\n"}
    )

    assert [(p.file, p.row) for p in actual] == [
        ("a.csv", None),
        ("b.csv.gz", None),
        ("c.zip", None),
        ("d.csv", 3),
        ("d.csv", 3),
        ("d.csv", 4),
    ]


def test_a_submission_without_files_is_refused() -> None:
    """Nothing is not evidence."""
    with pytest.raises(EvidenceRejected) as refused:
        read_evidence(make_manifest(), [], None, LIMITS)

    assert refused.value.problems[0].message == "no file was sent"


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacked files are gone afterwards, whether the evidence was read or refused."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))

    read(tmp_path, {"all.zip": make_zip([("a.csv", A)])})
    problems(tmp_path, {"all.zip": make_zip([("a.csv", b"")])})

    assert list(place.iterdir()) == []
