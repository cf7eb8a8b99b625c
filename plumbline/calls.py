"""What the client asks a server, whether it waits for the answer or awaits it. Used by `client` and `aio`."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from plumbline.cli.folders import zipped_folders
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest

UNDER_WAY = frozenset({"received", "evaluated"})
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 2.0

Files = Sequence[str | Path] | str | Path


def address_of(server: str | None) -> str:
    """Return the address of a server, by default that of PLUMBLINE_SERVER."""
    return server or os.environ.get("PLUMBLINE_SERVER") or DEFAULT_SERVER


def token_of(token: str | None) -> str | None:
    """Return a token, by default that of PLUMBLINE_TOKEN."""
    return token or os.environ.get("PLUMBLINE_TOKEN") or None


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is said of a run beside its files; `prereg` is a file, `prereg_sha256` one that is registered already."""

    prereg: str | Path | None = None
    prereg_sha256: str | None = None
    entrant: str | None = None
    metadata: Mapping[str, Any] | None = None
    claims: Mapping[str, Mapping[str, float]] | None = None

    def fields(self) -> dict[str, str]:
        """Return the fields of the form."""
        told = {"prereg_sha256": self.prereg_sha256, "entrant": self.entrant}
        objects = {"metadata": self.metadata, "claims": self.claims}
        written = {name: json.dumps(value, allow_nan=False) for name, value in objects.items() if value is not None}
        return {name: value for name, value in told.items() if value is not None} | written


def table_request(benchmark: str, board: str, *, is_pairs: bool = False, snapshot: int | None = None) -> RemoteRequest:
    """Return the request for a board or its pairs."""
    path = f"/benchmarks/{quote(benchmark)}/leaderboards/{quote(board)}{'/pairwise' if is_pairs else ''}.json"
    return RemoteRequest("GET", path, params=None if snapshot is None else {"snapshot": str(snapshot)})


def submission_request(number: int) -> RemoteRequest:
    """Return the request for the state of a submission."""
    return RemoteRequest("GET", f"/submissions/{int(number)}.json")


@contextmanager
def upload_request(benchmark: str, files: Files, run: Run, *, is_dry: bool) -> Iterator[RemoteRequest]:
    """Yield the request that sends results; folders go as zips. The files are open as long as the context."""
    given = [files] if isinstance(files, (str, Path)) else list(files)
    with zipped_folders([Path(each) for each in given]) as sent, ExitStack() as opened:
        named = [("files", path) for path in sent]
        named += [] if run.prereg is None else [("prereg", Path(run.prereg))]

        def parts() -> list[tuple[str, Any]]:
            return [(field, (path.name, opened.enter_context(path.open("rb")))) for field, path in named]

        yield RemoteRequest(
            "POST",
            f"/benchmarks/{quote(benchmark)}/submissions",
            params={"dry_run": "true"} if is_dry else None,
            headers={"Idempotency-Key": uuid4().hex},
            form=run.fields(),
            files=parts,
        )


def pauses(timeout_s: float | None) -> Iterator[float]:
    """Yield how long to wait before asking again, longer each time. Raises TimeoutError when the time is over."""
    pause_s, waited_s = FIRST_PAUSE_S, 0.0
    while timeout_s is None or waited_s < timeout_s:
        yield pause_s
        waited_s += pause_s
        pause_s = min(LONGEST_PAUSE_S, pause_s * 1.5)
    raise TimeoutError(f"the submission was not judged within {timeout_s:g} s")
