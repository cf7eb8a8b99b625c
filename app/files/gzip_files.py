"""Unpacks gzip piece by piece in bounded time, whatever its headers hold. Called by `app.files.uploads`.

Python's own reader takes a header's file name byte by byte, and goes through any number of empty members; zlib
skips a header in C, and the members are counted here.
"""

import zlib
from collections.abc import Generator, Iterator
from typing import IO

GZIP = 31
PIECE = 1 << 20
# What follows a member is copied: of small members, a small piece at a time.
READ = 1 << 14
# bgzip writes a member for each 64 KiB; this is more than 6 GiB of them.
MAX_MEMBERS = 100_000


class BrokenGzip(Exception):
    """Invalid or truncated gzip; the message says which."""


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
    """Yield one member's content and return what follows of what was read."""
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
