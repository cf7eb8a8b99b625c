"""A small file system of its own that a test fills; only root may mount one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOM_MIB = 160


@contextmanager
def small_disk(at: Path) -> Iterator[Path]:
    """Mount a small file system of its own; only root may."""
    at.mkdir(parents=True)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM_MIB}m", "tmpfs", at]).returncode:
        pytest.skip("needs the right to mount a file system")
    at.chmod(0o755)
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", at], check=True)


def fill(folder: Path, *, leaving: int = 0) -> Path:
    """Write until there are no more than so many bytes of room left, and return the file."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as opened:
        try:
            while shutil.disk_usage(folder).free > leaving:
                opened.write(b"\0" * (1 << 16))
        except OSError:
            return filler
    return filler
