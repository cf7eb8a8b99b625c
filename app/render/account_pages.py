"""The pages after signing in: account, tokens, invitations, and the people of a benchmark.

Made by `app.web.sessions`, `app.web.account` and `app.web.forms`. `form_key` is what every form of a session carries in
its address (`app.web.forms`); null for who came with a token, so that no form is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.db.models import BrowserSession, Invitation, Token
from app.render.base_page import Page
from app.store.publishing import Contents
from app.store.roles import Grant, Held


@dataclass(frozen=True, kw_only=True)
class LoginPage(Page):
    """/login: `form` is in the form and in a cookie, `leads_to` is where a login leads.

    `provider` is the name of the identity provider of this server, null without one; with `again` it is to ask anew.
    `left` says that somebody has just signed out here alone, `way_out` where they sign out of the provider too.
    """

    template = "login.html"
    form: str
    leads_to: str
    provider: str | None
    again: bool
    left: bool = False
    way_out: str | None = None


@dataclass(frozen=True, kw_only=True)
class AccountPage(Page):
    """/account: whose token it is, the slugs by role, the open sessions with the one that is looked from."""

    template = "account.html"
    token: Token
    held: Mapping[str, Sequence[str]]
    sessions: Sequence[BrowserSession]
    session_id: int | None
    form_key: str | None
    longest_overlap_h: int


@dataclass(frozen=True, kw_only=True)
class TokensPage(Page):
    """/account/tokens: the tokens without their texts, each with the benchmarks that it is for, null: for all.

    Who may make and revoke some sees the forms.
    """

    template = "tokens.html"
    tokens: Sequence[tuple[Token, Sequence[str] | None]]
    is_admin: bool
    scopes: Sequence[str]
    form_key: str | None


@dataclass(frozen=True, kw_only=True)
class ListedInvitation:
    """An invitation in a list: to which benchmark, who made it, and its state."""

    invitation: Invitation
    slug: str | None
    by: str
    state: str


@dataclass(frozen=True, kw_only=True)
class InvitationsPage(Page):
    """/account/invitations: those that somebody may see, and the form for a new one; `slugs` are their benchmarks."""

    template = "invitations.html"
    invitations: Sequence[ListedInvitation]
    slugs: Sequence[str]
    is_admin: bool
    form_key: str | None


@dataclass(frozen=True, kw_only=True)
class PeoplePage(Page):
    """/benchmarks/{slug}/people: roles, their history, invitations, and who may read it with what is there to read.

    `roles` are those that the reader may give.
    """

    template = "people.html"
    slug: str
    visibility: str
    contents: Contents
    held: Sequence[Held]
    history: Sequence[Grant]
    invitations: Sequence[ListedInvitation]
    roles: Sequence[str]
    form_key: str | None


@dataclass(frozen=True, kw_only=True)
class JoinPage(Page):
    """A form that makes a token for whoever has a code, or for whoever asks where a manifest lets them: `slug`."""

    template = "join.html"
    action: str
    code: str | None
    slug: str | None


@dataclass(frozen=True, kw_only=True)
class SecretPage(Page):
    """A secret that is shown once: a token or a code, as `kind` says; `about` is the answer that contained it."""

    template = "secret.html"
    kind: str
    text: str
    about: Mapping[str, Any]
    then: str
