"""The pages of whoever has signed in: /account/tokens, /account/invitations, /benchmarks/{slug}/people.

And /invitation and /benchmarks/{slug}/join, where somebody who has no token yet gets one. Their forms send to the
addresses that programs write to (`app.web.forms`).
"""

from collections.abc import Collection
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import SCOPES
from app.errors import NotFound
from app.names import SLUG_PATTERN, is_holder
from app.rights import invitations, roles, tokens
from app.rights.policy import allows
from app.store import benchmarks
from app.web.caller import Caller, may
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of
from app.web.description import described
from app.web.kept_forms import UNSENT, KeptForm
from app.web.state import SessionDep, State, StateDep, get_state
from app.web.views import NO_STORE, page

router = APIRouter(route_class=CheckedFirst, tags=["roles"])


GIVEN_BY_STEWARDS = ("submitter", "reviewer")

MAX_CODE = 200


@router.get("/account/tokens", include_in_schema=False, summary="The tokens", responses=described(403, also=("html",)))
def show_tokens(request: Request, session: SessionDep, caller: Annotated[Caller, may("see the tokens")]) -> Response:
    """Show the tokens and their holders; an admin creates and revokes them here."""
    return page(
        "tokens.html",
        title="Tokens",
        tokens=tokens.list_shown(session),
        is_admin=allows("create a token", caller),
        scopes=SCOPES,
        form_key=form_key_of(request),
    )


@router.get(
    "/account/invitations", include_in_schema=False, summary="The invitations", responses=described(403, also=("html",))
)
def show_invitations(
    request: Request, session: SessionDep, caller: Annotated[Caller, may("see the invitations")]
) -> Response:
    """Show the invitations, an admin all of them, a steward those to their benchmarks; and the form for a new one."""
    slugs = roles.stewarded_slugs(session, caller)
    return page(
        "invitations.html",
        title="Invitations",
        invitations=_invitations(session, slugs),
        slugs=slugs or (),
        is_admin=allows("invite stewards, or to the whole server", caller),
        form_key=form_key_of(request),
    )


@router.get("/benchmarks/{slug}/people", summary="A benchmark's people", responses=described(403, 404, also=("html",)))
def show_people(
    slug: str, request: Request, state: StateDep, caller: Annotated[Caller, may("see who has a role")]
) -> Response:
    """Show who has a role in a benchmark, who is invited and who may read it; its stewards decide this here."""
    return _people(slug, request, state, caller, UNSENT)


def show_people_again(request: Request, caller: Caller, kept: KeptForm) -> Response:
    """Return the page of the people of a benchmark with what was written in the form that invites them."""
    return _people(kept.fields.get("benchmark", ""), request, get_state(request), caller, kept)


def _people(slug: str, request: Request, state: State, caller: Caller, kept: KeptForm) -> Response:
    appoints = allows("appoint or remove a steward", caller)
    with state.sessions() as session:
        declared = benchmarks.find_declared(session, slug)
        benchmark = declared.benchmark
        roles.require(session, "see who has a role", caller, benchmark)
        is_open = declared.manifest.admission.registration is not None and benchmark.visibility == "public"
        return page(
            "people.html",
            title=f"People of {declared.manifest.title}",
            slug=slug,
            name=declared.manifest.title,
            visibility=benchmark.visibility,
            contents=benchmarks.contents_of(session, benchmark),
            held=roles.list_roles(session, benchmark.id),
            history=roles.list_grants(session, benchmark.id),
            invitations=_invitations(session, [slug]),
            roles=(*GIVEN_BY_STEWARDS, "steward") if appoints else GIVEN_BY_STEWARDS,
            form_key=form_key_of(request),
            kept=kept.fields,
            refusal=kept.refusal,
            joins=f"{state.settings.own_address}/benchmarks/{slug}/join" if is_open else None,
        )


@router.get(
    "/invitation",
    include_in_schema=False,
    summary="Use an invitation",
    responses=described(also=("html",)),
    dependencies=[may("use an invitation")],
)
def show_invitation(
    code: Annotated[str, Query(max_length=MAX_CODE)] = "",
    benchmark: Annotated[str, Query(max_length=63, pattern=f"^({SLUG_PATTERN})?$")] = "",
    name: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """Show the form that creates the token of an invitation; looking at it does not use the invitation."""
    shown = page(
        "join.html",
        title="Use an invitation",
        action="/invitations/redeem",
        code=code.strip(),
        slug=benchmark or None,
        name=name if is_holder(name) else "",
    )
    return _private(shown)


@router.get(
    "/benchmarks/{slug}/join",
    summary="Get a submitter's token",
    responses=described(404, also=("html",)),
    dependencies=[may("join a benchmark that lets anybody register")],
)
def show_join(slug: str, session: SessionDep) -> Response:
    """Show the form that creates a submitter's token for anyone, if the manifest's `registration` allows it."""
    if benchmarks.find_declared(session, slug).manifest.admission.registration is None:
        raise NotFound(f"{slug} does not hand out tokens on request; its stewards invite submitters.")
    shown = page("join.html", title=f"Submit to {slug}", action=f"/benchmarks/{slug}/join", code=None, slug=slug,
                 name="")  # fmt: skip
    return _private(shown)


def _invitations(session: Session, slugs: Collection[str] | None) -> list[dict[str, Any]]:
    """Return invitations as the lists show them: to which benchmark, who made each, its state, and who used it."""
    listed = invitations.list_invitations(session, slugs)
    names = invitations.whose(session, [each for each, _, _ in listed])
    return [
        {
            "invitation": each,
            "slug": slug,
            "by": by,
            "state": invitations.state_of(each),
            "whose": names.get(each.token_id or 0),
        }
        for each, slug, by in listed
    ]


def _private(shown: Response) -> Response:
    shown.headers.update(NO_STORE)
    return shown
