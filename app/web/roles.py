"""/benchmarks/{slug}/roles: its stewards, reviewers and submitters; granted, limited in time and revoked."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import AwareDatetime
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Benchmark
from app.errors import FieldRejected, Forbidden, Problem
from app.store import audit, benchmark_rows, clock, roles, tokens
from app.store.audit import Change
from app.store.roles import Role
from app.web.answers import json_answer
from app.web.caller import Caller
from app.web.checked_first import CheckedFirst
from app.web.documents.people import RolesDocument
from app.web.endpoint_answers import described
from app.web.fields import Body, Line
from app.web.state import SessionDep, StewardHere
from app.web.tokens import TokenNumber

router = APIRouter(route_class=CheckedFirst, prefix="/benchmarks/{slug}/roles", tags=["roles"])

RoleName = Literal["steward", "reviewer", "submitter"]
TokenAsked = Annotated[str, Path(description="the number or the name of a token", max_length=100)]
# Kept by no cache, ours included: only stewards see the numbers of tokens.
PRIVATE = {"Cache-Control": "no-store"}


@router.get("", summary="A benchmark's roles and their history", responses=described(403, 404, answer=RolesDocument))
def list_all(slug: str, session: SessionDep, caller: StewardHere) -> Response:
    """List who has a role in a benchmark, and who was granted or lost one, when and by whom (its stewards only)."""
    del caller  # the dependency has refused everyone else
    return _answer(session, benchmark_rows.find_benchmark(session, slug))


class NewRole(Body):
    """To whom a role is granted, by the number or the name of a token, and until when; without `until` for ever."""

    token: TokenNumber | Line
    role: RoleName
    until: AwareDatetime | None = None


@router.post("", summary="Grant a role", responses=described(403, 404, 409, answer=RolesDocument))
def grant(slug: str, wanted: NewRole, session: SessionDep, caller: StewardHere) -> Response:
    """Grant a role in a benchmark: a steward that of reviewer or submitter, only an admin that of steward.

    Given again it ends when the newer one says.
    """
    _refuse_unless_above(caller, wanted.role)
    _refuse_past(session, wanted.until)
    benchmark = _lock(session, slug)
    holder = tokens.find_named(session, str(wanted.token))
    is_new = roles.grant(session, benchmark, holder, Role(wanted.role, wanted.until), caller.id)
    ends = None if wanted.until is None else wanted.until.isoformat()
    change = Change(after={"token": holder.id, "role": wanted.role, "until": ends, "is_new": is_new})
    audit.record(session, caller.act, 200, change)
    benchmark_rows.mark_pages_changed(session, benchmark.id)
    return _answer(session, benchmark)


@router.delete("/{role}/{token}", summary="Revoke a role", responses=described(403, 404, 409, answer=RolesDocument))
def revoke(slug: str, role: RoleName, token: TokenAsked, session: SessionDep, caller: StewardHere) -> Response:
    """Revoke a token's role in a benchmark; what it did there remains. Only an admin revokes that of a steward."""
    _refuse_unless_above(caller, role)
    benchmark = _lock(session, slug)
    holder = tokens.find_named(session, token)
    roles.revoke(session, benchmark, holder, role, caller.id)
    audit.record(session, caller.act, 200, Change({"token": holder.id, "role": role}))
    benchmark_rows.mark_pages_changed(session, benchmark.id)
    return _answer(session, benchmark)


def _refuse_unless_above(caller: Caller, role: str) -> None:
    if role == "steward" and caller.role != "admin":
        raise Forbidden("Only an admin may appoint or remove stewards.")


def _refuse_past(session: Session, until: datetime | None) -> None:
    if until is not None and until <= clock.now(session):
        problem = Problem("expected a time in the future", column="until", value=until.isoformat())
        raise FieldRejected("The role cannot be granted.", [problem])


def _lock(session: Session, slug: str) -> Benchmark:
    return benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)


def _answer(session: Session, benchmark: Benchmark) -> Response:
    about: dict[str, Any] = {
        "benchmark": benchmark.slug,
        "roles": [
            {"token": held.token.id, "name": held.token.name, "role": held.role, "until": _shown(held.until)}
            for held in roles.list_roles(session, benchmark.id)
        ],
        "history": [
            {
                "at": each.at.isoformat(),
                "token": each.token.id,
                "name": each.token.name,
                "role": each.role,
                "change": "granted" if each.granted else "revoked",
                "until": _shown(each.until),
                "by": each.by.name,
            }
            for each in roles.list_grants(session, benchmark.id)
        ],
    }
    return json_answer(about, headers=PRIVATE)


def _shown(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
