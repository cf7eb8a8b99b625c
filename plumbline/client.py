"""The client that waits for its answers, and the functions of the module `plumbline`, which use one."""

from typing import TYPE_CHECKING, Unpack, cast

from plumbline.calls import (
    Files,
    Run,
    address_of,
    submission_request,
    table_request,
    token_of,
    upload_request,
    verdict_of,
)
from plumbline.cli.remote import RemoteServer
from plumbline.documents import DryRun, RunFields, Submission, Table
from plumbline.frame import frame_of

if TYPE_CHECKING:
    import pandas as pd


class Client:
    """A plumbline server, as seen by one holder of a token; reading needs none.

    Every method raises a `PlumblineError`: `ServerRefused` with every problem that the server found, or `Unreachable`.
    """

    def __init__(self, server: str | None = None, token: str | None = None) -> None:
        self._server = RemoteServer(address_of(server), token_of(token))

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.__exit__(*exc_info)

    def table(self, benchmark: str, board: str, *, pairs: bool = False, snapshot: int | None = None) -> Table:
        """Return a board as it is published, or its table of pairs."""
        request = table_request(benchmark, board, is_pairs=pairs, snapshot=snapshot)
        return cast(Table, self._server.send_for_json(request))

    def board(self, benchmark: str, board: str, *, snapshot: int | None = None) -> "pd.DataFrame":
        """Return a board as a data frame, see `plumbline.frame.frame_of`."""
        return frame_of(self.table(benchmark, board, snapshot=snapshot))

    def pairs(self, benchmark: str, board: str, *, snapshot: int | None = None) -> "pd.DataFrame":
        """Return every ordered pair of a board as a data frame."""
        return frame_of(self.table(benchmark, board, pairs=True, snapshot=snapshot))

    def submit(self, benchmark: str, files: Files, **run: Unpack[RunFields]) -> Submission:
        """Send results: files or folders. Returns at once with the checks; `wait` has the verdict."""
        with upload_request(benchmark, files, Run(**run)) as request:
            return cast(Submission, self._server.send_for_json(request))

    def dry_run(self, benchmark: str, files: Files, **run: Unpack[RunFields]) -> DryRun:
        """Have results checked; nothing is stored. The answer's `impact` has the ranks that they would get."""
        with upload_request(benchmark, files, Run(**run), is_dry=True) as request:
            return cast(DryRun, self._server.send_for_json(request))

    def submission(self, number: int) -> Submission:
        """Return the state of a submission."""
        return cast(Submission, self._server.send_for_json(submission_request(number)))

    def wait(self, number: int, *, timeout_s: float | None = None) -> Submission:
        """Return a submission as soon as nothing more happens to it by itself. Raises TimeoutError."""
        return cast(Submission, verdict_of(self._server, number, timeout_s=timeout_s))


def board(benchmark: str, name: str, *, snapshot: int | None = None, server: str | None = None) -> "pd.DataFrame":
    """Return a board as a data frame, with its intervals; `attrs` has the metadata."""
    with Client(server) as client:
        return client.board(benchmark, name, snapshot=snapshot)


def pairs(benchmark: str, name: str, *, snapshot: int | None = None, server: str | None = None) -> "pd.DataFrame":
    """Return every ordered pair of a board as a data frame."""
    with Client(server) as client:
        return client.pairs(benchmark, name, snapshot=snapshot)


def submit(
    benchmark: str, files: Files, *, server: str | None = None, token: str | None = None, **run: Unpack[RunFields]
) -> Submission:
    """Send results: files or folders. Returns at once with the checks; `wait` has the verdict."""
    with Client(server, token) as client:
        return client.submit(benchmark, files, **run)


def dry_run(
    benchmark: str, files: Files, *, server: str | None = None, token: str | None = None, **run: Unpack[RunFields]
) -> DryRun:
    """Have results checked; nothing is stored."""
    with Client(server, token) as client:
        return client.dry_run(benchmark, files, **run)


def submission(number: int, *, server: str | None = None, token: str | None = None) -> Submission:
    """Return the state of a submission."""
    with Client(server, token) as client:
        return client.submission(number)


def wait(
    number: int, *, timeout_s: float | None = None, server: str | None = None, token: str | None = None
) -> Submission:
    """Return a submission as soon as nothing more happens to it by itself. Raises TimeoutError."""
    with Client(server, token) as client:
        return client.wait(number, timeout_s=timeout_s)
