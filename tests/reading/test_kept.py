"""A reader waits a while for the next upload of its own sender, and for nobody else's."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from app.reading.kept import GROWN_BYTES, KEPT_S, MOST, KeptReaders, Memory, is_as_new, memory_of

ALICE, BOB = 1, 2


@dataclass(frozen=True)
class Process:
    """A reader by its number."""

    pid: int


def test_a_reader_is_given_to_its_own_sender_once() -> None:
    """What one sends is never in a process that reads what another sends, and a reader reads one upload at a time."""
    kept: KeptReaders[Process] = KeptReaders()
    kept.keep(ALICE, Process(7), now=0.0)

    assert [kept.take(who) for who in (BOB, ALICE, ALICE)] == [None, Process(7), None]


def test_the_oldest_reader_gives_way() -> None:
    """However many send, no more than a few processes wait."""
    kept: KeptReaders[Process] = KeptReaders()
    left = [kept.keep(owner, Process(owner), now=0.0) for owner in range(MOST + 1)]

    assert left == [*([] for _ in range(MOST)), [Process(0)]]
    assert list(kept) == [Process(owner) for owner in range(1, MOST + 1)]


def test_nobody_keeps_a_reader_for_long() -> None:
    """A sender who does not come again gives its memory back."""
    kept: KeptReaders[Process] = KeptReaders()
    kept.keep(ALICE, Process(7), now=0.0)
    kept.keep(ALICE, Process(8), now=5.0)

    assert kept.next_end == KEPT_S
    assert kept.over(KEPT_S) == [Process(7)]


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process for the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_small_idle_process_is_as_new() -> None:
    """One that has mapped much more than it was forked with is not."""
    with running("sleep", "60") as process:
        size = memory_of(process.pid).resident

        assert is_as_new(process.pid, Memory(0, size))
        assert not is_as_new(process.pid, Memory(0, size - GROWN_BYTES - 1_000_000))


def test_a_reader_that_started_something_is_not_kept() -> None:
    """What it started would outlive the upload, so both are ended."""
    with running("sh", "-c", "sleep 1 & echo started; wait") as process:
        assert process.stdout is not None
        process.stdout.readline()

        assert not is_as_new(process.pid, memory_of(process.pid))


def test_a_process_that_is_gone_is_not_kept() -> None:
    """Where the system says nothing of a process, a new one is used."""
    beyond_every_number = 2**22 + 1

    assert not is_as_new(beyond_every_number, Memory(0, 1 << 40))
