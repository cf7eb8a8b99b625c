"""Submissions while everything is killed, stopped and cut off: seen from outside each 202 is there exactly once."""

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.cases import patient
from tests.cases.fault_kinds import backend_of, kinds_of_faults
from tests.cases.offline import plumbline
from tests.cases.own_postgres import own_postgres
from tests.cases.processes import admin
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.storm import (
    Seen,
    declare,
    expected_means,
    faults,
    plan,
    published_means,
    send_all,
    settled,
)
from tests.cases.storm_readers import reading

pytestmark = pytest.mark.faults

N_SUBMISSIONS = int(os.environ.get("FAULTS_N", "500"))
N_CLIENTS = 8
N_KINDS = 8
# So short a storm has every kind of fault, too.
EVERY_S = max(0.5, min(2.0, N_SUBMISSIONS / 250))
SLUGS = ("storm-a", "storm-b", "storm-c", "storm-d")
LONGEST_GAP_S = 2.0


PROGRAMS = os.environ.get("FAULTS_PROGRAMS")
"""Whose Postgres it is: that of these programs, else the embedded one."""


@dataclass(frozen=True)
class Pair:
    """Two whole servers on one database: two web processes, four workers, two sweeps."""

    data_dir: Path
    one: RunningServer
    other: RunningServer
    headers: dict[str, str]
    own_url: str | None

    @property
    def addresses(self) -> Sequence[str]:
        """Return where both answer."""
        return self.one.address, self.other.address

    def database_url(self) -> str:
        """Return the address of their database, for its owner, who may lock tables and end every connection."""
        if self.own_url is not None:
            return self.own_url
        answered = plumbline("db", "url", "--owner", PLUMBLINE_DATA_DIR=str(self.data_dir))
        assert answered.returncode == 0, answered.stderr
        return answered.stdout.strip()


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two servers that share an embedded database, and the benchmarks."""
    with ExitStack() as stack:
        data_dir, own_url = stack.enter_context(database())
        settings = {} if own_url is None else {"PLUMBLINE_DATABASE_URL": own_url}
        settings |= {"PLUMBLINE_WORKERS": "2", "PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "100000",
                    "PLUMBLINE_MAX_READS_PER_MINUTE": "1000000", "PLUMBLINE_WEB_PATIENCE_S": "60"}  # fmt: skip
        one = stack.enter_context(running_server(data_dir, **settings))
        headers = admin(one)
        other = stack.enter_context(running_server(data_dir, **settings))
        declare(one.address, headers, SLUGS)
        yield Pair(data_dir, one, other, headers, own_url)


@contextmanager
def database() -> Iterator[tuple[Path, str | None]]:
    """Yield the folder of a database's files, and its address where it is no embedded one."""
    if PROGRAMS is None:
        with fresh_data_dir(on_disk=True) as data_dir:
            yield data_dir, None
    else:
        with own_postgres(Path(PROGRAMS).absolute()) as own:
            yield own


@pytest.fixture(scope="module")
def seen(pair: Pair) -> Seen:
    """What the clients saw of all submissions, sent while everything failed in turn."""
    url = pair.database_url()
    with (
        reading(pair.addresses, SLUGS) as read,
        faults(kinds_of_faults(pair.one, pair.other, pair.data_dir, url), pair.addresses, EVERY_S) as done,
    ):
        seen = send_all(pair.addresses, pair.headers, plan(SLUGS, N_SUBMISSIONS, seed=19), N_CLIENTS)
    seen.read, seen.done = read, Counter(done)
    print(f"{len(seen.numbers)} taken in {seen.n_tries} tries; {dict(Counter(done))}; "
          f"longest without a page {read.longest_gap_s:.2f} s of {read.n_pages} pages {read.gaps}; the first "
          f"after {read.first_page_s:.2f} s")  # fmt: skip
    settled(pair.addresses[1], sorted(set(seen.numbers.values())), within_s=240)
    return seen


def test_every_submission_was_taken_and_no_answer_was_a_fault(seen: Seen) -> None:
    """Whatever is not 202 says when to come again; no 500 among the answers."""
    assert len(seen.numbers) == N_SUBMISSIONS
    assert seen.faults == []
    assert min(seen.done.values()) >= 1
    assert len(seen.done) == N_KINDS


def test_a_fault_has_a_process_to_befall(pair: Pair, seen: Seen) -> None:
    """A process of the database that serves one of our connections is found by its title, whichever role it is for."""
    assert "kill a backend" in seen.done
    assert backend_of(pair.data_dir).is_running()


def test_every_202_is_there_exactly_once(pair: Pair, seen: Seen) -> None:
    """A key is one submission, evaluated once and published once, however often it was sent."""
    assert len(set(seen.numbers.values())) == N_SUBMISSIONS
    with psycopg.connect(pair.database_url()) as connection:
        by_key = connection.execute("SELECT count(*), count(DISTINCT idempotency_key) FROM submission").fetchall()
        doubled = connection.execute(
            "SELECT submission_id, status FROM submission_event GROUP BY 1, 2 HAVING count(*) > 1"
        ).fetchall()
        rows = connection.execute("SELECT count(*) FROM score GROUP BY submission_id").fetchall()
    assert by_key == [(N_SUBMISSIONS, N_SUBMISSIONS)]
    assert doubled == []
    assert {n for (n,) in rows} == {40}


def test_the_boards_are_what_one_computes_from_the_submissions(pair: Pair, seen: Seen) -> None:
    """Each entrant's mean is that of its newest submission, to the last digit but one."""
    for slug in SLUGS:
        assert published_means(pair.addresses[0], slug) == pytest.approx(expected_means(seen, slug), rel=1e-12)


def test_snapshots_are_contiguous_and_never_half(pair: Pair, seen: Seen) -> None:
    """Numbers without a gap; all who read one read the same bytes; on one web process none goes back."""
    for slug in SLUGS:
        listed = patient.get(f"{pair.addresses[0]}/benchmarks/{slug}/snapshots.json").json()
        assert sorted(each["number"] for each in listed) == list(range(1, len(listed) + 1))
    read = seen.read
    assert {key: len(several) for key, several in read.bytes_of.items() if len(several) > 1 and key[1] > 0} == {}
    assert read.went_back == []


def test_readers_are_never_long_without_a_page(seen: Seen) -> None:
    """While one of two web processes lives, whatever else fails."""
    longest_gap_s = seen.read.longest_gap_s
    assert longest_gap_s <= LONGEST_GAP_S


def test_both_servers_still_stop_in_order(pair: Pair, seen: Seen) -> None:
    """After all that, SIGTERM ends them with 0."""
    assert pair.one.stop(signal.SIGTERM) == 0
    assert pair.other.stop(signal.SIGTERM) == 0
