"""`plumbline benchmark role`: stewards, reviewers and submitters of a benchmark."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table

from app.names import ROLE_NAMES, RoleName
from plumbline.calls import path_of_benchmark
from plumbline.cli.output import say, show
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption

Slug = Annotated[str, typer.Argument(metavar="BENCHMARK", help="The benchmark's slug.")]
Holder = Annotated[str, typer.Argument(metavar="TOKEN", help="The number or the name of a token.")]
RoleOption = Annotated[RoleName, typer.Option("--role", help="What it may do there.")]
SHOWN = ("at", "token", "name", "role", "change", "until", "by")


def register(app: typer.Typer) -> None:
    """Add the commands to those of benchmarks."""
    group = typer.Typer(no_args_is_help=True, help="Say who is steward, reviewer or submitter of a benchmark.")
    group.command("add")(add)
    group.command("remove")(remove)
    group.command("list")(list_all)
    app.add_typer(group, name="role")


def add(
    slug: Slug,
    holder: Holder,
    *,
    role: RoleOption,
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Expires after this many days; unset: never.")
    ] = None,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Give a token a role in a benchmark. A steward's token makes reviewers and submitters, an admin's stewards too."""
    wanted = int(holder) if holder.isascii() and holder.isdigit() else holder
    until = None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat()
    with RemoteServer(server, token) as remote:
        order = {"token": wanted, "role": role, "until": until}
        _say(remote.send_for_json(RemoteRequest("POST", _path(slug), json=order)))


def remove(
    slug: Slug, holder: Holder, *, role: RoleOption, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None
) -> None:
    """End a token's role in a benchmark; what it did there stays."""
    path = f"{_path(slug)}/{role}/{quote(holder, safe='')}"
    with RemoteServer(server, token) as remote:
        _say(remote.send_for_json(RemoteRequest("DELETE", path, repeatable=False)))


def list_all(slug: Slug, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """List who has a role in a benchmark and how that came. Needs a token of one of its stewards, or of an admin."""
    table = Table(*SHOWN)
    with RemoteServer(server, token) as remote:
        answer = remote.get_json(_path(slug))
    for each in answer["history"]:
        table.add_row(*(_cell(each[name]) for name in SHOWN))
    _say(answer)
    show(table)


def _path(slug: str) -> str:
    return f"{path_of_benchmark(slug)}/roles"


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return text[:16].replace("T", " ") if text[10:11] == "T" else text


def _say(answer: Any) -> None:
    for role in ROLE_NAMES:
        names = ", ".join(each["name"] for each in answer["roles"] if each["role"] == role)
        if names or role == "steward":
            say(f"{role.capitalize()}s of {answer['benchmark']}: {names or 'nobody but the admins'}.")
