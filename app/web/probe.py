"""One query at a time to a database that may hang: concurrent callers wait briefly, then get an error.

A Postgres that was stopped keeps its connections and answers nothing. Each probe of a load balancer would hold another
thread and another connection until nobody is served, and none of them would be answered. Each process
has one (`app.web.state`).
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
WITHIN_S = 2.0


class NoAnswer(Exception):
    """The running query has not been answered in time; `since_s` says for how long."""

    def __init__(self, since_s: float) -> None:
        super().__init__(since_s)
        self.since_s = since_s


@dataclass
class Probe(Generic[T]):
    """One per process: callers during a running query wait for its answer."""

    within_s: float = WITHIN_S
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _answer: "Future[T] | None" = None
    _asked_at: float = 0.0

    def ask(self, question: Callable[[], T]) -> T:
        """Return the answer.

        Raises NoAnswer, and what the query raises.
        """
        with self._lock:
            if self._answer is None or self._answer.done():
                self._answer, self._asked_at = Future(), time.monotonic()
                # A thread of its own, which ends with the process: it may hang for as long as the database does.
                threading.Thread(target=_settle, args=(self._answer, question), daemon=True).start()
            answer, asked_at = self._answer, self._asked_at
        try:
            return answer.result(self.within_s)
        except TimeoutError:
            raise NoAnswer(time.monotonic() - asked_at) from None


def _settle(answer: "Future[T]", question: Callable[[], T]) -> None:
    try:
        answer.set_result(question())
    except BaseException as error:
        answer.set_exception(error)
