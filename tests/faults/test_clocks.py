"""Clocks of two servers and of their database that jump hours forward and back: nothing is lost, nothing is stuck.

The database's clock decides all that is stored (app/store/sql.py); a server's own decides nothing.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx2
import pytest

from app.db.embedded import own_programs
from tests.cases.clocks import HOUR_S, Clock
from tests.cases.own_postgres import own_postgres
from tests.cases.processes import admin
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.storm import declare, expected_means, faults, plan, published_means, send_all, settled
from tests.cases.walkthrough import MANIFEST, PREREG

pytestmark = pytest.mark.faults

SLUG = "storm-a"
JUMP_S = 7 * HOUR_S
EVERY_S = 1.0


@dataclass(frozen=True)
class Machines:
    """Two servers and their database, each with a clock of its own."""

    servers: tuple[RunningServer, RunningServer]
    clocks: dict[str, Clock]
    headers: dict[str, str]

    @property
    def addresses(self) -> tuple[str, str]:
        """Return where both answer."""
        return self.servers[0].address, self.servers[1].address

    def set_right(self) -> None:
        """Put every clock right."""
        for clock in self.clocks.values():
            clock.set_to(0)


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    """Two servers with a worker each, and a Postgres of their own."""
    with ExitStack() as stack:
        folder = stack.enter_context(fresh_data_dir())
        folder.mkdir()
        clocks = {name: Clock(name, folder) for name in ("database", "one", "other")}
        _, url = stack.enter_context(own_postgres(own_programs(), environ=clocks["database"].environ))
        one, other = (stack.enter_context(server(folder / name, url, clocks[name])) for name in ("one", "other"))
        headers = admin(one)
        declare(one.address, headers, [SLUG])
        yield Machines((one, other), clocks, headers)


def server(folder: Path, url: str, clock: Clock) -> AbstractContextManager[RunningServer]:
    """Start a whole server on the database, with its clock."""
    folder.mkdir()
    settings = {"PLUMBLINE_DATABASE_URL": url, "PLUMBLINE_WORKERS": "1", "PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "600"}
    return running_server(folder / "data", **settings, **clock.environ)


def test_clocks_that_jump_lose_nothing_and_hold_nothing_up(machines: Machines) -> None:
    """Every submission is taken, published once, and its board is what one computes, whichever clock is where."""
    jumps = {f"{name} {shift_s:+} s": partial(clock.set_to, shift_s)
             for shift_s in (JUMP_S, -JUMP_S, 0) for name, clock in machines.clocks.items()}  # fmt: skip
    with faults(jumps, machines.addresses, EVERY_S) as done:
        seen = send_all(machines.addresses, machines.headers, plan([SLUG], 80, seed=5), 4)
    machines.set_right()
    settled(machines.addresses[0], sorted(seen.numbers.values()), within_s=60)

    assert len(done) >= len(jumps)
    assert seen.faults == []
    assert len(set(seen.numbers.values())) == 80
    assert published_means(machines.addresses[0], SLUG) == pytest.approx(expected_means(seen, SLUG), rel=1e-12)
    listed = httpx2.get(f"{machines.addresses[1]}/benchmarks/{SLUG}/snapshots.json", timeout=60).json()
    assert sorted(each["number"] for each in listed) == list(range(1, len(listed) + 1))


@pytest.mark.parametrize("shift_s", [JUMP_S, -JUMP_S])
def test_a_server_whose_clock_is_wrong_judges_by_the_database(machines: Machines, shift_s: int) -> None:
    """A token that just ended works on neither server, one that lasts on both, and a registration precedes its run."""
    machines.set_right()
    wrong, right = machines.addresses
    machines.clocks["one"].set_to(shift_s)
    lasting = token(right, machines, timedelta(hours=1), f"lasting{shift_s}")
    answers = [httpx2.get(f"{at}/whoami", headers=lasting, timeout=60).status_code for at in (wrong, right)]
    past = make_token(wrong, machines, timedelta(seconds=-60), f"past{shift_s}")
    outcome = registered_and_sent(wrong, machines, f"clock{shift_s + JUMP_S}")
    machines.set_right()

    assert answers == [200, 200]
    assert past.status_code == 422
    assert outcome in ("passed", "warned")


def test_a_database_whose_clock_is_set_back_holds_nothing_up(machines: Machines) -> None:
    """Registered and sent while it was hours ahead, and just after it was put right: published, and nobody limited."""
    machines.clocks["database"].set_to(JUMP_S)
    before = send_all(machines.addresses, machines.headers, plan([SLUG], 10, seed=6), 2)
    machines.set_right()
    after = send_all(machines.addresses, machines.headers, plan([SLUG], 10, seed=7), 2)
    numbers = [*before.numbers.values(), *after.numbers.values()]
    settled(machines.addresses[0], sorted(numbers), within_s=60)

    assert len(set(numbers)) == 20
    assert after.n_tries == 10
    shown, expected = published_means(machines.addresses[0], SLUG), expected_means(after, SLUG)
    assert {entrant: shown[entrant] for entrant in expected} == pytest.approx(expected, rel=1e-12)


def make_token(address: str, machines: Machines, lasts: timedelta, name: str) -> httpx2.Response:
    """Ask for a token that ends so long from now, by the machine's clock."""
    wanted = {"name": name, "role": "submitter", "expires_at": (datetime.now(UTC) + lasts).isoformat()}
    return httpx2.post(f"{address}/tokens", json=wanted, headers=machines.headers, timeout=60)


def token(address: str, machines: Machines, lasts: timedelta, name: str) -> dict[str, str]:
    """Return the header of such a token."""
    created = make_token(address, machines, lasts, name).raise_for_status()
    return {"Authorization": f"Bearer {created.json()['token']}"}


def registered_and_sent(address: str, machines: Machines, slug: str) -> str:
    """Register, send at once, and return the outcome of the rule that the registration came first."""
    manifest = MANIFEST.replace("slug: tiny", f"slug: {slug}")
    prereg = PREREG.replace(b"tiny", slug.encode())
    httpx2.post(f"{address}/benchmarks", content=manifest, headers=machines.headers, timeout=60).raise_for_status()
    httpx2.post(f"{address}/preregs", content=prereg, headers=machines.headers, timeout=60).raise_for_status()
    rows = "model,task,MASE\n" + "".join(f"M,t{task},{task}\n" for task in (1, 2, 3))
    files = [("files", ("r.csv", rows.encode())), ("prereg", ("p.yaml", prereg))]
    sent = httpx2.post(f"{address}/benchmarks/{slug}/submissions", files=files, headers=machines.headers, timeout=60)
    checks = {each["rule"]: each["outcome"] for each in sent.raise_for_status().json()["checks"]}
    outcome: str = checks["registered_before_run"]
    return outcome
