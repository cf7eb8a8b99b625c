"""The denominator: every registration of a benchmark with what became of it."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from app.db.models import Benchmark, EntrantReservation, ManifestVersion, StoredPrereg, Submission
from app.kinds.parse import parse_manifest
from app.prereg.prereg import sha256_hex
from app.store.benchmarks import Declared
from app.store.preregs import Decided, RegistrationStatus, registrations_table, submitters_table
from tests.cases.chamber import MANIFEST as ARM
from tests.cases.chamber import PREREG as DOCUMENT
from tests.cases.chamber import bundle, zipped
from tests.cases.registrations import YAML
from tests.cases.walkthrough import BASE, GOOD, declare
from tests.cases.walkthrough import send as submit
from tests.fixtures import Site, SiteAfter

NOW = datetime(2026, 6, 30, tzinfo=UTC)
PREREG = b"benchmark: small\nmetrics: [MASE]\n"
MANIFEST = b"""
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
metrics: {MASE: {direction: minimize, min: 0}}
tasks: {open: true}
admission: {report_within_days: 30}
leaderboards: [{name: mean, method: mean, metric: MASE}]
"""


def registered(
    *statuses: str, days_ago: int = 1, purpose: str = "leaderboard", within: int | None = 30, by: int = 1
) -> RegistrationStatus:
    """Return a registration of some days ago with submissions in the given states."""
    at = NOW - timedelta(days=days_ago)
    due = None if within is None else at + timedelta(days=within)
    prereg = StoredPrereg(sha256="a" * 64, registered_at=at, registered_by=1, run_purpose=purpose)
    sent = [Submission(status=status, token_id=by) for status in statuses]
    return RegistrationStatus(prereg, "lab", None, sent, ["lab"] * len(sent), due)


@pytest.mark.parametrize(
    ("registration", "outcome"),
    [
        pytest.param(registered("not_admitted", "published"), "reported", id="one admitted is a report"),
        pytest.param(registered("superseded"), "reported", id="newer evidence undoes no report"),
        pytest.param(registered("not_admitted", "withdrawn"), "withdrawn", id="what was withdrawn is none"),
        pytest.param(registered("not_admitted", purpose="power"), "reported", id="power runs are never ranked"),
        pytest.param(registered("published", by=2), "reported_by_other", id="another's report"),
        pytest.param(registered("not_admitted", "published", by=1), "reported", id="one's own beside it"),
        pytest.param(registered(days_ago=29), "awaited", id="30 days are given"),
        pytest.param(registered(days_ago=30), "awaited", id="to their last instant"),
        pytest.param(registered(days_ago=31), "overdue", id="then it is late"),
        pytest.param(registered(days_ago=60), "overdue", id="as long again"),
        pytest.param(registered("withdrawn", "published", by=2), "reported_by_other", id="another's, whatever else"),
        pytest.param(registered("withdrawn", by=2), "awaited", id="what another withdrew is nothing"),
        pytest.param(registered("not_admitted", by=2, purpose="debug"), "reported_by_other", id="another's debug run"),
        pytest.param(registered(days_ago=61), "never_reported", id="after 60 nobody waits"),
        pytest.param(registered(days_ago=1000, within=None), "awaited", id="without a time nothing is late"),
    ],
)
def test_what_became_of_a_registration(registration: RegistrationStatus, outcome: str) -> None:
    """By its submissions, whose they are, and its time."""
    assert registration.outcome(NOW) == outcome


def test_an_embargo_ends_with_its_time_or_with_a_submission() -> None:
    """At the very instant it is over."""
    silent, sent = registered(), registered("withdrawn")

    for registration, until, is_under in (
        (silent, None, False), (silent, NOW, False), (silent, NOW + timedelta(seconds=1), True),
        (sent, NOW + timedelta(seconds=1), False),
    ):  # fmt: skip
        registration.prereg.embargo_until = until
        assert registration.is_under_embargo(NOW) is is_under


def test_registrations_are_listed_and_counted_by_their_outcome() -> None:
    """With the latest submission, who sent any, and the names that are kept, until the first of them is free."""
    manifest = parse_manifest(MANIFEST)
    declared = Declared(Benchmark(id=1, slug="small"), ManifestVersion(id=1, version=1), manifest)
    kept = [EntrantReservation(name=name, until=NOW + timedelta(days=days)) for name, days in (("A", 9), ("B", 2))]
    several = registered("published", "withdrawn", "published")
    for number, submission in zip((7, 9, 8), several.submissions, strict=True):
        submission.id = number
    several = replace(several, submitters=["b", "a", "b"], attested_at=NOW, reserved=kept)
    every = [
        several,
        replace(registered(days_ago=31), registrant="a"),
        registered("withdrawn"),
        registered(),
        registered(),
    ]
    for each in every[1:]:
        for submission in each.submissions:
            submission.id = 1
    table = registrations_table(declared, every, NOW, 1)
    first, second = list(table.records())[:2]
    counts = list(submitters_table(declared, every, NOW).records())

    assert [row["outcome"] for row in table.records()] == ["reported", "overdue", "withdrawn", "awaited", "awaited"]
    assert table.notes == ("5 registrations, 1 reported.", "1 registration of these submitters names no benchmark.")
    assert registrations_table(declared, every[:1], NOW).notes == ("1 registration, 1 reported.",)
    assert "2 registrations of these submitters name no benchmark." in registrations_table(declared, [], NOW, 2).notes
    assert (first["n_submissions"], first["submission"], first["submitted_by"]) == (3, 9, "b, a")
    assert (first["reserved"], first["reserved_until"]) == ("A, B", kept[1].until.isoformat())
    assert (first["attested_at"], first["registered_at"]) == (NOW.isoformat(), (NOW - timedelta(days=1)).isoformat())
    assert second["due_at"] == (NOW - timedelta(days=1)).isoformat()
    empty = ("attested_at", "submission", "submitted_by", "reserved", "reserved_until")
    assert [second[name] for name in empty] == [None] * 5
    assert [[row[name] for name in ("registered_by", "n_registered", "n_reported", "n_withdrawn", "n_awaited",
                                    "n_overdue", "n_never_reported")] for row in counts] == [
        ["a", 1, 0, 0, 0, 1, 0], ["lab", 4, 1, 1, 2, 0, 0]]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        (("A", None, None), "current"), (("B", None, None), "superseded"), (("A, C", "A", "C"), "withdrawn"),
        (("A, B", "B", "A"), "superseded"), (("nobody", "x", "y"), "current"),
    ],
)  # fmt: skip
def test_a_claim_is_as_current_as_the_last_of_whom_it_is_about(claim: tuple[str | None, ...], status: str) -> None:
    """And its submission as the first of its entrants."""
    decided = Decided(1, None, [], {"B": "superseded", "A": "current", "C": "withdrawn"})

    assert decided.status_of(dict(zip(("entrant", "first", "second"), claim, strict=True))) == status
    assert decided.status == "current"


def test_a_registration_without_a_report_is_public(site: Site) -> None:
    """It stands in the benchmark's list from the start, and in its submitter's count."""
    site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward") | YAML)
    site.http.post("/preregs", content=PREREG, headers=site.auth() | YAML)

    row = site.http.get("/benchmarks/small/registrations.json").json()["rows"][0]
    counts = site.http.get("/benchmarks/small/submitters.csv").text.splitlines()

    assert row["outcome"] == "awaited"
    assert counts[1].split(",")[1:3] == ["1", "0"]


def test_a_registration_without_a_report_stands_on_the_page_of_its_entrant(site: Site) -> None:
    """Until something is submitted under it; of another entrant it says nothing."""
    declare(site)
    for rows in (BASE, GOOD):
        submit(site, rows)
    silent = b"benchmark: tiny\nentrants: [Good]\nmetrics: [MASE]\ntasks: all\n"
    assert post(site, "/preregs", silent)[0] == 201
    pages = {
        name: site.http.get(f"/benchmarks/tiny/entrants/{name}", headers={"accept": "text/html"}).text
        for name in ("Good", "Base")
    }

    assert "Registered without a report" in pages["Good"]
    assert sha256_hex(silent) in pages["Good"]
    assert "Registered without a report" not in pages["Base"]


def post(site: Site, address: str, content: bytes, who: str = "alice") -> tuple[int, dict[str, Any]]:
    """Send YAML; return the status and the answer."""
    answer = site.http.post(address, content=content, headers=site.auth(who) | YAML)
    return answer.status_code, answer.json()


def make_arms(site: Site) -> None:
    """Make the benchmarks arm and arm2."""
    for manifest in (ARM, ARM.replace(b"slug: arm", b"slug: arm2")):
        assert post(site, "/benchmarks", manifest, "steward")[0] == 201


@pytest.fixture
def arms(site_after: SiteAfter) -> Site:
    """The benchmark of arms, made once for all of these."""
    return site_after(make_arms)


def send(site: Site, slug: str = "arm", who: str = "alice") -> dict[str, Any]:
    """Submit an honest bundle under the document that was registered; return where it ended."""
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions",
        files=[("files", ("run.zip", zipped(bundle())))],
        data={"prereg_sha256": sha256_hex(DOCUMENT)},
        headers=site.auth(who),
    )
    site.work()
    ended: dict[str, Any] = site.http.get(f"/submissions/{answer.json()['id']}.json").json()
    return ended


def check(ended: dict[str, Any], rule: str) -> tuple[str, str]:
    """Return the outcome and the reason of one check."""
    (result,) = [(each["outcome"], each["reason"]) for each in ended["checks"] if each["rule"] == rule]
    return result


def outcomes(site: Site, slug: str = "arm") -> list[tuple[str, str | None]]:
    """Return what became of each registration, and who submitted under it."""
    rows = site.http.get(f"/benchmarks/{slug}/registrations.json").json()["rows"]
    return [(row["outcome"], row["submitted_by"]) for row in rows]


def test_a_known_registration_can_be_registered_for_a_benchmark_later(arms: Site) -> None:
    """Its first time stays; it is listed by the benchmark from then on, and by a second one too."""
    first = post(arms, "/preregs", DOCUMENT)[1]
    status, bound = post(arms, "/preregs?benchmark=arm", DOCUMENT)
    again = post(arms, "/preregs?benchmark=arm2", DOCUMENT)[1]

    assert (status, bound["registered_at"]) == (200, first["registered_at"])
    assert [[b["benchmark"] for b in answer["benchmarks"]] for answer in (first, bound, again)] == [
        [], ["arm"], ["arm", "arm2"]
    ]  # fmt: skip
    assert bound["benchmarks"][0]["since"] > first["registered_at"]
    assert outcomes(arms) == outcomes(arms, "arm2") == [("awaited", None)]


def rehearsed(site: Site, started_at: str | None = None) -> dict[str, Any]:
    """Return what a dry run under the document says."""
    answer = site.http.post(
        "/benchmarks/arm/submissions?dry_run=true",
        files=[("files", ("run.zip", zipped(bundle())))],
        data={"prereg_sha256": sha256_hex(DOCUMENT), "metadata": json.dumps({"started_at": started_at})},
        headers=site.auth(),
    )
    document: dict[str, Any] = answer.json()
    return document


def test_a_registration_for_no_benchmark_admits_nothing(arms: Site) -> None:
    """Else it could be registered many times where nobody counts it, and the best run be sent."""
    answer = post(arms, "/preregs", DOCUMENT)[1]
    outcome, reason = check(send(arms), "prereg_benchmark")

    assert answer["warnings"] == [
        "It is not registered for any benchmark, so no run can cite it: give ?benchmark= before the run."
    ]
    assert outcome == "failed"
    assert reason.startswith("The preregistration was registered for no benchmark.")


def test_a_registration_is_for_a_benchmark_from_before_the_run(arms: Site) -> None:
    """Registered long ago, but for the benchmark only when the result was known."""
    post(arms, "/preregs", DOCUMENT)
    began = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    post(arms, "/preregs?benchmark=arm", DOCUMENT)
    outcome, reason = check(rehearsed(arms, began), "prereg_benchmark")

    assert outcome == "failed"
    assert "after the run began" in reason


def test_a_run_may_begin_in_the_second_of_its_registration(arms: Site) -> None:
    """`date -u +%FT%TZ` knows whole seconds only. One's own registration is reported."""
    at = post(arms, "/preregs?benchmark=arm", DOCUMENT)[1]["registered_at"]
    rehearsal = rehearsed(arms, datetime.fromisoformat(at).replace(microsecond=0).isoformat())

    assert check(rehearsal, "registered_before_run")[0] == "passed"
    assert check(rehearsal, "prereg_benchmark")[0] == "passed"
    assert check(send(arms), "registered_by") == ("passed", "Submitted by who registered it, token 1.")
    assert outcomes(arms) == [("reported", "alice")]


