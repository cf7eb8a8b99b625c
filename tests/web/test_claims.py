"""Registered claims over HTTP: a verdict stays listed, whatever is submitted or withdrawn later."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select, text, update

from app.db.models import SubmissionTable
from app.jobs.replay import differences, read_export, recompute
from app.prereg.prereg import sha256_hex
from tests.cases.chamber import MANIFEST, PREREG, bundle, episode, zipped
from tests.cases.chamber_http import YAML, register, send
from tests.cases.html_pages import in_one_line
from tests.fixtures import Site

GAP = MANIFEST.replace(b"leaderboards:", b"""claims:
  gap: {contrast: [left, right], metric: success, threshold: 0.2, direction: greater}
leaderboards:""")  # fmt: skip
OPEN = MANIFEST.replace(b"[document]", b"[evaluation]")
SEEDS = list(range(16))
MANY = PREREG.replace(b"[0, 1, 2, 3, 4]", str(SEEDS).encode())
HYPOTHESES = b"""benchmark: arm
entrants: [mover, other]
tasks: [place]
metrics: [success]
seeds: SEEDS
hypotheses:
  - {contrast: [mover, other], metric: success, threshold: 0.2, direction: greater}
  - {contrast: [mover, ghost], metric: success, threshold: 0.2, direction: greater}
  - {contrast: [up, down], metric: success, threshold: 0.2, direction: greater}
""".replace(b"SEEDS", str(SEEDS).encode())
OF_CONDITIONS = b"""benchmark: arm
entrants: [NAME]
tasks: [place]
metrics: [success]
seeds: SEEDS
hypotheses: [{contrast: [left, right], metric: success, threshold: 0.0, direction: DIRECTION}]
""".replace(b"SEEDS", str(SEEDS).encode())


def listed(site: Site) -> list[dict[str, Any]]:
    """Return the claims of the benchmark."""
    rows: list[dict[str, Any]] = site.http.get("/benchmarks/arm/claims.json").json()["rows"]
    return rows


def send_bundle(site: Site, prereg: bytes, *, best: str = "", policy: str = "mover", who: str = "alice") -> int:
    """Submit a bundle of which the episodes with one member, or all with `*`, succeed; return its number."""
    places = [(seed, number, member) for seed in SEEDS for member in ("left", "right") for number in range(4)]
    rows = [episode(*place, success=best in (place[2], "*")) for place in places]
    ended = send(site, "arm", {"run.zip": zipped(bundle(rows, prereg, policy_id=policy))}, prereg, who=who)
    assert ended["status"] == "published", ended["reason"]
    return int(ended["id"])


def withdraw(site: Site, number: int) -> None:
    """Withdraw a submission and publish."""
    site.http.post(f"/submissions/{number}/withdraw", json={"reason": "wrong"}, headers=site.auth())
    site.work()


def test_a_refuted_claim_stays_listed_when_its_submission_is_superseded_and_withdrawn(site: Site) -> None:
    """Submitting until the verdict pleases leaves every verdict in the page, the CSV and the JSON."""
    register(site, GAP, MANY)
    refuted = send_bundle(site, MANY, best="right")
    pleasing = send_bundle(site, MANY, best="left")
    superseded = [(row["submission"], row["status"], row["verdict"]) for row in listed(site)]
    withdraw(site, refuted)
    withdraw(site, pleasing)
    withdrawn = [(row["submission"], row["status"], row["verdict"]) for row in listed(site)]
    csv = site.http.get("/benchmarks/arm/claims.csv").text
    page = site.http.get("/benchmarks/arm/claims", headers={"Accept": "text/html"}).text

    assert superseded == [(refuted, "superseded", "not supported"), (pleasing, "current", "supported")]
    assert withdrawn == [(refuted, "withdrawn", "not supported"), (pleasing, "withdrawn", "supported")]
    assert csv.count("not supported,withdrawn") == page.count("not supported") == 1


def test_a_refused_submission_has_no_listed_claim(site: Site) -> None:
    """It was never admitted, and withdrawing it does not make it so."""
    register(site, GAP, PREREG)
    ended = send(site, "arm", {"run.zip": zipped(bundle(dirty=True))}, PREREG)
    withdraw(site, ended["id"])

    assert listed(site) == []


def test_a_claim_between_entrants_is_decided_when_both_are_there_and_stays_listed(site: Site) -> None:
    """Until then it is not delivered, and its own submission is silent about it; a later verdict takes no row away.

    Contrasts that nobody delivered are listed once as inconclusive, and every link leads somewhere.
    """
    register(site, OPEN, HYPOTHESES)
    mover = send_bundle(site, HYPOTHESES)
    own = site.http.get(f"/submissions/{mover}/tables/claims.json").json()["rows"]
    before = listed(site)[0]
    other = send_bundle(site, HYPOTHESES, policy="other")
    undelivered = [(row["claim"], row["verdict"], row["note"]) for row in listed(site) if row["entrant"] is None]
    page = site.http.get("/benchmarks/arm/claims", params={"detail": "1"}, headers={"Accept": "text/html"}).text
    links = set(re.findall(r'href="(/[^"]+)"', page[page.index("<tbody>") : page.index("</tbody>")]))
    registered = site.http.get(f"/preregs/{sha256_hex(HYPOTHESES)}.json").json()
    newer = send_bundle(site, HYPOTHESES, best="*")
    rows = [row for row in listed(site) if row["first"] == "mover" and row["second"] == "other"]

    assert (before["claim"], before["note"]) == ("hypothesis 1", "not delivered: other")
    assert [row["claim"] for row in own] == ["hypothesis 2", "hypothesis 3"]
    assert undelivered == [
        ("hypothesis 2", "inconclusive", "not delivered: ghost"),
        ("hypothesis 3", "inconclusive", "not delivered: up, down"),
    ]
    assert links == {"/submissions/1", "/submissions/2"}
    assert [row["verdict"] for row in registered["claims"]["arm"]] == ["inconclusive", "inconclusive", "inconclusive"]
    assert [one["deviations"][0]["delivered"] for one in registered["outcomes"]] == ["other", "mover"]
    assert {(r["submission"], r["second_submission"]): (r["status"], r["verdict"]) for r in rows} == {
        (mover, other): ("superseded", "inconclusive"), (newer, other): ("current", "supported")
    }  # fmt: skip


def test_a_verdict_between_entrants_outlives_the_manifest_that_asked_for_it(site: Site) -> None:
    """The boards go back to an old snapshot with the old manifest; the next one carries what came in between."""
    asking = OPEN.replace(b"leaderboards:", b"""claims:
  better: {contrast: [mover, other], metric: success, threshold: 0.5, direction: greater}
