"""What was measured, and where: said beside every figure."""

import os
import platform
import subprocess
from datetime import UTC, datetime

import psutil


def machine() -> str:
    """Return commit, day, processors, memory and load."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    memory = psutil.virtual_memory().total / 2**30
    load = os.getloadavg()[0]
    cores = f"{os.cpu_count()} cores ({platform.machine()})"
    today = datetime.now(UTC).date()
    return f"Commit {commit.stdout.strip()}, {today}, {cores}, {memory:.0f} GiB, load average {load:.1f}."
