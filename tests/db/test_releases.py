"""Every release's database comes up to this version while it is used, and answers what it answered then."""

import hashlib
import io
import json
import os
import signal
import subprocess
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pandas as pd
import pyarrow as pa
import pytest
import yaml
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from procrastinate.schema import SchemaManager

from app.db.embedded import running_addresses
from app.db.engine import make_engine
from app.db.models import Base
from tests.cases import patient, secret_labels
from tests.cases.offline import plumbline
from tests.cases.packaging import ROOT
from tests.cases.processes import wait_until_settled
from tests.cases.release_database import ABOUT, RELEASES, data_addresses, digests, initial_digest
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server
from tests.cases.walkthrough import PREREG
from tests.cases.ydf_http import table

TOKEN = "release-test-" + "0123456789abcdef" * 2
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
OFTEN = {"PLUMBLINE_ADMIN_TOKEN": TOKEN, "PLUMBLINE_MAX_READS_PER_MINUTE": "1000000",
         "PLUMBLINE_MAX_REQUESTS_PER_MINUTE": "1000000",
         "PLUMBLINE_MAX_ENTRANTS_OF_SUBMITTER": "1000"}  # fmt: skip
N_PUBLICATIONS = int(os.environ.get("PUBLICATIONS_N", "1000"))
WIDE_EVERY = 25
"""Of so many publications one is of the 324 embedding models, whose pairs fill megabytes."""

SCORES = ("SQL", "MASE", "WAPE", "WQL", "test_error", "main_score")

Files = list[tuple[str, tuple[str, bytes]]]


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

    def __init__(self, board: str, files_of: Callable[[int], Files]) -> None:
        self.board, self.files_of, self.read, self.sent = board, files_of, list[int](), list[int]()
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
        self.read.append(patient.get(self.board).status_code)

    def _send(self) -> None:
        address, files = self.board.partition("/leaderboards/")[0], self.files_of(len(self.sent))
        sent = patient.post(f"{address}/submissions", files=files, headers=ADMIN)
        self.sent.append(sent.status_code)


def tiny(number: int) -> Files:
    """Return the files of one more entrant of the walkthrough's benchmark."""
    rows = "model,task,MASE\n" + "".join(f"New{number},t{task},0.{task}\n" for task in (1, 2, 3))
    return [("files", ("r.csv", rows.encode())), ("prereg", ("p.yaml", PREREG))]


def upgrade_under(users: Users, settings: Mapping[str, str]) -> None:
    """Upgrade the database while it is read and written: each of them is answered before, meanwhile and afterwards."""
    with users:
        wait_for_some(users)
        upgraded = plumbline("db", "upgrade", **settings)
        assert upgraded.returncode == 0, upgraded.stderr
        wait_for_some(users)
    assert (set(users.read), set(users.sent)) == ({200}, {202})


@pytest.mark.parametrize("release", sorted(RELEASES.glob("*")), ids=lambda path: str(path.name))
def test_a_release_is_upgraded_under_its_own_program(release: Path, tmp_path: Path) -> None:
    """Restored, served by the program of then, upgraded meanwhile, served by this one: no answer lost, none changed."""
    about = json.loads((release / ABOUT).read_text("utf-8"))
    with fresh_data_dir() as data_dir, program_of(about["commit"], tmp_path) as then:
        settings = {"PLUMBLINE_DATA_DIR": str(data_dir)}
        restored = plumbline("db", "restore", str(release), **settings)
        assert restored.returncode == 0, restored.stderr
        board = "/benchmarks/tiny/leaderboards/average.csv"
        with running_server(data_dir, program=then, **OFTEN) as old:
            users = Users(old.address + board, tiny)
            upgrade_under(users, settings)
        with running_server(data_dir, **OFTEN) as new:
            # What pyarrow writes has its version in it.
            known = {
                address: digest
                for address, digest in about["answers"].items()
                if about["pyarrow"] == pa.__version__ or ".parquet" not in address
            }
            assert len(known) > 100
            assert answered(new, known) == known
            assert patient.get(f"{new.address}{board}?snapshot=3").status_code == 410
            wait_for_board(new.address + board, len(users.sent))
            with running_addresses(data_dir) as addresses:
                assert differences(addresses.owner) == []
        checked = plumbline("db", "check", **settings)
        assert checked.returncode == 0, checked.stderr
        assert "audit events are as they were sealed" in checked.stdout


def answered(server: RunningServer, addresses: Iterable[str]) -> Mapping[str, str]:
    """Return the digest of what each address answers, asked by as many as there are processors."""

    def get(address: str) -> tuple[int, bytes]:
        answer = patient.get(server.address + address)
        return answer.status_code, answer.content

    with ThreadPoolExecutor(os.cpu_count()) as readers:
        found = readers.map(lambda address: digests(get, [address]), addresses)
        return {address: digest for each in found for address, digest in each.items()}


