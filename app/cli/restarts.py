"""How long the supervisor waits before it starts a process again. Called by `app.cli.supervisor`.

A process that had come up and then died has served well, and its users wait: it is started again at once. One that
never comes up would only keep the machine busy, so each failure doubles the delay.
"""

from collections import deque

AT_ONCE_S = 0.2
FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 30.0
# More ends than this within the window, though it came up each time: a pause, so that the rest of the machine goes on.
WINDOW_S, MANY = 60.0, 20
PAUSE_S = 2.0


class Restarts:
    """The ends of one program's processes so far, as far as they matter."""

    def __init__(self) -> None:
        self.n_failed_starts = 0
        """How often in a row the process ended before it had come up."""
        self._ends: deque[float] = deque()

    def delay_after_end_s(self, at: float, *, had_come_up: bool) -> float:
        """Note that a process has ended, at a time of the monotonic clock, and return how long to wait."""
        self._ends.append(at)
        while self._ends[0] < at - WINDOW_S:
            self._ends.popleft()
        if not had_come_up:
            self.n_failed_starts += 1
            return restart_delay_s(self.n_failed_starts)
        self.n_failed_starts = 0
        return PAUSE_S if len(self._ends) > MANY else AT_ONCE_S


def restart_delay_s(n_failed_starts: int) -> float:
    """Return how long to wait before a program that failed to come up n times in a row is started again."""
    return float(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (n_failed_starts - 1)))
