"""The walk of a row, from a manifest to a board that anyone can read and nobody can rewrite."""

import pytest

from tests.cases.walkthrough import BASE, BETTER, GOOD, MANIFEST, PREREG, board, declare, send
from tests.fixtures import Site, SiteAfter


@pytest.fixture
def tiny(site_after: SiteAfter) -> Site:
    """The benchmark tiny, declared once for all of these."""
    return site_after(declare)


def test_the_walk_of_a_row(tiny: Site) -> None:
    """Registered, submitted, evaluated, published, superseded, withdrawn: every step is there to read."""
    assert send(tiny, BASE)["http"] == 202
    first = send(tiny, GOOD)
    assert first["status"] == "received"
    tiny.work()

    assert board(tiny)["by"]["Good"]["skill_score"] == pytest.approx(0.5)
    assert board(tiny)["by"]["Good"]["rank"] == 1
    assert tiny.http.get(f"/submissions/{first['id']}.json").json()["status"] == "published"

    second = send(tiny, BETTER)
    tiny.work()
    assert board(tiny)["by"]["Good"]["num_failures"] == 1
    assert board(tiny, snapshot=1)["by"]["Good"]["num_failures"] == 0
    assert tiny.http.get(f"/submissions/{first['id']}.json").json()["status"] == "superseded"

    reason = {"reason": "wrong data"}
    assert tiny.http.post(f"/submissions/{second['id']}/withdraw", json=reason, headers=tiny.auth()).status_code == 200
    tiny.work()
    assert set(board(tiny)["by"]) == {"Base"}
    newest = tiny.http.get("/benchmarks/tiny/snapshots.json").json()[0]
    assert newest["withdrawals"][0]["reason"] == "wrong data"
    assert {"kind": "withdrawn", "entrant": "Good", "was": second["id"]} in newest["changes"]


def test_every_page_answers(tiny: Site) -> None:
    """A reader finds every page, before and after the first publication."""
    number = send(tiny, BASE)["id"]
    tiny.work()
    prereg = tiny.http.get(f"/submissions/{number}.json").json()["prereg_sha256"]
    home = "/benchmarks/tiny"
    pages = ["/", home, f"{home}/leaderboards/skill", f"{home}/leaderboards/average", f"{home}/tasks", "/glossary"]
    pages += [f"{home}/tasks/t1", f"{home}/entrants/Base", f"{home}/snapshots", f"/submissions/{number}"]
    pages += [f"/preregs/{prereg}", f"{home}/leaderboards/skill/pairwise", f"/submissions/{number}/scores.csv"]

    assert {page: tiny.http.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


def test_the_same_bytes_twice_are_one_submission(tiny: Site) -> None:
    """A repeat is answered with the first submission."""
    assert send(tiny, BASE)["id"] == send(tiny, BASE)["id"]


def test_anothers_entrant_is_refused(tiny: Site) -> None:
    """An entrant belongs to its first admitted submitter, until a steward moves it."""
    send(tiny, GOOD)

    assert send(tiny, BETTER, "bob")["http"] == 409
    order = {"token_id": 2, "reason": "handed over"}
    tiny.http.put("/benchmarks/tiny/entrants/Good/owner", json=order, headers=tiny.auth("steward"))
    assert send(tiny, BETTER, "bob")["http"] == 202


def test_a_dry_run_stores_nothing(tiny: Site) -> None:
    """It answers with the checks, and the server forgets it."""
    files = [("files", ("r.csv", BASE)), ("prereg", ("p.yaml", PREREG))]

    answer = tiny.http.post("/benchmarks/tiny/submissions?dry_run=true", files=files, headers=tiny.auth())

    assert answer.status_code == 200
    assert answer.json()["admitted"] is True
    assert tiny.http.get("/submissions/1.json").status_code == 404


def test_without_a_preregistration_it_is_stored_and_not_admitted(tiny: Site) -> None:
    """The reason is shown, and the entrant is still anybody's."""
    answer = tiny.http.post("/benchmarks/tiny/submissions", files=[("files", ("r.csv", GOOD))], headers=tiny.auth())

    assert answer.status_code == 202
    assert answer.json()["status"] == "not_admitted"
    assert "preregistration" in answer.json()["reason"]
    assert send(tiny, GOOD, "bob")["status"] == "received"


def test_a_claim_that_differs_is_not_admitted(tiny: Site) -> None:
    """Both numbers are named."""
    number = send(tiny, BASE, claims='{"Base": {"MASE": 1.0}}')["id"]
    tiny.work()

    reason = tiny.http.get(f"/submissions/{number}.json").json()["reason"]

    assert "1.0 claimed" in reason
    assert "2.33" in reason


MALFORMED = {
    b"model,task,MASE\nA,t9,1\n": ("task", "t9"),
    b"model,task\nA,t1\n": ("MASE", ""),
    b"model,task,MASE\nA,t1,-1\n": ("MASE", ""),
    b"model,task,MASE\nA,t1,NaN\n": ("MASE", ""),
    b"model,task,MASE\n\xe2\x80\xaeA,t1,1\n": ("model", ""),
}
"""Rows with the column that is told, and a word that is told of it."""


def test_malformed_rows_are_refused_with_their_place(tiny: Site) -> None:
    """File, row, column and value stand in the answer, and nothing is stored."""
    answers = {rows: send(tiny, rows) for rows in MALFORMED}

    assert {answer["http"] for answer in answers.values()} == {422}
    assert {rows: answer["problems"][0]["column"] for rows, answer in answers.items()} == {
        rows: column for rows, (column, _) in MALFORMED.items()
    }
    assert all(MALFORMED[rows][1] in str(answer["problems"][0]) for rows, answer in answers.items())
    assert tiny.http.get("/submissions/1.json").status_code == 404


def test_an_unknown_prereg_is_refused(site: Site) -> None:
    """It must be registered before it can be cited."""
    site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward"))

    assert send(site, BASE)["http"] == 422


def test_a_board_without_its_baseline_says_so_and_the_others_publish(tiny: Site) -> None:
    """One board's gap is not another's."""
    send(tiny, GOOD)
    tiny.work()

    assert "baseline Base has no submission that stands" in board(tiny)["notes"][0]
    assert board(tiny, "average")["by"]["Good"]["rank"] == 1
