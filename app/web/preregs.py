"""/preregs: register, show and attest; embargoes; the names that registrations reserve, and giving one free."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import AwareDatetime, Field
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.admission.claims import unknown_sides
from app.admission.rules import shortfalls, unknown_names
from app.boards.claims import source_of
from app.db.models import StoredPrereg, Submission
from app.errors import FieldRejected, Forbidden, NotFound, Problem
from app.kinds.registry import kind_of
from app.prereg.fields import Prereg as ParsedPrereg
from app.prereg.prereg import parse_prereg
from app.render.pages import RegistrationOutcome, citing_table, prereg_lines, submit_example
from app.render.table_page import Panel
from app.render.text import name_in_path
from app.rights import roles
from app.rights.policy import RIGHTS, refuse_elsewhere, refuse_other_entrants
from app.rights.tokens import get_token
from app.store import audit, benchmark_rows, benchmarks, entrants, preregs, reservations, snapshots, sql, submissions
from app.store.audit import Change
from app.store.benchmarks import Declared
from app.store.preregs import count_unbound, list_registrations, registrations_table, submitters_table
from app.store.reservations import Reserved
from app.values.table import Table
from app.web.caller import PUBLIC, Caller, may, refuse_uninvited, signed_in
from app.web.checked_first import CheckedFirst
from app.web.cookies import form_key_of
from app.web.description import described, table_routes
from app.web.documents import AttestedDocument, PreregDocument, RegistrationDocument, ReleasedDocument, TableDocument
from app.web.kept_forms import UNSENT, KeptForm, keeping
from app.web.requests import TYPED, YAML_REQUEST, Body, Reason, Text, yaml_body
from app.web.state import SessionDep, State, StateDep, get_state
from app.web.views import (
    NO_STORE,
    around,
    csv_answer,
    json_answer,
    name_links,
    page,
    refuse_other_formats,
    split_format,
    table_answer,
    view_of,
)

BESIDE = ("claims", "deviations")

BenchmarkName = Annotated[str | None, Query(max_length=63)]


def read_embargo(
    state: StateDep,
    embargo_until: Annotated[
        AwareDatetime | None,
        Query(description="visible only to the registrant, stewards and reviewers until then, or until cited"),
    ] = None,
) -> datetime | None:
    """Return until when a registration is to be under embargo. Raises FieldRejected for a time that makes no sense."""
    if embargo_until is None:
        return None
    with state.sessions() as session:
        now = sql.now(session)
    if not now < embargo_until <= now + LONGEST:
        message = f"expected a time in the future, at most {LONGEST.days} days from now"
        problem = Problem(message, column="embargo_until", value=embargo_until.isoformat())
        raise FieldRejected("The registration cannot be under this embargo.", [problem])
    return embargo_until


Embargo = Annotated[datetime | None, Depends(read_embargo)]


# /register/{slug}: the same in a browser. Its form sends to `POST /preregs`; refusals and dry runs are shown here.

form_router = APIRouter(route_class=CheckedFirst, tags=["preregistrations"], include_in_schema=False)


@form_router.get(
    "/register/{slug}",
    summary="Register in a browser",
    responses=described(401, 403, 404, also=("html",)),
    dependencies=PUBLIC,  # Who is not signed in is led to the login; of others it asks whether they may register.
)
def show_form(slug: str, request: Request, state: StateDep) -> Response:
    """Show the form to whoever is signed in; lead others to the login, and back."""
    caller = signed_in(request, state)
    if caller is None:
        return RedirectResponse(f"/login?next=/register/{slug}", 303, NO_STORE)
    return _form(slug, request, state, caller, UNSENT)


def _show_again(request: Request, caller: Caller, kept: KeptForm) -> Response:
    """Return the form with what was written."""
    return _form(request.query_params.get("benchmark", ""), request, get_state(request), caller, kept)


def _form(slug: str, request: Request, state: State, caller: Caller, kept: KeptForm) -> Response:
    with state.sessions() as session:
        refuse_uninvited(session, "register", caller, slug)
        manifest = benchmarks.find_declared(session, slug).manifest
        return page(
            "register.html",
            title=f"Register a run of {manifest.title}",
            manifest=manifest,
            text=kept.fields.get(TYPED, submit_example(manifest).prereg or ""),
            form_key=form_key_of(request),
            refusal=kept.refusal,
            answered=kept.answered,
            preregs=preregs.list_own(session, slug, caller.id),
        )


def warnings_of(session: Session, stored: StoredPrereg, slug: str) -> list[str]:
    """Return what would keep a run under a registration out of a benchmark, as far as it can be said before the run."""
    return _warnings(session, parse_prereg(stored.yaml), slug)


router = APIRouter(route_class=keeping(_show_again), prefix="/preregs", tags=["preregistrations"])


@router.post(
    "",
    status_code=201,
    summary="Register a preregistration",
    responses={
        **described(403, 404, 409, 415, answer=RegistrationDocument, status=201),
        **described(answer=RegistrationDocument),
    },
    openapi_extra=YAML_REQUEST,
)
async def register(
    request: Request,
    state: StateDep,
    caller: Annotated[Caller, may("register")],
    embargo: Embargo,
    benchmark: BenchmarkName = None,
    *,
    dry_run: Annotated[bool, Query(description="only report problems and warnings; store nothing")] = False,
) -> Response:
    """Register a preregistration (YAML bytes); known bytes answer 200 with their first registration.

    `benchmark` says what it is registered for, where the form itself cannot: it counts there from then on. A known one
    can be registered for a further benchmark by whoever registered it. The entrants that it lists are reserved there
    for its registrant: see `reservations` and `not_reserved`. Under an embargo it reserves nothing, and only its
    registrant and those who decide about its benchmark see it, until its time or a submission that cites it.
    """
    yaml = await yaml_body(request, state.settings.max_yaml_kib * 1024, "preregistration")
    return await state.run(_register, yaml, caller, benchmark, embargo, dry_run)


def _register(
    session: Session, yaml: bytes, caller: Caller, benchmark: str | None, embargo: datetime | None, is_dry: bool
) -> Response:
    parsed, token_id = parse_prereg(yaml), caller.id
    slug = benchmark or parsed.benchmark
    refuse_elsewhere(caller, slug)
    if slug is not None and benchmark_rows.known_slugs(session, [slug]):
        refuse_uninvited(session, "register", caller, slug)
    refuse_other_entrants(caller, parsed.entrants or ())
    if slug is not None:
        reservations.take_turns_at(session, slug, token_id)
    _refuse_references(session, slug, parsed, token_id)
    if benchmark is not None:
        benchmark_rows.find_benchmark(session, benchmark)
        _refuse_another(parsed.benchmark, benchmark)
    stored, is_new = preregs.register_prereg(session, yaml, parsed, token_id, embargo)
    if benchmark is not None and preregs.bind_prereg(session, stored, benchmark, token_id):
        benchmark_rows.mark_pages_changed(session, benchmark_rows.find_benchmark(session, benchmark).id)
    address = f"/preregs/{stored.sha256}"
    not_reserved = reserve_names(session, stored, parsed, slug, token_id) if stored.embargo_until is None else []
    warnings = _warnings(session, parsed, slug)
    about = {**_about(session, stored), "not_reserved": not_reserved, "warnings": warnings, "url": address}
    if is_dry:
        session.rollback()
        return json_answer({**about, "dry_run": True})
    status = 201 if is_new else 200
    audit.record(session, caller.act, status, Change(after={"sha256": stored.sha256}, benchmark=slug))
    return json_answer(about, status, {"Location": address})


def _refuse_references(session: Session, slug: str | None, parsed: ParsedPrereg, token_id: int) -> None:
    """Refuse a reference entrant to whom it is not for. Raises Conflict."""
    if slug is not None and benchmark_rows.known_slugs(session, [slug]):
        found = benchmark_rows.find_benchmark(session, slug)
        named = entrants.newest_references(session, found)
        entrants.refuse_reference(session, found, named, parsed.entrants or (), token_id)


def _warnings(session: Session, parsed: ParsedPrereg, slug: str | None) -> list[str]:
    """Say before the run what would keep it out, or what nothing will come of."""
    if slug is None:
        return ["It is not registered for any benchmark, so no run can cite it: give ?benchmark= before the run."]
    try:
        declared = benchmarks.find_declared(session, slug)
    except NotFound:
        return [f"There is no benchmark “{slug}” yet, so its tasks and metrics could not be looked up."]
    manifest = declared.manifest
    rules = kind_of(manifest).rules
    unknown = unknown_names(parsed, manifest, rules.computed_metrics(manifest), rules.enrolled(manifest))
    known = entrants.names(session, declared.benchmark.id) if parsed.hypotheses else ()
    return [*unknown, *unknown_sides(parsed, rules.conditions(manifest), known), *shortfalls(parsed, manifest)]


@router.get(
    "/{sha256}",
    summary="One preregistration (.yaml, .json; .csv: what cites it)",
    responses=described(404, answer=PreregDocument, also=("html", "csv", "yaml")),
    dependencies=PUBLIC,
)
def show(sha256: str, session: SessionDep) -> Response:
    """Show a preregistration as it was registered, with the submissions that cite it."""
    name, fmt = split_format(sha256)
    refuse_other_formats(fmt, "csv", "json", "yaml")
    stored = preregs.find_prereg(session, name)
    if fmt == "yaml":
        return Response(stored.yaml, media_type="application/yaml")
    citing = preregs.list_citing(session, name)
    about = {
        **_about(session, stored),
        "attestations": [
            {
                "registered_at": a.registered_at.isoformat(),
                "evidence": a.evidence,
                "attested_at": a.attested_at.isoformat(),
                "benchmark": a.benchmark,
            }
            for a in preregs.list_attestations(session, name)
        ],
        "submissions": [{"id": s.id, "status": s.status} for s in citing],
    }
    if fmt == "csv":
        return csv_answer(citing_table(about))
    outcomes = [_outcome(session, submission) for submission in citing]
    published = _published_claims(session, name, citing)
    if fmt == "json":
        document = {"document": dict(parse_prereg(stored.yaml).document)}
        return json_answer({**about, **_came_of_it(outcomes, published), **document})
    text = stored.yaml.decode("utf-8-sig")
    return page(
        "prereg.html",
        title="Preregistration",
        p=about,
        lines=prereg_lines(text),
        registered_at=stored.registered_at,
        outcomes=outcomes,
        claims={slug: _shown(_beyond_one_submission(table)) for slug, table in published.items()},
    )


def _shown(table: Table) -> Panel:
    """Return a table of verdicts with what CHAMBER's gap rule says beside: a registration may have been made by it."""
    columns = tuple(replace(each, detail=each.detail and each.name != "gap_rule") for each in table.columns)
    return Panel(table.title, replace(table, columns=columns))


