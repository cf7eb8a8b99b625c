"""What a worker gives back to the system."""

import platform
import subprocess
import sys

import pytest

MEASURE = """
import resource
from pathlib import Path
from app.cli.worker import give_back_large_arrays

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20

assert give_back_large_arrays()
for _ in range(2):
    large = b"x" * (16 << 20)
    above = [b"y" * 100_000 for _ in range(10)]
    before = resident()
    del large
    print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator than glibc's")
def test_a_large_array_is_given_back_although_something_lies_above_it() -> None:
    """The first is so in any case; the system's allocator would keep the second for later."""
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)

    assert [int(line) >= 15 for line in done.stdout.split()] == [True, True]


TRIMMED = """
import resource
from pathlib import Path
from app.cli.worker import give_back_free_pages, give_back_large_arrays

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20

assert give_back_large_arrays()
each = [b"y" * 100_000 for _ in range(1_000)]
kept = each[::10]
before = resident()
del each
print(before - resident())
assert give_back_free_pages()
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator than glibc's")
def test_pages_between_what_stays_are_given_back_when_they_are_looked_for() -> None:
    """Small things lie between others, and are the allocator's when they are free."""
    done = subprocess.run([sys.executable, "-c", TRIMMED], capture_output=True, text=True, check=True)

    kept, given_back = map(int, done.stdout.split())
    assert kept < 20
    assert given_back > 70
