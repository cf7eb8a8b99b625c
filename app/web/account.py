"""The pages where somebody who signed in decides: /account/tokens, /account/invitations, /benchmarks/{slug}/people.

And /invitation and /benchmarks/{slug}/join, where somebody who has no token yet gets one. Their forms send to the
addresses that programs write to (`app.web.forms`).
"""

from collections.abc import Collection
from typing import Annotated

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models.tokens import SCOPES
from app.errors import NotFound
from app.render.account_pages import ListedInvitation
from app.store import benchmark_rows, benchmarks, invitations, publishing, roles, tokens
from app.web.answers import page
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of
from app.web.endpoint_answers import described
from app.web.state import SessionDep, Steward, StewardHere
from app.web.visible_benchmarks import stewarded_slugs

router = APIRouter(route_class=CheckedFirst, tags=["roles"])

PRIVATE = {"Cache-Control": "no-store"}
GIVEN_BY_STEWARDS = ("submitter", "reviewer")
MAX_CODE = 200


@router.get("/account/tokens", include_in_schema=False, summary="The tokens", responses=described(403, also=("html",)))
def show_tokens(request: Request, session: SessionDep, caller: Steward) -> Response:
    """Show the tokens and their holders; an admin creates and revokes them here."""
    return _private(
        page(
            "tokens.html",
            title="Tokens",
            tokens=tokens.list_shown(session),
            is_admin=caller.role == "admin",
            scopes=SCOPES,
            form_key=form_key_of(request),
        )
    )


@router.get(
    "/account/invitations", include_in_schema=False, summary="The invitations", responses=described(403, also=("html",))
)
def show_invitations(request: Request, session: SessionDep, caller: Steward) -> Response:
    """Show the invitations, an admin all of them, a steward those to their benchmarks; and the form for a new one."""
    slugs = stewarded_slugs(session, caller)
    return _private(
        page(
            "invitations.html",
            title="Invitations",
            invitations=_invitations(session, slugs),
            slugs=slugs or (),
            is_admin=caller.role == "admin",
            form_key=form_key_of(request),
        )
    )


@router.get("/benchmarks/{slug}/people", summary="A benchmark's people", responses=described(403, 404, also=("html",)))
def show_people(slug: str, request: Request, session: SessionDep, caller: StewardHere) -> Response:
    """Show who has a role in a benchmark, who is invited and who may read it; its stewards decide this here."""
    benchmark = benchmark_rows.find_benchmark(session, slug)
    given = (*GIVEN_BY_STEWARDS, "steward") if caller.role == "admin" else GIVEN_BY_STEWARDS
    return _private(
        page(
            "people.html",
            title=f"People of {slug}",
            slug=slug,
            visibility=benchmark.visibility,
            contents=publishing.contents_of(session, benchmark),
            held=roles.list_roles(session, benchmark.id),
            history=roles.list_grants(session, benchmark.id),
            invitations=_invitations(session, [slug]),
            roles=given,
            form_key=form_key_of(request),
        )
    )


@router.get("/invitation", include_in_schema=False, summary="Use an invitation", responses=described(also=("html",)))
def show_invitation(code: Annotated[str, Query(max_length=MAX_CODE)] = "") -> Response:
    """Show the form that creates the token of an invitation; looking at it does not use the invitation."""
    shown = page("join.html", title="Use an invitation", action="/invitations/redeem", code=code.strip(), slug=None)
    return _private(shown)


@router.get("/benchmarks/{slug}/join", summary="Get a submitter's token", responses=described(404, also=("html",)))
def show_join(slug: str, session: SessionDep) -> Response:
    """Show the form that creates a submitter's token for anyone, if the manifest's `registration` allows it."""
    if benchmarks.find_declared(session, slug).manifest.admission.registration is None:
        raise NotFound(f"{slug} does not hand out tokens on request; its stewards invite submitters.")
    shown = page("join.html", title=f"Submit to {slug}", action=f"/benchmarks/{slug}/join", code=None, slug=slug)
    return _private(shown)


def _invitations(session: Session, slugs: Collection[str] | None) -> list[ListedInvitation]:
    listed = invitations.list_invitations(session, slugs)
    return [ListedInvitation(invitation=each, slug=slug, by=by, state=invitations.state_of(each))
            for each, slug, by in listed]  # fmt: skip


def _private(shown: Response) -> Response:
    shown.headers.update(PRIVATE)
    return shown
