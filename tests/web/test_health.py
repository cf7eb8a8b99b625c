"""What a server says of itself: readiness, figures, what needs a steward."""

import re

import psycopg
import yaml
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import update

from app.db.engine import make_engine
from app.db.migrate import clock_ahead_s, clock_trouble
from app.db.models import Benchmark
from app.program.version import release
from tests.cases.databases import as_owner
from tests.cases.packaging import ROOT
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, declare, send
from tests.fixtures import Site


def figures(site: Site, who: str | None = None) -> dict[tuple[str, str], float]:
    """Return the figures by name and the value of their label."""
    headers = {} if who is None else site.auth(who)
    families = text_string_to_metric_families(site.http.get("/metrics", headers=headers).text)
    samples = [sample for family in families for sample in family.samples]
    return {(s.name, next(iter(s.labels.values()), "")): s.value for s in samples}


def test_the_figures_follow_a_submission(tiny: Site) -> None:
    """It waits, is published, and the time between is observed; what was refused is counted by reason."""
    send(tiny, BASE)
    waiting = figures(tiny)
    tiny.work()
    tiny.http.post("/benchmarks/tiny/submissions", headers=tiny.auth())
    after = figures(tiny)

    assert waiting["plumbline_queue_waiting", ""] == 1
    assert waiting["plumbline_queue_oldest_seconds", ""] > 0
    assert after["plumbline_queue_waiting", ""] == 0
    assert after["plumbline_submissions", "published"] == 1
    for name, label in (
        ("plumbline_publications_total", "tiny"),
        ("plumbline_post_to_board_seconds_count", ""),
        ("plumbline_publication_seconds_count", ""),
        ("plumbline_refusals_total", "Malformed"),
    ):
        assert after[name, label] == waiting.get((name, label), 0) + 1, name


def test_the_figures_count_the_rules_that_kept_a_submission_off_the_boards(site: Site) -> None:
    """Once for each submission and rule: one sent again by its key is not counted again, nor is a passed rule."""
    strict = MANIFEST.replace("prereg: required", "prereg: required, started_at: required")
    assert site.http.post("/benchmarks", content=strict, headers=site.auth("steward")).status_code == 201
    assert site.http.post("/preregs", content=PREREG, headers=site.auth()).status_code == 201
    before = figures(site)
    for _ in range(2):
        sent = site.http.post(
            "/benchmarks/tiny/submissions",
            files=[("files", ("r.csv", GOOD)), ("prereg", ("prereg.yaml", PREREG))],
            headers={**site.auth(), "Idempotency-Key": "once"},
        )
        assert sent.status_code == 202, sent.text
    after = figures(site)

    counted = {key: n - before.get(key, 0) for key, n in after.items() if key[0] == "plumbline_checks_failed_total"}
    assert {rule: n for (_, rule), n in counted.items() if n} == {"started_at": 1}


def test_alerts_ask_for_figures_that_there_are(site: Site) -> None:
    """Each name of an expression is answered by a server that has seen nothing yet, and so is each reason.

    A rate takes no notice of the first event of a series that begins with it.
    """
    groups = yaml.safe_load((ROOT / "deploy/alerts.yml").read_text())["groups"]
    asked = "".join(rule["expr"] for group in groups for rule in group["rules"])
    answered = site.http.get("/metrics").text
    names = set(re.findall(r"^(?:# TYPE )?([a-z_]+)", answered, re.MULTILINE))

    assert set(re.findall(r"plumbline_[a-z_]+", asked)) <= names
    assert {reason for _, reason in figures(site)} >= set(re.findall(r'reason="(\w+)"', asked)) > set()


def test_the_figures_are_what_an_operator_asks_for(tiny: Site) -> None:
    """Requests by route and status, how long they took, pages by source, the processes, the version, room and sizes."""
    send(tiny, BASE)
    tiny.work()
    tiny.http.get("/benchmarks/tiny")
    before = figures(tiny)
    tiny.http.get("/benchmarks/tiny")
    tiny.http.get("/nothing/of/mine")
    tiny.http.request("BREW", "/nothing")
    tiny.http.post("/benchmarks/tiny/submissions", headers=tiny.auth())
    after = figures(tiny, "admin")
    answered = tiny.http.get("/metrics").text

    for labels in (
        'requests_total{method="POST",route="/benchmarks/{slug}/submissions",status="422"}',
        'requests_total{method="GET",route="page",status="200"}',
        'requests_total{method="other",route="none",status="404"}',
        'request_seconds_count{route="/benchmarks/{slug}/submissions"}',
    ):
        assert re.search(re.escape(labels) + " [1-9]", answered), labels
    assert "mine" not in answered
    assert after["plumbline_pages", "kept"] == before["plumbline_pages", "kept"] + 1
    assert after["plumbline_pool_connections", "used"] >= 1
    assert after["plumbline_readings", "waiting"] == 0
    assert after["plumbline_table_bytes", "submission"] > 0
    assert after["plumbline_info", release()] == 1
    assert after["plumbline_process_resident_bytes", "web"] > 10_000_000
    assert after["plumbline_disk_free_bytes", "temporary"] > 0
    assert after["plumbline_workers", ""] == 0
    assert after["plumbline_backup_age_seconds", ""] == -1
    assert after["plumbline_database_bytes", ""] > after["plumbline_benchmark_bytes", "tiny"] > 0


