"""How long the supervisor waits before it starts a process again, and until it is up. Called by `app.cli.supervisor`.

A program that served a moment ago has users who wait: it is started again at once. One that never comes up would only
keep the machine busy, so each failure doubles the delay; it may only be slow, so each failure doubles its time as well.
"""

from collections import deque

AT_ONCE_S = 0.2
FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 30.0
# A process that came up within this time is able to. After more than MANY ends within it, restarts pause.
WINDOW_S, MANY = 60.0, 20
PAUSE_S = 2.0
# Until its first heartbeat a process is only starting: on a busy machine, or a cold disk, that takes long.
STARTS_WITHIN_S, LONGEST_START_S = 120.0, 1800.0


class Restarts:
    """When one program's processes came up and ended, as far as it still matters; times are of the monotonic clock."""

    def __init__(self) -> None:
        self.n_failed_starts = 0
        """Consecutive failed starts of the process."""
        self._up_at = float("-inf")
        self._ends: deque[float] = deque()

    def note_up(self, at: float) -> None:
        """Note that the process has come up, or still is."""
        self._up_at = at
        self.n_failed_starts = 0

    def delay_after_end_s(self, at: float, *, had_come_up: bool) -> float:
        """Note that a process has ended and return how long to wait."""
        self._ends.append(at)
        while self._ends[0] < at - WINDOW_S:
            self._ends.popleft()
        if not had_come_up:
            self.n_failed_starts += 1
        if at - self._up_at <= WINDOW_S:
            return PAUSE_S if len(self._ends) > MANY else AT_ONCE_S
        return restart_delay_s(self.n_failed_starts)


def restart_delay_s(n_failed_starts: int) -> float:
    """Return how long to wait before a program that failed to come up n times in a row is started again."""
    return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (max(1, n_failed_starts) - 1)))


def start_patience_s(n_failed_starts: int) -> float:
    """Return how long a process may take to its first heartbeat after n in a row that did not get there.

    Twice as long each time: where a start takes longer than the first limit, killing it there again would never end.
    """
    return float(min(LONGEST_START_S, STARTS_WITHIN_S * 2**n_failed_starts))
