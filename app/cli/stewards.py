"""`plumbline benchmark steward`: an admin gives benchmarks to stewards and takes them back."""

from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table

from app.cli.output import say, show
from app.cli.remote import DEFAULT_SERVER, Request, Server, ServerOption, TokenOption

Slug = Annotated[str, typer.Argument(metavar="BENCHMARK", help="The benchmark's slug.")]
Holder = Annotated[str, typer.Argument(metavar="TOKEN", help="The number or the name of a token.")]


def register(app: typer.Typer) -> None:
    """Add the commands to those of benchmarks."""
    group = typer.Typer(no_args_is_help=True, help="Say who is steward of a benchmark.")
    group.command("add")(add)
    group.command("remove")(remove)
    group.command("list")(list_all)
    app.add_typer(group, name="steward")


def add(slug: Slug, holder: Holder, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """Make a token steward of a benchmark. Needs an admin's token."""
    wanted = int(holder) if holder.isascii() and holder.isdigit() else holder
    with Server(server, token) as remote:
        _say(remote.send_for_json(Request("POST", _path(slug), json={"token": wanted})))


def remove(slug: Slug, holder: Holder, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """End a token's stewardship of a benchmark; what it did there stays. Needs an admin's token."""
    path = f"{_path(slug)}/{quote(holder, safe='')}"
    with Server(server, token) as remote:
        _say(remote.send_for_json(Request("DELETE", path, repeatable=False)))


def list_all(slug: Slug, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """List the stewards of a benchmark and how they came to be. Needs a token of a steward or an admin."""
    table = Table("at", "token", "name", "change", "by")
    with Server(server, token) as remote:
        answer = remote.get_json(_path(slug))
    for each in answer["history"]:
        table.add_row(each["at"][:16].replace("T", " "), str(each["token"]), each["name"], each["change"], each["by"])
    _say(answer)
    show(table)


def _path(slug: str) -> str:
    return f"/benchmarks/{quote(slug, safe='')}/stewards"


def _say(answer: Any) -> None:
    names = ", ".join(each["name"] for each in answer["stewards"]) or "nobody but the admins"
    say(f"Stewards of {answer['benchmark']}: {names}.")