def test_unknown_metrics_and_tasks_are_said_at_registration(site: Site) -> None:
    """Before the run is paid for; the registration stands all the same, for the manifest may follow.

    A metric with a level is known by its whole name.
    """
    closed = MANIFEST.replace(b"{open: true}", b"[{id: easy}]")
    named = closed.replace(b"metrics: {", b"metrics: {hits@5: {direction: maximize}, ")
    post(site, "/benchmarks", named, "steward")
    status, answer = post(
        site, "/preregs", b"benchmark: small\nmetrics: [hits@5, MSAE, MASE@0.9]\ntasks: [easy, hard]\n"
    )

    assert status == 201
    assert answer["warnings"] == [
        "The benchmark has no metrics MASE@0.9, MSAE; it has MASE, hits@5. Did you mean MASE?",
        "The benchmark has no tasks hard; it has easy.",
    ]


def test_what_a_hypothesis_compares_is_looked_up_at_registration(site: Site) -> None:
    """An entrant with results is known, one that nobody announced is said, before the run is paid for."""
    declare(site)
    submit(site, GOOD)
    claims = ", ".join(f"{{contrast: [mine, {name}], metric: MASE, threshold: 0}}" for name in ("Good", "rival"))
    answer = post(
        site, "/preregs", f"benchmark: tiny\nmetrics: [MASE]\nentrants: [mine]\nhypotheses: [{claims}]".encode()
    )

    assert answer[1]["warnings"] == [
        "Nobody has submitted rival, and the registration does not list it: "
        "a hypothesis about it stays inconclusive until there are results of rival."
    ]


