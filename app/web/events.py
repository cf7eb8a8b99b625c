"""/submissions/{id}/events: each step of a submission as it happens, for its page and for programs.

Server-sent events; who watches and how they hear is in `app.web.following`.
"""

from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from app.store import submissions, web_processes
from app.web.checked_first import CheckedFirst
from app.web.endpoint_answers import described
from app.web.following import Followers
from app.web.limits import network_of_reader
from app.web.state import State, StateDep

router = APIRouter(route_class=CheckedFirst, tags=["submissions"])
# A proxy that gathers an answer before it passes it on would make news old.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """The events of one submission; counted for as long as they are sent, so also until a client is found gone."""

    def __init__(self, followers: Followers, *follow: Any) -> None:
        super().__init__((), media_type="text/event-stream", headers=HEADERS)
        self._followers, self._follow = followers, follow

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events. Raises what `Followers.follow` raises, before anything is sent."""
        with self._followers.follow(*self._follow) as watched:
            self.body_iterator = self._followers.events(watched)
            await super().__call__(scope, receive, send)


@router.get(
    "/submissions/{submission}/events",
    summary="A submission's status as it changes (server-sent events)",
    responses=described(404, 429, 503, also=("events",)),
)
async def watch(submission: int, request: Request, state: StateDep) -> Response:
    """Send the status of a submission now and at each change, until it is final."""
    status = await run_in_threadpool(_status_of, state, submission)
    return EventStream(state.followers, submission, network_of_reader(request), status)


def _status_of(state: State, number: int) -> str:
    with state.sessions() as session:
        stored = submissions.find_submission(session, number)
        is_unshown = bool(web_processes.unshown(session, [number]))
        return web_processes.status_said(stored.status, is_unshown=is_unshown)
