"""The identity provider of this server, as OpenID Connect has it, and the tokens of who signs in through it.

Authlib makes the requests, joserfc checks the signature. What the provider says of itself and its keys are kept for an
hour, and its keys are asked for anew when a token is signed with one that is not known.
"""

import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import httpx2
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.config import GroupRole, Oidc
from app.db.models import Benchmark, SignInIdentity, Token
from app.errors import Busy, Forbidden, Unauthenticated
from app.names import is_holder
from app.rights import roles, tokens
from app.rights.roles import Role
from app.rights.tokens import Bounds
from app.store import benchmark_rows, sql

CALLBACK = "/login/oidc/callback"
SCOPE = "openid profile email"
TIMEOUT_S, KEPT_S, LEEWAY_S, MINUTE_S = 5.0, 3600.0, 60, 60
# Signed with the provider's private key. Not `none`, and not HMAC, whose key would be our own secret.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]


@dataclass(frozen=True)
class ProviderClaims:
    """A provider's claims about somebody: its address, its identifier for them, their display name, their groups."""

    issuer: str
    subject: str
    name: str
    groups: frozenset[str]


@dataclass(frozen=True)
class LoginAttempt:
    """What this server made up for one login: only the browser that began it has them, and they work once."""

    state: str
    nonce: str
    verifier: str
    is_again: bool


