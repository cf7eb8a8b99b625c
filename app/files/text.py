"""Checks that a file is UTF-8 text and, if not, says what it looks like and where it stops being text.

Called by `app.files.tables` before a parser sees the file.
"""

import codecs
from pathlib import Path

from app.errors import Problem

BOM = codecs.BOM_UTF8
PIECE = 1 << 20
_UTF_16_OR_32 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_OTHER_FORMATS = {
    b"\x1f\x8b": "a gzip; give it the ending .gz",
    b"PK\x03\x04": "a zip archive or an Excel workbook; send .csv, or name an archive .zip",
    b"PAR1": "a Parquet file; send .csv",
    b"%PDF": "a PDF; send .csv",
}


def problem_of_text(path: Path, name: str) -> Problem | None:
    """Return why a file cannot be read as text, or None when it is UTF-8 with something in it."""
    with path.open("rb") as content:
        start = content.read(4096)
    if not start.removeprefix(BOM).strip() and path.stat().st_size <= len(start):
        return Problem("the file is empty", file=name)
    for mark, what in _OTHER_FORMATS.items():
        if start.startswith(mark):
            return Problem(f"the file is {what}", file=name)
    if start.startswith(_UTF_16_OR_32) or _looks_wide(start):
        return Problem("the file is UTF-16 or UTF-32; save it as UTF-8", file=name)
    return _first_bad_byte(path, name)


def small_text(path: Path) -> str | None:
    """Return a small file that is plain text, read once; None for any other, which is looked at for what is wrong."""
    with path.open("rb") as content:
        whole = content.read(PIECE)
    is_other = whole.startswith((*_OTHER_FORMATS, *_UTF_16_OR_32)) or _looks_wide(whole[:4096])
    if len(whole) == PIECE or is_other or b"\0" in whole or not whole.removeprefix(BOM).strip():
        return None
    try:
        return whole.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _looks_wide(start: bytes) -> bool:
    """Say whether every other byte is zero, as in UTF-16 of Western text without a byte order mark."""
    return len(start) > 3 and (start[::2].count(0) > len(start) // 4 or start[1::2].count(0) > len(start) // 4)


def _first_bad_byte(path: Path, name: str) -> Problem | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    n_read = 0
    with path.open("rb") as content:
        while True:
            piece = content.read(PIECE)
            pending = len(decoder.getstate()[0])
            if b"\0" in piece:
                return _bad_byte(path, name, n_read + piece.index(b"\0"), "a zero byte, which text does not contain")
            try:
                decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                return _bad_byte(path, name, n_read - pending + error.start, "not UTF-8; save the file as UTF-8")
            if not piece:
                return None
            n_read += len(piece)


def _bad_byte(path: Path, name: str, offset: int, what: str) -> Problem:
    with path.open("rb") as content:
        n_lines = 1
        for at in range(0, offset, PIECE):
            n_lines += content.read(min(PIECE, offset - at)).count(b"\n")
        value = f"0x{content.read(1).hex()}"
    return Problem(f"byte {offset + 1} of the file, in line {n_lines}, is {what}", file=name, row=n_lines, value=value)
