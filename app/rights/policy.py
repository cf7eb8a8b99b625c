"""Who may do what: one table, action by role. Routes name the action that they are, pages ask the same table what to
show, and docs/security.md and the tests are made from it.

A cell says which scope a token needs where its holder has that role; an empty cell gives the role nothing. What gives
rights to somebody takes a whole token, or a narrow one would make a wider one. An admin is steward of every benchmark.
A browser session that began a while ago has to sign in again for what takes the scope `steward` or a whole token; who
may do the same as its owner need not.

Nothing here asks the database: who somebody is in a benchmark is looked up by `app.rights.roles`.

Why: docs/adr/023-tokens-and-roles.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields

from app.db.models import SCOPES, Token
from app.errors import Forbidden, SignedInLongAgo
from app.names import clip_for_message, first_few

ANY, READ, WRITE, SUBMIT, STEWARD, WHOLE = "any", "read", "write", "submit", "steward", "whole"
"""Cells: whatever the scopes; `write` is submit or steward; `whole` a token limited to neither scopes nor entrants."""

OF_FRESH_SESSIONS = frozenset({STEWARD, WHOLE})

MOST_NAMED = 10


@dataclass(frozen=True)
class Right:
    """Who may do something, by role, and the words in which everybody else is refused.

    `owner` is whose the thing is: a submission's submitter, a reservation's or a registration's registrant, a token's
    holder. `submitter`, `reviewer` and `steward` are roles in the benchmark that it is about, `any_steward` is a token
    of role steward.
    """

    refusal: str = ""
    anybody: str | None = None
    holder: str | None = None
    owner: str | None = None
    submitter: str | None = None
    reviewer: str | None = None
    steward: str | None = None
    any_steward: str | None = None
    admin: str | None = None

    def __getitem__(self, role: str) -> str | None:
        """Return the cell of a role."""
        cell: str | None = getattr(self, role)
        return (cell or self.steward or self.any_steward) if role == "admin" else cell

    @property
    def roles(self) -> frozenset[str]:
        """Return the roles that have it."""
        return frozenset(role for role in ROLES if self[role] is not None)


ROLES = tuple(field.name for field in fields(Right) if field.name != "refusal")


def _of_stewards(refusal: str = "Only a steward of {slug} may do this.", scope: str = STEWARD) -> Right:
    return Right(refusal, steward=scope)


def _of_any_steward(what: str) -> Right:
    return Right(f"Only stewards {what}; an admin creates tokens of that role.", any_steward=STEWARD)


def _of_admins(what: str, scope: str = STEWARD) -> Right:
    return Right(f"Only an admin may {what}.", admin=scope)


RIGHTS: Mapping[str, Right] = {
    # What needs no token.
    "read what is public": Right(anybody=ANY),
    "sign in": Right(anybody=ANY),
    "use an invitation": Right(anybody=ANY),
    "join a benchmark that lets anybody register": Right(anybody=ANY),
    # What is not public: to everybody else it is not there.
    "read a private benchmark": Right(submitter=READ, reviewer=READ, steward=READ),
    "read a draft": Right(reviewer=READ, steward=READ),
    "read a registration under embargo": Right(owner=READ, reviewer=READ, steward=READ),
    # Of whoever has a token.
    "see one's own account": Right(holder=ANY),
    "sign out": Right(holder=ANY),
    "see the disputes of a submission": Right(holder=ANY),
    "dispute a submission": Right(holder=WRITE),
    "subscribe to one's own submissions": Right(holder=SUBMIT),
    "confirm or end a subscription": Right(holder=WRITE),
    "renew a token": Right("Only its holder, or an admin, may renew a token.", owner=WHOLE, admin=WHOLE),
    "erase a name": Right("Only its holder, or an admin, may erase the name of a token.", owner=WHOLE, admin=WHOLE),
    # Of submitters. Where a manifest leaves submissions open, everybody but reviewers is one.
    "submit": Right(
        "Only submitters of {slug} may submit to it: who was invited or, where submissions are open, whoever is no "
        "reviewer.", submitter=SUBMIT, steward=SUBMIT,
    ),
    "register": Right(
        "Only submitters of {slug} may register for it: who was invited or, where submissions are open, whoever is no "
        "reviewer.", submitter=SUBMIT, steward=SUBMIT,
    ),
    # Of whose it is, and of stewards.
    "see a try": Right("There is no such try; only the latest of each token are kept.", owner=ANY, steward=STEWARD),
    "withdraw a submission": Right(
        "Only its submitter or a steward of its benchmark may withdraw a submission.", owner=WRITE, steward=STEWARD
    ),
    "say what an entrant is": Right(
        "Only its owner, or a steward of {slug}, may say what an entrant is.", owner=WRITE, steward=STEWARD
    ),
    "release a reserved name": Right(
        "Only its registrant, or a steward of {slug}, may release a reserved name.", owner=WRITE, steward=STEWARD
    ),
    # Of those who decide about a benchmark.
    "see the draft of a manifest": _of_stewards(),
    "answer a dispute": Right("Only a steward of its benchmark may answer a dispute.", steward=STEWARD),
    "see the stewards' desk": _of_stewards(),
    "change the manifest": _of_stewards(),
    "change the title": _of_stewards(),
    "change the draft of a manifest": _of_stewards(),
    "upload labels": _of_stewards(),
    "upload items": _of_stewards(),
    "see what labels there are": _of_stewards(),
    "see what is disclosed of labels": _of_stewards(),
    "see exact scores": _of_stewards(),
    "close a benchmark": _of_stewards(),
    "retire a benchmark": _of_stewards(),
    "delete a draft": _of_stewards(),
    "see who may read a benchmark": _of_stewards(),
    "let more people read a benchmark": _of_stewards(),
    "see who has a role": _of_stewards(),
    "grant or revoke a role": _of_stewards(scope=WHOLE),
    "link tokens as one owner": _of_stewards(),
    "move an entrant": _of_stewards(),
    "invite to a benchmark": _of_stewards("Only a steward of {slug} may invite to it.", WHOLE),
    "revoke an invitation": _of_stewards("Only an admin, or a steward of its benchmark, may revoke an invitation."),
    "attest a registration": _of_stewards(
        "Only a steward of a benchmark that it was registered for, or an admin, may attest it."
    ),
    # Of stewards of any benchmark, each of whom is shown what is of their own.
    "create a benchmark": _of_any_steward("create benchmarks"),
    "see the tokens": _of_any_steward("see the tokens"),
    "see the audit": _of_any_steward("see the audit"),
    "see what needs a steward": _of_any_steward("see what needs one"),
    "see the invitations": _of_any_steward("see the invitations"),
    # Of admins.
    "create a token": _of_admins("create tokens", WHOLE),
    "revoke a token": _of_admins("revoke tokens"),
    "appoint or remove a steward": _of_admins("appoint or remove stewards", WHOLE),
    "invite stewards, or to the whole server": _of_admins(
        "invite stewards, or submitters to the whole server", WHOLE
    ),
    "see all of the tokens and of the audit": _of_admins("see this"),
}  # fmt: skip


@dataclass(frozen=True)
class Holder:
    """Who asks: the number, the name and the role of a token, and its limits; None for no limit.

    `is_fresh` is false in a session that began a while ago: whoever sits there now shows the token again before they do
    what a steward does.
    """

    id: int
    name: str
    role: str
    benchmarks: frozenset[str] | None = None
    scopes: frozenset[str] | None = None
    entrants: frozenset[str] | None = None
    is_fresh: bool = True

    @classmethod
    def of(cls, token: Token) -> "Holder":
        """Return the holder of a token."""
        limits = (token.benchmarks, token.scopes, token.entrants)
        benchmarks, scopes, entrants = (None if each is None else frozenset(each) for each in limits)
        return cls(token.id, token.name, token.role, benchmarks, scopes, entrants)

    def has(self, scope: str) -> bool:
        """Say whether the limits of the token leave it a scope, as a cell of the table names it.

        One that is limited to entrants has at most `read` and `submit`: what a steward does is about others, too.
        """
        if scope == WHOLE:
            return self.scopes is None and self.entrants is None
        held = frozenset(SCOPES) if self.scopes is None else self.scopes
        if self.entrants is not None:
            held -= {STEWARD}
        wanted = {SUBMIT, STEWARD} if scope == WRITE else {scope}
        return scope == ANY or not wanted.isdisjoint(held)

    def may_write_to(self, slug: str) -> bool:
        """Say whether the token's limits allow this benchmark, whatever its role there."""
        return self.benchmarks is None or slug in self.benchmarks


