"""`plumbline prereg`: registers preregistrations, and checks them without a server."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import note, say
from app.cli.remote import DEFAULT_SERVER, Server, ServerOption, TokenOption
from app.prereg import git_blob_sha1, parse_prereg, sha256_hex

PreregFile = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The prereg, a YAML file.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Register what you intend to measure, before you run it.")
    group.command("register")(register_file)
    group.command("check")(check)
    app.add_typer(group, name="prereg")


def register_file(file: PreregFile, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """Register a prereg and print its address. Registering the same bytes again changes nothing."""
    with Server(server, token) as remote:
        answer = remote.send_yaml("POST", "/preregs", file.read_bytes(), repeatable=True)
    note(f"Registered at {answer['registered_at']}: {remote.address}{answer['url']}")
    say(answer["sha256"])


def check(file: PreregFile) -> None:
    """Say whether a server would accept a prereg. No server is needed."""
    content = file.read_bytes()
    prereg = parse_prereg(content)
    say(f"{file} is a prereg of the {prereg.form} form, run purpose {prereg.run_purpose}.")
    say(f"sha256         {sha256_hex(content)}")
    say(f"git blob sha1  {git_blob_sha1(content)}")
