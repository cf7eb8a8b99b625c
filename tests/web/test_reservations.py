"""Names that a registration keeps for its registrant: for how long, how many, and who can give them free."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.db.models import EntrantReservation
from app.names import name_key
from app.web.documents import PreregDocument, RegistrationDocument, ReleasedDocument
from tests.cases.registrations import YAML
from tests.cases.reservations import prereg
from tests.cases.walkthrough import GOOD, MANIFEST
from tests.fixtures import Site, SiteAfter

ALICE, BOB, STEWARD = 1, 2, 3


def register(site: Site, content: bytes, who: str = "alice", path: str = "/preregs") -> dict[str, Any]:
    """Register and return the answer."""
    answer = site.http.post(path, content=content, headers=site.auth(who) | YAML)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def make(site: Site) -> None:
    """Make the benchmark tiny."""
    assert site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward")).status_code == 201


def submit(site: Site, content: bytes, who: str, rows: bytes = GOOD, *, dry_run: bool = False) -> Any:
    """Submit Good under a registration."""
    return site.http.post(
        f"/benchmarks/tiny/submissions?dry_run={dry_run}",
        files=[("files", ("r.csv", rows)), ("prereg", ("prereg.yaml", content))],
        headers=site.auth(who),
    )


def release(site: Site, name: str = "Good", who: str = "steward", **body: Any) -> Any:
    """Order a name to be released."""
    path = f"/benchmarks/tiny/reservations/{name}/release"
    return site.http.post(path, json=body or {"reason": "Nobody has heard of it."}, headers=site.auth(who))


def states(answer: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names that a registration reserved, and what came of them."""
    return [(each["entrant"], each["state"]) for each in answer["reservations"]]


def let_lapse(site: Site, answer: dict[str, Any], name: str, token_id: int = ALICE) -> None:
    """Note that a registration kept a name until yesterday."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with site.sessions.begin() as session:
        session.add(
            EntrantReservation(
                benchmark="tiny",
                name=name,
                name_key=name_key(name),
                token_id=token_id,
                prereg_sha256=answer["sha256"],
                until=yesterday,
            )
        )


@pytest.fixture
def site(site_after: SiteAfter) -> Site:
    """The benchmark tiny, made once for all of these."""
    return site_after(make)


def test_nobody_else_takes_a_name_that_was_registered(site: Site) -> None:
    """Not under the registrant's public registration either, in a trial or in earnest, in whatever case.

    The registrant then can.
    """
    register(site, prereg("Good"))
    for rows in (GOOD, GOOD.replace(b"Good", b"GOOD")):
        for dry_run in (True, False):
            refused = submit(site, prereg("Good"), "bob", rows, dry_run=dry_run)
            assert refused.status_code == 409
            assert "Good (reserved for alice until " in refused.json()["detail"]

    assert submit(site, prereg("Good"), "alice").status_code == 202


def test_a_name_is_reserved_for_ninety_days_and_everyone_can_see_it(site: Site) -> None:
    """In the answer, on the registration's page and data, and in the benchmark's list."""
    answer = register(site, prereg("Good", "Other"))
    RegistrationDocument.model_validate(answer)
    document = site.http.get(f"/preregs/{answer['sha256']}.json").json()
    PreregDocument.model_validate(document)
    page = site.http.get(f"/preregs/{answer['sha256']}", headers={"Accept": "text/html"}).text
    row = site.http.get("/benchmarks/tiny/registrations.json").json()["rows"][0]
    until = datetime.fromisoformat(answer["reservations"][0]["until"])

    assert timedelta(days=89, hours=23) < until - datetime.now(UTC) <= timedelta(days=90)
    assert states(document) == states(answer) == [("Good", "open"), ("Other", "open")]
    assert answer["not_reserved"] == []
    assert "Good in tiny: until" in page
    assert (row["reserved"], row["reserved_until"]) == ("Good, Other", answer["reservations"][0]["until"])


def test_a_name_is_free_again_when_its_time_is_over(site: Site) -> None:
    """And the registrant's second registration does not take it back: nobody keeps a name without evidence."""
    let_lapse(site, register(site, prereg()), "Good")
    again = register(site, prereg("Good"))

    assert states(again) == []
    assert "was reserved for you once" in again["not_reserved"][0]["reason"]
    assert states(register(site, prereg("Good", notes="mine"), "bob")) == [("Good", "open")]
    assert submit(site, prereg("Good"), "bob").status_code == 202


def test_registering_again_prolongs_nothing(site: Site) -> None:
    """Neither the same bytes nor others, nor the name in another case."""
    first = register(site, prereg("Good"))
    same = register(site, prereg("Good"))
    others = register(site, prereg("GOOD", notes="again"))

    assert same["reservations"] == first["reservations"]
    assert (others["reservations"], others["not_reserved"]) == ([], [])


def test_twenty_names_are_reserved_at_most_until_one_is_used(site: Site) -> None:
    """Across registrations and benchmarks; the answer says which names were one too many."""
    many = prereg(*(f"m{n}" for n in range(19)))
    register(site, many)
    elsewhere = register(site, prereg("n1", "n2").replace(b"tiny", b"later"))
    full = register(site, prereg("Good"))
    assert submit(site, many, "alice", GOOD.replace(b"Good", b"m1")).status_code == 202
    retried = register(site, prereg("Good"))

    assert states(elsewhere) == [("n1", "open")]
    assert elsewhere["not_reserved"] == [
        {"benchmark": "later", "entrant": "n2", "reason": "You have 20 reserved names that are not used yet."}
    ]
    assert states(full) == []
    assert states(retried) == [("Good", "open")]


