"""/preregs: register, show, and a steward's attestation of an earlier registration."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel, Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from app.db.models import Prereg, Submission
from app.errors import FieldRejected, NotFound, Problem
from app.prereg import parse_prereg
from app.render.pages import Outcome, ShownTable
from app.store import benchmarks, preregs, submissions
from app.web.answers import json_answer, page, split_format
from app.web.bodies import yaml_body
from app.web.documents import AttestedDocument, PreregDocument, RegistrationDocument
from app.web.problems import described
from app.web.state import SessionDep, StateDep, Steward, Submitter

router = APIRouter(prefix="/preregs", tags=["preregistrations"])
BESIDE = ("claims", "deviations")
BenchmarkName = Annotated[str | None, Query(max_length=63)]


@router.post(
    "",
    status_code=201,
    summary="Register",
    responses=described(401, 404, 413, 415, 422, answer=RegistrationDocument, status=201),
)
async def register(request: Request, state: StateDep, caller: Submitter, benchmark: BenchmarkName = None) -> Response:
    """Register a preregistration (YAML bytes); known bytes answer 200 with their first registration.

    `benchmark` says what it is registered for, where the form itself cannot: it then counts there from the start.
    """
    yaml = await yaml_body(request, state.settings.max_yaml_kib * 1024, "preregistration")
    return await state.run(_register, yaml, caller.id, benchmark)


def _register(session: Session, yaml: bytes, token_id: int, benchmark: str | None) -> Response:
    parsed = parse_prereg(yaml)
    if benchmark is not None:
        benchmarks.find_benchmark(session, benchmark)
        _refuse_another(parsed.benchmark, benchmark)
    stored, is_new = preregs.register_prereg(session, yaml, parsed, token_id, benchmark)
    address = f"/preregs/{stored.sha256}"
    return json_answer({**_about(stored), "url": address}, 201 if is_new else 200, {"Location": address})


@router.get(
    "/{sha256}",
    summary="One preregistration (.yaml, .json)",
    responses=described(404, answer=PreregDocument, also=("html", "yaml")),
)
def show(sha256: str, session: SessionDep) -> Response:
    """Show a preregistration as it was registered, with the submissions that cite it."""
    name, fmt = split_format(sha256)
    stored = preregs.find_prereg(session, name)
    if fmt == "yaml":
        return Response(stored.yaml, media_type="application/yaml")
    if fmt == "csv":
        raise NotFound("A preregistration has no CSV; there are .yaml and .json.")
    about = {
        **_about(stored),
        "attestations": [
            {
                "registered_at": a.registered_at.isoformat(),
                "evidence": a.evidence,
                "attested_at": a.attested_at.isoformat(),
            }
            for a in preregs.list_attestations(session, name)
        ],
        "submissions": [{"id": s.id, "status": s.status} for s in preregs.list_citing(session, name)],
    }
    if fmt == "json":
        return json_answer({**about, "document": dict(parse_prereg(stored.yaml).document)})
    text = stored.yaml.decode("utf-8-sig")
    outcomes = [_outcome(session, submission) for submission in preregs.list_citing(session, name)]
    return page(
        "prereg.html",
        title="Preregistration",
        p=about,
        text=text,
        registered_at=stored.registered_at,
        outcomes=outcomes,
    )


def _outcome(session: Session, submission: Submission) -> Outcome:
    tables = [table for table in submissions.read_tables(session, submission.id) if table.name in BESIDE]
    reason = submissions.list_events(session, submission.id)[-1].reason
    return Outcome(submission.id, submission.status, reason, [ShownTable(table) for table in tables])


def _refuse_another(named: str | None, asked: str) -> None:
    if named is not None and named != asked:
        problem = Problem(f"the preregistration itself names {named}", column="benchmark", value=asked)
        raise FieldRejected("The preregistration is for another benchmark.", [problem])


class Attestation(BaseModel):
    """A steward's word that a preregistration existed before the server saw it."""

    registered_at: AwareDatetime
    evidence: str = Field(min_length=1, max_length=2000)


@router.post(
    "/{sha256}/attestations",
    status_code=201,
    summary="Attest",
    responses=described(401, 403, 404, 422, answer=AttestedDocument, status=201),
)
def attest(sha256: str, attestation: Attestation, session: SessionDep, caller: Steward) -> Response:
    """Record an earlier registration time with its evidence (a signed tag, a DOI, an archive address)."""
    at = attestation.registered_at.astimezone(UTC)
    if at > datetime.now(UTC):
        problem = Problem("expected a time in the past", column="registered_at", value=at.isoformat())
        raise FieldRejected("The attestation cannot be recorded.", [problem])
    preregs.attest(session, sha256, at, attestation.evidence, caller.id)
    return json_answer({"sha256": sha256, "registered_at": at.isoformat()}, 201)


def _about(stored: Prereg) -> dict[str, Any]:
    return {
        "sha256": stored.sha256,
        "git_blob_sha1": stored.git_blob_sha1,
        "registered_at": stored.registered_at.isoformat(),
        "form": stored.form,
        "run_purpose": stored.run_purpose,
        "benchmark": stored.benchmark,
    }