class Provider:
    """One per process."""

    def __init__(self, settings: Oidc) -> None:
        self.settings = settings
        self._kept: dict[str, tuple[float, Any]] = {}

    def login_address(self, attempt: LoginAttempt) -> str:
        """Return where a browser signs in. Raises Busy where the provider does not answer."""
        more = {"prompt": "login", "max_age": "0"} if attempt.is_again else {}
        challenge = create_s256_code_challenge(attempt.verifier)
        with self._client() as client:
            address, _ = client.create_authorization_url(
                self._configured("authorization_endpoint"), state=attempt.state, nonce=attempt.nonce,
                code_challenge=challenge, code_challenge_method="S256", **more,
            )  # fmt: skip
        return str(address)

    def logout_address(self) -> str | None:
        """Return where a browser signs out of the provider, None where it has no such place, or does not answer.

        OpenID Connect RP-Initiated Logout 1.0, 2; its ID tokens are kept nowhere, so the provider asks who leaves.
        """
        try:
            return f"{self._configured('end_session_endpoint')}?{urlencode({'client_id': self.settings.client_id})}"
        except Busy:
            return None

    def identify(self, code: str, attempt: LoginAttempt) -> tuple[ProviderClaims, float | None]:
        """Return who signed in, and when they showed that to the provider, in seconds since 1970, if it says so.

        Raises Unauthenticated for a code or a token that is not for this login, Forbidden, and Busy.
        """
        try:
            with self._client() as client:
                given = client.fetch_token(
                    self._configured("token_endpoint"), grant_type="authorization_code", code=code,
                    code_verifier=attempt.verifier,
                )  # fmt: skip
        except OAuthError as error:
            raise Unauthenticated(f"The identity provider rejected this login ({error.error}); start again.") from None
        except (httpx2.HTTPError, ValueError) as error:
            raise _away(error) from None
        claims = self._claims(given, attempt)
        proved_at = claims.get("auth_time")
        if attempt.is_again and (proved_at is None or time.time() - proved_at > LEEWAY_S + MINUTE_S):
            raise Unauthenticated("The identity provider did not reauthenticate you; start the login again.")
        return self._claimed(claims), proved_at

    def _claims(self, given: Mapping[str, Any], attempt: LoginAttempt) -> CodeIDToken:
        """Return the claims of the ID token of an answer once signature, issuer, audience, time and nonce are right."""
        own = self.settings
        asked = {
            "iss": {"essential": True, "value": own.issuer},
            "aud": {"essential": True, "value": own.client_id},
            "nonce": {"essential": True, "value": attempt.nonce},
        }
        params = {"nonce": attempt.nonce, "client_id": own.client_id, "access_token": given.get("access_token")}
        try:
            token = self._decoded(str(given.get("id_token", "")))
            claims = CodeIDToken(token.claims, token.header, asked, params)
            claims.validate(leeway=LEEWAY_S)
        except JoseError as error:
            raise Unauthenticated(f"The identity provider's response is not for this login: {error.error}.") from None
        return claims

    def _decoded(self, text: str) -> jwt.Token:
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        try:
            return jwt.decode(text, self._keys(), registry=registry)
        except (InvalidKeyIdError, ValueError):
            self._kept.pop(self._configured("jwks_uri"), None)
        try:
            return jwt.decode(text, self._keys(), registry=registry)
        except ValueError as error:
            raise Unauthenticated(f"The identity provider's response cannot be read: {error}.") from None

    def _claimed(self, claims: Mapping[str, Any]) -> ProviderClaims:
        self._refuse_unverified(claims)
        groups = claims.get(self.settings.groups_claim) or ()
        listed = [groups] if isinstance(groups, str) else list(groups)
        name = claims.get("name") or claims.get("preferred_username") or "someone"
        return ProviderClaims(self.settings.issuer, str(claims["sub"]), str(name), frozenset(map(str, listed)))

    def _refuse_unverified(self, claims: Mapping[str, Any]) -> None:
        """Refuse an e-mail that the provider did not verify, or of another domain than the settings name."""
        email, is_verified = str(claims.get("email") or ""), claims.get("email_verified")
        domains = self.settings.domains
        if is_verified is False or (domains and is_verified is not True):
            raise Forbidden("The identity provider has not verified your e-mail address; verify it there first.")
        if domains and email.rpartition("@")[2].lower() not in domains:
            raise Forbidden(f"Only people with an e-mail address at {', '.join(sorted(domains))} may sign in here.")

    def _client(self) -> OAuth2Client:
        own = self.settings
        return OAuth2Client(own.client_id, own.client_secret, scope=SCOPE, redirect_uri=own.base_url + CALLBACK,
                            timeout=TIMEOUT_S, follow_redirects=False)  # fmt: skip

    def _configured(self, name: str) -> str:
        """Return a value of the provider's configuration. Raises Busy where it has none, or is another issuer's."""
        configuration = self._fetch(f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration")
        if configuration.get("issuer") != self.settings.issuer or not isinstance(configuration.get(name), str):
            raise _away(ValueError(f"its configuration has no {name} of {self.settings.issuer}"))
        return str(configuration[name])

    def _keys(self) -> KeySet:
        try:
            return KeySet.import_key_set(self._fetch(self._configured("jwks_uri")))  # type: ignore[arg-type]
        except (JoseError, KeyError, TypeError) as error:
            raise _away(error) from None

    def _fetch(self, address: str) -> Mapping[str, Any]:
        kept_at, kept = self._kept.get(address, (0.0, None))
        if kept is not None and time.monotonic() - kept_at < KEPT_S:
            return kept  # type: ignore[no-any-return]
        try:
            document = httpx2.get(address, timeout=TIMEOUT_S, follow_redirects=False).raise_for_status().json()
        except (httpx2.HTTPError, ValueError) as error:
            raise _away(error) from None
        if not isinstance(document, dict):
            raise _away(ValueError("it does not speak OpenID Connect"))
        self._kept[address] = (time.monotonic(), document)
        return document


def _away(error: Exception) -> Busy:
    cause = f" ({error})" if str(error) else ""
    text = f"The identity provider does not answer{cause}. Try again soon, or sign in with a token."
    return Busy(text)


# Who signs in: their token, and the roles of their groups.
#
# The token and the roles expire some time after each login, so that somebody removed at the provider soon loses
# access here; since they expire, they never count as a lasting steward or admin.

EVERYBODY = "*"

RANK = {"submitter": 0, "reviewer": 0, "steward": 1, "admin": 2}

RENEWED_FROM = timedelta(hours=1)


def sign_in(session: Session, claimed: ProviderClaims, known: Collection[GroupRole], lasts: timedelta) -> Token:
    """Return the token of somebody, made at their first login, with the roles that their groups give them now.

    Raises Forbidden for who is in no group that has a role, and Unauthenticated for a token that was revoked.
    """
    given = [each for each in known if each.group in (EVERYBODY, *claimed.groups)]
    if not given:
        raise Forbidden("You are known to the identity provider, but none of your groups has a role on this server.")
    own = max((each.role for each in given), key=lambda role: RANK[role])
    until = sql.now(session) + lasts
    token = _token(session, claimed, "submitter" if own == "reviewer" else own, until)
    for each in given:
        if each.benchmark is not None:
            _enter(session, each.benchmark, token, Role(each.role, until))
    return token


def find_identity(session: Session, token_id: int) -> SignInIdentity | None:
    """Return the provider's identity of a token's holder; None for a token created here."""
    return session.scalar(select(SignInIdentity).where(SignInIdentity.token_id == token_id))


def forget(session: Session, token_id: int) -> None:
    """Delete the provider's identity of a token's holder; their next login creates a new token."""
    session.execute(delete(SignInIdentity).where(SignInIdentity.token_id == token_id))


def _token(session: Session, claimed: ProviderClaims, role: str, until: datetime) -> Token:
    key = (SignInIdentity.issuer == claimed.issuer, SignInIdentity.subject == claimed.subject)
    token = session.scalar(
        select(Token)
        .join(SignInIdentity, SignInIdentity.token_id == Token.id)
        .where(*key)
        .with_for_update(key_share=True, of=Token)
    )
    if token is None:
        name = tokens.free_name(session, called(claimed.name))
        token, _ = tokens.create_token(session, name, role, Bounds(until))
        session.add(SignInIdentity(issuer=claimed.issuer, subject=claimed.subject, token_id=token.id))
    if token.revoked_at is not None:
        raise Unauthenticated("Your token was revoked here; ask an admin.")
    if token.role != role:
        roles.mark_pages_changed(session, token.id)
    token.role, token.expires_at = role, until
    session.flush()
    return token


def called(name: str) -> str:
    """Return somebody's name here: the provider's, as far as it is allowed.

    >>> called("Ann Lee"), called("ann@example.org"), called("Анна")
    ('Ann Lee', 'ann example.org', 'someone')
    """
    plain = re.sub(r"\s+", " ", re.sub(r"[^A-Za-z0-9._+() -]", " ", name)).strip()[:90].strip()
    return plain if is_holder(plain) and len(plain) * 2 > len(name) else "someone"


def _enter(session: Session, slug: str, token: Token, role: Role) -> None:
    """Give the role of a group until its time, unless it is held for longer; a benchmark may not be there yet."""
    benchmark = session.scalar(select(Benchmark).where(Benchmark.slug == slug))
    if benchmark is None or role.until is None:
        return
    held = {each.role: each.until for each in roles.list_roles(session, benchmark.id) if each.token.id == token.id}
    ends = held.get(role.name)
    if role.name in held and (ends is None or ends > role.until - RENEWED_FROM):
        return
    locked = benchmark_rows.lock_benchmark(session, benchmark.id)
    roles.grant(session, locked, token, role, token.id)
    benchmark_rows.mark_pages_changed(session, benchmark.id)
