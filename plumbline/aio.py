"""The client whose answers are awaited: the same requests as `plumbline.client`, tried again in the same cases."""

import asyncio
from typing import TYPE_CHECKING, Any, Unpack, cast

import httpx2

from plumbline.calls import (
    Files,
    Run,
    address_of,
    submission_request,
    table_request,
    token_of,
    upload_request,
)
from plumbline.cli.remote import RemoteRequest, accepted, attempts, client_options, json_of
from plumbline.documents import DryRun, RunFields, Submission, Table
from plumbline.frame import frame_of
from plumbline.retries import UNDER_WAY, pauses

if TYPE_CHECKING:
    import pandas as pd


class AsyncClient:
    """A plumbline server, as seen by one holder of a token; reading needs none."""

    def __init__(self, server: str | None = None, token: str | None = None) -> None:
        self._address = address_of(server).rstrip("/")
        self._client = httpx2.AsyncClient(**client_options(token_of(token)))

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._client.aclose()

    async def table(self, benchmark: str, board: str, *, pairs: bool = False, snapshot: int | None = None) -> Table:
        """Return a board as it is published, or its table of pairs."""
        request = table_request(benchmark, board, is_pairs=pairs, snapshot=snapshot)
        return cast(Table, await self._send(request))

    async def board(self, benchmark: str, board: str, *, snapshot: int | None = None) -> "pd.DataFrame":
        """Return a board as a data frame, see `plumbline.frame.frame_of`."""
        return frame_of(await self.table(benchmark, board, snapshot=snapshot))

    async def pairs(self, benchmark: str, board: str, *, snapshot: int | None = None) -> "pd.DataFrame":
        """Return every ordered pair of a board as a data frame."""
        return frame_of(await self.table(benchmark, board, pairs=True, snapshot=snapshot))

    async def submit(self, benchmark: str, files: Files, **run: Unpack[RunFields]) -> Submission:
        """Send results: files or folders. Returns at once with the checks; `wait` has the verdict."""
        return cast(Submission, await self._upload(benchmark, files, Run(**run), is_dry=False))

    async def dry_run(self, benchmark: str, files: Files, **run: Unpack[RunFields]) -> DryRun:
        """Have results checked; nothing is stored. The answer's `impact` has the ranks that they would get."""
        return cast(DryRun, await self._upload(benchmark, files, Run(**run), is_dry=True))

    async def submission(self, number: int) -> Submission:
        """Return the state of a submission."""
        return cast(Submission, await self._send(submission_request(number)))

    async def wait(self, number: int, *, timeout_s: float | None = None) -> Submission:
        """Return a submission as soon as nothing more happens to it by itself. Raises TimeoutError."""
        waiting = pauses(timeout_s)
        while (found := await self.submission(number))["status"] in UNDER_WAY:
            await asyncio.sleep(next(waiting))
        return found

    async def _upload(self, benchmark: str, files: Files, run: Run, *, is_dry: bool) -> Any:
        # A folder is packed in a thread: it may be large, and nobody else waits for it.
        context = upload_request(benchmark, files, run, is_dry=is_dry)
        request = await asyncio.to_thread(context.__enter__)
        try:
            return await self._send(request)
        finally:
            await asyncio.to_thread(context.__exit__, None, None, None)

    async def _send(self, request: RemoteRequest) -> Any:
        for this in attempts(self._address, request):
            await asyncio.sleep(this.pause_s)
            try:
                this.response = await self._client.request(**request.call(self._address))
            except httpx2.TransportError as error:
                this.error = error
        return json_of(self._address, accepted(this.response))
