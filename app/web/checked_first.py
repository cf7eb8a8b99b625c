"""Permissions are checked before the body is read: the class of every route of the app, each of which says what it is.

The framework reads and parses a body before it looks at a route's dependencies, so that anybody could fill the disk of
a server that would then answer 401.
"""

from contextlib import AsyncExitStack
from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import solve_dependencies
from fastapi.params import Form as FormParameter
from fastapi.routing import APIRoute
from pydantic.fields import FieldInfo
from starlette.responses import Response

from app.errors import UnsupportedMediaType
from app.names import clip_for_message
from app.rights.policy import RIGHTS
from app.telemetry import ROUTE
from app.web.audit_notes import note_refusal
from app.web.cached_answer import READING
from app.web.caller import ACTIONS, Handler, refuse_if_full, visible_to_sender
from app.web.forms import OF_FORMS, taking_forms
from app.web.requests import OF_TABLES, known_parameters, refuse_unknown

OF_RESOURCES = ("/benchmarks", "/preregs", "/submissions", "/tokens", "/audit", "/invitations")


class CheckedFirst(APIRoute):
    """A route whose token, role and benchmark are checked before a byte of the body is kept.

    `action` is what it is, of `app.rights.policy`.
    """

    action: str

    def get_route_handler(self) -> Handler:
        """Return the route's handler behind the checks; a route that reads no body has them where they were."""
        self.action = self._declared()
        return self._named(self._checked())

    def _named(self, handle: Handler) -> Handler:
        """Return the handler that says which route answers, for the figures."""

        async def named(request: Request) -> Response:
            request.scope.get(ROUTE, []).append(self.path_format)
            return await handle(request)

        return named

    def _checked(self) -> Handler:
        handle = self._refusing_unknown(super().get_route_handler())
        if not self.methods or self.methods <= set(READING):
            return visible_to_sender(handle)
        handle = taking_forms(
            _refusing_packed(handle),
            None if self.body_field is None else _type_of_json(self.body_field.field_info),
        )
        return _noting_refusals(visible_to_sender(self._checking(handle)))

    def _declared(self) -> str:
        """Return the action that the route is. Raises TypeError for one that declares none, or more than one."""
        actions = {ACTIONS[each.call] for each in self.dependant.dependencies if each.call in ACTIONS}
        if len(actions) != 1:
            raise TypeError(f"{self.path_format} must say by `may` which one action it is, and says {sorted(actions)}")
        return actions.pop()

    def _checking(self, handle: Handler) -> Handler:
        """Return the handler behind the check that the caller may do what the route is."""
        if RIGHTS[self.action].anybody is not None:
            return handle
        callers = [each for each in self.dependant.dependencies if each.call in ACTIONS]
        # Who may not do it is told so, also while nothing could be read.
        turns = [each for each in self.dependant.dependencies if each.call is refuse_if_full]
        checks = Dependant(path=self.path_format, dependencies=[*callers, *turns])

        async def checked(request: Request) -> Response:
            await _solve(request, checks)
            return await handle(request)

        return checked

    def _refusing_unknown(self, handle: Handler) -> Handler:
        """Return the handler behind a check that the endpoint knows every parameter of the query."""
        if not self.path_format.startswith(OF_RESOURCES):
            return handle
        known = known_parameters(self.dependant)
        tables = OF_TABLES if "GET" in (self.methods or ()) else OF_FORMS

        async def refusing(request: Request) -> Response:
            refuse_unknown((name for name in request.query_params if name not in tables), known, "parameter")
            return await handle(request)

        return refusing


def _refusing_packed(handle: Handler) -> Handler:
    """Return the handler of a write behind a check that its body is sent as it is, before a byte of it is read."""

    async def refusing(request: Request) -> Response:
        if (encoding := request.headers.get("content-encoding", "identity").strip().lower()) not in ("", "identity"):
            raise UnsupportedMediaType(
                f"Content-Encoding: {clip_for_message(encoding)} is not accepted. Send a compressed "
                "file as a file of its own, such as results.csv.gz or a .zip, and anything else uncompressed."
            )
        return await handle(request)

    return refusing


def _type_of_json(body: FieldInfo) -> type[Any] | None:
    """Return the type of the JSON that an endpoint reads; None where it reads the fields of a form as they are."""
    annotation = body.annotation
    return annotation if isinstance(annotation, type) and not isinstance(body, FormParameter) else None


def _noting_refusals(handle: Handler) -> Handler:
    """Return the handler of a write that notes why it was refused, before the refusal is answered."""

    async def noting(request: Request) -> Response:
        try:
            return await handle(request)
        except Exception as error:
            await note_refusal(request, error)
            raise

    return noting


async def _solve(request: Request, checks: Dependant) -> None:
    stack = request.scope["fastapi_inner_astack"]
    if not isinstance(stack, AsyncExitStack):
        raise TypeError("the framework has no stack for dependencies here")
    # Malformed paths and queries are reported by the route itself.
    await solve_dependencies(request=request, dependant=checks, async_exit_stack=stack, embed_body_fields=False)