leaderboards:""")  # fmt: skip
    register(site, OPEN, HYPOTHESES)
    send_bundle(site, HYPOTHESES)
    send_bundle(site, HYPOTHESES, policy="other")
    for manifest in (asking, OPEN):
        site.http.put("/benchmarks/arm", content=manifest, headers=site.auth("steward") | YAML)
        site.work()
    send_bundle(site, HYPOTHESES, best="*")

    assert [(row["status"], row["verdict"]) for row in listed(site) if row["claim"] == "better"] == [
        ("superseded", "not supported")
    ]


def test_a_publication_that_fails_says_so_until_one_succeeds(site: Site) -> None:
    """A stored table that cannot be read: the boards stay as they are, and their benchmark's page says why."""
    register(site, GAP, MANY)
    send_bundle(site, MANY)
    renamed = GAP.replace(b"title:", b"title: New", 1)
    site.http.put("/benchmarks/arm", content=renamed, headers=site.auth("steward") | YAML)
    is_claims = SubmissionTable.name == "claims"
    with site.as_owner() as session:
        (whole,) = session.scalars(select(SubmissionTable.content).where(is_claims))
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(update(SubmissionTable).where(is_claims).values(content={"name": "claims"}))
    site.work()
    failed = in_one_line(site.http.get("/benchmarks/arm", headers={"Accept": "text/html"}).text)
    with site.as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(update(SubmissionTable).where(is_claims).values(content=whole))
    site.try_again()

    assert re.search(r"The latest publication failed:</strong> fault \w{8} of this server; .* It failed 1 time", failed)
    assert "KeyError" not in failed
    assert "The boards show snapshot 1." in failed
    assert "publication failed" not in site.http.get("/benchmarks/arm", headers={"Accept": "text/html"}).text


