"""From the files of a request to plain tables on disk: names checked, gzip and zip unpacked, bytes hashed. Whatever
size a file claims, the limits count the bytes actually unpacked.
"""

import hashlib
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Self

from app.config import MIB, Settings
from app.errors import Problem, TooLarge
from app.files.findings import Findings
from app.names import clip_for_message, first_few

TABLE_SUFFIXES = (".csv", ".json", ".jsonl")

MAX_FILE_NAME = 255

PIECE = 1 << 20


class BrokenGzip(Exception):
    """Invalid or truncated gzip; the message says which."""


BROKEN_STREAM = (zipfile.BadZipFile, BrokenGzip, zlib.error, EOFError, NotImplementedError)


@dataclass(frozen=True)
class SentFile:
    """One file of a multipart request, copied to disk, with the name that the sender gave it."""

    name: str
    path: Path


@dataclass(frozen=True)
class Limits:
    """How much one submission may hold."""

    max_unpacked_bytes: int
    max_json_bytes: int
    max_files: int
    max_rows: int

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the limits that the settings give in MiB and counts."""
        return cls(
            max_unpacked_bytes=settings.max_unpacked_mib * MIB,
            max_json_bytes=settings.max_json_mib * MIB,
            max_files=settings.max_files,
            max_rows=settings.max_rows,
        )


@dataclass(frozen=True)
class FileRecord:
    """A file as it was sent, or a member of a sent archive; an archive itself has no rows."""

    name: str
    sha256: str
    n_bytes: int
    n_rows: int = 0


@dataclass(frozen=True)
class ReceivedFile:
    """An unpacked file on disk; `position` is its place among the records of the upload.

    The name of an archive's member begins with the archive's name and a slash.
    """

    name: str
    path: Path
    suffix: str
    position: int

    @property
    def is_member(self) -> bool:
        """Whether it came in an archive."""
        return "/" in self.name


def promised_suffix(name: str, suffixes: Sequence[str]) -> str | None:
    """Return which of the suffixes a name promises, with or without .gz; None when it promises none."""
    plain = name.lower().removesuffix(".gz")
    return next((suffix for suffix in suffixes if plain.endswith(suffix)), None)


class Unpacking:
    """One upload on its way to files of the wanted suffixes. Raises TooLarge as soon as a limit is passed."""

    def __init__(self, limits: Limits, folder: Path, findings: Findings, suffixes: Sequence[str]) -> None:
        self.records: list[FileRecord] = []
        self.files: list[ReceivedFile] = []
        self._suffixes = suffixes
        self.warnings: list[Problem] = []
        self._limits = limits
        self._folder = folder
        self._findings = findings
        self._n_bytes = 0

    def take_all(self, uploads: Sequence[SentFile]) -> None:
        """Unpack every file; what is wrong with one does not hide what is wrong with the next."""
        if not uploads:
            self._findings.add(Problem("no file was sent", column="files"))
        seen: set[str] = set()
        for upload in uploads:
            complaint = _complaint_about_name(upload.name, seen) or self._complaint_about_kind(upload.name)
            seen.add(upload.name)
            if complaint is not None:
                self._findings.add(Problem(complaint, file=clip_for_message(upload.name)))
            elif upload.name.lower().endswith(".zip"):
                self._take_archive(upload)
            else:
                self._take_file(upload)

    def _take_file(self, upload: SentFile) -> None:
        sha256, n_bytes = hash_file(upload.path)
        position = self._record(FileRecord(upload.name, sha256, n_bytes))
        path: Path | None = upload.path
        if upload.name.lower().endswith(".gz"):
            path = self._unzip(upload.path, upload.name, position)
        else:
            self._spend(n_bytes)
        self._keep(upload.name, path, position)

    def _take_archive(self, upload: SentFile) -> None:
        self._record(FileRecord(upload.name, *hash_file(upload.path)))
        try:
            with open_archive(upload.path, self._limits.max_files) as archive:
                members, ignored = wanted_members(archive)
                self._warn_of_ignored(upload.name, ignored)
                self._take_members(upload.name, archive, members)
        except CannotUnpack as error:
            self._findings.add(Problem(str(error), file=upload.name))

    def _warn_of_ignored(self, name: str, ignored: Sequence[str]) -> None:
        if ignored:
            shown = first_few(ignored, 5, clip_for_message)
            self.warnings.append(Problem(f"{len(ignored)} hidden members were ignored: {shown}", file=name))

    def _readable(self, name: str, members: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
        """Return the members to unpack: what may not be in an archive is refused there, what is not read is named."""
        others = [m for m in members if refusal_of(m, frozenset()) is None and self._complaint_about_kind(m.filename)]
        if others:
            shown = first_few(others, 20, lambda member: clip_for_message(member.filename))
            message = f"{len(others)} of its members were ignored, being of kinds that are not read: {shown}"
            self.warnings.append(Problem(message, file=name))
        return [member for member in members if member not in others]

    def _take_members(self, name: str, archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo]) -> None:
        readable = self._readable(name, members)
        if not readable:
            example = f"; {clip_for_message(members[0].filename)} is of a kind that is not read" if members else ""
            self._findings.add(Problem(f"the archive contains no table{example}", file=name))
        seen: set[str] = set()
        for member in readable:
            complaint = refusal_of(member, seen)
            seen.add(member.filename)
            if complaint is not None:
                value = clip_for_message(member.orig_filename)
                self._findings.add(Problem(f"member {value}: {complaint}", file=name, value=value))
            else:
                self._take_member(f"{name}/{member.filename}", archive, member)

    def _take_member(self, name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
        position, digest = self._record(FileRecord(name, "", member.file_size)), hashlib.sha256()
        try:
            with archive.open(member) as content:
                path = self._write(_hashed(content, digest.update), name, position)
        except BROKEN_STREAM as error:
            self._findings.add(Problem(f"cannot be unpacked: {error}", file=name))
            return
        if path is None:
            return
        self.records[position] = FileRecord(name, digest.hexdigest(), member.file_size)
        if name.lower().endswith(".gz"):
            path = self._unzip(path, name, position)
        self._keep(name, path, position)

    def _complaint_about_kind(self, name: str) -> str | None:
        if name.lower().endswith(".zip") or promised_suffix(name, self._suffixes):
            return None
        accepted = ", ".join(self._suffixes)
        return f"not an accepted kind of file; accepted are {accepted}, each also .gz, and .zip of them"

    def _record(self, record: FileRecord) -> int:
        self.records.append(record)
        if len(self.records) > self._limits.max_files:
            raise TooLarge(f"The submission has more than {self._limits.max_files} files.")
        return len(self.records) - 1

    def _unzip(self, packed: Path, name: str, position: int) -> Path | None:
        with packed.open("rb") as content:
            return self._write(unpacked(content), name, position, step=".unpacked")

    def _write(self, content: Iterable[bytes], name: str, position: int, step: str = "") -> Path | None:
        """Unpack a stream into a file of our own naming; a broken one is a problem and gives None."""
        path = self._folder / f"{position}{step}"
        try:
            with path.open("wb") as target:
                for piece in content:
                    self._spend(len(piece))
                    target.write(piece)
        except BROKEN_STREAM as error:
            self._findings.add(Problem(f"cannot be unpacked: {error}", file=name))
            return None
        return path

    def _spend(self, n_bytes: int) -> None:
        self._n_bytes += n_bytes
        if self._n_bytes > self._limits.max_unpacked_bytes:
            allowed = self._limits.max_unpacked_bytes
            raise TooLarge(f"The submission unpacks to more than {allowed:,} bytes, the most that is allowed.")

    def _keep(self, name: str, path: Path | None, position: int) -> None:
        suffix = promised_suffix(name, self._suffixes)
        if path is None or suffix is None:
            return
        if suffix == ".json" and path.stat().st_size > self._limits.max_json_bytes:
            allowed = self._limits.max_json_bytes
            raise TooLarge(f"{name}: a .json file may have {allowed:,} bytes; send .jsonl or .csv beyond that.")
        self.files.append(ReceivedFile(name, path, suffix, position))


def _hashed(content: IO[bytes], update: Callable[[bytes], None]) -> Iterator[bytes]:
    """Yield the pieces of a stream, hashed on their way: a member is not read again for it."""
    while piece := content.read(PIECE):
        update(piece)
        yield piece


def hash_file(path: Path) -> tuple[str, int]:
    """Return the SHA-256 of a file, in hexadecimal, and its size."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest(), path.stat().st_size