def _outcome(session: Session, submission: Submission) -> RegistrationOutcome:
    tables = [table for table in submissions.read_tables(session, submission.id) if table.name in BESIDE]
    reason = submissions.list_events(session, submission.id)[-1].reason
    return RegistrationOutcome(submission.id, submission.status, reason, [_shown(table) for table in tables])


def _published_claims(session: Session, sha256: str, citing: Sequence[Submission]) -> dict[str, Table]:
    """Return by benchmark what the registration claims and what its last publication says of it."""
    by_slug = {}
    for benchmark_id in sorted({submission.benchmark_id for submission in citing}):
        benchmark = benchmark_rows.get_benchmark(session, benchmark_id)
        snapshot = snapshots.find_snapshot(session, benchmark)
        table = None if snapshot is None else snapshots.load_table(session, snapshot.id, "claims")
        if table is not None and (rows := [r for r in table.rows if r[table.index("source")] == source_of(sha256)]):
            by_slug[benchmark.slug] = replace(table, rows=tuple(rows))
    return by_slug


def _beyond_one_submission(table: Table) -> Table:
    """Return the claims that no submission decided alone: those are shown with their submission."""
    pairs = zip(table.rows, table.records(), strict=True)
    rows = [row for row, claim in pairs if claim["submission"] is None or claim.get("second_submission") is not None]
    return replace(table, rows=tuple(rows))


