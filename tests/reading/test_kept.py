"""A reader waits a while for the next upload of its own sender, and for nobody else's."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.reading import GROWN_BYTES, Child, WaitingChildren, is_as_new, memory_of

ALICE, BOB = 1, 2


@pytest.fixture
def line() -> Iterator[socket.socket]:
    """A line to a child that nobody listens on."""
    with socket.socket() as unused:
        yield unused


def test_a_reader_is_given_to_its_own_sender_once(line: socket.socket) -> None:
    """What one sends is never in a process that reads what another sends, and a reader reads one upload at a time."""
    kept, child = WaitingChildren(), Child(7, line, ALICE)
    kept.keep(child, now=0.0)

    assert [kept.take(who) for who in (BOB, ALICE, ALICE)] == [None, child, None]


def test_the_oldest_reader_gives_way(line: socket.socket) -> None:
    """However many send, no more than a few processes wait."""
    kept, children = WaitingChildren(), [Child(owner, line, owner) for owner in range(WaitingChildren.MOST + 1)]
    left = [kept.keep(child, now=0.0) for child in children]

    assert left == [*([] for _ in range(WaitingChildren.MOST)), [children[0]]]
    assert kept.children == children[1:]


def test_nobody_keeps_a_reader_for_long(line: socket.socket) -> None:
    """A sender who does not come again gives its memory back; who does is served by the newest."""
    kept, first, second = WaitingChildren(), Child(7, line, ALICE), Child(8, line, ALICE)
    kept.keep(first, now=0.0)
    kept.keep(second, now=5.0)

    assert [child.ends_at for child in kept.children] == [WaitingChildren.KEPT_S, WaitingChildren.KEPT_S + 5.0]
    assert kept.take(ALICE) is second


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process for the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_small_idle_process_is_as_new() -> None:
    """One that has mapped much more than it was forked with is not."""
    with running("sleep", "60") as process:
        _, resident = memory_of(process.pid)

        assert is_as_new(process.pid, resident)
        assert not is_as_new(process.pid, resident - GROWN_BYTES - 1_000_000)


def test_a_reader_that_started_something_is_not_kept() -> None:
    """What it started would outlive the upload, so both are ended."""
    with running("sh", "-c", "sleep 1 & echo started; wait") as process:
        assert process.stdout is not None
        process.stdout.readline()

        assert not is_as_new(process.pid, memory_of(process.pid)[1])


def test_a_process_that_is_gone_is_not_kept() -> None:
    """Where the system says nothing of a process, a new one is used."""
    beyond_every_number = 2**22 + 1

    assert not is_as_new(beyond_every_number, 1 << 40)
