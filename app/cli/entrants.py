"""`plumbline entrant`: a steward moves an entrant from one owner to another."""

from typing import Annotated
from urllib.parse import quote

import typer

from app.cli.output import say
from app.cli.remote import DEFAULT_SERVER, Request, Server, ServerOption, TokenOption
from app.errors import Conflict, NotFound


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Move entrants between those who submit for them.")
    group.callback()(_group)
    group.command("move")(move)
    app.add_typer(group, name="entrant")


def _group() -> None:
    """Move entrants between those who submit for them."""


def move(
    benchmark: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    entrant: Annotated[str, typer.Argument(help="The entrant's name.")],
    owner: Annotated[str, typer.Argument(metavar="TOKEN", help="The new owner: the number or name of a token.")],
    *,
    reason: Annotated[str, typer.Option(help="Why; shown on the entrant's page.")],
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Make another token the owner of an entrant. Needs a steward's token."""
    path = f"/benchmarks/{quote(benchmark, safe='')}/entrants/{quote(entrant, safe='')}/owner"
    with Server(server, token) as remote:
        order = {"token_id": _number(remote, owner), "reason": reason}
        answer = remote.send(Request("PUT", path, json=order)).json()
        say(f"{answer['entrant']} now belongs to {answer['owner_name']} (token {answer['owner']}).")


def _number(remote: Server, owner: str) -> int:
    """Return the number of a token. Raises NotFound, or Conflict when several have the name."""
    if owner.isascii() and owner.isdigit():
        return int(owner)
    found = [each["id"] for each in remote.get_json("/tokens") if each["name"] == owner and not each["revoked_at"]]
    if not found:
        raise NotFound(f"There is no working token of the name {owner}; give its number.")
    if len(found) > 1:
        numbers = ", ".join(str(number) for number in found)
        raise Conflict(f"Tokens {numbers} have the name {owner}; give the number of one of them.")
    return int(found[0])