def test_a_claim_counts_what_its_owner_registered_and_nobody_else(site: Site) -> None:
    """Under whatever name and linked token; what a stranger registers of entrants of their own changes nobody's row."""
    honest = of_conditions("mover", "greater")
    register(site, OPEN, honest)
    own = [of_conditions(*claim) for claim in (("other", "greater"), ("third", "less"), ("fourth", "less"))]
    sent = [(prereg, "alice") for prereg in own] + [(of_conditions(f"zz{at}", "less"), "bob") for at in range(6)]
    for prereg, who in sent:
        site.http.post("/preregs?benchmark=arm", content=prereg, headers=site.auth(who) | YAML).raise_for_status()
    send_bundle(site, honest, best="left")
    apart = [row["registrations"] for row in listed(site)]
    order = {"counted_as": "alice", "reason": "one lab"}
    site.http.put("/benchmarks/arm/owners/bob", json=order, headers=site.auth("steward")).raise_for_status()
    send_bundle(site, honest, best="right")

    assert apart == ["one of 4 registrations of its owner with this contrast; 2 said the opposite"]
    assert {row["registrations"] for row in listed(site)} == {
        "one of 10 registrations of its owner with this contrast; 8 said the opposite"
    }


def test_a_registration_under_embargo_is_counted_and_says_nothing(site: Site) -> None:
    """What it claims few may read; that the owner has it nobody hides by an embargo. A submission ends that."""
    shown, hidden = of_conditions("mover", "greater"), of_conditions("mover", "less")
    register(site, OPEN, shown)
    until = (datetime.now(UTC) + timedelta(days=30)).isoformat().replace("+", "%2B")
    address = f"/preregs?benchmark=arm&embargo_until={until}"
    site.http.post(address, content=hidden, headers=site.auth() | YAML).raise_for_status()
    send_bundle(site, shown, best="left")
    before = [row["registrations"] for row in listed(site)]
    send_bundle(site, hidden, best="right")

    assert before == ["its owner has 1 registration under embargo"]
    assert {row["registrations"] for row in listed(site)} == {
        "one of 2 registrations of its owner with this contrast; 1 said the opposite"
    }


def of_conditions(name: str, direction: str) -> bytes:
    """Return a registration that claims a difference of two conditions of one entrant."""
    return OF_CONDITIONS.replace(b"NAME", name.encode()).replace(b"DIRECTION", direction.encode())


BETWEEN = b"""benchmark: arm
entrants: [NAME]
tasks: [place]
metrics: [success]
seeds: SEEDS
""".replace(b"SEEDS", str(SEEDS).encode())


def between(name: str, claim: str = "") -> bytes:
    """Return a registration of an entrant, with a claim such as "mover, other, greater" or without any."""
    *sides, direction = claim.split(", ")
    hypothesis = (
        f"hypotheses: [{{contrast: [{', '.join(sides)}], metric: success, threshold: 0.0, direction: {direction}}}]\n"
    )
    return BETWEEN.replace(b"NAME", name.encode()) + (hypothesis.encode() if claim else b"")


def post(site: Site, prereg: bytes, who: str = "alice") -> None:
    """Register."""
    sent = site.http.post("/preregs?benchmark=arm", content=prereg, headers=site.auth(who) | YAML)
    sent.raise_for_status()


AFTER = re.compile(
    r"Registered after evidence of (.*) was here already \(first on \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC; registered "
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\): nobody can say that it was not chosen after seeing it\.$"
)


def told(site: Site, source: bytes) -> list[tuple[str, list[str], int]]:
    """Return verdicts of a registration, whose evidence was here before, and how often a row says so."""
    rows = [row for row in listed(site) if row["source"] == sha256_hex(source)[:12]]
    return [
        (row["verdict"], AFTER.findall(row["note"] or ""), (row["note"] or "").count("Registered after"))
        for row in rows
    ]


