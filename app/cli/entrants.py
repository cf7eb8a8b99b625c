"""`plumbline entrant`: a steward moves an entrant from one owner to another, or releases a reserved name."""

from typing import Annotated
from urllib.parse import quote

import typer

from app.errors import NotFound
from app.render.text import path_of_name
from plumbline.cli.output import say
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Move entrants between submitters, and release reserved names.")
    group.command("move")(move)
    group.command("release")(release)
    app.add_typer(group, name="entrant")


def move(
    benchmark: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    entrant: Annotated[str, typer.Argument(help="The entrant's name.")],
    owner: Annotated[str, typer.Argument(metavar="TOKEN", help="The new owner: the number or name of a token.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; shown on the entrant's page.")],
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Make another token the owner of an entrant or of a reserved name. Needs a token of the benchmark's steward."""
    path = f"/benchmarks/{quote(benchmark, safe='')}/entrants/{path_of_name(entrant)}/owner"
    with RemoteServer(server, token) as remote:
        order = {"token_id": _number(remote, owner), "reason": reason}
        answer = remote.send(RemoteRequest("PUT", path, json=order)).json()
        say(f"{answer['entrant']} now belongs to {answer['owner_name']} (token {answer['owner']}).")


def release(
    benchmark: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    entrant: Annotated[str, typer.Argument(help="The reserved name.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; shown on the registration's page.")],
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Give a name free that a registration reserved. Needs the registrant's token, or a steward's of the benchmark."""
    path = f"/benchmarks/{quote(benchmark, safe='')}/reservations/{path_of_name(entrant)}/release"
    with RemoteServer(server, token) as remote:
        answer = remote.send_for_json(RemoteRequest("POST", path, json={"reason": reason}, repeatable=False))
        say(f"{answer['entrant']} in {answer['benchmark']} is no longer reserved for {answer['reserved_for']}.")


def _number(remote: RemoteServer, owner: str) -> int:
    """Return the number of a token. Raises NotFound."""
    if owner.isascii() and owner.isdigit():
        return int(owner)
    numbers = [each["id"] for each in remote.get_json("/tokens") if each["name"] == owner and not each["revoked_at"]]
    if not numbers:
        raise NotFound(f"No valid token is named {owner}; give its number.")
    return int(numbers[0])
