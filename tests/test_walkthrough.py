"""The walk of a row, from a manifest to a board that anyone can read and nobody can rewrite."""

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from tests.cases.walkthrough import BASE, BETTER, GOOD, MANIFEST, PREREG, board, declare, send
from tests.fixtures import Site


def test_the_walk_of_a_row(site: Site) -> None:
    """Registered, submitted, evaluated, published, superseded, withdrawn: every step is there to read."""
    declare(site)
    assert send(site, BASE)["http"] == 202
    first = send(site, GOOD)
    assert first["status"] == "received"
    site.work()

    assert board(site)["by"]["Good"]["skill_score"] == pytest.approx(0.5)
    assert board(site)["by"]["Good"]["rank"] == 1
    assert site.http.get(f"/submissions/{first['id']}.json").json()["status"] == "published"

    second = send(site, BETTER)
    site.work()
    assert board(site)["by"]["Good"]["num_failures"] == 1
    assert board(site, snapshot=1)["by"]["Good"]["num_failures"] == 0
    assert site.http.get(f"/submissions/{first['id']}.json").json()["status"] == "superseded"

    reason = {"reason": "wrong data"}
    assert site.http.post(f"/submissions/{second['id']}/withdraw", json=reason, headers=site.auth()).status_code == 200
    site.work()
    assert set(board(site)["by"]) == {"Base"}
    newest = site.http.get("/benchmarks/tiny/snapshots.json").json()[0]
    assert newest["withdrawals"][0]["reason"] == "wrong data"
    assert {"kind": "withdrawn", "entrant": "Good", "was": second["id"]} in newest["changes"]


def test_csv_and_json_are_the_same_table(site: Site) -> None:
    """The formats come from one value."""
    declare(site)
    send(site, BASE)
    send(site, GOOD)
    site.work()

    header, *lines = site.http.get("/benchmarks/tiny/leaderboards/average.csv").text.splitlines()

    rows = board(site, "average")["rows"]
    assert header.startswith("rank,entrant,mean_MASE,")
    assert [line.split(",")[1:3] for line in lines] == [[r["entrant"], repr(r["mean_MASE"])] for r in rows]


