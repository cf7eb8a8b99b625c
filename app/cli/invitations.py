"""`plumbline invitation`: codes that make one token each; made, listed, revoked and used."""

from typing import Annotated

import typer
from rich.table import Table

from app.names import RoleName
from plumbline.cli.output import note, say, show
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption

SHOWN = ("id", "role", "benchmark", "made_by", "expires_at", "state", "token")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Invite people to get a token.")
    group.command("make")(make)
    group.command("list")(list_all)
    group.command("revoke")(revoke)
    group.command("redeem")(redeem)
    app.add_typer(group, name="invitation")


def make(
    *,
    role: Annotated[RoleName, typer.Option(help="What the token may do.")] = "submitter",
    benchmark: Annotated[str | None, typer.Option(help="In this benchmark; unset: on the server.")] = None,
    token_days: Annotated[int | None, typer.Option(min=1, help="The token expires after this many days.")] = None,
    days: Annotated[int, typer.Option(min=1, max=90, help="The code expires after this many days.")] = 14,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Make an invitation and print its code. It is not kept and cannot be shown again."""
    order = {"role": role, "benchmark": benchmark, "token_days": token_days, "days": days}
    with RemoteServer(server, token) as remote:
        issued = remote.send_for_json(RemoteRequest("POST", "/invitations", json=order, repeatable=False))
    note(f"Invitation {issued['id']}, role {role}, until {issued['expires_at'][:10]}. Its code is shown only now:")
    say(issued["code"])


def list_all(*, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """List the invitations, without their codes."""
    table = Table(*SHOWN)
    with RemoteServer(server, token) as remote:
        for each in remote.get_json("/invitations"):
            table.add_row(*("" if each[name] is None else str(each[name])[:16] for name in SHOWN))
    show(table)


def revoke(
    number: Annotated[int, typer.Argument(metavar="INVITATION", help="The number that `invitation list` shows.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Make an invitation useless."""
    with RemoteServer(server, token) as remote:
        remote.send_for_json(RemoteRequest("DELETE", f"/invitations/{number}"))
    note(f"Invitation {number} is revoked.")


def redeem(
    code: Annotated[str, typer.Argument(help="The code that you were given.")],
    name: Annotated[str, typer.Argument(help="Who or what will use the token; shown beside what it submits.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
) -> None:
    """Use an invitation: print the token that it makes. It is not kept and cannot be shown again."""
    order = {"code": code, "name": name}
    with RemoteServer(server, None) as remote:
        issued = remote.send_for_json(RemoteRequest("POST", "/invitations/redeem", json=order, repeatable=False))
    note(f"Token {issued['id']} for {name}, role {issued['role']}. It is shown only now:")
    say(issued["token"])
