"""Clocks of single processes that jump while these run; the machine's own stays as it is. Used by tests/faults.

A library of ours is preloaded, compiled here: libfaketime also changes how long a process sleeps, which stops Python.
"""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("shifted_clock.c")
HOUR_S = 3600


class Clock:
    """The time of day that some processes see, whoever they start included."""

    def __init__(self, name: str, folder: Path) -> None:
        self._file = folder / f"{name}.clock"
        self.set_to(0)
        self._file.chmod(0o644)
        self.environ = {"LD_PRELOAD": str(compiled(folder)), "SHIFTED_CLOCK": str(self._file)}

    def set_to(self, shift_s: float) -> None:
        """Put the clock so many seconds before (negative: behind) the machine's."""
        mode = "r+b" if self._file.exists() else "wb"
        with self._file.open(mode) as opened:
            opened.write(struct.pack("q", round(shift_s)))


def compiled(folder: Path) -> Path:
    """Return the library, made in the folder; without a compiler the test is skipped."""
    library = folder / "shifted_clock.so"
    if not library.exists():
        if (compiler := shutil.which("cc")) is None:
            pytest.skip("needs a C compiler")
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
    return library