def test_every_page_answers(site: Site) -> None:
    """A reader finds every page, before and after the first publication."""
    declare(site)
    number = send(site, BASE)["id"]
    site.work()
    prereg = site.http.get(f"/submissions/{number}.json").json()["prereg_sha256"]
    tiny = "/benchmarks/tiny"
    pages = ["/", tiny, f"{tiny}/leaderboards/skill", f"{tiny}/leaderboards/average", f"{tiny}/tasks", "/glossary"]
    pages += [f"{tiny}/tasks/t1", f"{tiny}/entrants/Base", f"{tiny}/snapshots", f"/submissions/{number}"]
    pages += [f"/preregs/{prereg}", f"{tiny}/leaderboards/skill/pairwise", f"/submissions/{number}/scores.csv"]

    assert {page: site.http.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


def test_the_same_bytes_twice_are_one_submission(site: Site) -> None:
    """A repeat is answered with the first submission."""
    declare(site)

    assert send(site, BASE)["id"] == send(site, BASE)["id"]


def test_anothers_entrant_is_refused(site: Site) -> None:
    """An entrant belongs to its first admitted submitter, until a steward moves it."""
    declare(site)
    send(site, GOOD)

    assert send(site, BETTER, "bob")["http"] == 409
    order = {"token_id": 2, "reason": "handed over"}
    site.http.put("/benchmarks/tiny/entrants/Good/owner", json=order, headers=site.auth("steward"))
    assert send(site, BETTER, "bob")["http"] == 202


def test_a_dry_run_stores_nothing(site: Site) -> None:
    """It answers with the checks, and the server forgets it."""
    declare(site)
    files = [("files", ("r.csv", BASE)), ("prereg", ("p.yaml", PREREG))]

    answer = site.http.post("/benchmarks/tiny/submissions?dry_run=true", files=files, headers=site.auth())

    assert answer.status_code == 200
    assert answer.json()["admitted"] is True
    assert site.http.get("/submissions/1.json").status_code == 404


def test_without_a_preregistration_it_is_stored_and_not_admitted(site: Site) -> None:
    """The reason is shown, and the entrant is still anybody's."""
    declare(site)
    answer = site.http.post("/benchmarks/tiny/submissions", files=[("files", ("r.csv", GOOD))], headers=site.auth())

    assert answer.status_code == 202
    assert answer.json()["status"] == "not_admitted"
    assert "preregistration" in answer.json()["reason"]
    assert send(site, GOOD, "bob")["status"] == "received"


def test_a_claim_that_differs_is_not_admitted(site: Site) -> None:
    """Both numbers are named."""
    declare(site)
    number = send(site, BASE, claims='{"Base": {"MASE": 1.0}}')["id"]
    site.work()

    reason = site.http.get(f"/submissions/{number}.json").json()["reason"]

    assert "1.0 claimed" in reason
    assert "2.33" in reason


@pytest.mark.parametrize(
    ("rows", "column", "message"),
    [
        (b"model,task,MASE\nA,t9,1\n", "task", "t9"),
        (b"model,task\nA,t1\n", "MASE", ""),
        (b"model,task,MASE\nA,t1,-1\n", "MASE", ""),
        (b"model,task,MASE\nA,t1,NaN\n", "MASE", ""),
        (b"model,task,MASE\n\xe2\x80\xaeA,t1,1\n", "model", ""),
    ],
)
def test_malformed_rows_are_refused_with_their_place(site: Site, rows: bytes, column: str, message: str) -> None:
    """File, row, column and value stand in the answer, and nothing is stored."""
    declare(site)

    answer = send(site, rows)

    assert answer["http"] == 422
    assert answer["problems"][0]["column"] == column
    assert message in str(answer["problems"][0])
    assert site.http.get("/submissions/1.json").status_code == 404


def test_writing_needs_a_token_of_the_right_role(site: Site) -> None:
    """401 without one, 403 with a lesser one, each a problem document."""
    nobody = site.http.post("/benchmarks", content=MANIFEST)
    lesser = site.http.post("/benchmarks", content=MANIFEST, headers=site.auth())

    assert (nobody.status_code, lesser.status_code) == (401, 403)
    assert nobody.headers["content-type"] == "application/problem+json"


def test_a_body_over_the_limit_is_refused(site: Site) -> None:
    """413, whatever the client says about its length."""
    declare(site)

    assert send(site, b"model,task,MASE\n" + b"A,t1,1\n" * 200_000)["http"] == 413


def test_an_unknown_prereg_is_refused(site: Site) -> None:
    """It must be registered before it can be cited."""
    site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward"))

    assert send(site, BASE)["http"] == 422


def test_a_board_without_its_baseline_says_so_and_the_others_publish(site: Site) -> None:
    """One board's gap is not another's."""
    declare(site)
    send(site, GOOD)
    site.work()

    assert "baseline Base has not been submitted" in board(site)["notes"][0]
    assert board(site, "average")["by"]["Good"]["rank"] == 1


def test_a_page_is_revalidated_by_its_tag(site: Site) -> None:
    """304 for the same bytes."""
    declare(site)
    tag = site.http.get("/benchmarks/tiny").headers["etag"]

    assert site.http.get("/benchmarks/tiny", headers={"If-None-Match": tag}).status_code == 304


def test_records_cannot_be_rewritten(site: Site) -> None:
    """The database itself refuses to change or remove a score."""
    declare(site)
    send(site, BASE)

    with pytest.raises(DBAPIError, match="is a record") as refused, site.as_owner() as session:
        session.execute(text("UPDATE score SET row = 1"))
    assert isinstance(refused.value.orig, psycopg.errors.RestrictViolation)
