"""What a reading costs is said by the process that reads, and nothing is read faster than it is stored."""

import asyncio
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from app.config import Settings
from app.files.uploads import SentFile
from app.kinds.reader import Evidence, reader_of
from app.reading import MOST_BESIDE, ORDER, Allowance, Readers, fork_server
from app.turns import Turn
from tests.cases.evidence_tables import LIMITS, make_manifest


def reading_of(folder: Path, n_rows: int) -> Callable[[], Evidence]:
    """Return what reads a file with so many rows."""
    manifest, path = make_manifest(), folder / "0"
    path.write_text("model,task,MASE\n" + "".join(f"m{at},easy,1\n" for at in range(n_rows)))
    return partial(reader_of(manifest, [SentFile("r.csv", path)], None, LIMITS).read_evidence, manifest)


def test_a_reading_reports_its_processor_time(tmp_path: Path) -> None:
    """Each reading of a process its own: a small file that comes after a large one costs less, not the sum."""

    def cost_s(n_rows: int) -> float:
        folder = tmp_path / str(n_rows)
        folder.mkdir()
        (folder / ORDER).write_bytes(pickle.dumps(reading_of(folder, n_rows), protocol=5))
        _, ended = fork_server().run(folder, Allowance(1 << 30, 60, 60.0, 1 << 30), owner=1)
        done = ended.result(timeout=60)
        assert (done.status, done.is_late) == (0, False)
        assert done.cpu_s is not None
        return done.cpu_s

    assert cost_s(200_000) > cost_s(2) > 0


def test_nothing_is_read_faster_than_it_is_stored(tmp_path: Path) -> None:
    """What was read keeps its place among the readings until there is one to store it: others wait at the door."""

    async def main() -> None:
        readers = Readers(Settings())
        busy = [Turn.of(f"token {9 + number}") for number in range(MOST_BESIDE)]
        for turn in busy:
            readers.beside.enter(turn)
        storing, stays = Turn.of("token 1"), asyncio.Event()
        reading = asyncio.create_task(readers.read(reading_of(tmp_path, 3), tmp_path, 1, stays.wait(), storing))
        async with asyncio.timeout(60):
            while not readers.beside.n_waiting:
                await asyncio.sleep(0.01)
        assert (reading.done(), readers.turns.n_running) == (False, 1)
        readers.beside.end(busy[0])
        evidence = await reading
        assert (len(evidence.scores), readers.turns.n_running, storing.payer) == (3, 0, "token 1")

    asyncio.run(main())


@pytest.mark.unmutated
@pytest.mark.parametrize("n_places", [1, 2])
def test_who_has_ten_uploads_in_hand_lets_another_be_next(tmp_path: Path, n_places: int) -> None:
    """With one place after the one that is being read; with two at once, for nobody has both."""

    async def main() -> list[int]:
        readers, order = Readers(Settings(max_readings=n_places)), list[int]()

        async def read(number: int, owner: int) -> None:
            folder = tmp_path / str(number)
            folder.mkdir()
            # Long for the one, short for the other, so that how busy the machine is does not decide who ends first.
            work = reading_of(folder, 3_000 if owner == 1 else 3)
            stays, storing = asyncio.Event(), Turn.of(f"token {owner}")
            with readers.beside.ending(storing):
                await readers.read(work, folder, owner, stays.wait(), storing)
                order.append(owner)

        many = [asyncio.create_task(read(number, 1)) for number in range(10)]
        await asyncio.sleep(0)
        another = asyncio.create_task(read(10, 2))
        await asyncio.gather(*many, another)
        return order

    order = asyncio.run(main())
    assert (sorted(order), order.index(2) <= 1) == ([1] * 10 + [2], True)
