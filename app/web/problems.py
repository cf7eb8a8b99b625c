"""Errors as answers: one table from domain error to HTTP status, and problem documents (RFC 9457).

Why: docs/adr/039-http-api.md.
"""

import errno
import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match

from app import errors
from app.db.engine import is_broken_off, is_transient
from app.errors import Busy, PlumblineError, Problem, Rejected, TooManyRequests
from app.names import clip_for_message
from app.render.csv_and_json import to_json
from app.render.html import render
from app.telemetry import REFUSALS
from app.web import forms
from app.web.cached_answer import READING, CachedAnswer
from app.web.cookies import session_secret
from app.web.views import NO_STORE
from plumbline.retries import RETRY_AFTER_S

logger = logging.getLogger(__name__)
PROBLEM_JSON = "application/problem+json"
AWAY = "The database does not answer at the moment"
NOTHING_HERE = "There is nothing at this address."
# https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available, query_canceled.
LATE: Mapping[str | None, str] = {
    "55P03": "Something else in the database holds what this request needs, for longer than a request waits",
    "57014": "This request takes the database longer than a request may",
}
# The framework's message for a form with too many parts.
TOO_MANY = re.compile(r"Too many (fields|files)\. Maximum number of \1 is (\d+)\.")
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


STATUS: Mapping[type[PlumblineError], int] = {
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Gone: 410,
    errors.TooLarge: 413,
    errors.UnsupportedMediaType: 415,
    errors.Rejected: 422,
    errors.TooManyRequests: 429,
    errors.Busy: 503,
    errors.BoardUnavailable: 409,
}


def install(app: FastAPI) -> None:
    """Answer every error that a request can cause with a problem document, or a page where a page was asked for."""
    app.add_exception_handler(PlumblineError, _domain_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(DBAPIError, _database_error)
    app.add_exception_handler(PoolTimeout, _database_error)
    app.add_exception_handler(OSError, _system_error)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _fault)


def status_of(error: Exception) -> int:
    """Return the status that an error is answered with."""
    if isinstance(error, PlumblineError):
        return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    if isinstance(error, HTTPException):
        return error.status_code
    if isinstance(error, RequestValidationError):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    if is_disk_full(error):
        return HTTPStatus.INSUFFICIENT_STORAGE
    return HTTPStatus.SERVICE_UNAVAILABLE if is_transient(error) else HTTPStatus.INTERNAL_SERVER_ERROR


def _domain_error(request: Request, error: Exception) -> Response:
    status = status_of(error)
    REFUSALS.labels(type(error).__name__).inc()
    headers = {}
    if isinstance(error, (TooManyRequests, Busy)):
        headers["Retry-After"] = str(error.retry_after_s)
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if (number := getattr(request.state, "try_number", None)) is not None:
        # RFC 8288: where the sender reads it again.
        headers["Link"] = f'</tries/{number}>; rel="describedby"'
    rejected = rejected_of(error)
    asks = isinstance(error, (errors.Unauthenticated, errors.SignedInLongAgo))
    is_stranger = not request.headers.get("authorization") and session_secret(request) is None
    if isinstance(error, errors.Unauthenticated) and is_stranger and _is_a_page(request):
        # A page of one's own is reached by signing in, which leads back to it.
        return RedirectResponse(forms.login_address(request, again=False), 303, NO_STORE)
    return answer(request, status, str(error), rejected=rejected, headers=headers, asks_login=asks)


def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    headers = dict(error.headers or {})
    if is_disk_full(error.__cause__):
        # The framework calls whatever stops it while it reads a form a malformed one.
        return _system_error(request, error.__cause__)  # type: ignore[arg-type]
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # The framework names the methods of the first route alone that has the path.
        allowed = headers["Allow"] = ", ".join(_methods(request))
        return answer(request, error.status_code, f"This address answers to {allowed} alone.", headers=headers)
    if error.status_code == HTTPStatus.NOT_FOUND and error.detail == HTTPStatus.NOT_FOUND.phrase:
        return answer(request, error.status_code, NOTHING_HERE, headers=headers)
    detail = TOO_MANY.sub(r"One request has at most \2 \1.", str(error.detail))
    return answer(request, error.status_code, detail, headers=headers)


def _methods(request: Request) -> list[str]:
    """Return every method that the path of a request has."""
    routes: Sequence[BaseRoute] = request.app.routes
    asked = (("GET", READING), ("POST", ("POST",)), ("PUT", ("PUT",)), ("DELETE", ("DELETE",)))
    return [
        name
        for method, names in asked
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
        for name in names
    ]


def _validation_error(request: Request, error: Exception) -> Response:
    rejected = rejected_of(error)
    REFUSALS.labels("Malformed").inc()
    return answer(request, 422, rejected.detail, rejected=rejected)