def _complaint_about_name(name: str, seen: set[str]) -> str | None:
    if not name or len(name) > MAX_FILE_NAME or not name.isprintable() or "/" in name or "\\" in name:
        return f"a file name must have printable characters, no slashes, at most {MAX_FILE_NAME}"
    if name in seen:
        return "two files of the submission have this name; problems could not say which is meant"
    return None


# Checks of a zip archive before anything in it is unpacked.
#
# The directory of an archive is written by a stranger: its size is bounded before Python reads it, and members are
# never written under their own names.

# The end of central directory record: signature, 2 + 2 + 2 numbers we skip, entries, size of the directory,
# its offset, length of the comment. APPNOTE.TXT of PKWARE, sections 4.3.15 and 4.3.16.
_END = struct.Struct("<4s6xHLLH")

_END_SIGNATURE = b"PK\x05\x06"

_ZIP64_LOCATOR = b"PK\x06\x07"

_LOCATOR_SIZE = 20

_MAX_COMMENT = 0xFFFF

_BYTES_PER_ENTRY = 1024

_ENCRYPTED = 0x1

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_MAX_MEMBER_NAME = 500


class CannotUnpack(Exception):
    """An archive that is broken or of a kind that is not read; the message says which."""


@contextmanager
def open_archive(path: Path, max_files: int) -> Iterator[zipfile.ZipFile]:
    """Open a zip whose directory is small enough to be read. Raises CannotUnpack."""
    _check_directory(path, max_files)
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, struct.error) as error:
        raise CannotUnpack(f"the zip cannot be read: {error}") from error
    with archive:
        if len(archive.infolist()) > max_files:
            raise CannotUnpack(f"the zip contains {len(archive.infolist())} members; at most {max_files} are allowed")
        yield archive