def _came_of_it(outcomes: Sequence[RegistrationOutcome], published: Mapping[str, Table]) -> dict[str, Any]:
    return {
        "outcomes": [
            {
                "submission": outcome.id,
                "status": outcome.status,
                "reason": outcome.reason,
                **{name: [] for name in BESIDE},
                **{shown.table.name: list(shown.table.records()) for shown in outcome.tables},
            }
            for outcome in outcomes
        ],
        "claims": {slug: list(table.records()) for slug, table in published.items()},
    }


def _refuse_another(named: str | None, asked: str) -> None:
    if named is not None and named != asked:
        problem = Problem(f"the preregistration itself names {named}", column="benchmark", value=asked)
        raise FieldRejected("The preregistration is for another benchmark.", [problem])


def _about(session: Session, stored: StoredPrereg) -> dict[str, Any]:
    bindings = preregs.list_bindings(session, stored.sha256)
    return {
        "sha256": stored.sha256,
        "git_blob_sha1": stored.git_blob_sha1,
        "registered_at": stored.registered_at.isoformat(),
        "registered_by": get_token(session, stored.registered_by).name,
        "form": stored.form,
        "run_purpose": stored.run_purpose,
        "benchmarks": [{"benchmark": b.benchmark, "since": b.bound_at.isoformat()} for b in bindings],
        "reservations": describe(session, stored.sha256),
    }


