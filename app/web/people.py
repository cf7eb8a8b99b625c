"""People of a benchmark: roles and invitations; /whoami/data, and one's name taken out of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Path
from pydantic import AwareDatetime, Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Benchmark, Invitation, Token
from app.errors import FieldRejected, Problem
from app.names import HOLDER_RULE, RoleName, clip_for_message, is_holder
from app.rights import invitations, roles, tokens, visibility
from app.rights.invitations import Terms
from app.rights.policy import require
from app.rights.roles import Role
from app.store import audit, benchmark_rows, benchmarks, people, sql
from app.store.audit import Change
from app.web.account import show_people_again
from app.web.audit_notes import ActDep
from app.web.caller import Caller, may
from app.web.checked_first import CheckedFirst
from app.web.description import described
from app.web.documents import (
    ErasedDocument,
    InvitationDocument,
    InvitationsDocument,
    ListedInvitation,
    OwnDataDocument,
    RolesDocument,
    TokenDocument,
)
from app.web.forms import LINES
from app.web.kept_forms import keeping
from app.web.requests import Body, Line, Number, Reason
from app.web.state import SessionDep, StateDep
from app.web.tokens import about_token
from app.web.views import NO_STORE, json_answer, time_shown

router = APIRouter(route_class=CheckedFirst, tags=["tokens"])


class Erasure(Body):
    """Why a name is erased; kept in the audit, so it should not name the person."""

    reason: Reason


@router.get("/whoami/data", summary="Your data", responses=described(401, answer=OwnDataDocument))
def own_data(session: SessionDep, caller: Annotated[Caller, may("see one's own account")]) -> Response:
    """Return all that is stored about the holder of this token: roles, sessions, submissions, and their actions."""
    token = tokens.get_token(session, caller.id)
    return json_answer({"token": about_token(token), **people.everything_about(session, token)})


@router.post("/tokens/{token_id}/erase", summary="Erase a name", responses=described(403, 404, answer=ErasedDocument))
def erase(
    token_id: Number, order: Erasure, session: SessionDep, caller: Annotated[Caller, may("erase a name")]
) -> Response:
    """Replace a token's name by one that says nothing (its holder, or an admin); this cannot be undone.

    Not with a token that is limited to scopes or entrants, which may be in more hands. Erasing again changes nothing.

    What its submissions say of an organisation, an address or in notes is emptied. Rows, registrations, digests and
    ranks stay, and so does the token.
    """
    roles.require(session, "erase a name", caller, None, owner_id=token_id)
    name = people.pseudonymise(session, tokens.get_token(session, token_id))
    audit.record(session, caller.act, 200, Change(after={"token": token_id, "erased": True}, reason=order.reason))
    return json_answer({"id": token_id, "name": name})


# /benchmarks/{slug}/roles: its stewards, reviewers and submitters; granted, limited in time and revoked.

roles_router = APIRouter(route_class=CheckedFirst, prefix="/benchmarks/{slug}/roles", tags=["roles"])


TokenAsked = Annotated[str, Path(description="the number or the name of a token", max_length=100)]


@roles_router.get(
    "",
    summary="A benchmark's roles and their history",
    responses=described(403, 404, answer=RolesDocument),
    dependencies=[may("see who has a role")],
)
def list_all(slug: str, session: SessionDep) -> Response:
    """List who has a role in a benchmark, and who was granted or lost one, when and by whom (its stewards only)."""
    return _answer(session, benchmark_rows.find_benchmark(session, slug))


class NewRole(Body):
    """To whom a role is granted, by the number or the name of a token, and until when; without `until` for ever."""

    token: Number | Line
    role: RoleName
    until: AwareDatetime | None = None


@roles_router.post("", summary="Grant a role", responses=described(403, 404, 409, answer=RolesDocument))
def grant(
    slug: str, wanted: NewRole, session: SessionDep, caller: Annotated[Caller, may("grant or revoke a role")]
) -> Response:
    """Grant a role in a benchmark: a steward that of reviewer or submitter, only an admin that of steward.

    Given again it ends when the newer one says.
    """
    if wanted.role == "steward":
        require("appoint or remove a steward", caller)
    _refuse_past(session, wanted.until)
    benchmark = _lock(session, slug)
    holder = tokens.find_named(session, str(wanted.token))
    is_new = roles.grant(session, benchmark, holder, Role(wanted.role, wanted.until), caller.id)
    ends = time_shown(wanted.until)
    change = Change(after={"token": holder.id, "role": wanted.role, "until": ends, "is_new": is_new})
    audit.record(session, caller.act, 200, change)
    benchmark_rows.mark_pages_changed(session, benchmark.id)
    return _answer(session, benchmark)


@roles_router.delete(
    "/{role}/{token}", summary="Revoke a role", responses=described(403, 404, 409, answer=RolesDocument)
)
def revoke(
    slug: str,
    role: RoleName,
    token: TokenAsked,
    session: SessionDep,
    caller: Annotated[Caller, may("grant or revoke a role")],
) -> Response:
    """Revoke a token's role in a benchmark; what it did there remains. Only an admin revokes that of a steward."""
    if role == "steward":
        require("appoint or remove a steward", caller)
    benchmark = _lock(session, slug)
    holder = tokens.find_named(session, token)
    roles.revoke(session, benchmark, holder, role, caller.id)
    audit.record(session, caller.act, 200, Change({"token": holder.id, "role": role}))
    benchmark_rows.mark_pages_changed(session, benchmark.id)
    return _answer(session, benchmark)