def test_a_beginning_in_another_zone_is_said_in_utc(arms: Site) -> None:
    """10:14 in a zone two hours ahead is 08:14, before a registration at nine."""
    at = datetime.fromisoformat(post(arms, "/preregs?benchmark=arm", DOCUMENT)[1]["registered_at"])
    ahead = (at - timedelta(hours=1)).astimezone(timezone(timedelta(hours=2)))
    outcome, reason = check(rehearsed(arms, ahead.isoformat()), "registered_before_run")

    assert outcome == "failed"
    assert reason.endswith(f"after the run began ({at - timedelta(hours=1):%Y-%m-%d %H:%M:%S} UTC).")
    assert check(rehearsed(arms, "0001-01-01T00:00:00+02:00"), "registered_before_run")[0] == "failed"


def test_a_form_that_the_benchmark_does_not_take_is_said_at_registration(arms: Site) -> None:
    """Arm takes documents."""
    answer = post(arms, "/preregs", b"benchmark: arm\nmetrics: [success]\n")[1]

    assert answer["warnings"] == [
        "The benchmark takes preregistrations of the document form; this one has the evaluation form."
    ]


def test_only_the_registrant_binds_a_registration_to_a_benchmark(arms: Site) -> None:
    """Anybody else would put it into the registrant's count; a binding that is there already is no change."""
    post(arms, "/preregs?benchmark=arm", DOCUMENT)
    statuses = [post(arms, f"/preregs?benchmark={slug}", DOCUMENT, "bob")[0] for slug in ("arm", "arm2")]

    assert statuses == [200, 403]
    assert outcomes(arms, "arm2") == []


