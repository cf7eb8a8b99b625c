"""The resources of a request: settings, sessions, the queue; passed to endpoints as dependencies."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from app.config import Settings
from app.db.engine import SessionFactory, run_in_transaction
from app.db.models import Benchmark
from app.errors import Forbidden, SignedInLongAgo, TooManyRequests, Unauthenticated
from app.jobs.evidence import KeptRows
from app.jobs.queue import QueuedJobs
from app.names import first_few
from app.reading import Readers
from app.store import benchmark_rows, rates, roles
from app.turns import Turns
from app.web.caller import Caller, caller_of_session, caller_of_token
from app.web.cookies import session_secret
from app.web.limits import RateLimit, limit_nobody
from app.web.probe import Probe
from app.web.provider import Provider

T = TypeVar("T")
MOST_COMPUTING, COMPUTED_WITHIN_S = 8, 5.0
"""So many dry runs and previews wait for a moment to compute their boards, one at a time, and so long."""
RANK = {"submitter": 0, "steward": 1, "admin": 2}


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


bearer = HTTPBearer(auto_error=False, scheme_name="token", description="a token of this server; reading needs none")
Presented = Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]


async def get_caller(request: Request, presented: Presented, state: StateDep) -> Caller:
    """Return the sender of the request.

    Raises Unauthenticated, or TooManyRequests.

    Asked before the body is read and again for the endpoint; a request is one write all the same.
    """
    known: Caller | None = getattr(request.state, "caller", None)
    return await run_in_threadpool(find_caller, request, presented, state) if known is None else known


def find_caller(request: Request, presented: HTTPAuthorizationCredentials | None, state: State) -> Caller:
    """Look up the sender of the request and count its write. Raises what `get_caller` raises."""
    request.state.caller = caller = _identify(request, presented, state)
    if "slug" in request.path_params:
        refuse_elsewhere(caller, request.path_params["slug"])
    return caller


def refuse_elsewhere(caller: Caller, slug: str | None) -> None:
    """Refuse a request about a benchmark outside the token's limits.

    Raises Forbidden.
    """
    if caller.benchmarks is not None and slug not in caller.benchmarks:
        raise Forbidden(f"This token is only for {', '.join(sorted(caller.benchmarks))}.")


def _identify(request: Request, presented: HTTPAuthorizationCredentials | None, state: State) -> Caller:
    text = "" if presented is None else presented.credentials.strip()
    secret = session_secret(request)
    per_minute = state.settings.max_requests_per_minute

    def identify(session: Session) -> tuple[Caller, int]:
        caller = caller_of_token(session, text, request) if text else caller_of_session(session, secret or "", request)
        return caller, rates.take(session, f"token {caller.id}", per_minute)

    if not text and secret is None:
        limit_nobody(request)
        raise Unauthenticated("Writing needs a token: send the header Authorization: Bearer <token>, or sign in.")
    caller, wait_s = state.transact(identify)
    if wait_s > 0:
        raise TooManyRequests(f"More than {per_minute} writes in a minute.", wait_s)
    return caller


Holder = Annotated[Caller, Depends(get_caller)]


async def get_submitter(caller: Holder, request: Request) -> Caller:
    """Return the caller if its token is for more than reading. Raises Forbidden."""
    if request.method not in ("GET", "HEAD") and caller.scopes == frozenset({"read"}):
        raise Forbidden("This token is read-only (scope read).")
    return caller


Submitter = Annotated[Caller, Depends(get_submitter)]


async def get_whole_holder(caller: Holder) -> Caller:
    """Return the caller if its token is no narrowed one, and was shown lately.

    A token that leaked from where it only reads or submits, or is for one entrant, must not lock its owner out, or
    erase them. The benchmarks of an invitation narrow nothing: it is the only token that whoever was invited has.
    Raises Forbidden, or SignedInLongAgo.
    """
    limits = [sorted(each) for each in (caller.scopes, caller.entrants) if each is not None]
    if limits:
        raise Forbidden(
            f"This token is only for {'; '.join(first_few(each) for each in limits)}. Renewing a token or erasing its "
            "name needs one that is not limited to scopes or entrants, or an admin."
        )
    if not caller.is_fresh:
        raise SignedInLongAgo
    return caller


WholeHolder = Annotated[Caller, Depends(get_whole_holder)]


async def get_uploader(caller: Submitter, state: StateDep) -> Caller:
    """Return the caller if an upload of theirs could be read soon. Raises Busy."""
    state.readers.turns.refuse_if_full(caller.owner)
    return caller


Uploader = Annotated[Caller, Depends(get_uploader)]


def is_admin(caller: Caller) -> bool:
    """Say whether the caller may act as an admin: an admin's token limited to reading may not."""
    return caller.role == "admin" and caller.has_scope("steward")


async def get_steward(caller: Submitter) -> Caller:
    """Return the caller if it is a steward or an admin. Raises Forbidden."""
    return _require(caller, "steward")


async def get_admin(caller: Submitter) -> Caller:
    """Return the caller if it is an admin. Raises Forbidden."""
    return _require(caller, "admin")


def _require(caller: Caller, role: str) -> Caller:
    if RANK[caller.role] < RANK[role]:
        raise Forbidden(f"This requires a token of role {role}; yours has role {caller.role}.")
    if not caller.is_fresh:
        raise SignedInLongAgo
    if not caller.has_scope("steward"):
        raise Forbidden(f"This token is only for {', '.join(sorted(caller.scopes or ()))}, not for stewarding.")
    return caller


Steward = Annotated[Caller, Depends(get_steward)]


def is_steward_of(session: Session, caller: Caller, benchmark_id: int) -> bool:
    """Say whether the caller may decide about a benchmark: its steward, or any admin."""
    if caller.role == "submitter" or not caller.has_scope("steward") or not _is_for(session, caller, benchmark_id):
        return False
    return caller.role == "admin" or roles.has_role(session, benchmark_id, caller.id, "steward")


def _is_for(session: Session, caller: Caller, benchmark_id: int) -> bool:
    if caller.benchmarks is None:
        return True
    benchmark = session.get(Benchmark, benchmark_id)
    return benchmark is not None and caller.may_write_to(benchmark.slug)


def get_steward_here(slug: str, caller: Steward, state: StateDep) -> Caller:
    """Return the caller if it is steward of the benchmark of the address. Raises Forbidden and NotFound."""
    with state.sessions() as session:
        benchmark = benchmark_rows.find_benchmark(session, slug)
        if not is_steward_of(session, caller, benchmark.id):
            raise Forbidden(f"Only a steward of {slug} may do this; an admin can make you one.")
    return caller


StewardHere = Annotated[Caller, Depends(get_steward_here)]
Admin = Annotated[Caller, Depends(get_admin)]