def wanted_members(archive: zipfile.ZipFile) -> tuple[list[zipfile.ZipInfo], list[str]]:
    """Return the members to read, and the names of those that file managers add and nobody means to send."""
    files = [member for member in archive.infolist() if not member.is_dir() or _is_unsafe(member.orig_filename)]
    ignored = [member.filename for member in files if _is_hidden(member.filename)]
    return [member for member in files if not _is_hidden(member.filename)], ignored


def refusal_of(member: zipfile.ZipInfo, seen: Set[str]) -> str | None:
    """Say why a member must not be unpacked; None when it may."""
    if _is_unsafe(member.orig_filename):
        return "a member's name must be relative, printable, without .., drive or backslash"
    if member.filename in seen:
        return "two members have this name"
    if member.filename.lower().endswith(".zip"):
        return "an archive inside an archive is not read"
    if stat.S_ISLNK(member.external_attr >> 16):
        return "symbolic links are not followed"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted members cannot be read"
    if member.compress_type not in _METHODS:
        return "only stored and deflated members are read"
    return None


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not _is_unsafe(name) and (parts[0] == "__MACOSX" or parts[-1].startswith("."))


def _is_unsafe(name: str) -> bool:
    parts = name.split("/")
    return (
        not name
        or len(name) > _MAX_MEMBER_NAME
        or name.startswith("/")
        or ".." in parts
        or "\\" in name
        or ":" in parts[0]
        or not name.isprintable()
    )


def _check_directory(path: Path, max_files: int) -> None:
    """Bound what `zipfile` will read: it builds an object for each entry of the directory, however many."""
    tail = _tail(path)
    at = tail.rfind(_END_SIGNATURE)
    if at < 0 or len(tail) - at < _END.size:
        raise CannotUnpack("the file is not a complete zip archive")
    _, n_entries, directory_size, _, _ = _END.unpack_from(tail, at)
    if tail[max(at - _LOCATOR_SIZE, 0) :].startswith(_ZIP64_LOCATOR):
        raise CannotUnpack("zip64 archives are not read; send less in one archive")
    if n_entries > max_files or directory_size > max_files * _BYTES_PER_ENTRY:
        raise CannotUnpack(f"the zip contains {n_entries} members; at most {max_files} are allowed")


def _tail(path: Path) -> bytes:
    size = path.stat().st_size
    with path.open("rb") as content:
        content.seek(max(0, size - _MAX_COMMENT - _END.size - _LOCATOR_SIZE))
        return content.read()


# Unpacks gzip piece by piece in bounded time, whatever its headers hold.
#
# Python's own reader takes a header's file name byte by byte, and goes through any number of empty members; zlib
# skips a header in C, and the members are counted here.

GZIP = 31

# What follows a member is copied: of small members, a small piece at a time.
READ = 1 << 14

# bgzip writes a member for each 64 KiB; this is more than 6 GiB of them.
MAX_MEMBERS = 100_000


def unpacked(packed: IO[bytes]) -> Iterator[bytes]:
    """Yield the content of all members, at most PIECE bytes at a time. Raises BrokenGzip."""
    rest = packed.read(READ)
    if not rest:
        raise BrokenGzip("the file is empty")
    n_members = 0
    while rest:
        n_members += 1
        if n_members > MAX_MEMBERS:
            raise BrokenGzip(f"it has more than {MAX_MEMBERS:,} members")
        rest = yield from _member(packed, rest)
        # Some programs fill the last block with zeros.
        while not rest.strip(b"\0") and (more := packed.read(READ)):
            rest = more
        rest = rest.lstrip(b"\0")


def _member(packed: IO[bytes], rest: bytes) -> Generator[bytes, None, bytes]:
    """Yield one member's content; return the bytes read beyond its end."""
    member = zlib.decompressobj(GZIP)
    try:
        while not member.eof:
            piece = member.decompress(rest, PIECE)
            if piece:
                yield piece
            rest = member.unconsumed_tail or (b"" if member.eof else packed.read(READ))
            if not rest and not piece and not member.eof:
                raise BrokenGzip("it ends before its end-of-stream marker")
    except zlib.error as error:
        raise BrokenGzip(str(error)) from None
    return member.unused_data
