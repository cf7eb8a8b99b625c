"""`plumbline db check` says whether the history is as it was sealed, and who could rewrite it."""

import subprocess
import sys
from pathlib import Path

from sqlalchemy import text

from app.db.engine import make_engine, make_session_factory
from app.jobs.refresh import seal
from app.store import audit
from app.store.audit import Act
from tests.cases.databases import as_owner, tampering
from tests.cases.running_server import environment

ANSWERS_WITHIN_S = 60


def check(url: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run the command on a database."""
    return subprocess.run(
        [sys.executable, "-m", "app.cli", "db", "check", *options],
        env=environment(Path("unused"), PLUMBLINE_DATABASE_URL=url),
        capture_output=True,
        text=True,
        timeout=ANSWERS_WITHIN_S,
        check=False,
    )


def write_and_seal(url: str) -> str:
    """Write an event, seal it, and return the seal as the command takes it."""
    engine = make_engine(url)
    sessions = make_session_factory(engine)
    with sessions.begin() as session:
        audit.record(session, Act("an act", "it"), 200)
    seal(sessions)
    with sessions() as session:
        newest = audit.newest(session)
    engine.dispose()
    assert newest is not None
    return f"{newest.number}:{newest.digest.hex()}"


def test_a_whole_record_is_said_to_be_whole(database_url: str) -> None:
    """With its newest seal, to be written down; the role that serves is warned of nothing."""
    kept = write_and_seal(database_url)

    checked = check(database_url, "--seal", kept)

    assert checked.returncode == 0, checked.stderr
    assert f"1 audit events are as they were sealed; the newest seal is {kept} of " in checked.stdout
    assert "Warning" not in checked.stderr


def test_a_break_is_named_and_ends_with_one(database_url: str) -> None:
    """What is quick does not look."""
    write_and_seal(database_url)
    with tampering(database_url) as connection:
        connection.execute(text("DELETE FROM audit_event"))

    checked, quick = check(database_url), check(database_url, "--quick")

    assert (checked.returncode, quick.returncode) == (2, 0)
    assert "missing: Event 1: missing under seal 1 of " in checked.stderr
    assert "The audit record is broken in 1 places; 1 seals were read." in checked.stderr


def test_one_address_for_both_roles_is_warned_of(database_url: str) -> None:
    """It works, and is said."""
    checked = check(as_owner(database_url), "--quick")

    assert checked.returncode == 0
    assert "PLUMBLINE_OWNER_DATABASE_URL" in checked.stderr


def test_a_seal_that_is_none_is_refused(database_url: str) -> None:
    """With what one looks like."""
    checked = check(database_url, "--seal", "12")

    assert checked.returncode != 0
    assert "expected NUMBER:DIGEST" in checked.stderr
