"""The pages of whoever signs in. Made by `app.web.sessions`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.db.models import BrowserSession, Token
from app.render.page import Page


@dataclass(frozen=True, kw_only=True)
class LoginPage(Page):
    """/login: `form` stands in the form and in a cookie, `leads_to` is where a login leads."""

    template = "login.html"
    form: str
    leads_to: str


@dataclass(frozen=True, kw_only=True)
class AccountPage(Page):
    """/account: whose token it is, the slugs by role, the open sessions; `form_key` is null without a session."""

    template = "account.html"
    token: Token
    held: Mapping[str, Sequence[str]]
    sessions: Sequence[BrowserSession]
    form_key: str | None
