"""Checks of a zip archive before anything in it is unpacked. Called by `app.files.uploads`.

The directory of an archive is written by a stranger: its size is bounded before Python reads it, and members
are never written under their own names.
"""

import stat
import struct
import zipfile
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

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