@pytest.mark.slow
@pytest.mark.alone
def test_a_server_that_published_a_thousand_times_is_upgraded_and_carried_over(tmp_path: Path) -> None:
    """The last release's server with three benchmarks: every data address answers its bytes, upgraded and imported.

    fev's 30 models on 100 tasks, MTEB's 324 on 41 and private labels; PUBLICATIONS_N says how many publications.
    """
    last = json.loads((max(RELEASES.glob("*")) / ABOUT).read_text("utf-8"))
    with fresh_data_dir(on_disk=True) as data_dir, program_of(last["commit"], tmp_path / "then") as then:
        settings = {"PLUMBLINE_DATA_DIR": str(data_dir)}
        with running_server(data_dir, program=then, **OFTEN) as old:
            fev, mteb = begin(old, then / "examples/fev-bench"), begin(old, then / "examples/mteb-eng-v2")
            begin_private(old)
            for number in range(N_PUBLICATIONS):
                slug, more = ("fev-bench", fev) if (number + 1) % WIDE_EVERY else ("mteb-eng-v2", mteb)
                publish(old, slug, more(number % 7, number))
            with running_addresses(data_dir) as addresses:
                asked = data_addresses(addresses.owner)
            known = answered(old, asked)
            assert len(known) > 10 * N_PUBLICATIONS
            users = Users(f"{old.address}/benchmarks/fev-bench/leaderboards/sql.csv", lambda n: fev(n % 7, n))
            upgrade_under(users, settings)
        with running_server(data_dir, **OFTEN) as new:
            assert changed(new, known) == {}
        exported = plumbline("db", "export", str(tmp_path / "export"), **settings)
        assert exported.returncode == 0, exported.stderr
        with fresh_data_dir(on_disk=True) as elsewhere:
            imported = plumbline("db", "import", str(tmp_path / "export"), PLUMBLINE_DATA_DIR=str(elsewhere))
            assert imported.returncode == 0, imported.stderr
            with running_server(elsewhere, **OFTEN) as other:
                assert changed(other, known) == {}


def changed(server: RunningServer, known: Mapping[str, str]) -> Mapping[str, str]:
    """Return what answers other bytes than those that are known."""
    now = answered(server, known)
    return {address: now.get(address, "nothing") for address, digest in known.items() if now.get(address) != digest}


def begin(server: RunningServer, folder: Path) -> Callable[[int, int], Files]:
    """Publish an example without its registrations; return what makes the files of one more entrant like its last."""
    manifest = yaml.safe_load((folder / "manifest.yaml").read_text("utf-8")) | {"admission": {"prereg": "optional"}}
    made = patient.post(f"{server.address}/benchmarks", content=yaml.safe_dump(manifest), headers=ADMIN)
    assert made.status_code == 201, made.text[:1000]
    files: Files = [("files", (path.name, path.read_bytes())) for path in sorted(folder.glob("results/*.csv"))]
    publish(server, folder.name, files)
    rows = pd.read_csv(io.BytesIO(files[-1][1][1]), dtype=str, keep_default_na=False)
    who = manifest["columns"]["entrant"]
    last = rows[rows[who] == rows[who].iloc[-1]]
    scores = [name for name in SCORES if name in rows]

    def more(entrant: int, number: int) -> Files:
        varied = last[scores].astype(float) * (1 - 0.001 * (number + 1) / N_PUBLICATIONS)
        renamed = last.assign(**{who: f"new/model-{entrant}"}, **{name: varied[name].map(repr) for name in scores})
        return [("files", ("more.csv", renamed.to_csv(index=False).encode()))]

    return more


def begin_private(server: RunningServer) -> None:
    """Publish three submissions to a benchmark of private labels."""
    labels = secret_labels.truth(60)
    address = f"{server.address}/benchmarks/{secret_labels.SLUG}"
    named = secret_labels.items(len(labels))
    truth = {
        "file": ("labels.csv", table(["item", "label"], list(zip(named, secret_labels.words(labels), strict=True))))
    }
    made = patient.post(f"{server.address}/benchmarks", content=secret_labels.manifest(), headers=ADMIN)
    put = patient.put(f"{address}/labels", files=truth, headers=ADMIN)
    assert (made.status_code, put.status_code) == (201, 201), put.text
    for share in (0.6, 0.75, 0.9):
        predicted = list(zip(named, secret_labels.knowing(labels, share), strict=True))
        files = [("files", ("A.csv", table(["item", "prediction"], predicted)))]
        publish(server, secret_labels.SLUG, files, entrant=f"A{share}")


def publish(server: RunningServer, slug: str, files: Files, **data: str) -> None:
    """Submit files, which are admitted, and wait until they are on the board."""
    address = f"{server.address}/benchmarks/{slug}/submissions"
    answer = patient.post(address, files=files, data=data, headers=ADMIN)
    assert answer.status_code == 202, answer.text[:1000]
    wait_until_settled(server, answer.json()["id"])


def wait_for_some(users: Users) -> None:
    """Wait until both have been answered three times more."""
    wanted = [len(each) + 3 for each in (users.read, users.sent)]
    for _ in range(600):
        if len(users.read) >= wanted[0] and len(users.sent) >= wanted[1]:
            return
        signal.sigtimedwait([], 0.1)
    raise AssertionError(f"nobody is answered: {users.read[-3:]}, {users.sent[-3:]}")


def wait_for_board(board: str, n_sent: int) -> None:
    """Wait until everybody who was sent is on the board."""
    for _ in range(600):
        rows = patient.get(board).text.splitlines()
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
