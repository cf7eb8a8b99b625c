"""The cookie of a session and what protects its forms; for `app.web.caller`, `app.web.sessions`.

`__Host-` keeps a cookie of another host, a subdomain or plain HTTP from being taken for ours (RFC 6265bis, 4.1.3.2).
A form is taken only with the key of its session and never from another site.
"""

import hmac
import secrets
from urllib.parse import quote

from fastapi import Request
from starlette.responses import Response

from app.db.models import Token
from app.errors import Forbidden
from app.rights import sessions

SESSION, FORM = "__Host-plumbline", "__Host-plumbline-form"
SIGNED_IN = "__Host-plumbline-is"
"""Read by the script of a page that is kept for everybody: who signed in, to be named in its header. It opens
nothing."""
KEY = "csrf"
LASTS_S = 24 * 3600


def session_secret(request: Request) -> str | None:
    """Return the secret of the session that a request presents, None without one."""
    return request.cookies.get(SESSION) or None


def form_key_of(request: Request) -> str | None:
    """Return what the forms of a page carry for the session that a request presents, None without one.

    Who sends a token with the request shows no forms: what they would send has no session.
    """
    secret = None if request.headers.get("authorization") else session_secret(request)
    return None if secret is None else sessions.form_key(secret)


def set_cookie(answer: Response, name: str, value: str, lasts_s: int = LASTS_S) -> None:
    """Let a browser keep a cookie: for this host alone, over TLS alone, out of reach of scripts and of other sites."""
    answer.set_cookie(name, value, max_age=lasts_s, path="/", secure=True, httponly=True, samesite="lax")


def tell_page(answer: Response, token: Token) -> None:
    """Let the pages of a browser know who signed in: `steward.Ann%20B`, the role of the token and its name."""
    value = f"{token.role}.{quote(token.name, safe='')}"
    answer.set_cookie(SIGNED_IN, value, max_age=LASTS_S, path="/", secure=True, samesite="lax")


def drop_cookie(answer: Response, name: str) -> None:
    """Let a browser forget a cookie."""
    answer.delete_cookie(name, path="/", secure=True, httponly=True, samesite="lax")


def refuse_forged(request: Request, secret: str) -> None:
    """Refuse a write in somebody's session that is not of a form of ours. Raises Forbidden."""
    refuse_cross_site(request)
    given = request.query_params.get(KEY) or request.headers.get("x-csrf-token", "")
    if not hmac.compare_digest(given.encode(), sessions.form_key(secret).encode()):
        raise Forbidden("This form does not belong to your session; reload the page and submit it again.")


def refuse_cross_site(request: Request) -> None:
    """Refuse a request that, by the browser's own headers, another site caused.

    Raises Forbidden.
    """
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise Forbidden("This was sent from another site; open the page here and submit it from there.")


def new_form_value() -> str:
    """Return the secret of the form before there is a session, and in its own cookie."""
    return secrets.token_urlsafe(32)


def refuse_unasked(request: Request, given: str) -> None:
    """Refuse a login whose form this server did not give to this browser. Raises Forbidden."""
    refuse_cross_site(request)
    kept = request.cookies.get(FORM, "")
    if not kept or not hmac.compare_digest(given.encode(), kept.encode()):
        raise Forbidden("This form does not come from this server, or your browser blocks cookies; reload the page.")


def local_path(asked: str | None, otherwise: str) -> str:
    """Return where to go after a login: a path of this server, whatever was asked."""
    is_local = asked is not None and asked.startswith("/") and not asked.startswith(("//", "/\\"))
    return asked if is_local and asked is not None and asked.isprintable() and "\\" not in asked else otherwise
