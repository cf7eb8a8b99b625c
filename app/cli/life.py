"""`plumbline benchmark retire` and `retitle`: what a steward changes without another manifest."""

from typing import Annotated
from urllib.parse import quote

import typer

from app.cli.output import say
from app.cli.remote import DEFAULT_SERVER, Request, Server, ServerOption, TokenOption

Slug = Annotated[str, typer.Argument(help="The benchmark's slug.")]


def register(group: typer.Typer) -> None:
    """Add the commands to `plumbline benchmark`."""
    group.command("retire")(retire)
    group.command("retitle")(retitle)


def retire(
    slug: Slug,
    *,
    reason: Annotated[str, typer.Option(help="The reason; shown permanently on all its pages.")],
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Take no more submissions to a benchmark, for ever. Its boards and addresses stay."""
    with Server(server, token) as remote:
        path = f"/benchmarks/{quote(slug, safe='')}/retire"
        remote.send(Request("POST", path, json={"reason": reason}, repeatable=False))
        say(f"{slug} is retired: {remote.address}/benchmarks/{slug}")


def retitle(
    slug: Slug,
    *,
    title: Annotated[str | None, typer.Option(help="Its new title.")] = None,
    description: Annotated[str | None, typer.Option(help="Its new description, in Markdown.")] = None,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Give a benchmark another title or description, without another version of its manifest."""
    order = {"title": title, "description": description}
    with Server(server, token) as remote:
        path = f"/benchmarks/{quote(slug, safe='')}/title"
        answer = remote.send_for_json(Request("PUT", path, json={k: v for k, v in order.items() if v is not None}))
        say(f"{slug} is called {answer['title']}: {remote.address}/benchmarks/{slug}")
