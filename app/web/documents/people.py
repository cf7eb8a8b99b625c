"""The JSON of tokens, owners and roles, for `app.web.tokens`, `app.web.rows` and `app.web.roles`."""

from typing import Any

from app.web.documents.base import Document


class OwnerDocument(Document):
    """An entrant and its owner."""

    entrant: str
    owner: int
    owner_name: str


class HeldRoleDocument(Document):
    """A role that somebody has in a benchmark now, and when it ends; null: when it is revoked."""

    token: int
    name: str
    role: str
    until: str | None


class GrantDocument(Document):
    """A role in a benchmark that was granted to a token or revoked: when, until when, and by whom."""

    at: str
    token: int
    name: str
    role: str
    change: str
    until: str | None
    by: str


class RolesDocument(Document):
    """The valid tokens with a role in a benchmark, and the history of its roles, oldest change first."""

    benchmark: str
    roles: list[HeldRoleDocument]
    history: list[GrantDocument]


class TermsDocument(Document):
    """What a token may do, where, and until when; null: without that limit."""

    id: int
    name: str
    role: str
    expires_at: str | None
    benchmarks: list[str] | None
    scopes: list[str] | None
    entrants: list[str] | None


class TokenDocument(TermsDocument):
    """A new token with its text, which no other answer contains."""

    token: str


class RotatedDocument(TokenDocument):
    """A token with a new text, and until when the former one works beside it."""

    former_until: str


class WhoamiDocument(TermsDocument):
    """The token of the request: what it may do, and where; an admin decides everywhere, `steward_of` is null then."""

    steward_of: list[str] | None


class ListedToken(TermsDocument):
    """A token as stewards see it; its text is stored nowhere. `used_at` is its last use, to the hour."""

    created_at: str
    used_at: str | None
    revoked_at: str | None


class ListedInvitation(Document):
    """An invitation: its terms, its creator, its state (open, used, revoked, expired), and the `token` it created."""

    id: int
    role: str
    benchmark: str | None
    token_days: int | None
    made_by: str
    made_at: str
    expires_at: str
    state: str
    token: int | None


class InvitationDocument(ListedInvitation):
    """A new invitation with its code, which no other answer contains."""

    code: str


class ErasedDocument(Document):
    """A token whose name was erased."""

    id: int
    name: str


class OwnDataDocument(Document):
    """Everything that is stored about the holder of a token."""

    token: dict[str, Any]
    identity: dict[str, Any] | None
    sessions: list[dict[str, Any]]
    roles: dict[str, list[str]]
    entrants: list[str]
    registrations: list[dict[str, Any]]
    submissions: list[dict[str, Any]]
    tries: list[dict[str, Any]]
    disputes: list[dict[str, Any]]
    notifications: list[dict[str, Any]]
    events: list[dict[str, Any]]


class RevokedDocument(Document):
    """A token that was revoked."""

    id: int
    name: str
    role: str
    revoked: bool


class OwnSubmissionDocument(Document):
    """A submission of the calling token: its benchmark, status and entrants."""

    id: int
    benchmark: str
    status: str
    received_at: str
    n_rows: int
    entrants: list[str]
    url: str
