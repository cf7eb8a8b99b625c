"""A process that nobody supervises watches itself."""

import subprocess
import sys

import pytest

HANGS = """
import asyncio, time
from app.cli.supervisor import exit_when_hung
async def main():
    watch = asyncio.create_task(exit_when_hung(0.5))
    await asyncio.sleep(0)
    time.sleep(60)
asyncio.run(main())
"""


@pytest.mark.heavy
def test_a_worker_that_nobody_supervises_ends_itself_when_it_hangs() -> None:
    """Its loop stands still: it says where each thread is, and ends in error, so that it is started again."""
    ended = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=30, check=False)

    assert ended.returncode == 1
    assert "Timeout" in ended.stderr
    assert "in main" in ended.stderr