def test_names_of_others_are_not_reserved_by_naming_them(site: Site) -> None:
    """The registration counts all the same, and says whose they are."""
    register(site, prereg())
    submit(site, prereg(), "alice")
    register(site, prereg("Kept"))
    answer = register(site, prereg("Good", "Kept", "Mine"), "bob")

    assert states(answer) == [("Mine", "open")]
    assert answer["not_reserved"][0] == {"benchmark": "tiny", "entrant": "Good", "reason": "It belongs to alice."}
    assert answer["not_reserved"][1]["reason"].startswith("It is reserved for alice until ")


def test_what_names_no_entrant_or_is_never_ranked_reserves_nothing(site: Site) -> None:
    """Any entrant, and debug runs."""
    answers = [register(site, prereg()), register(site, prereg("Good") + b"run_purpose: debug\n")]

    assert [answer["reservations"] for answer in answers] == [[], []]


def test_a_document_reserves_in_the_benchmark_that_it_is_registered_for(site: Site) -> None:
    """Its rows are its entrants; without a benchmark there is nowhere to reserve them."""
    document = (
        b"schema_version: 1\ntask_id: t1\ngit_tag: p-1\nseeds: [0]\ndecision_rules: r\nparameters: {rows: {Good: {}}}\n"
    )
    without = register(site, document)
    bound = register(site, document, path="/preregs?benchmark=tiny")

    assert (states(without), states(bound)) == ([], [("Good", "open")])


@pytest.mark.parametrize(("who", "status"), [("bob", 403), ("alice", 200), ("steward", 200)])
def test_a_name_is_released_by_its_registrant_or_a_steward(site: Site, who: str, status: int) -> None:
    """With a reason that stands with the registration; it is anybody's then, also if registered again."""
    answer = register(site, prereg("Good"))
    released = release(site, who=who)
    after = site.http.get(f"/preregs/{answer['sha256']}.json").json()["reservations"][0]
    register(site, prereg("Good", notes="again"))

    assert released.status_code == status
    assert (after["state"], after["released_by"]) == (("released", who) if status == 200 else ("open", None))
    assert submit(site, prereg("Good"), "bob").status_code == (202 if status == 200 else 409)


def test_only_a_name_that_is_reserved_is_released_and_with_a_reason(site: Site) -> None:
    """Once; the answer is as described."""
    register(site, prereg("Good"))
    answers = [release(site, "None"), release(site, reason=" "), release(site, reason="x", force=True), release(site)]

    assert [answer.status_code for answer in answers] == [404, 422, 422, 200]
    ReleasedDocument.model_validate(answers[-1].json())
    assert release(site).status_code == 404


def test_a_steward_moves_a_reserved_name(site: Site) -> None:
    """It belongs to the new owner at once, before any evidence."""
    answer = register(site, prereg("Good"))
    order = {"token_id": BOB, "reason": "The lab's CI submits it."}
    moved = site.http.put("/benchmarks/tiny/entrants/Good/owner", json=order, headers=site.auth("steward"))

    assert moved.status_code == 200
    assert states(site.http.get(f"/preregs/{answer['sha256']}.json").json()) == [("Good", "used")]
    assert submit(site, prereg("Good"), "alice").status_code == 409
    assert submit(site, prereg("Good"), "bob").status_code == 202


def test_a_withdrawn_first_submission_leaves_the_name_reserved(site: Site) -> None:
    """As long as the time lasts: its submitter gave up the evidence, not the registration."""
    register(site, prereg("Good"))
    number = submit(site, prereg("Good"), "alice").json()["id"]
    site.http.post(f"/submissions/{number}/withdraw", json={"reason": "wrong file"}, headers=site.auth())

    assert submit(site, prereg("Good"), "bob").status_code == 409
    assert submit(site, prereg("Good"), "alice").status_code == 202


def test_a_revoked_token_keeps_no_name(site: Site) -> None:
    """Nobody could submit under it."""
    answer = register(site, prereg("Good"))
    site.http.delete(f"/tokens/{ALICE}", headers=site.auth("admin"))

    assert states(site.http.get(f"/preregs/{answer['sha256']}.json").json()) == [("Good", "lapsed")]
    assert submit(site, prereg("Good"), "bob").status_code == 202


def test_an_owner_keeps_a_name_that_somebody_registered(site: Site) -> None:
    """What was owned before stays owned, and a reservation of before its first submission does not count against it."""
    register(site, prereg())
    submit(site, prereg(), "bob")
    register(site, prereg("Good"))

    assert submit(site, prereg(), "bob", GOOD.replace(b"0.5", b"0.4")).status_code == 202


def test_a_registration_of_many_names_asks_as_often_as_one_of_a_few(site_after: SiteAfter) -> None:
    """Whoever else reserves in the benchmark waits for it, also where most names are refused in the end."""
    site, asked = site_after(make), []

    def n_asked(mark: str, n_names: int, n_refused: int) -> int:
        asked.clear()
        answer = register(site, prereg(*(f"{mark}-{at}" for at in range(n_names)), "Kept"), "bob")
        assert len(answer["not_reserved"]) == n_refused
        return len(asked)

    def note(*arguments: object) -> None:
        asked.append(str(arguments[2]))

    register(site, prereg("Kept"), "bob")
    event.listen(Engine, "before_cursor_execute", note)
    try:
        # Nineteen are free beside the kept one.
        few, many = n_asked("few", 25, 6), n_asked("many", 900, 900)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert many <= few