def _refuse_past(session: Session, until: datetime | None) -> None:
    if until is not None and until <= sql.now(session):
        problem = Problem("expected a time in the future", column="until", value=until.isoformat())
        raise FieldRejected("The role cannot be granted.", [problem])


def _lock(session: Session, slug: str) -> Benchmark:
    return benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)


def _answer(session: Session, benchmark: Benchmark) -> Response:
    about: dict[str, Any] = {
        "benchmark": benchmark.slug,
        "roles": [
            {"token": held.token.id, "name": held.token.name, "role": held.role, "until": time_shown(held.until)}
            for held in roles.list_roles(session, benchmark.id)
        ],
        "history": [
            {
                "at": each.at.isoformat(),
                "token": each.token.id,
                "name": each.token.name,
                "role": each.role,
                "change": "granted" if each.granted else "revoked",
                "until": time_shown(each.until),
                "by": each.by.name,
            }
            for each in roles.list_grants(session, benchmark.id)
        ],
    }
    return json_answer(about)


# /invitations: a code that makes one token; /benchmarks/{slug}/join: a token for whoever asks, where it may.

invitations_router = APIRouter(route_class=CheckedFirst, tags=["invitations"])

LONGEST_DAYS, MOST_INVITED = 90, 200


class NewInvitation(Body):
    """Whom to invite: to which role, in which benchmark; for how many days the code works, and then the token.

    Without `benchmark` the token is one of the server, which only an admin invites. `names` are those of a whole class,
    each of whom gets a code of their own.
    """

    role: RoleName
    benchmark: Line | None = None
    token_days: int | None = Field(None, strict=True, ge=1, le=36_500)
    days: int = Field(14, strict=True, ge=1, le=LONGEST_DAYS)
    names: list[Line] | None = Field(None, min_length=1, max_length=MOST_INVITED, json_schema_extra={"format": LINES})


class Redemption(Body):
    """The code of an invitation, and the name that the token is to have."""

    code: Line = Field(max_length=200)
    name: Line


class Joining(Body):
    """The name that the token is to have."""

    name: Line


inviting_router = APIRouter(route_class=keeping(show_people_again), tags=["invitations"])


@inviting_router.post(
    "/invitations",
    status_code=201,
    summary="Create an invitation, or one for each of a class",
    responses=described(403, 404, answer=InvitationDocument | InvitationsDocument, status=201),
)
def invite(
    wanted: NewInvitation,
    session: SessionDep,
    state: StateDep,
    caller: Annotated[Caller, may("invite to a benchmark")],
) -> Response:
    """Create an invitation, or with `names` one for each; only this answer contains its code.

    Only an admin invites stewards.
    """
    benchmark = None if wanted.benchmark is None else benchmark_rows.find_benchmark(session, wanted.benchmark)
    if wanted.role == "steward" or benchmark is None:
        require("invite stewards, or to the whole server", caller)
    roles.require(session, "invite to a benchmark", caller, benchmark)
    terms = Terms(wanted.role, benchmark, wanted.token_days, wanted.days)
    _refuse_names(session, wanted.names or ())
    made = []
    for name in wanted.names or [""]:
        invitation, code = invitations.invite(session, terms, caller.id)
        after = {"invitation": invitation.id, "role": invitation.role}
        audit.record(session, caller.act, 201, Change(after=after, benchmark=wanted.benchmark))
        link = {"code": code, "benchmark": wanted.benchmark, "name": name or None}
        query = urlencode({key: text for key, text in link.items() if text is not None})
        address = f"{state.settings.own_address}/invitation?{query}"
        made.append(
            {**_about(invitation, wanted.benchmark, caller.name), "code": code, "name": name or None, "url": address}
        )
    document = made[0] if wanted.names is None else {"benchmark": wanted.benchmark, "invitations": made}
    return json_answer(document, 201)


