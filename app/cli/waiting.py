"""Waits until a server has judged a submission; used by `submit` and by the loading of the examples."""

import sys
import time
from typing import Any

from app.cli.output import make_console
from app.cli.remote import Server

UNDER_WAY = frozenset({"received", "evaluated"})
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 2.0


def wait_for_verdict(remote: Server, submission_id: int) -> dict[str, Any]:
    """Return the submission as soon as nothing more happens to it by itself."""
    console = make_console(sys.stderr)
    with console.status("Waiting for the server") as status:
        pause_s = FIRST_PAUSE_S
        while (submission := get_submission(remote, submission_id))["status"] in UNDER_WAY:
            status.update(f"{submission['status']}: {submission['reason']}")
            time.sleep(pause_s)
            pause_s = min(LONGEST_PAUSE_S, pause_s * 1.5)
    return submission


def get_submission(remote: Server, submission_id: int) -> dict[str, Any]:
    """Return the state of a submission."""
    submission: dict[str, Any] = remote.get_json(f"/submissions/{submission_id}.json")
    return submission