def rejected_of(error: Exception) -> Rejected:
    """Return what a request was refused for: an error of ours, or fields that do not fit its address."""
    if not isinstance(error, RequestValidationError):
        return error if isinstance(error, Rejected) else Rejected(str(error), ())
    problems = [
        Problem(e["msg"], column=".".join(str(part) for part in e["loc"]), value=_clipped(e.get("input")))
        for e in error.errors()
    ]
    return Rejected("The request is not in the form that this address expects.", problems)


def _clipped(value: Any) -> str | None:
    return clip_for_message(value) if isinstance(value, str) else None


def _database_error(request: Request, error: Exception) -> Response:
    REFUSALS.labels("Database").inc()
    if is_broken_off(error):
        detail = "Too many concurrent changes to the same records; nothing was stored. Try again soon."
        return answer(request, 503, detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    if is_transient(error) or isinstance(error, OperationalError):
        detail = LATE.get(getattr(getattr(error, "orig", None), "sqlstate", None), AWAY)
        headers = {"Retry-After": str(RETRY_AFTER_S), "Plumbline-Cause": "database"}
        return answer(request, 503, f"{detail}; nothing was stored. Try again soon.", headers=headers)
    if isinstance(error, DataError) and request.method in READING:
        return answer(request, 404, "No resource can have this address: it contains a character that is never stored.")
    if isinstance(error, DataError):
        return answer(request, 422, "The request contains a text or a number that the database cannot store.")
    return _fault(request, error)


def _system_error(request: Request, error: Exception) -> Response:
    if is_disk_full(error):
        REFUSALS.labels("DiskFull").inc()
        logger.error("%s %s: the temporary folder is full", request.method, request.url.path)
        detail = "The server has no space for this upload at the moment; nothing was stored. Try again later."
        headers = {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
        return answer(request, HTTPStatus.INSUFFICIENT_STORAGE, detail, headers=headers)
    raise error


def is_disk_full(error: BaseException | None) -> bool:
    """Say whether the system refused to write for want of room."""
    return isinstance(error, OSError) and error.errno in DISK_FULL


def _gone(request: Request, error: Exception) -> Response:
    """Answer a body that ended early. Mostly nobody reads it; it is no fault, and a log full of it would hide those."""
    del error
    REFUSALS.labels("Gone").inc()
    return answer(request, 400, "The connection ended before the whole body had arrived; nothing was stored.")


def _fault(request: Request, error: Exception) -> Response:
    REFUSALS.labels("Fault").inc()
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    detail = "This is an error in the server, not in your request. It has been logged."
    # The framework raises the error again after its answer, and the connection ends with it.
    return answer(request, 500, detail, headers={"Connection": "close"})


def problem(status: HTTPStatus, detail: str, retry_after_s: int | None = None) -> CachedAnswer:
    """Return a problem as an answer outside the framework, with when to come again."""
    body = to_json(_document(status, detail, None))
    headers = [
        (b"content-type", PROBLEM_JSON.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
    ]
    if retry_after_s is not None:
        headers.append((b"retry-after", b"%d" % retry_after_s))
    return CachedAnswer(status, headers, body)


def answer(
    request: Request,
    status: int,
    detail: str,
    *,
    rejected: Rejected | None = None,
    headers: Mapping[str, str] | None = None,
    asks_login: bool = False,
) -> Response:
    """Return the problem as a page to a browser, with `asks_login` one that leads there, else as a problem document."""
    problems, n_problems = (rejected.problems, rejected.n_problems) if rejected else ((), 0)
    causes = rejected.causes if rejected else ()
    title = HTTPStatus(status).phrase
    kept = {**NO_STORE, **(headers or {})}
    if forms.is_form(request) or _reads_html(request):
        sign_in = forms.login_address(request, again=status == HTTPStatus.FORBIDDEN) if asks_login else None
        page = render("error.html", title=title, detail=detail, problems=problems, n_problems=n_problems,
                      causes=causes, sign_in=sign_in, back=forms.came_from(request))  # fmt: skip
        return Response(page, status, kept, media_type="text/html; charset=utf-8")
    document = _document(status, detail, rejected)
    return Response(to_json(document), status, kept, media_type=PROBLEM_JSON)


def _reads_html(request: Request) -> bool:
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


def _is_a_page(request: Request) -> bool:
    """Say whether a browser asked for a page other than those of signing in, which say themselves what went wrong."""
    return _reads_html(request) and not request.url.path.startswith("/login")


def refusal_document(error: PlumblineError) -> dict[str, Any]:
    """Return the JSON answer to a refused write."""
    return _document(status_of(error), str(error), error if isinstance(error, Rejected) else None)


def _document(status: int, detail: str, rejected: Rejected | None) -> dict[str, Any]:
    document: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status}
    document |= {"detail": detail}
    if rejected is not None and rejected.problems:
        problems, causes = rejected.problems, rejected.causes
        document |= {"problems": [problem.as_dict() for problem in problems], "n_problems": rejected.n_problems}
        document |= {"causes": [cause.as_dict() for cause in causes]}
    return document


TOO_LARGE = problem(
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request body is larger than this address accepts; nothing was stored."
)