@dataclass(frozen=True)
class Relation:
    """Who somebody is to what an action is about: their roles in its benchmark, and whether it is theirs."""

    slug: str | None = None
    roles: frozenset[str] = frozenset()
    is_owner: bool = False


NOWHERE = Relation()
ANYWHERE = Relation(roles=frozenset({"submitter", "reviewer", "steward"}), is_owner=True)
"""Whoever is refused even so need not be looked up: before the body is read, and before the benchmark is."""


def allows(action: str, holder: Holder, relation: Relation = NOWHERE) -> bool:
    """Say whether somebody may do something."""
    try:
        require(action, holder, relation)
    except Forbidden:
        return False
    return True


def require(
    action: str, holder: Holder, relation: Relation = NOWHERE, whom_to_ask: Callable[[], str] | None = None
) -> None:
    """Refuse whoever may not do something, and say whom to ask.

    Raises Forbidden, or SignedInLongAgo where signing in again would do.
    """
    right = RIGHTS[action]
    if relation.slug is not None:
        refuse_elsewhere(holder, relation.slug)
    scopes = [scope for role in _roles(holder, relation) if (scope := right[role]) is not None]
    if not scopes:
        why = right.refusal.format(slug=relation.slug or "its benchmark")
        # What is recorded names nobody.
        raise Forbidden(why if whom_to_ask is None else f"{why} Ask {whom_to_ask()}.", recorded=why)
    covered = {scope for scope in scopes if holder.has(scope)}
    if not covered:
        raise Forbidden(_limited(holder, scopes[0]))
    if not holder.is_fresh and covered <= OF_FRESH_SESSIONS:
        raise SignedInLongAgo


