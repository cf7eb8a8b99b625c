"""Loops that are shared between threads: every part is done once, and a fault comes to whoever asked."""

import threading

import numpy as np
import pytest

from app.stats.compiled import WORTHWHILE, run_chunks, transposed


def test_every_row_is_done_once_and_parts_begin_at_multiples() -> None:
    """Work that goes by so many rows goes by the same ones, however it is shared."""
    done = np.zeros(1_003, dtype=np.int64)

    def work(part: slice) -> None:
        assert part.start % 4 == 0
        done[part] += 1

    run_chunks(len(done), 4, work, n_steps=WORTHWHILE)
    assert (done == 1).all()


def test_few_steps_are_done_where_they_are_asked_for() -> None:
    """Threads would take longer to begin."""
    threads = set()
    run_chunks(100, 1, lambda part: threads.add(threading.get_ident()), n_steps=WORTHWHILE - 1)
    assert threads == {threading.get_ident()}


def test_two_threads_share_the_parts() -> None:
    """Each waits for the other, so one alone would never end."""
    both = threading.Barrier(2, timeout=20)
    threads = set()

    def work(part: slice) -> None:
        if len(threads) < 2 and threading.get_ident() not in threads:
            threads.add(threading.get_ident())
            both.wait()

    run_chunks(100, 1, work, n_steps=WORTHWHILE)
    assert len(threads) == 2


@pytest.mark.parametrize("failing", [0, 60])
def test_a_fault_in_any_part_is_raised(failing: int) -> None:
    """Whichever thread it is in."""

    def work(part: slice) -> None:
        if part.start <= failing < part.stop:
            raise ValueError("of this part")

    for _ in range(20):
        with pytest.raises(ValueError, match="of this part"):
            run_chunks(64, 1, work, n_steps=WORTHWHILE)


def test_columns_are_turned_to_rows() -> None:
    """More of them than are turned at a time."""
    values = np.random.default_rng(1).normal(size=(1_100, 1_001))

    assert transposed(values).tobytes() == np.ascontiguousarray(values.T).tobytes()