def test_a_registration_for_another_benchmark_is_refused(arms: Site) -> None:
    """Until its registrant registers it for this one too."""
    post(arms, "/preregs?benchmark=arm", DOCUMENT)
    refused = send(arms, "arm2")
    post(arms, "/preregs?benchmark=arm2", DOCUMENT)
    sent_again = arms.http.post(
        "/benchmarks/arm2/submissions?dry_run=true",
        files=[("files", ("run.zip", zipped(bundle())))],
        data={"prereg_sha256": sha256_hex(DOCUMENT), "metadata": '{"notes": "registered for this one too"}'},
        headers=arms.auth(),
    ).json()

    assert refused["status"] == "not_admitted"
    assert check(refused, "prereg_benchmark")[1].startswith("The preregistration is for arm, not for arm2.")
    assert check(sent_again, "prereg_benchmark") == ("passed", "The preregistration is for arm2.")


def test_a_run_under_somebody_elses_registration_is_no_report_of_theirs(arms: Site) -> None:
    """It is admitted with a warning; the list says who sent it, and alice has reported nothing."""
    post(arms, "/preregs?benchmark=arm", DOCUMENT)
    ended = send(arms, who="bob")
    counts = arms.http.get("/benchmarks/arm/submitters.json").json()["rows"]

    assert ended["status"] == "published"
    assert check(ended, "registered_by")[0] == "warned"
    assert check(ended, "registered_by")[1].startswith("Registered by token 1, submitted by token 2")
    assert outcomes(arms) == [("reported_by_other", "bob")]
    assert [(row["registered_by"], row["n_reported"], row["n_reported_by_other"]) for row in counts] == [
        ("alice", 0, 1)
    ]


def test_registrations_for_no_benchmark_are_counted_beside_those_of_their_submitters(arms: Site) -> None:
    """One of alice's names none; bob, who has registered nothing here, is not counted."""
    post(arms, "/preregs?benchmark=arm", DOCUMENT)
    post(arms, "/preregs", DOCUMENT + b"notes: second\n")
    post(arms, "/preregs", DOCUMENT + b"notes: third\n", "bob")
    notes = arms.http.get("/benchmarks/arm/registrations.json").json()["notes"]

    assert notes[1:] == ["1 registration of these submitters names no benchmark."]
