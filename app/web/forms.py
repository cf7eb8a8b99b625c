"""A form of a browser is a request to the very address that a program writes to: no route is written twice.

    <form method="post" action="/invitations/3?method=DELETE&then=/account&csrf={{ key }}">

`then` marks a form and says where it leads afterwards, on this server alone; `{id}` in it is taken from the answer.
`method` is what browsers cannot send. `csrf` is the key of the session's forms (`app.rights.sessions.form_key`), looked
at before a byte of the body is read. Fields become the JSON that the address takes, by the types of its body; files go
through as they are.
"""

import json
import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response
from starlette.types import Message, Scope

from app.web.cached_answer import READING
from app.web.cookies import KEY, local_path, refuse_cross_site
from app.web.views import NO_STORE, page

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
THEN, METHOD = "then", "method"
OF_FORMS = frozenset({KEY, THEN, METHOD})
FIELDS, FILES = "application/x-www-form-urlencoded", "multipart/form-data"
HOME = "/account"
SENT_OTHERWISE = ("PUT", "DELETE")
WITHOUT_ZONE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")
LINES = "lines"
"""The format of a list whose form has a line for each: names hold spaces."""
SECRETS = {"token": "Your token", "code": "The code of the invitation"}


def with_method(scope: Scope) -> Scope:
    """Return the request of a form with the method that it asks for; any other request as it is."""
    if scope["method"] != "POST" or b"method=" not in scope["query_string"]:
        return scope
    asked = parse_qs(scope["query_string"].decode("latin-1"))
    method = asked.get(METHOD, [""])[-1].upper()
    return {**scope, "method": method} if THEN in asked and method in SENT_OTHERWISE else scope


def is_form(request: Request) -> bool:
    """Say whether a browser sent a write as a form, so that it is answered with a page."""
    takes_pages = "text/html" in request.headers.get("accept", "")
    return takes_pages and THEN in request.query_params and request.method not in READING


def leads_to(request: Request) -> str:
    """Return where a form leads afterwards: a path of this server."""
    return local_path(request.query_params.get(THEN), HOME)


def came_from(request: Request) -> str | None:
    """Return the page of ours that a refused form stood on, as the browser says; None where it does not.

    Of what it says a path is taken and no host.
    """
    sent_from = urlsplit(request.headers.get("referer", ""))
    if not is_form(request) or request.headers.get("sec-fetch-site") != "same-origin" or not sent_from.path:
        return None
    return local_path(sent_from.path + (f"?{sent_from.query}" if sent_from.query else ""), HOME)


def login_address(request: Request, *, again: bool) -> str:
    """Return the login address that leads back to the wanted page; `again` to confirm an existing session."""
    url = request.url
    wanted = leads_to(request) if is_form(request) else url.path + (f"?{url.query}" if url.query else "")
    return f"/login?{urlencode({'next': wanted, **({'again': '1'} if again else {})})}"


def taking_forms(handle: Handler, body: type[Any] | None) -> Handler:
    """Return the handler of a write that takes a form as well as what a program sends, and answers it as a browser is.

    `body` is the type of the JSON that it reads.
    """

    async def taking(request: Request) -> Response:
        if not is_form(request):
            return await handle(request)
        refuse_cross_site(request)
        if request.headers.get("content-type", "").startswith(FIELDS) and body is not None:
            request = _with_json(request, as_json(await request.body(), body))
        return _shown(request, await handle(request))

    return taking


def as_json(sent: bytes, body: type[Any]) -> bytes:
    """Return the fields of a form as the JSON of a body; an empty field asks for nothing, as one that is left out.

    >>> class Asked(BaseModel):
    ...     name: str
    ...     days: int | None = None
    ...     scopes: list[str] | None = None
    >>> as_json(b"name=ann&days=3&scopes=read&scopes=submit", Asked)
    b'{"name": "ann", "days": 3, "scopes": ["read", "submit"]}'
    """
    properties = body.model_json_schema()["properties"] if issubclass(body, BaseModel) else {}
    given: dict[str, list[str]] = {}
    for name, text in parse_qsl(sent.decode("utf-8", "replace")):
        given.setdefault(name, []).append(text)
    return json.dumps({name: _value(texts, properties.get(name, {})) for name, texts in given.items()}).encode()


def _value(texts: list[str], described: Mapping[str, Any]) -> Any:
    kinds = {(each.get("type"), each.get("format")) for each in [described, *described.get("anyOf", ())]}
    types, text = {name for name, _ in kinds}, texts[-1].strip()
    if any(form == LINES for _, form in kinds):
        return [line for each in texts for line in map(str.strip, each.splitlines()) if line]
    if "array" in types:
        return [part for each in texts for part in re.split(r"[,\s]+", each) if part]
    if "integer" in types and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    if "boolean" in types and text in ("true", "false", "on"):
        return text != "false"
    # A browser's field for a moment has no zone; the forms say UTC.
    return f"{text}Z" if ("string", "date-time") in kinds and WITHOUT_ZONE.fullmatch(text) else texts[-1]


def _with_json(request: Request, body: bytes) -> Request:
    others = [
        (name, value) for name, value in request.scope["headers"] if name not in (b"content-type", b"content-length")
    ]
    headers = [*others, (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request({**request.scope, "headers": headers}, receive)


def _shown(request: Request, answer: Response) -> Response:
    """Return a browser's answer: a page with a secret that is shown once, or a redirect to where the form leads."""
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    if not is_json or getattr(request.state, "is_shown_again", False):
        return answer
    document = document_of(answer)
    if "invitations" in document:
        return page("codes.html", title="Invitations", about=document, then=leads_to(request))
    for name, title in SECRETS.items():
        if isinstance(document.get(name), str):
            shown = page(
                "secret.html", title=title, kind=name, about=document, text=document[name], then=leads_to(request)
            )
            shown.headers.update(NO_STORE)
            shown.status_code = answer.status_code
            return shown
    # Checked again, because a filled-in value could turn the path into another site's address.
    return RedirectResponse(local_path(_filled(leads_to(request), document), HOME), 303, NO_STORE)


def document_of(answer: Response) -> Mapping[str, Any]:
    """Return the object of a JSON answer; an empty one for any other."""
    document = json.loads(bytes(answer.body))
    return document if isinstance(document, dict) else {}


def _filled(path: str, document: Mapping[str, Any]) -> str:
    """Return a path with each `{name}` replaced by that value of the answer."""
    return re.sub(r"\{(\w+)\}", lambda part: quote(str(document.get(part[1], "")), safe=""), path)