# /preregs/{sha256}/attestations: a steward's word that a preregistration existed before the server saw it.

attestations_router = APIRouter(route_class=CheckedFirst, prefix="/preregs", tags=["preregistrations"])


class Attestation(Body):
    """A steward's word that a preregistration existed before the server saw it."""

    registered_at: AwareDatetime
    evidence: Text = Field(min_length=1, max_length=2000)


@attestations_router.post(
    "/{sha256}/attestations",
    status_code=201,
    summary="Attest an earlier registration",
    responses=described(403, 404, answer=AttestedDocument, status=201),
)
def attest(
    sha256: str, attestation: Attestation, session: SessionDep, caller: Annotated[Caller, may("attest a registration")]
) -> Response:
    """Record an earlier registration time with its evidence (a signed tag, a DOI, an archive address).

    A steward's attestation counts in those of their benchmarks that it was registered for, an admin's everywhere.
    """
    at = attestation.registered_at.astimezone(UTC)
    if at > sql.now(session):
        problem = Problem("expected a time in the past", column="registered_at", value=at.isoformat())
        raise FieldRejected("The attestation cannot be recorded.", [problem])
    slugs = _attested(session, sha256, caller)
    for slug in [None] if slugs is None else slugs:
        preregs.attest(session, sha256, at, attestation.evidence, caller.id, slug)
        attested = {"sha256": sha256, "registered_at": at.isoformat()}
        audit.record(session, caller.act, 201, Change(None, attested, attestation.evidence, slug))
    return json_answer({"sha256": sha256, "registered_at": at.isoformat(), "benchmarks": slugs}, 201)


def _attested(session: Session, sha256: str, caller: Caller) -> list[str] | None:
    """Return the benchmarks of a steward that a registration is for, None for an admin. Raises Forbidden for none."""
    own = roles.stewarded_slugs(session, caller)
    if own is None:
        return None
    bindings = preregs.list_bindings(session, preregs.find_prereg(session, sha256).sha256)
    slugs = [slug for slug in own if slug in {binding.benchmark for binding in bindings}]
    if not slugs:
        raise Forbidden(RIGHTS["attest a registration"].refusal)
    return slugs


# Until when a registration is shown to few: asked at `POST /preregs`, held by `app.rights.visibility`.

LONGEST = timedelta(days=2 * 365)


reserved_router = APIRouter(route_class=CheckedFirst, tags=["preregistrations"])


