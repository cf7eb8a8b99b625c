"""/new-benchmark: a benchmark out of a file of results, in a browser; and the draft of a manifest over HTTP.

The form sends the files to `POST /manifests`, which guesses a manifest of them and computes its boards, and stores
nothing; each guess has a control, which sends them again. The manifest goes to `POST /benchmarks`, as a program sends
it. No file waits on the server between one step and the next.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from app.boards.explore import draft_board
from app.config import Settings
from app.errors import BoardUnavailable, Busy, FieldRejected, Problem
from app.files.uploads import Limits
from app.jobs.evidence import for_a_reader
from app.jobs.replay import offline_evidence
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.names import clip_for_message
from app.reading import LATER
from app.receiving.first_look import look
from app.render.table_page import Panel
from app.rights.policy import require
from app.turns import Turn
from app.values.table import Table
from app.web.caller import PUBLIC, READ_SOON, Caller, may, signed_in
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of
from app.web.description import described
from app.web.documents import DraftedDocument
from app.web.kept_forms import UNSENT, KeptForm, keeping
from app.web.requests import TYPED, copy_files, gone, received_files
from app.web.state import State, StateDep
from app.web.views import NO_STORE, json_answer, page

ADDRESS = "/new-benchmark"
LABEL = "A draft, which nobody but you sees; nothing is stored yet."
MOST_COLUMNS = 5_000
NO_COLUMN = "(none)"
"""As `app.receiving.drafting` has it, which this process does not load."""
MOST_BOARD_ROWS = 20
Column = Annotated[str, Form(max_length=500)]
Columns = Annotated[list[str] | None, Form()]


def make_router(settings: Settings) -> APIRouter:
    """Return the routes; the limit of an upload's size is a setting."""
    router = APIRouter(tags=["benchmarks"])
    forms = APIRouter(route_class=keeping(show_again, always=True))
    forms.add_api_route(
        "/manifests",
        draft,
        methods=["POST"],
        summary="Draft a manifest of results",
        responses=described(403, answer=DraftedDocument),
        dependencies=READ_SOON,
        max_body_size=settings.max_body_mib * 1024 * 1024,
        form_limits={"max_fields": MOST_COLUMNS},
    )
    pages = APIRouter(route_class=CheckedFirst)
    pages.add_api_route(
        ADDRESS,
        show_new,
        methods=["GET"],
        summary="A new benchmark in a browser",
        responses=described(401, 403, also=("html",)),
        include_in_schema=False,
        dependencies=PUBLIC,  # Who is not signed in is led to the login; of others it asks whether they may create one.
    )
    router.include_router(forms)
    router.include_router(pages)
    return router


def show_new(request: Request, state: StateDep) -> Response:
    """Show the form to whoever is signed in; lead others to the login, and back."""
    caller = signed_in(request, state)
    if caller is None:
        return RedirectResponse(f"/login?next={ADDRESS}", 303, NO_STORE)
    return show_again(request, caller, UNSENT)


def show_again(request: Request, caller: Caller, kept: KeptForm) -> Response:
    """Return the page with a draft, with a manifest that was sent to be created, or with neither yet."""
    require("create a benchmark", caller)
    answered = kept.answered
    drafted = answered if answered is not None and "yaml" in answered else None
    return page(
        "new.html",
        title="New benchmark",
        form_key=form_key_of(request),
        drafted=drafted,
        boards=[] if drafted is None else list(_boards(drafted)),
        text=kept.fields.get(TYPED, "") if drafted is None else drafted["yaml"],
        refusal=kept.refusal,
        would_be=answered if drafted is None else None,
        kept=kept.fields,
        none=NO_COLUMN,
    )


def _boards(drafted: Mapping[str, Any]) -> Iterator[tuple[Panel, int]]:
    """Yield each board with its first rows, and how many there are."""
    for table in map(Table.from_json, drafted["tables"]):
        yield Panel(table.title, replace(table, rows=table.rows[:MOST_BOARD_ROWS])), len(table.rows)


async def draft(
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("create a benchmark")],
    files: Annotated[list[UploadFile], File(description="results: .csv, .json, .jsonl, .eval, each also .gz, or .zip")],
    slug: Annotated[str, Form(max_length=100)] = "",
    title: Annotated[str, Form(max_length=200)] = "",
    entrant: Column = "",
    task: Column = "",
    condition: Column = "",
    seed: Column = "",
    item: Columns = None,
    metric: Columns = None,
    direction: Annotated[list[str] | None, Form(description="COLUMN=maximize or COLUMN=minimize")] = None,
) -> Response:
    """Draft a manifest of results, and compute the boards that they would give under it. Nothing is stored.

    What is stated of a column is taken as it is, `(none)` where none has a role, and the rest is guessed. What nobody
    can know from the file is in `questions`, and is TODO in the text.
    """
    named = {"entrant": entrant, "task": task, "condition": condition, "seed": seed}
    metrics = tuple(name for name in metric or () if name and name not in named.values())
    stated = {
        "slug": slug.strip() or None,
        "title": title.strip() or None,
        "roles": {**{role: column or None for role, column in named.items()},
                  "item": tuple(filter(None, item or ())), "metrics": metrics},
        "directions": _directions(direction or ()),
        "schema": f"{state.settings.own_address}/schemas/manifest.json",
    }  # fmt: skip
    chosen, limits = [file for file in files if file.filename], Limits.from_settings(state.settings)
    with received_files() as folder:
        async with state.readers.beside.taken(Turn.of(caller.owner, LATER)):
            sent = await run_in_threadpool(copy_files, chosen, folder)
        with state.readers.beside.ending(Turn.of(caller.owner)) as storing:
            work = partial(look, sent, folder / "unpacked", stated, limits)
            document, evidence = await state.readers.read(work, folder, caller.id, gone(request), storing)
        tables, further = await run_in_threadpool(_compute, state, caller, document, evidence)
    problems = [*document["problems"], *(problem.as_dict() for problem in further)]
    return json_answer({**document, "problems": problems, "tables": [t.to_json() for t in tables]})


def _compute(
    state: State, caller: Caller, document: Mapping[str, Any], read: Evidence | None
) -> tuple[list[Table], list[Problem]]:
    """Return the boards of the results under their draft, as they would be explored, and why one cannot be computed."""
    tables, problems = list[Table](), list[Problem]()
    if read is None:
        return tables, problems
    manifest = parse_manifest(document["yaml"].encode())
    evidence = offline_evidence(manifest, [read])
    for spec in manifest.leaderboards:
        try:
            with state.computing.taken_in_thread(caller.owner):
                tables.append(draft_board(spec, for_a_reader(evidence, spec), LABEL))
        except (Busy, BoardUnavailable, FieldRejected) as error:
            problems.append(Problem(f"{spec.name} cannot be shown: {error}"))
    return tables, problems


def _directions(stated: Sequence[str]) -> dict[str, str]:
    """Return the direction of each metric that has one stated. Raises FieldRejected."""
    directions: dict[str, str] = {}
    for each in stated:
        column, _, word = each.rpartition("=")
        if word in ("maximize", "minimize"):
            directions[column] = word
        elif word:
            problem = Problem(
                "expected COLUMN=maximize or COLUMN=minimize", column="direction", value=clip_for_message(each)
            )
            raise FieldRejected("A direction cannot be read.", [problem])
    return directions
