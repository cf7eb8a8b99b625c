"""What a server is asked about boards and submissions: by the clients, waiting or awaiting, and by the commands."""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal
from urllib.parse import quote
from uuid import uuid4

from plumbline.cli.folders import zipped_folders
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer
from plumbline.retries import UNDER_WAY, pauses

Files = Sequence[str | Path] | str | Path
Begin = Callable[[int], Callable[[int], object]]
"""Is told how many bytes a try sends, and returns what is told how many of them each piece has."""

TABLE_TYPES = {"csv": "text/csv", "json": "application/json"}


def address_of(server: str | None) -> str:
    """Return the address of a server, by default that of PLUMBLINE_SERVER."""
    return server or os.environ.get("PLUMBLINE_SERVER") or DEFAULT_SERVER


def token_of(token: str | None) -> str | None:
    """Return a token, by default that of PLUMBLINE_TOKEN."""
    return token or os.environ.get("PLUMBLINE_TOKEN") or None


@dataclass(frozen=True, kw_only=True)
class Run:
    """What is said of a run beside its files; `prereg` is a file, `prereg_sha256` one that is registered already.

    A text of metadata or claims is JSON as it is.
    """

    prereg: str | Path | None = None
    prereg_sha256: str | None = None
    entrant: str | None = None
    metadata: Mapping[str, Any] | str | None = None
    claims: Mapping[str, Mapping[str, float]] | str | None = None

    def fields(self) -> dict[str, str]:
        """Return the fields of the form."""
        told = {name: getattr(self, name) for name in ("prereg_sha256", "entrant", "metadata", "claims")}
        return {
            name: value if isinstance(value, str) else json.dumps(value, allow_nan=False)
            for name, value in told.items()
            if value is not None
        }


def path_of_benchmark(slug: str) -> str:
    """Return the path of a benchmark, whatever was given as its slug: nothing in it ends the path."""
    return f"/benchmarks/{quote(slug, safe='')}"


def table_request(
    benchmark: str,
    board: str,
    *,
    is_pairs: bool = False,
    snapshot: int | None = None,
    file_format: Literal["csv", "json"] = "json",
) -> RemoteRequest:
    """Return the request for a board or its pairs."""
    path = f"{path_of_benchmark(benchmark)}/leaderboards/{quote(board)}{'/pairwise' if is_pairs else ''}.{file_format}"
    params = None if snapshot is None else {"snapshot": str(snapshot)}
    return RemoteRequest("GET", path, params=params, headers={"Accept": TABLE_TYPES[file_format]})


def submission_request(number: int) -> RemoteRequest:
    """Return the request for the state of a submission."""
    return RemoteRequest("GET", f"/submissions/{int(number)}.json")


@contextmanager
def upload_request(
    benchmark: str, files: Files, run: Run, *, is_dry: bool = False, begin: Begin = lambda _total: lambda _sent: None
) -> Iterator[RemoteRequest]:
    """Yield the request that sends results; folders go as zips. The files are open as long as the context."""
    given = [files] if isinstance(files, (str, Path)) else list(files)
    with zipped_folders([Path(each) for each in given]) as sent, ExitStack() as opened:
        named = [("files", path) for path in sent]
        named += [] if run.prereg is None else [("prereg", Path(run.prereg))]

        def parts() -> list[tuple[str, Any]]:
            advance = begin(sum(path.stat().st_size for _, path in named))
            return [
                (field, (path.name, _Counted(opened.enter_context(path.open("rb")), advance))) for field, path in named
            ]

        yield RemoteRequest(
            "POST",
            f"{path_of_benchmark(benchmark)}/submissions",
            params={"dry_run": "true"} if is_dry else None,
            headers={"Idempotency-Key": uuid4().hex},
            form=run.fields(),
            files=parts,
        )


class _Counted:
    """A file that counts how much of it was read; httpx2 streams it in pieces."""

    def __init__(self, file: BinaryIO, advance: Callable[[int], object]) -> None:
        self._file = file
        self._advance = advance

    def read(self, n_bytes: int = -1) -> bytes:
        chunk = self._file.read(n_bytes)
        self._advance(len(chunk))
        return chunk

    def fileno(self) -> int:
        return self._file.fileno()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def verdict_of(
    server: RemoteServer,
    number: int,
    *,
    timeout_s: float | None = None,
    tell: Callable[[Mapping[str, Any]], object] = lambda _submission: None,
) -> Any:
    """Return a submission as soon as nothing more happens to it by itself; until then `tell` is told of each look.

    Raises TimeoutError.
    """
    request, waiting = submission_request(number), pauses(timeout_s)
    while (found := server.send_for_json(request))["status"] in UNDER_WAY:
        tell(found)
        time.sleep(next(waiting))
    return found