def _refuse_names(session: Session, names: Sequence[str]) -> None:
    """Refuse a class with a name that no token can have, or two of one name. Raises FieldRejected."""
    taken = tokens.taken_names(session, names)
    keys = [tokens.key_of_name(name) for name in names]
    problems = [
        Problem(why, row=at, column="names", value=clip_for_message(name))
        for at, name in enumerate(names, 1)
        for why in (
            None if is_holder(name) else f"expected {HOLDER_RULE}",
            "this name is in the list already" if keys[at - 1] in keys[: at - 1] else None,
            "a token has this name already" if keys[at - 1] in taken else None,
        )
        if why is not None
    ]
    if problems:
        raise FieldRejected("Nobody was invited.", problems)


@invitations_router.get(
    "/invitations", summary="The invitations", responses=described(403, answer=list[ListedInvitation])
)
def list_invitations(session: SessionDep, caller: Annotated[Caller, may("see the invitations")]) -> Response:
    """List the invitations without their codes: an admin all of them, a steward those to their benchmarks."""
    listed = [_about(*each) for each in invitations.list_invitations(session, roles.stewarded_slugs(session, caller))]
    return json_answer(listed)


@invitations_router.delete(
    "/invitations/{invitation}",
    summary="Revoke an invitation",
    responses=described(403, 404, 409, answer=ListedInvitation),
)
def revoke_invitation(
    invitation: Number, session: SessionDep, caller: Annotated[Caller, may("revoke an invitation")]
) -> Response:
    """Revoke an invitation (an admin, or a steward of its benchmark); the token of one that was used remains."""
    revoked = invitations.get_invitation(session, invitation)
    number = revoked.benchmark_id
    # None as well where its benchmark is hidden from the caller.
    benchmark = None if number is None else session.get(Benchmark, number)
    roles.require(session, "revoke an invitation", caller, benchmark)
    before = {"state": invitations.state_of(revoked)}
    invitations.revoke(revoked)
    slug = None if benchmark is None else benchmark.slug
    audit.record(session, caller.act, 200, Change(before, {"state": "revoked"}, benchmark=slug))
    return json_answer(_about(revoked, slug, tokens.get_token(session, revoked.made_by).name))


@invitations_router.post(
    "/invitations/redeem",
    status_code=201,
    summary="Use an invitation",
    responses=described(404, 409, answer=TokenDocument, status=201),
    dependencies=[may("use an invitation")],
)
def redeem(order: Redemption, session: SessionDep, act: ActDep) -> Response:
    """Create the token of an invitation, once; only this answer contains its text."""
    # Its code is what lets somebody see that there is such a benchmark.
    with visibility.reading_all():
        used, token, text = invitations.redeem(session, order.code, order.name)
        slug = None if used.benchmark_id is None else benchmark_rows.get_benchmark(session, used.benchmark_id).slug
    after = {**tokens.in_short(token), "invitation": used.id, "granted": used.role}
    audit.record(session, act, 201, Change(after=after, benchmark=slug))
    return _with_text(token, text)


@invitations_router.post(
    "/benchmarks/{slug}/join",
    status_code=201,
    summary="Get a submitter's token",
    responses=described(404, 409, 429, answer=TokenDocument, status=201),
    dependencies=[may("join a benchmark that lets anybody register")],
)
def join(slug: str, order: Joining, session: SessionDep, act: ActDep) -> Response:
    """Create a submitter's token for anyone, if the manifest's `registration` allows it, up to its number a day."""
    token, text = invitations.join(session, benchmarks.find_declared(session, slug), order.name)
    audit.record(session, act, 201, Change(after=tokens.in_short(token)))
    return _with_text(token, text)


def _with_text(token: Token, text: str) -> Response:
    return json_answer({**about_token(token), "token": text}, 201, NO_STORE)


def _about(invitation: Invitation, slug: str | None, by: str) -> dict[str, Any]:
    return {
        "id": invitation.id,
        "role": invitation.role,
        "benchmark": slug,
        "token_days": invitation.token_days,
        "made_by": by,
        "made_at": time_shown(invitation.made_at),
        "expires_at": time_shown(invitation.expires_at),
        "state": invitations.state_of(invitation),
        "token": invitation.token_id,
    }
