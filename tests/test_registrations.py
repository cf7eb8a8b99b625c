"""The denominator: every registration of a benchmark with what became of it."""

from datetime import UTC, datetime, timedelta

from app.db.models import Prereg, Submission
from app.store.registrations import Registered
from tests.conftest import Site

NOW = datetime(2026, 6, 30, tzinfo=UTC)
YAML = {"Content-Type": "application/yaml"}
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


def registered(*statuses: str, days_ago: int = 1, purpose: str = "leaderboard", within: int | None = 30) -> Registered:
    """Return a registration of some days ago with submissions in the given states."""
    at = NOW - timedelta(days=days_ago)
    due = None if within is None else at + timedelta(days=within)
    prereg = Prereg(sha256="a" * 64, registered_at=at, run_purpose=purpose)
    return Registered(prereg, "lab", None, [Submission(status=status) for status in statuses], due)


def test_a_report_counts_even_when_another_attempt_failed() -> None:
    """One admitted submission is a report."""
    outcome = registered("not_admitted", "published").outcome(NOW)

    assert outcome == "reported"


def test_a_superseded_report_was_a_report() -> None:
    """Newer evidence does not undo the older one."""
    outcome = registered("superseded").outcome(NOW)

    assert outcome == "reported"


def test_what_was_withdrawn_is_no_report() -> None:
    """A withdrawn run and a refused one: the withdrawal says more."""
    outcome = registered("not_admitted", "withdrawn").outcome(NOW)

    assert outcome == "withdrawn"


def test_a_power_run_is_reported_though_it_is_never_ranked() -> None:
    """Its submission ends not admitted, which is what was registered."""
    outcome = registered("not_admitted", purpose="power").outcome(NOW)

    assert outcome == "reported"


def test_silence_is_awaited_then_overdue_then_never_reported() -> None:
    """30 days are given; after 60 nobody waits any longer."""
    outcomes = [registered(days_ago=days).outcome(NOW) for days in (29, 31, 61)]

    assert outcomes == ["awaited", "overdue", "never_reported"]


def test_silence_without_a_deadline_is_awaited_for_ever() -> None:
    """A benchmark that sets no time cannot call anything late."""
    outcome = registered(days_ago=1000, within=None).outcome(NOW)

    assert outcome == "awaited"


def test_a_registration_without_a_report_is_public(site: Site) -> None:
    """It stands in the benchmark's list from the start, and in its submitter's count."""
    site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward") | YAML)
    site.http.post("/preregs", content=PREREG, headers=site.auth() | YAML)

    row = site.http.get("/benchmarks/small/registrations.json").json()["rows"][0]
    counts = site.http.get("/benchmarks/small/submitters.csv").text.splitlines()

    assert row["outcome"] == "awaited"
    assert counts[1].split(",")[1:3] == ["1", "0"]
