"""What endpoints depend on: the state of the web process (`State`) and the database session of a request.

`Probe` asks a database that may hang one question at a time. A Postgres that was stopped keeps its connections and
answers nothing: each probe of a load balancer would hold another thread and another connection until nobody is served.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Request
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.cache import Cache
from app.config import Settings
from app.db.engine import LONG_REQUESTS, SessionFactory, allow, run_in_transaction
from app.jobs.evidence import kept_rows
from app.jobs.queue import QueuedJobs
from app.reading import Readers
from app.rights.oidc import Provider
from app.store.health import Slow
from app.turns import Turns
from app.values.scores import ScoreTable
from app.web.limits import RateLimit

T = TypeVar("T")
WITHIN_S = 2.0


class NoAnswer(Exception):
    """The running query has not been answered in time; `since_s` says for how long."""

    def __init__(self, since_s: float) -> None:
        super().__init__(since_s)
        self.since_s = since_s


@dataclass
class Probe(Generic[T]):
    """One per process: callers during a running query wait for its answer."""

    within_s: float = WITHIN_S
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _answer: "Future[T] | None" = None
    _asked_at: float = 0.0

    def ask(self, question: Callable[[], T]) -> T:
        """Return the answer.

        Raises NoAnswer, and what the query raises.
        """
        with self._lock:
            if self._answer is None or self._answer.done():
                self._answer, self._asked_at = Future(), time.monotonic()
                # A thread of its own, which ends with the process: it may hang for as long as the database does.
                threading.Thread(target=_settle, args=(self._answer, question), daemon=True).start()
            answer, asked_at = self._answer, self._asked_at
        try:
            return answer.result(self.within_s)
        except TimeoutError:
            raise NoAnswer(time.monotonic() - asked_at) from None


def _settle(answer: "Future[T]", question: Callable[[], T]) -> None:
    try:
        answer.set_result(question())
    except BaseException as error:
        answer.set_exception(error)


MOST_COMPUTING, COMPUTED_WITHIN_S = 8, 5.0
"""So many dry runs and previews wait for a moment to compute a board, one at a time, and so long."""


def computing_turns() -> Turns:
    """Return the turns of who has boards computed within a request."""
    busy = "Other dry runs are being computed; try again in a few seconds."
    return Turns(1, room=MOST_COMPUTING, wait_s=COMPUTED_WITHIN_S, busy=busy)


@dataclass(frozen=True)
class State:
    """One per process. `reads` are those of tokens.

    Boards that are computed within a request take turns (`computing`), but for those of readers' choices.
    `heard_s` says how long ago the Postgres itself answered, past any pooler.
    """

    settings: Settings
    sessions: SessionFactory
    jobs: QueuedJobs
    readers: Readers
    rows: Cache[ScoreTable] = field(default_factory=kept_rows)
    computing: Turns = field(default_factory=computing_turns)
    provider: Provider | None = None
    reads: RateLimit | None = None
    probe: Probe[Any] = field(default_factory=Probe)
    heard_s: Callable[[], float] = lambda: math.inf
    counted_slowly: dict[str, tuple[float, Slow]] = field(default_factory=dict)

    @contextmanager
    def computing_turn(self, owner: str, session: Session) -> Iterator[None]:
        """Wait for a turn to compute one board, with a connection for the block alone. Raises Busy."""
        session.commit()  # Nothing is written: the connection goes back before the wait.
        with self.computing.taken_in_thread(owner):
            allow(session, LONG_REQUESTS)
            yield
            session.commit()

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
