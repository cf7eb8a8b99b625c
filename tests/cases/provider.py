"""A real identity provider on a socket of its own: it signs tokens, keeps codes and asks for the verifier.

What it claims can be made wrong, so that tests see what a server makes of that.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import uvicorn
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from fastapi import FastAPI, Request
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.responses import JSONResponse, RedirectResponse, Response

CLIENT_ID, CLIENT_SECRET = "plumbline-here", "kept-between-the-two-of-us"
STARTS_WITHIN_S = 20.0


@cache
def first_key() -> RSAKey:
    """Return the key that a provider begins with, one for all of a process: to look for such primes takes long."""
    return RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})


class LocalProvider:
    """The provider, and who signs in there now: `claims` are those of the next tokens, over the ordinary ones."""

    def __init__(self) -> None:
        self.address = ""
        self.claims: dict[str, Any] = {}
        self.key = first_key()
        self.published = [self.key]
        self.algorithm = "RS256"
        self.codes: dict[str, dict[str, str]] = {}
        self.asked: dict[str, str] = {}
        self.app = FastAPI()
        self.app.add_api_route("/.well-known/openid-configuration", self.configuration)
        self.app.add_api_route("/keys", self.keys)
        self.app.add_api_route("/authorize", self.authorize)
        self.app.add_api_route("/token", self.token, methods=["POST"])

    async def configuration(self) -> Response:
        """Say where everything is."""
        at = {name: f"{self.address}/{path}" for name, path in PLACES.items()}
        return JSONResponse({"issuer": self.address, **at, "id_token_signing_alg_values_supported": ["RS256"]})

    async def keys(self) -> Response:
        """Publish the keys by which tokens are checked."""
        return JSONResponse(KeySet(self.published).as_dict(private=False))

    async def authorize(self, request: Request) -> Response:
        """Sign somebody in without a question, and lead back with a code."""
        self.asked = dict(request.query_params)
        code = f"code-{len(self.codes)}"
        self.codes[code] = self.asked
        back = urlencode({"code": code, "state": self.asked["state"]})
        return RedirectResponse(f"{self.asked['redirect_uri']}?{back}", 303)

    async def token(self, request: Request) -> Response:
        """Give the token of a code, once, to who has the secret and the verifier."""
        sent = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        asked = self.codes.pop(sent.get("code", ""), None)
        knows = request.headers.get("authorization") == httpx2.BasicAuth(CLIENT_ID, CLIENT_SECRET)._auth_header
        is_right = asked is not None and sent.get("redirect_uri") == asked["redirect_uri"]
        if asked is None or not (knows and is_right) or challenge(sent) != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": self.sign(asked["nonce"])})

    def sign(self, nonce: str) -> str:
        """Return a signed token of who signs in now."""
        now = int(time.time())
        ordinary = {"iss": self.address, "sub": "ann", "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": nonce}
        of_ann = {"name": "Ann Lee", "email": "ann@example.org", "email_verified": True, "groups": ["ml"]}
        claims = {**ordinary, **of_ann, "auth_time": now, **self.claims}
        header = {"alg": self.algorithm, "kid": self.key.kid}
        return jwt.encode(header, {k: v for k, v in claims.items() if v is not None}, self.key)


PLACES = {
    "authorization_endpoint": "authorize",
    "token_endpoint": "token",
    "jwks_uri": "keys",
    "end_session_endpoint": "logout",
}


def challenge(sent: dict[str, str]) -> str:
    """Return what the verifier that was sent comes to."""
    return str(create_s256_code_challenge(sent.get("code_verifier", "")))


@contextmanager
def running_provider() -> Iterator[LocalProvider]:
    """Run a provider on a free port."""
    provider = LocalProvider()
    server = uvicorn.Server(uvicorn.Config(provider.app, port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not server.started and time.monotonic() < deadline:
        thread.join(0.02)
    provider.address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    yield provider
    server.should_exit = True
    thread.join(STARTS_WITHIN_S)


def path_of(address: str) -> str:
    """Return path and query of an address."""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}"