def test_a_claim_registered_after_its_evidence_was_here_says_so(site: Site, tmp_path: Path) -> None:
    """Seen on the board, registered, and the same bytes sent again; also by a puppet, about others' entrants.

    An honest claim that was here first has no note; nor has the steward's, which is everybody's. The next publication
    says it once, and a replay finds nothing else.
    """
    plain, rival = between("mover"), between("other")
    seen, puppets = between("mover", "mover, other, greater"), between("puppet", "other, mover, less")
    honest = between("honest", "honest, other, greater")
    asking = OPEN.replace(b"leaderboards:", b"""claims:
  better: {contrast: [mover, other], metric: success, threshold: 0.5, direction: greater}
leaderboards:""")  # fmt: skip
    register(site, asking, plain, rival, honest, between("puppet"))
    send_bundle(site, plain, best="*")
    send_bundle(site, rival, policy="other")
    post(site, seen)
    post(site, puppets)
    send_bundle(site, seen, best="*")
    send_bundle(site, puppets, policy="puppet")
    send_bundle(site, honest, policy="honest", best="*")
    first = [told(site, each) for each in (seen, puppets, honest)]
    send_bundle(site, between("puppet"), policy="puppet", best="left")
    replayed = tmp_path / "replay.zip"
    replayed.write_bytes(site.http.get("/benchmarks/arm/replay.zip").content)
    export = read_export(replayed)

    assert first == [
        [("supported", ["mover and other"], 1)],
        [("supported", ["other and mover"], 1)],
        [("supported", [], 0)],
    ]
    assert [told(site, each) for each in (seen, puppets, honest)] == first
    assert not any("Registered" in str(row["note"]) for row in listed(site) if row["source"] == "manifest")
    assert list(differences(export, recompute(export))) == []


def test_a_claim_says_that_its_evidence_was_here_under_another_name(site: Site) -> None:
    """Seen on the board, registered under a new name, and the same rows sent under it; the old name is gone by then."""
    renamed = between("fresh", "fresh, other, greater")
    register(site, OPEN, between("mover"), between("other"))
    first = send_bundle(site, between("mover"), best="left")
    send_bundle(site, between("other"), policy="other")
    withdraw(site, first)
    post(site, renamed)
    send_bundle(site, renamed, policy="fresh", best="left")
    flagged = site.http.get("/benchmarks/arm/leaderboards/success.json").json()["rows"]

    assert told(site, renamed) == [("supported", ["fresh (results in common, as mover) and other"], 1)]
    assert "same_results" in {row["entrant"]: row["flags"] for row in flagged}["fresh"].split()


def test_a_claim_of_conditions_says_whose_evidence_was_here_before(site: Site) -> None:
    """Of the entrant, whatever entrants are called like its conditions; also where that evidence is withdrawn by now.

    A steward's word for an earlier time counts as it does for admission.
    """
    register(site, OPEN, between("mover"), between("left"))
    withdraw(site, send_bundle(site, between("mover"), best="left"))
    send_bundle(site, between("left"), policy="left")
    late = of_conditions("mover", "greater")
    post(site, late)
    send_bundle(site, late, best="left")
    before = told(site, late)
    word = {"registered_at": "2020-01-01T00:00:00Z", "evidence": "a letter"}
    address = f"/preregs/{sha256_hex(late)}/attestations"
    site.http.post(address, json=word, headers=site.auth("steward")).raise_for_status()
    withdraw(site, 2)

    assert before == [("supported", ["mover"], 1)]
    assert told(site, late) == [("supported", [], 0)]


def test_a_claim_counts_what_its_owner_registered_under_other_names(site: Site) -> None:
    """Names that were never sent count, too; a stranger's, and a claim about another rival, do not."""
    lucky, rival = between("m0", "m0, other, greater"), between("other")
    register(site, OPEN, lucky, *(between(f"m{at}", f"m{at}, other, greater") for at in range(1, 6)))
    post(site, between("m6", "m6, third, greater"))
    post(site, rival, "bob")
    post(site, between("m7", "m7, other, greater"), "bob")
    send_bundle(site, lucky, best="*", policy="m0")
    send_bundle(site, rival, policy="other", who="bob")
    (row,) = [each for each in listed(site) if each["entrant"]]

    assert (row["verdict"], row["registrations"]) == (
        "supported",
        "its owner registered 5 such contrasts against other under other names",
    )
