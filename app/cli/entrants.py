"""`plumbline entrant`: what entrants are, by a file or a model card; who owns them, and reserved names."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.errors import NotFound
from app.render.text import path_of_name
from plumbline.calls import path_of_benchmark
from plumbline.cli.output import say
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(
        no_args_is_help=True, help="Say what entrants are, move them between submitters, and release reserved names."
    )
    group.command("fields")(fields)
    group.command("card")(card)
    group.command("move")(move)
    group.command("release")(release)
    app.add_typer(group, name="entrant")


BenchmarkArgument = Annotated[str, typer.Argument(help="The benchmark's slug.")]

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)]


def fields(
    benchmark: BenchmarkArgument,
    file: FileArgument,
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Say what many entrants are: a CSV or JSON file with a column `entrant` and one for each field.

    All of the file is taken, or nothing. Needs a token of the entrants' owner, or of the benchmark's steward.
    """
    path = f"{path_of_benchmark(benchmark)}/entrants"
    with RemoteServer(server, token) as remote, file.open("rb") as content:
        request = RemoteRequest("POST", path, files=lambda: [("file", (file.name, content))], repeatable=False)
        _say_changed(remote.send_for_json(request))


def card(
    benchmark: BenchmarkArgument,
    entrant: Annotated[str, typer.Argument(help="The entrant's name.")],
    file: FileArgument,
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Say what an entrant is by the front matter of its model card, such as a README.md of the Hugging Face Hub."""
    path = f"{path_of_benchmark(benchmark)}/entrants/{path_of_name(entrant)}/card"
    with RemoteServer(server, token) as remote:
        answer = remote.send(RemoteRequest("PUT", path, content=file.read_bytes())).json()
        _say_changed(answer)
        if answer["passed_over"]:
            say(f"No fields of this benchmark: {', '.join(answer['passed_over'])}.")


def _say_changed(answer: dict[str, Any]) -> None:
    say(f"{answer['n_changed']:,} values changed, of {answer['n_entrants']:,} entrants.")


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
    path = f"{path_of_benchmark(benchmark)}/entrants/{path_of_name(entrant)}/owner"
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
    path = f"{path_of_benchmark(benchmark)}/reservations/{path_of_name(entrant)}/release"
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
