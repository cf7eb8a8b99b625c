"""The database's clock decides, and one that was set back holds nothing up for as long as it was ahead."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, insert, update

from app.db.models import Benchmark, Rate, Submission
from app.store import current, rates
from tests.cases.walkthrough import GOOD, declare, send
from tests.fixtures import Site

AHEAD = timedelta(hours=5)
OWN_CLOCKS = {"now", "utcnow", "today"}
# What an identity provider signed, and when a notification is signed, are about other machines' clocks.
OF_OTHERS = {"app/rights/oidc.py", "app/jobs/notifying.py"}


def asks_own_clock(path: Path) -> list[int]:
    """Return the lines that ask the process what time it is."""
    calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
    return [
        call.lineno
        for call in calls
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
        and ((call.func.value.id, call.func.attr) == ("time", "time")
             or (call.func.value.id in ("datetime", "date") and call.func.attr in OWN_CLOCKS))
    ]  # fmt: skip


@pytest.mark.heavy
def test_nothing_that_is_stored_asks_the_clock_of_its_process() -> None:
    """Else two machines a second apart refuse what was registered just before, or keep alive what has ended."""
    rooms = ("rights", "store", "web", "receiving", "jobs", "admission")
    paths = {str(path): path for room in rooms for path in sorted(Path("app", room).rglob("*.py"))}
    asking = {name: lines for name, path in paths.items() if name not in OF_OTHERS and (lines := asks_own_clock(path))}

    assert paths
    assert asking == {}


def test_a_rate_that_a_clock_ahead_left_behind_limits_nobody(site: Site) -> None:
    """After the clock was set back the allowance is full; it is not used up for hours."""
    with site.sessions.begin() as session:
        session.execute(insert(Rate).values(key="k", used_until=func.clock_timestamp() + AHEAD))

        assert not rates.is_used_up(session, "k", 10)
        assert rates.take(session, "k", 10) == 0
        assert rates.take_many(session, {"k": 1}, 10)["k"] == pytest.approx(12, abs=1)


def test_what_a_clock_ahead_put_off_or_received_is_due_now(site: Site) -> None:
    """A publication to be tried again in hours, and a submission that came in hours: both are seen to at once."""
    declare(site)
    send(site, GOOD)
    with site.sessions.begin() as session:
        later = func.clock_timestamp() + AHEAD
        session.execute(update(Benchmark).values(publish_retry_at=later))
        session.execute(update(Submission).values(evaluation_retry_at=later))

    with site.sessions() as session:
        number = session.query(Benchmark.id).scalar()
        assert current.next_together(session, number) != []
        assert current.benchmarks_waiting(session, 0) == [number]
        assert current.is_behind(session, number, is_due=True) == current.is_behind(session, number)
