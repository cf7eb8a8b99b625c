"""The JSON of tokens, owners and stewards, for `app.web.tokens`, `app.web.rows` and `app.web.stewards`."""

from app.web.documents.base import Document


class OwnerDocument(Document):
    """Whose an entrant is now."""

    entrant: str
    owner: int
    owner_name: str


class StewardDocument(Document):
    """A steward of a benchmark, by the number and the name of the token."""

    token: int
    name: str


class GrantDocument(Document):
    """A token was given a benchmark (granted) or lost it (revoked): when and by whom."""

    at: str
    token: int
    name: str
    change: str
    by: str


class StewardsDocument(Document):
    """The stewards of a benchmark whose tokens work, and how they came to be, the oldest change first."""

    benchmark: str
    stewards: list[StewardDocument]
    history: list[GrantDocument]


class TokenDocument(Document):
    """A token; its text is in the answer that made it and nowhere else."""

    id: int
    name: str
    role: str
    expires_at: str | None
    benchmarks: list[str] | None
    token: str


class RotatedDocument(TokenDocument):
    """A token with a new text, and until when the former one works beside it."""

    former_until: str


class WhoamiDocument(Document):
    """The token of the request: what it may do, and where; an admin decides everywhere, `steward_of` is null then."""

    id: int
    name: str
    role: str
    expires_at: str | None
    benchmarks: list[str] | None
    steward_of: list[str] | None


class ListedToken(Document):
    """A token as stewards see it; its text is kept nowhere. `used_at` is its last use, to the hour."""

    id: int
    name: str
    role: str
    created_at: str
    expires_at: str | None
    benchmarks: list[str] | None
    used_at: str | None
    revoked_at: str | None


class RevokedDocument(Document):
    """A token that is useless from now on."""

    id: int
    name: str
    role: str
    revoked: bool


class OwnSubmissionDocument(Document):
    """A submission of the token that asks: where it went, its state, and whom it brought."""

    id: int
    benchmark: str
    status: str
    received_at: str
    n_rows: int
    entrants: list[str]
    url: str
