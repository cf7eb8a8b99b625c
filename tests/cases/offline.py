"""What several test files share."""

import subprocess
import sys
from pathlib import Path

from tests.cases.running_server import environment


def plumbline(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, under these settings."""
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *arguments],
        env=environment(Path("unused"), **settings),
        capture_output=True,
        text=True,
        check=False,
    )
