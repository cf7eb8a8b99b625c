"""`plumbline benchmark`: sends manifests to a server, makes them of other programs' files, ends benchmarks."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from app.boards.methods.skill_score import RankBy
from app.cli import drafts, roles, secret_labels
from app.cli.lrdbench_runs import records_of_run, rows_of_run
from app.cli.output import note, say
from app.cli.remote import DEFAULT_SERVER, Request, Server, ServerOption, TokenOption
from app.kinds.parse import parse_manifest
from app.kinds.series.from_lrdbench import manifest_from_lrdbench
from app.kinds.summary.from_fev import FevOptions, choose, manifest_from_fev_tasks, read_results

ManifestFile = Annotated[
    Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The manifest, a YAML file.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Create benchmarks and add versions of their manifests.")
    drafts.register(group)
    register_life(group)
    group.command("create")(create)
    group.command("update")(update)
    group.command("labels")(put_labels)
    group.command("items")(put_items)
    group.command("import-fev")(import_fev)
    group.command("import-lrdbench")(import_lrdbench)
    secret_labels.register(group)
    roles.register(group)
    app.add_typer(group, name="benchmark")


def create(file: ManifestFile, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """Create a benchmark from its manifest."""
    with Server(server, token) as remote:
        answer = remote.send_yaml("POST", "/benchmarks", file.read_bytes(), repeatable=False)
        say(f"Created {answer['slug']}, version {answer['version']}: {remote.address}{answer['url']}")


def update(file: ManifestFile, *, server: ServerOption = DEFAULT_SERVER, token: TokenOption = None) -> None:
    """Add a version to the manifest of the benchmark that the file names."""
    content = file.read_bytes()
    slug = parse_manifest(content).slug
    with Server(server, token) as remote:
        answer = remote.send_yaml("PUT", f"/benchmarks/{slug}", content, repeatable=False)
        say(f"{slug} now has manifest version {answer['version']}: {remote.address}/benchmarks/{slug}")


def put_labels(
    slug: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The labels, a table.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Put the labels of a prediction benchmark, once; no address of the server gives them back."""
    for each in _put_table(f"/benchmarks/{slug}/labels", file, server, token):
        say(f"{slug} has labels of {each['n_items']:,} items of task {each['task']}.")


def put_items(
    slug: Annotated[str, typer.Argument(help="The benchmark's slug.")],
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The items, a table.")],
    *,
    server: ServerOption = DEFAULT_SERVER,
    token: TokenOption = None,
) -> None:
    """Put the items of a benchmark's grid: columns item and, where tasks have items of their own, task."""
    for each in _put_table(f"/benchmarks/{slug}/items", file, server, token):
        whose = f"task {each['task']}" if each["task"] else "every task"
        say(f"The grid of {slug} has {each['n_items']:,} items of {whose}.")


def _put_table(path: str, file: Path, server: str, token: str | None) -> list[Any]:
    """Send a steward's table, print its warnings, and return what the server has of each task."""
    with Server(server, token) as remote, ExitStack() as stack:

        def parts() -> list[tuple[str, Any]]:
            return [("file", (file.name, stack.enter_context(file.open("rb"))))]

        answer = remote.send_for_json(Request("PUT", path, files=parts))
    for warning in answer["warnings"]:
        note(f"Note: {warning['message']}")
    tasks: list[Any] = answer["tasks"]
    return tasks


def import_fev(
    tasks: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="fev's tasks.yaml.")],
    *,
    mini: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, readable=True, help="A smaller task list, for boards of its own."),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(exists=True, readable=True, help="Result files of fev, or a folder of them; may be repeated."),
    ] = None,
    slug: Annotated[str, typer.Option(help="The benchmark's slug.")] = "fev-bench",
    title: Annotated[str | None, typer.Option(help="The benchmark's title; default: its slug.")] = None,
    description: Annotated[str | None, typer.Option(help="The description, in Markdown.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The baseline; default: the seasonal naive forecast of the result files.")
    ] = None,
    leakage_model: Annotated[
        str | None,
        typer.Option(help="The entrant whose errors replace leaked ones; default: Chronos-Bolt of the result files."),
    ] = None,
    no_leakage_model: Annotated[
        bool, typer.Option("--no-leakage-model", help="Keep leaked errors as they are.")
    ] = False,
    per_forecasts: Annotated[
        int | None, typer.Option(min=1, help="Report times per this many forecasts; default: 100 if counts are known.")
    ] = None,
    plain_times: Annotated[bool, typer.Option("--plain-times", help="Report times as the rows give them.")] = False,
    rank_by: Annotated[
        RankBy, typer.Option(help="The column that ranks; fev 0.10.0 sorts its own list by win_rate.")
    ] = "skill_score",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write; default: standard output.")
    ] = None,
) -> None:
    """Make a manifest from a task list of fev. No server is needed.

    Result files say which models there are, who has seen data, and how many forecasts each task asks for.
    """
    given = (tasks.read_bytes(), None if mini is None else mini.read_bytes(), slug, title or slug)
    options = FevOptions(baseline, leakage_model, no_leakage_model, per_forecasts, plain_times, description, rank_by)
    plain = parse_manifest(manifest_from_fev_tasks(*given))
    read = None if results is None else read_results(results, plain)
    if read is not None and read.n_other:
        note(f"{read.n_other} rows of the result files belong to no task in the list, or differ from its definition.")
    choices = choose(options, read, plain.task_ids() or ())
    manifest = manifest_from_fev_tasks(*given, choices)
    parse_manifest(manifest)
    _write(manifest, output)


def import_lrdbench(
    manifest: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="lrdbench's own manifest.")
    ],
    *,
    slug: Annotated[str | None, typer.Option(help="The benchmark's slug; default: from its name.")] = None,
    title: Annotated[str | None, typer.Option(help="The benchmark's title; default: its name.")] = None,
    run: Annotated[
        Path | None, typer.Option(exists=True, help="A run of it, folder or zip: its records become the grid.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write; default: standard output.")
    ] = None,
) -> None:
    """
    Make a manifest from one of lrdbench. No server is needed.

    Which records there are is in a run and not in its manifest; without one the boards are provisional.
    """
    records = {} if run is None else records_of_run(run)
    rows = [] if run is None else rows_of_run(run)
    imported = manifest_from_lrdbench(manifest.read_bytes(), slug, title, records, rows)
    parse_manifest(imported)
    if not records:
        note("No grid: without --run the records are undeclared, and the boards are provisional.")
    _write(imported, output)


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
