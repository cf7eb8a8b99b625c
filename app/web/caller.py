"""Who sends a request: the holder of the token that it presents, or of the session that its cookie names."""

from dataclasses import dataclass, replace

from fastapi import Request
from sqlalchemy.orm import Session

from app.db.models import Token
from app.errors import Unauthenticated
from app.store import owners, sessions, tokens
from app.store.audit import Act
from app.turns import owner_of_token
from app.web.audit_notes import act_of
from app.web.cookies import refuse_forged
from app.web.limits import count_guess, refuse_guesses


@dataclass(frozen=True)
class Caller:
    """The caller of a write: the number, name and role of a token, its act, and the token's limits.

    `owner_id` is the token that a steward of the benchmark of the address has linked this one to, else itself.

    `is_fresh` is false in a session that began a while ago: whoever sits there now shows the token again before they do
    what a steward does.
    """

    id: int
    name: str
    role: str
    act: Act
    owner_id: int
    benchmarks: frozenset[str] | None = None
    scopes: frozenset[str] | None = None
    entrants: frozenset[str] | None = None
    is_fresh: bool = True

    @property
    def owner(self) -> str:
        """Return whose turn it is where something waits (`app.turns`)."""
        return owner_of_token(self.owner_id)

    def has_scope(self, scope: str) -> bool:
        """Say whether the token's scopes allow this: reading non-public data, submitting, or acting as a steward."""
        return self.scopes is None or scope in self.scopes

    def may_write_to(self, slug: str) -> bool:
        """Say whether the token's limits allow this benchmark, whatever its role there."""
        return self.benchmarks is None or slug in self.benchmarks


def caller_of_token(session: Session, text: str, request: Request) -> Caller:
    """Return the holder of the token with this text.

    Raises Unauthenticated where it does not work.
    """
    shown: Token | None = getattr(request.state, "token_shown", None)
    if shown is None:
        refuse_guesses(session, request)
    linked = None
    if shown is None:
        token, linked = tokens.find_linked_token(session, text, _slug_of(request))
    else:
        token = session.merge(shown, load=False)
    # For recording refusals: whose token it was.
    request.state.token_id = None if token is None else token.id
    if token is None or token.revoked_at is not None:
        count_guess(request)
        raise Unauthenticated("This token is unknown, or it was revoked.")
    if (ended := tokens.why_ended(token)) is not None:
        raise Unauthenticated(f"This token {ended}.")
    return _working(session, token, request, linked)


def caller_of_session(session: Session, secret: str, request: Request) -> Caller:
    """Return the holder of a browser session.

    Raises Unauthenticated where it has ended, or a write is forged.
    """
    known = sessions.find(session, secret)
    if known is None:
        raise Unauthenticated("This session has expired or was ended; sign in again.")
    is_read = request.method in ("GET", "HEAD")
    if not is_read:
        refuse_forged(request, secret)
    begun, token = known
    sessions.note_use(session, begun)
    linked = None if is_read else owners.find_linked(session, _slug_of(request), token.id)
    caller = _working(session, token, request, linked)
    act = replace(caller.act, session_id=begun.id)
    return replace(caller, act=act, is_fresh=is_read or sessions.is_fresh(begun))


def _slug_of(request: Request) -> str | None:
    """Return the benchmark that a request is about, if its address says it."""
    slug: str | None = request.path_params.get("slug")
    return slug


def _working(session: Session, token: Token, request: Request, linked: int | None) -> Caller:
    tokens.note_use(session, token)
    limits = (token.benchmarks, token.scopes, token.entrants)
    slugs, scopes, names = (None if each is None else frozenset(each) for each in limits)
    act = act_of(request, token.id)
    return Caller(token.id, token.name, token.role, act, linked or token.id, slugs, scopes, names)