def reserve_names(
    session: Session, stored: StoredPrereg, parsed: ParsedPrereg, slug: str | None, token_id: int
) -> list[dict[str, str]]:
    """Reserve the entrants that a registration lists for its registrant; return which are not reserved, and why.

    Power and debug runs are never ranked, so they need no names.
    """
    if slug is None or stored.registered_by != token_id or parsed.run_purpose != "leaderboard":
        return []
    refused = reservations.reserve(session, slug, stored.sha256, parsed.entrants or (), token_id)
    return [{"benchmark": slug, "entrant": name, "reason": reason} for name, reason in refused.items()]


def describe(session: Session, sha256: str) -> list[dict[str, Any]]:
    """Return the names that a registration reserved, until when, and what came of each."""
    return [_about_reserved(reserved) for reserved in reservations.list_of_prereg(session, sha256)]


def _about_reserved(reserved: Reserved) -> dict[str, Any]:
    released = reserved.release
    return {
        "benchmark": reserved.reservation.benchmark,
        "entrant": reserved.reservation.name,
        "until": reserved.reservation.until.isoformat(),
        "state": reserved.state,
        "released_at": None if released is None else released.at.isoformat(),
        "released_by": None if reserved.released_by is None else reserved.released_by.name,
        "reason": None if released is None else released.reason,
    }


class Release(Body):
    """Why a reserved name is released; shown with the registration."""

    reason: Reason


@reserved_router.post(
    "/benchmarks/{slug}/reservations/{entrant:path}/release",
    summary="Release a reserved name",
    responses=described(403, 404, answer=ReleasedDocument),
)
def release(
    slug: str,
    entrant: str,
    order: Release,
    session: SessionDep,
    caller: Annotated[Caller, may("release a reserved name")],
) -> Response:
    """Release a reserved name (a steward of the benchmark, or its registrant); the reason is stored and shown."""
    held = reservations.find_open_or_raise(session, slug, name_in_path(entrant))
    benchmark = benchmark_rows.find_benchmark(session, slug)
    roles.require(session, "release a reserved name", caller, benchmark, held.holder.id)
    reservations.release(session, held, caller.id, order.reason)
    audit.record(session, caller.act, 200, Change({"reserved_for": held.holder.id}, reason=order.reason))
    return json_answer({"benchmark": slug, "entrant": held.reservation.name, "reserved_for": held.holder.name})


# /benchmarks/{slug}/registrations and /submitters: everything that was registered, also what was never reported.

registrations_router = APIRouter(route_class=CheckedFirst, dependencies=PUBLIC, tags=["preregistrations"])


@table_routes(registrations_router, "/benchmarks/{slug}/registrations", "Every registration", 404, answer=TableDocument)
def show_registrations(slug: str, request: Request, session: SessionDep) -> Response:
    """List every registration of a benchmark with its outcome (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    listed = list_registrations(session, declared)
    table = registrations_table(declared, listed, sql.now(session), count_unbound(session, listed))
    return _as_of_today(request, session, declared, table, [("By submitter", f"/benchmarks/{slug}/submitters")])


@table_routes(
    registrations_router, "/benchmarks/{slug}/submitters", "Registered and reported", 404, answer=TableDocument
)
def show_submitters(slug: str, request: Request, session: SessionDep) -> Response:
    """Show how many runs each submitter registered, and how many of them were reported (.csv, .json)."""
    declared = benchmarks.find_declared(session, slug)
    table = submitters_table(declared, list_registrations(session, declared), sql.now(session))
    return _as_of_today(request, session, declared, table, [("Registrations", f"/benchmarks/{slug}/registrations")])


def _as_of_today(
    request: Request, session: Session, declared: Declared, table: Table, links: Sequence[tuple[str, str]]
) -> Response:
    """Return a table that no cache keeps: what is overdue depends on today."""
    address, fmt = split_format(request.url.path)
    view = around(view_of(session, declared, table, None), address, links, name_links(declared))
    answer = table_answer(request, view, fmt)
    answer.headers.update(NO_STORE)
    return answer
