"""`plumbline token`: makes, lists, renews and revokes tokens, on the server that is named, else in its database.

With PLUMBLINE_SERVER or --server the commands are requests like every other command's. Without, they open the database
of the settings, on the server's own machine: the way in where no admin token is at hand.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from app.cli.database import bring_up, open_addresses, sessions_of
from app.config import Settings
from app.db.models import Token
from app.rights import sessions, tokens
from app.rights.tokens import LONGEST_OVERLAP_H, Bounds
from app.store import audit
from app.store.audit import Act, Change
from plumbline.cli.output import note, say, show
from plumbline.cli.remote import RemoteRequest, RemoteServer, TokenOption

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar="PLUMBLINE_SERVER",
        help="Address of the server; unset: the database of the settings is used directly.",
    ),
]
Number = Annotated[int, typer.Argument(metavar="TOKEN_ID", help="The number that `token list` shows.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Create, list, renew and revoke the tokens of those who may write.")
    group.command("create")(create)
    group.command("list")(list_all)
    group.command("rotate")(rotate)
    group.command("revoke")(revoke)
    app.add_typer(group, name="token")
    app.command("whoami")(whoami)


@contextmanager
def open_session() -> Iterator[Session]:
    """Yield a session on the newest schema; what it did is committed when nothing went wrong."""
    settings = Settings.from_env()
    with open_addresses(settings) as addresses:
        database_url = addresses.runtime
        named = make_url(database_url).render_as_string(hide_password=True)
        note(f"In the database {named if settings.database_url else f'of {settings.data_dir}'}.")
        bring_up(addresses)
        with sessions_of(database_url) as sessions, sessions.begin() as session:
            yield session


def create(
    name: Annotated[str, typer.Argument(help="Who or what will use it; shown beside what it submits.")],
    *,
    role: Annotated[
        Literal["submitter", "steward", "admin"], typer.Option(help="What its holder may do.")
    ] = "submitter",
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Expires after this many days; unset: never.")
    ] = None,
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only for this benchmark; give it again for more.")
    ] = None,
    scope: Annotated[list[str] | None, typer.Option(help="Only to read, submit or steward; again for more.")] = None,
    entrant: Annotated[list[str] | None, typer.Option(help="Only for this entrant; again for more.")] = None,
    server: ServerOption = None,
    token: TokenOption = None,
) -> None:
    """Make a token and print it. It is not kept and cannot be shown again."""
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    ends = None if expires_at is None else expires_at.isoformat()
    asked = {"name": name, "role": role, "expires_at": ends, "benchmarks": benchmark or None}
    asked |= {"scopes": scope or None, "entrants": entrant or None}
    bounds = Bounds(expires_at, benchmark or None, scope or None, entrant or None)
    issued = _ask(
        server,
        token,
        RemoteRequest("POST", "/tokens", json=asked, repeatable=False),
        lambda session: _with_text(_make(session, name, role, bounds)),
    )
    note(f"Token {issued['id']} for {name}, role {role}. It is shown only now:")
    say(issued["token"])


def list_all(*, server: ServerOption = None, token: TokenOption = None) -> None:
    """List the tokens, without their text."""
    listed = _ask(
        server, token, RemoteRequest("GET", "/tokens"), lambda session: list(map(_about, tokens.list_tokens(session)))
    )
    table = Table("id", "name", "role", "only for", "made", "last used", "ends", "revoked")
    for each in listed:
        times = [_day(each[column]) for column in ("created_at", "used_at", "expires_at", "revoked_at")]
        table.add_row(str(each["id"]), each["name"], each["role"], ", ".join(each["benchmarks"] or ()), *times)
    show(table)


def rotate(
    token_id: Number,
    *,
    overlap_h: Annotated[
        int, typer.Option(min=0, max=LONGEST_OVERLAP_H, help="Hours for which the old token keeps working.")
    ] = 24,
    server: ServerOption = None,
    token: TokenOption = None,
) -> None:
    """Rotate a token and print it; the former one works for some hours more."""
    request = RemoteRequest("POST", f"/tokens/{token_id}/rotate", json={"overlap_h": overlap_h}, repeatable=False)
    issued = _ask(server, token, request, lambda session: _with_text(_renew(session, token_id, overlap_h)))
    note(f"Token {token_id} of {issued['name']} is renewed and shown only now; the old one ends in {overlap_h} h:")
    say(issued["token"])


def revoke(token_id: Number, *, server: ServerOption = None, token: TokenOption = None) -> None:
    """Make a token useless from now on."""
    request = RemoteRequest("DELETE", f"/tokens/{token_id}")
    done = _ask(server, token, request, lambda session: _about(_revoke(session, token_id)))
    note(f"Token {done['id']} of {done['name']} is revoked.")


def whoami(
    *,
    server: Annotated[
        str, typer.Option("--server", envvar="PLUMBLINE_SERVER", help="Address of the plumbline server.")
    ] = "http://127.0.0.1:8000",
    token: TokenOption = None,
) -> None:
    """Say what the token in use may do, and where."""
    with RemoteServer(server, token) as remote:
        about = remote.get_json("/whoami")
    ends = "never" if about["expires_at"] is None else _day(about["expires_at"])
    say(f"Token {about['id']} of {about['name']}, role {about['role']}; it expires: {ends}.")
    say(f"Valid for: {', '.join(about['benchmarks'] or ['every benchmark'])}.")
    if about["role"] == "steward":
        say(f"Steward of: {', '.join(about['steward_of']) or 'no benchmark'}.")


def _ask(server: str | None, token: str | None, request: RemoteRequest, locally: Callable[[Session], Any]) -> Any:
    """Send a request to the server, or do the same in the database of the settings where no server is named."""
    if server:
        with RemoteServer(server, token) as remote:
            return remote.send_for_json(request)
    with open_session() as session:
        return locally(session)


def _make(session: Session, name: str, role: str, bounds: Bounds) -> tuple[Token, str]:
    issued = tokens.create_token(session, name, role, bounds)
    audit.record(session, Act("plumbline token create"), None, Change(after=tokens.in_short(issued[0])))
    return issued


def _renew(session: Session, token_id: int, overlap_h: int) -> tuple[Token, str]:
    issued = tokens.renew_with_overlap(session, token_id, overlap_h)
    if overlap_h == 0:
        sessions.end_all(session, token_id)
    after = {"token": token_id, "overlap_h": overlap_h}
    audit.record(session, Act("plumbline token rotate"), None, Change(after=after))
    return issued


def _revoke(session: Session, token_id: int) -> Token:
    revoked = tokens.revoke_token(session, token_id)
    after = {"token": token_id, "revoked": True}
    audit.record(session, Act("plumbline token revoke"), None, Change(after=after))
    return revoked


def _with_text(issued: tuple[Token, str]) -> Mapping[str, Any]:
    return {**_about(issued[0]), "token": issued[1]}


def _about(token: Token) -> Mapping[str, Any]:
    times = {name: getattr(token, name) for name in ("created_at", "used_at", "expires_at", "revoked_at")}
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role,
        "benchmarks": token.benchmarks,
        **{name: None if at is None else at.isoformat() for name, at in times.items()},
    }


def _day(at: str | None) -> str:
    return "" if at is None else at[:16].replace("T", " ")
