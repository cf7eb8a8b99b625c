"""Forms that keep what was written in them: a refused one is shown again, and one that only asked is answered there.

A form asks by `dry_run=true` in its address, as a program does. Used where there is much to write in a form.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.errors import PlumblineError, SignedInLongAgo
from app.render.pages import RefusedForm
from app.telemetry import REFUSALS
from app.web import forms
from app.web.caller import Caller, Handler, find_caller
from app.web.checked_first import CheckedFirst
from app.web.cookies import refuse_cross_site
from app.web.problems import rejected_of, status_of
from app.web.requests import TYPED, yaml_of
from app.web.state import get_state
from app.web.views import NO_STORE


@dataclass(frozen=True)
class KeptForm:
    """A form as it was sent: what was written in it, and why that was refused or what a dry run answered."""

    fields: Mapping[str, str] = field(default_factory=dict)
    refusal: RefusedForm | None = None
    answered: Mapping[str, Any] | None = None


UNSENT = KeptForm()

ShowAgain = Callable[[Request, Caller, KeptForm], Response]
"""Shows the page of a form again. Raises a PlumblineError where its sender may not see the page."""


def keeping(show: ShowAgain, *, always: bool = False) -> type[CheckedFirst]:
    """Return the class of routes whose forms keep their fields; `always` where nothing that is asked is ever stored.

    A session that began a while ago signs in again beside the page, and the form then has the key of the new session.
    """

    class Keeping(CheckedFirst):
        """A route whose refusal shows a browser the page of the form again."""

        def get_route_handler(self) -> Handler:
            """Return the handler, which answers refused forms with their page."""
            handle = super().get_route_handler()

            async def kept(request: Request) -> Response:
                asks = always or request.query_params.get("dry_run") == "true"
                request.state.is_shown_again = asks
                try:
                    answer = await handle(request)
                except (PlumblineError, RequestValidationError) as error:
                    if (shown := await _again(show, request, error, None)) is None:
                        raise
                    REFUSALS.labels(type(error).__name__).inc()
                    shown.status_code = status_of(error)
                    return shown
                if not asks or not forms.is_form(request):
                    return answer
                return await _again(show, request, None, forms.document_of(answer)) or answer

            return kept

    return Keeping


async def _again(
    show: ShowAgain, request: Request, error: Exception | None, answered: Mapping[str, Any] | None
) -> Response | None:
    """Return the page of a form of a signed-in browser; None for any other request, or who may not see the page."""
    is_of_fields = request.headers.get("content-type", "").startswith((forms.FIELDS, forms.FILES))
    if not forms.is_form(request) or not is_of_fields:
        return None
    fields = await request.form()
    kept = {name: text for name, text in fields.items() if isinstance(text, str)}
    if TYPED in fields:
        kept[TYPED] = (await yaml_of(request)).decode("utf-8", "replace")
    await fields.close()
    asks = forms.login_address(request, again=True) if isinstance(error, SignedInLongAgo) else None
    refusal = None if error is None else RefusedForm(rejected_of(error), asks)
    return await run_in_threadpool(_shown, show, request, KeptForm(kept, refusal, answered))


def _shown(show: ShowAgain, request: Request, kept: KeptForm) -> Response | None:
    """Return the page where a page of ours sent the form in a session that may see it, whatever key the form has."""
    known: Caller | None = getattr(request.state, "caller", None)
    try:
        refuse_cross_site(request)
        caller = known or find_caller(Request({**request.scope, "method": "GET"}), None, get_state(request))
        shown = show(request, replace(caller, is_fresh=True), kept)
    except PlumblineError:
        return None
    shown.headers.update(NO_STORE)
    return shown
