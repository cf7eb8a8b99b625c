"""The supervisor keeps real processes running and stops them, and only them."""

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from app.cli import supervisor
from app.cli.supervisor import (
    AT_ONCE_S,
    LONGEST_DELAY_S,
    LONGEST_STEP_S,
    Beats,
    Program,
    StopRequested,
    describe_end,
    restart_delay_s,
    stop_on_signals,
    supervised,
)
from tests.cases.waiting import eventually

pytestmark = pytest.mark.heavy

PATIENCE_S = 3.0
SLEEPER = (sys.executable, "-c", "import time; time.sleep(600)")
SLOW = ("/bin/sh", "-c", "sleep 0.6; printf . >&0; sleep 600")
STUBBORN = (
    sys.executable,
    "-c",
    "import pathlib, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "pathlib.Path(sys.argv[1]).touch(); time.sleep(600)",
)


def program(command: tuple[str, ...] = SLEEPER, *, grace_s: float = 5) -> Program:
    """Return a program that runs until it is stopped."""
    return Program("sleeper", command, os.environ, patience_s=PATIENCE_S, grace_s=grace_s)


def test_failures_in_a_row_are_counted() -> None:
    """Whoever waits for a program can see that it never comes up."""
    with supervised([program((sys.executable, "-c", "raise SystemExit(7)"))]) as [child]:

        def failed_twice() -> bool:
            child.check()
            return child.n_failed_starts == 2

        assert eventually(failed_twice)


def test_a_process_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    """After the grace period no process is left, though it ignores SIGTERM."""
    ready = tmp_path / "ready"
    with supervised([program((*STUBBORN, str(ready)), grace_s=0.2)]) as [child]:
        pid = child.pid or 0
        eventually(ready.exists)

    assert not psutil.pid_exists(pid)


def test_a_process_is_out_of_reach_of_the_terminal() -> None:
    """Ctrl-C in the terminal must reach the supervisor alone, so a process is in a session of its own."""
    with supervised([program()]) as [child]:
        pid = child.pid or 0

        assert os.getsid(pid) == pid


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_asks_to_stop(number: signal.Signals) -> None:
    """Ctrl-C, kill and a closed terminal all stop the server in the same way."""
    with pytest.raises(StopRequested), stop_on_signals():
        signal.raise_signal(number)


def test_a_second_signal_does_not_disturb_the_stopping() -> None:
    """Somebody who presses Ctrl-C twice still gets an orderly stop."""
    with stop_on_signals():
        with pytest.raises(StopRequested):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        reached = True

    assert reached


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    """Under nohup a closed terminal does not stop the server."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with stop_on_signals():
        handler = signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, before)

    assert handler is signal.SIG_IGN


def test_each_failed_start_doubles_the_delay() -> None:
    """A program that cannot start does not keep the machine busy; one that served is started again at once."""
    longest_s = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, LONGEST_DELAY_S, LONGEST_DELAY_S]
    delays_s = [restart_delay_s(n) for n in range(1, 9)]

    assert all(longest / 2 <= delay <= longest for delay, longest in zip(delays_s, longest_s, strict=True))
    assert restart_delay_s(0) == AT_ONCE_S


def test_a_process_that_starts_slowly_is_not_killed_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a starved machine the first limit is too short for any start, so a later one has more time."""
    monkeypatch.setattr(supervisor, "STARTS_WITHIN_S", 0.2)
    monkeypatch.setattr(supervisor, "FIRST_DELAY_S", 0.01)
    slow = Program("slow", SLOW, os.environ, patience_s=0.1, grace_s=5)
    failures = []
    with supervised([slow]) as [child]:

        def comes_up() -> bool:
            child.check()
            failures.append(child.n_failed_starts)
            return child.is_up

        assert eventually(comes_up, 30)
    assert max(failures) >= 1


def test_silence_counts_only_as_far_as_it_was_observed() -> None:
    """A supervisor that was stopped itself cannot know what went on meanwhile."""
    beats = Beats()
    signal.sigtimedwait([], 2 * LONGEST_STEP_S)
    beats.listen()
    silent_s = beats.silent_s
    beats.close()

    assert silent_s == LONGEST_STEP_S


def test_the_end_of_a_process_is_told_in_words() -> None:
    """The log says whether a process left or was killed."""
    message = describe_end(3), describe_end(-9)

    assert message == ("ended with exit code 3", "was ended by SIGKILL")