def test_no_figure_names_a_benchmark_that_is_not_public(site: Site) -> None:
    """Neither to a stranger nor among what was counted by the workers; its steward sees that it fails."""
    counted_before = [line for line in site.http.get("/metrics").text.splitlines() if "tiny" in line]
    created = site.http.post("/benchmarks?visibility=private", content=MANIFEST, headers=site.auth("steward"))
    assert created.status_code == 201
    site.work()
    with site.sessions.begin() as session:
        session.execute(update(Benchmark).values(publish_tries=2, publish_error="a fault"))

    mine = [line for line in site.http.get("/metrics").text.splitlines() if "tiny" in line]
    assert mine == counted_before
    assert figures(site, "steward")["plumbline_failing_benchmark_tries", "tiny"] == 2


def test_ready_says_what_will_be_wrong_soon(site: Site) -> None:
    """Nobody works on the queue of this server."""
    answer = site.http.get("/readyz").json()

    assert answer["status"] == "ready"
    assert answer["warnings"] == ["No worker has reported within the last minute: submissions are stored, but wait."]


def test_a_clock_that_is_not_this_machines_is_named(database_url: str) -> None:
    """Of two hosts: a database three hours ahead dates all that is stored, and ends tokens early."""
    engine = make_engine(database_url, pool_size=1)
    with engine.connect() as connection:
        assert clock_trouble(clock_ahead_s(connection)) is None
    engine.dispose()
    assert "clock is 3:07:00 ahead of this machine's" in str(clock_trouble(187 * 60.0))
    assert "clock is 0:02:00 behind this machine's" in str(clock_trouble(-120.0))


def test_not_ready_says_what_is_wrong(site: Site, database_url: str) -> None:
    """A database that was put back to another schema is named with what to do."""
    with psycopg.connect(as_owner(database_url), autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0009'")
    answer = site.http.get("/readyz")

    assert answer.status_code == 503
    assert "The database has the schema 0009 of a version that was never released" in answer.json()["detail"]


def test_a_newer_schema_is_served_on_with_a_warning(site: Site, database_url: str) -> None:
    """Migrations work with the code before them, so readers see no gap while a server is upgraded."""
    with psycopg.connect(as_owner(database_url), autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'r9999'")
    answer = site.http.get("/readyz")

    assert answer.status_code == 200
    assert "the schema r9999, which this plumbline does not know" in answer.json()["warnings"][0]


def test_a_steward_sees_what_is_stuck_failing_and_set_aside(site: Site, database_url: str) -> None:
    """Each with its benchmark, since when, and why; another steward sees nothing of it."""
    declare(site)
    stuck, aside = send(site, BASE)["id"], send(site, GOOD)["id"]
    with psycopg.connect(as_owner(database_url), autocommit=True) as connection:
        connection.execute("UPDATE submission SET received_at = now() - interval '1 hour' WHERE id = %s", [stuck])
        connection.execute("UPDATE submission SET status = 'set_aside' WHERE id = %s", [aside])
        connection.execute(
            "INSERT INTO submission_event (submission_id, status, reason) VALUES (%s, 'set_aside', 'Broke it.')",
            [aside],
        )
        connection.execute("UPDATE benchmark SET publish_tries = 3, publish_error = 'ValueError: no'")
    rows = site.http.get("/health.json", headers=site.auth("steward")).json()["rows"]
    page = site.http.get("/health", headers={**site.auth("steward"), "Accept": "text/html"})

    assert [(row["what"], row["submission"]) for row in rows] == [
        ("failing", None),
        ("stuck", stuck),
        ("set aside", aside),
    ]
    assert {row["benchmark"] for row in rows} == {"tiny"}
    assert "ValueError: no" in page.text
    assert "No worker has reported" in page.text


def test_a_write_is_named_by_its_request(site: Site, database_url: str) -> None:
    """The id that a proxy sent, or a new one, is in the answer and beside the submission."""
    declare(site)
    files = [("files", ("r.csv", BASE)), ("prereg", ("p.yaml", PREREG))]
    answer = site.http.post(
        "/benchmarks/tiny/submissions", files=files, headers={**site.auth(), "X-Request-ID": "proxy-7"}
    )
    other = site.http.post("/preregs", content=b"x", headers={**site.auth(), "X-Request-ID": "a b\"'"})
    with psycopg.connect(as_owner(database_url)) as connection:
        kept = connection.execute("SELECT request_id FROM submission").fetchall()

    assert answer.headers["X-Request-ID"] == "proxy-7"
    assert kept == [("proxy-7",)]
    assert other.headers["X-Request-ID"] not in ("a b\"'", "")
