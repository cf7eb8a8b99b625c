"""`plumbline benchmark`: sends manifests to a server, makes them of other programs' files, ends benchmarks."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any

import typer

from app.cli import drafts, roles, secret_labels
from app.kinds.contract import Imported
from app.kinds.parse import parse_manifest
from app.kinds.registry import KINDS
from plumbline.calls import path_of_benchmark
from plumbline.cli.output import note, say
from plumbline.cli.remote import DEFAULT_SERVER, RemoteRequest, RemoteServer, ServerOption, TokenOption

ManifestFile = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The manifest, a YAML file.")
]

Output = Annotated[Path | None, typer.Option("-o", "--output", help="The file to write; default: standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Create benchmarks and add versions of their manifests.")
    drafts.register(group)
    register_life(group)
    group.command("create")(create)
    group.command("update")(update)
    group.command("labels")(put_labels)
    group.command("items")(put_items)
    for kind in KINDS.values():
        for name, place in kind.importers.items():
            _add_importer(group, name, resolve_name(place))
    secret_labels.register(group)
    roles.register(group)
    app.add_typer(group, name="benchmark")


def create(file: ManifestFile, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """Create a benchmark from its manifest."""
    with RemoteServer(server, token) as remote:
        answer = remote.send_yaml("POST", "/benchmarks", file.read_bytes(), repeatable=False)
        say(f"Created {answer['slug']}, version {answer['version']}: {remote.address}{answer['url']}")


def update(
    file: ManifestFile,
    *,
    draft: Annotated[bool, typer.Option("--draft", help="Keep it as a draft, which stewards alone see.")] = False,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Add a version to the manifest of the benchmark that the file names."""
    content = file.read_bytes()
    slug = parse_manifest(content).slug
    with RemoteServer(server, token) as remote:
        if draft:
            answer = remote.send_yaml("PUT", f"{path_of_benchmark(slug)}/draft", content, repeatable=True)
            say(f"Version {answer['version']} of {slug} is a draft: {remote.address}{answer['url']}")
            return
        answer = remote.send_yaml("PUT", path_of_benchmark(slug), content, repeatable=False)
        say(f"{slug} now has manifest version {answer['version']}: {remote.address}/benchmarks/{slug}")


def put_labels(
    slug: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The labels, a table.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Put the labels of a prediction benchmark, once; no address of the server gives them back."""
    for each in _put_table(f"{path_of_benchmark(slug)}/labels", file, server, token):
        say(f"{slug} has labels of {each['n_items']:,} items of task {each['task']}.")


def put_items(
    slug: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The items, a table.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Put the items of a benchmark's grid: columns item and, where tasks have items of their own, task."""
    for each in _put_table(f"{path_of_benchmark(slug)}/items", file, server, token):
        whose = f"task {each['task']}" if each["task"] else "every task"
        say(f"The grid of {slug} has {each['n_items']:,} items of {whose}.")


def _put_table(path: str, file: Path, server: str, token: str | None) -> list[Any]:
    """Send a steward's table, print its warnings, and return what the server has of each task."""
    with RemoteServer(server, token) as remote, ExitStack() as stack:

        def parts() -> list[tuple[str, Any]]:
            return [("file", (file.name, stack.enter_context(file.open("rb"))))]

        answer = remote.send_for_json(RemoteRequest("PUT", path, files=parts))
    for warning in answer["warnings"]:
        note(f"Note: {warning['message']}")
    tasks: list[Any] = answer["tasks"]
    return tasks


def _add_importer(group: typer.Typer, name: str, make: Callable[..., Imported]) -> None:
    """Add the command `import-NAME` of a kind, which writes what it makes to a file or to standard output."""

    @wraps(make)
    def command(*, output: Path | None, **options: Any) -> None:
        imported = make(**options)
        parse_manifest(imported.manifest)
        for text in imported.notes:
            note(text)
        _write(imported.manifest, output)

    to = Parameter("output", Parameter.KEYWORD_ONLY, annotation=Output, default=None)
    asked = signature(make, eval_str=True)
    command.__signature__ = asked.replace(parameters=[*asked.parameters.values(), to])  # type: ignore[attr-defined]
    command.__annotations__ = {**make.__annotations__, "output": Output, "return": None}
    group.command(f"import-{name}")(command)


def _write(manifest: bytes, output: Path | None) -> None:
    if output is None:
        typer.echo(manifest.decode(), nl=False)
        return
    output.write_bytes(manifest)
    note(f"Wrote {output}")


# `plumbline benchmark retire` and `retitle`: what a steward changes without another manifest.

Slug = Annotated[str, typer.Argument(help="The benchmark's slug.")]


def register_life(group: typer.Typer) -> None:
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
    with RemoteServer(server, token) as remote:
        path = f"{path_of_benchmark(slug)}/retire"
        remote.send(RemoteRequest("POST", path, json={"reason": reason}, repeatable=False))
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
    with RemoteServer(server, token) as remote:
        path = f"{path_of_benchmark(slug)}/title"
        answer = remote.send_for_json(
            RemoteRequest("PUT", path, json={k: v for k, v in order.items() if v is not None})
        )
        say(f"{slug} is called {answer['title']}: {remote.address}/benchmarks/{slug}")
