"""Loops that are shared between threads: every part is done once, and a fault comes to whoever asked."""

import os
import threading
from functools import partial

import numpy as np
import pytest

from app.stats.compiled import WORTHWHILE, each_of, in_parts, turned


def test_every_row_is_done_once_and_parts_begin_at_multiples() -> None:
    """Work that goes by so many rows goes by the same ones, however it is shared."""
    done = np.zeros(1_003, dtype=np.int64)

    def work(part: slice) -> None:
        assert part.start % 4 == 0
        done[part] += 1

    in_parts(len(done), 4, work)
    assert (done == 1).all()


def test_few_steps_are_done_where_they_are_asked_for() -> None:
    """Threads would take longer to begin."""
    threads = set()
    in_parts(100, 1, lambda part: threads.add(threading.get_ident()), n_steps=WORTHWHILE - 1)
    assert threads == {threading.get_ident()}


def test_two_threads_share_the_parts() -> None:
    """Each waits for the other, so one alone would never end."""
    both = threading.Barrier(2, timeout=20)
    threads = set()

    def work(part: slice) -> None:
        if len(threads) < 2 and threading.get_ident() not in threads:
            threads.add(threading.get_ident())
            both.wait()

    in_parts(100, 1, work)
    assert len(threads) == 2


def test_a_part_may_share_its_own_parts() -> None:
    """Nobody waits for a helper that is itself waiting."""
    done = np.zeros((64, 64), dtype=np.int64)

    def fill(row: int, columns: slice) -> None:
        done[row, columns] += 1

    def work(part: slice) -> None:
        for row in range(part.start, part.stop):
            in_parts(64, 1, partial(fill, row))

    in_parts(64, 1, work)
    assert (done == 1).all()


@pytest.mark.parametrize("failing", [0, 60])
def test_a_fault_in_any_part_is_raised(failing: int) -> None:
    """Whichever thread it is in; and what is shared next is done."""

    def work(part: slice) -> None:
        if part.start <= failing < part.stop:
            raise ValueError("of this part")

    for _ in range(20):
        with pytest.raises(ValueError, match="of this part"):
            in_parts(64, 1, work)
    in_parts(64, 1, lambda part: None)


def test_a_forked_process_does_all_of_them_itself() -> None:
    """The threads of its parent are not there."""
    in_parts(64, 1, lambda part: None)
    child = os.fork()
    if child == 0:
        done: list[slice] = []
        in_parts(64, 1, done.append)
        os._exit(0 if sum(part.stop - part.start for part in done) == 64 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_is_done_in_parts_is_what_is_done_at_once() -> None:
    """Columns turned to rows, and a function of each number: to the last bit, with as many helpers as there are."""
    values = np.random.default_rng(1).normal(size=(1_100, 1_001))

    assert turned(values).tobytes() == np.ascontiguousarray(values.T).tobytes()
    assert each_of(values, np.expm1).tobytes() == np.expm1(values).tobytes()