def _roles(holder: Holder, relation: Relation) -> Iterator[str]:
    """Yield each role that somebody has: on the server, in the benchmark, and as whose it is."""
    yield "holder"
    if relation.is_owner:
        yield "owner"
    yield from (role for role in relation.roles if counts(holder.role, role))
    if holder.role == "admin":
        yield "admin"
    if holder.role == "steward":
        yield "any_steward"


def counts(own: str, role: str) -> bool:
    """Say whether a role in a benchmark counts for a token of a role on the server: no submitter's token decides.

    Nobody grants it to such a token, but a login through a provider may make it one later (`app.rights.oidc`).
    """
    return role != "steward" or own != "submitter"


def _limited(holder: Holder, scope: str) -> str:
    limits = [sorted(each) for each in (holder.scopes, holder.entrants) if each is not None]
    only = f"This token is only for {'; '.join(first_few(each) for each in limits)}"
    if scope == WHOLE:
        return f"{only}. This needs a token that is not limited to scopes or entrants, or an admin."
    return f"{only}; this needs one for {'submit or steward' if scope == WRITE else scope}."


def refuse_other_entrants(holder: Holder, names: Iterable[str]) -> None:
    """Refuse entrants that the token is not for. Raises Forbidden."""
    others = sorted(set(names) - holder.entrants) if holder.entrants is not None else []
    if others:
        own, shown = sorted(holder.entrants or ()), first_few(others, MOST_NAMED, clip_for_message)
        raise Forbidden(f"This token is only for {first_few(own, MOST_NAMED)}, not for {shown}.")


def refuse_elsewhere(holder: Holder, slug: str | None) -> None:
    """Refuse a request about a benchmark outside the token's limits. Raises Forbidden."""
    if holder.benchmarks is not None and slug not in holder.benchmarks:
        raise Forbidden(f"This token is only for {first_few(sorted(holder.benchmarks), MOST_NAMED)}.")
