"""Every release's database comes up to this version while it is used, and answers what it answered then."""

import hashlib
import io
import json
import signal
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from procrastinate.schema import SchemaManager

from app.db.embedded import running_addresses
from app.db.engine import make_engine
from app.db.models import Base
from tests.cases import patient
from tests.cases.offline import plumbline
from tests.cases.packaging import ROOT
from tests.cases.release_database import ABOUT, RELEASES, digests, initial_digest
from tests.cases.running_server import fresh_data_dir, running_server
from tests.cases.walkthrough import PREREG

TOKEN = "release-test-" + "0123456789abcdef" * 2
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
OFTEN = {"PLUMBLINE_ADMIN_TOKEN": TOKEN, "PLUMBLINE_MAX_READS_PER_MINUTE": "1000000",
         "PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "1000000"}  # fmt: skip
BOARD = "/benchmarks/tiny/leaderboards/average.csv"


@contextmanager
def program_of(commit: str, folder: Path) -> Iterator[Path]:
    """Yield the program as it was at a commit. Skips the test in a copy of the repository that does not have it."""
    archived = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archived.returncode:
        pytest.skip(f"this copy of the repository does not have {commit}, whose program would serve meanwhile")
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        archive.extractall(folder, filter="data")
    yield folder


class Users:
    """Somebody who reads a board and somebody who submits, again and again, until they are stopped."""

    def __init__(self, address: str) -> None:
        self.address, self.read, self.sent = address, list[int](), list[int]()
        self._end = Event()
        self._threads = [Thread(target=self._repeat, args=(each,)) for each in (self._read, self._send)]

    def __enter__(self) -> "Users":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, use: Callable[[], None]) -> None:
        while not self._end.wait(0.5):
            use()

    def _read(self) -> None:
        self.read.append(patient.get(self.address + BOARD).status_code)

    def _send(self) -> None:
        rows = "model,task,MASE\n" + "".join(f"New{len(self.sent)},t{task},0.{task}\n" for task in (1, 2, 3))
        files = [("files", ("r.csv", rows.encode())), ("prereg", ("p.yaml", PREREG))]
        sent = patient.post(f"{self.address}/benchmarks/tiny/submissions", files=files, headers=ADMIN)
        self.sent.append(sent.status_code)


@pytest.mark.parametrize("release", sorted(RELEASES.glob("*")), ids=lambda path: str(path.name))
def test_a_release_is_upgraded_under_its_own_program(release: Path, tmp_path: Path) -> None:
    """Restored, served by the program of then, upgraded meanwhile, served by this one: no answer lost, none changed."""
    about = json.loads((release / ABOUT).read_text("utf-8"))
    with fresh_data_dir() as data_dir, program_of(about["commit"], tmp_path) as then:
        settings = {"PLUMBLINE_DATA_DIR": str(data_dir)}
        restored = plumbline("db", "restore", str(release), **settings)
        assert restored.returncode == 0, restored.stderr
        with running_server(data_dir, program=then, **OFTEN) as old, Users(old.address) as users:
            wait_for_some(users)
            upgraded = plumbline("db", "upgrade", **settings)
            assert upgraded.returncode == 0, upgraded.stderr
            wait_for_some(users)
        assert (set(users.read), set(users.sent)) == ({200}, {202})
        with running_server(data_dir, **OFTEN) as new:

            def get(address: str) -> tuple[int, bytes]:
                answer = patient.get(new.address + address)
                return answer.status_code, answer.content

            # What pyarrow writes has its version in it.
            known = {
                address: digest
                for address, digest in about["answers"].items()
                if about["pyarrow"] == pa.__version__ or ".parquet" not in address
            }
            assert len(known) > 100
            assert digests(get, known) == known
            assert patient.get(f"{new.address}{BOARD}?snapshot=3").status_code == 410
            wait_for_board(new.address, len(users.sent))
            with running_addresses(data_dir) as addresses:
                assert differences(addresses.owner) == []
        checked = plumbline("db", "check", **settings)
        assert checked.returncode == 0, checked.stderr
        assert "audit events are as they were sealed" in checked.stdout


def wait_for_some(users: Users) -> None:
    """Wait until both have been answered three times more."""
    wanted = [len(each) + 3 for each in (users.read, users.sent)]
    for _ in range(600):
        if len(users.read) >= wanted[0] and len(users.sent) >= wanted[1]:
            return
        signal.sigtimedwait([], 0.1)
    raise AssertionError(f"nobody is answered: {users.read[-3:]}, {users.sent[-3:]}")


def wait_for_board(address: str, n_sent: int) -> None:
    """Wait until everybody who was sent is on the board."""
    for _ in range(600):
        rows = patient.get(address + BOARD).text.splitlines()
        if sum(",New" in row for row in rows) == n_sent:
            return
        signal.sigtimedwait([], 0.1)
    raise AssertionError(f"of {n_sent} submissions not all are on the board: {rows}")


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """Say whether a table is one of the models, not one of the queue's."""
    return kind != "table" or not (name or "").startswith("procrastinate_")


def differences(url: str) -> list[object]:
    """Return what a migration would still have to do, the queue's own tables aside."""
    engine = make_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": is_ours})
        result = list(compare_metadata(context, Base.metadata))
    engine.dispose()
    return result


def test_the_first_revision_is_never_edited() -> None:
    """0.1.0 was released with it: a change of the schema is a new file in migrations/versions."""
    assert initial_digest() == "d8a44d9b1f6d3a7f76d864975d1879079816273383663af58adfe561d97358b7"


def test_the_queue_is_that_of_the_library() -> None:
    """When this fails, a newer procrastinate has another schema: write a revision that applies its migration files."""
    schema = hashlib.sha256(SchemaManager.get_schema().encode()).hexdigest()

    assert schema == "c70ec4b400a60ad9592787653aae5ae77ae41bf801d56b5bd2712751a07f2009"
