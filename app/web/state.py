"""The resources of a request: settings, sessions, the queue; passed to endpoints as dependencies."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.config import Settings
from app.db.engine import SessionFactory, run_in_transaction
from app.jobs.evidence import KeptRows
from app.jobs.queue import QueuedJobs
from app.reading import Readers
from app.rights.oidc import Provider
from app.turns import Turns
from app.web.limits import RateLimit
from app.web.probe import Probe

T = TypeVar("T")
MOST_COMPUTING, COMPUTED_WITHIN_S = 8, 5.0
"""So many dry runs and previews wait for a moment to compute their boards, one at a time, and so long."""


def computing_turns() -> Turns:
    """Return the turns of who has boards computed within a request."""
    busy = "Other dry runs are being computed; try again in a few seconds."
    return Turns(1, room=MOST_COMPUTING, wait_s=COMPUTED_WITHIN_S, busy=busy)


@dataclass(frozen=True)
class State:
    """One per process. Boards of dry runs and previews are computed in turns; `reads` are those of tokens.

    `heard_s` says how long ago the Postgres itself answered, past any pooler.
    """

    settings: Settings
    sessions: SessionFactory
    jobs: QueuedJobs
    readers: Readers
    rows: KeptRows = field(default_factory=KeptRows)
    computing: Turns = field(default_factory=computing_turns)
    provider: Provider | None = None
    reads: RateLimit | None = None
    probe: Probe[Any] = field(default_factory=Probe)
    heard_s: Callable[[], float] = lambda: math.inf

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run `work(session, *arguments)` in one transaction on a thread, for endpoints that read a stream."""
        return await run_in_threadpool(self.transact, lambda session: work(session, *arguments))

    def transact(self, work: Callable[[Session], T]) -> T:
        """Run `work(session)` in one transaction, again when the database broke it off."""
        return run_in_transaction(self.sessions, work)


def get_state(request: Request) -> State:
    """Return the process's state."""
    state: State = request.app.state.plumbline
    return state


async def _state_of(request: Request) -> State:
    """Return what `get_state` does: async, because a dependency without waiting then needs no thread."""
    return get_state(request)


StateDep = Annotated[State, Depends(_state_of)]


def get_session(state: StateDep) -> Iterator[Session]:
    """Open a session in one transaction, committed when the endpoint returns and rolled back when it raises."""
    with state.sessions.begin() as session:
        yield session


SessionDep = Annotated[Session, Depends(get_session, scope="function")]
