"""Counts the files of `app` that one CSV row enters on its way from POST to the published CSV, and the calls between
files: `python -m bench.walk`. `*` marks files with a function that is handed the row itself or what was made of it; the
others guard, count and decide around it.
"""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from app.admission.case import Case
from app.boards.cells import CellMatrix
from app.boards.tables import BoardTables
from app.config import Settings
from app.db.embedded import running_server
from app.db.migrate import upgrade
from app.files.tables import Block, Cells, CsvTable
from app.files.uploads import ReceivedFile, SentFile
from app.kinds.contract import Reading
from app.kinds.reader import Evidence
from app.kinds.summary.read import BlockPart
from app.reading import Readers, outcome_of
from app.receiving.upload import Upload
from app.render.table_page import TableView
from app.store.publication import Publication
from app.store.row_blocks import RowBlock
from app.store.rows import EntrantBlock
from app.values.scores import ScoreTable
from app.values.table import Table
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import open_site, passing_folder

APP = str(Path(__file__).parents[1] / "app")


@dataclass
class Walk:
    """The files that were entered, and how often a function of one called a function of another."""

    files: set[str] = field(default_factory=set)
    handed: set[str] = field(default_factory=set)
    n_hops: int = 0

    def note(self, frame: FrameType) -> None:
        """Count a call of a function of ours."""
        entered = frame.f_code.co_filename
        self.files.add(entered)
        if entered not in self.handed and is_handed_rows(frame):
            self.handed.add(entered)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(APP):
            caller = caller.f_back
        self.n_hops += caller is None or caller.f_code.co_filename != entered

    def __str__(self) -> str:
        """Say the numbers."""
        return f"{len(self.files)} files, {len(self.handed)} of them handed the row, {self.n_hops} hops"


# What the row is at each step, from a file's columns of text to the table of the board.
CARRIERS = (SentFile, Upload, ReceivedFile, CsvTable, Block, Cells, BlockPart, Reading, Evidence, ScoreTable, Case,
            RowBlock, EntrantBlock, CellMatrix, BoardTables, Publication, Table, TableView)  # fmt: skip


def is_handed_rows(frame: FrameType) -> bool:
    """Say whether an argument of a call is the row in one of its forms, or holds it as its first member."""
    code = frame.f_code
    given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    return any(isinstance(each, CARRIERS) or isinstance(_first_of(each), CARRIERS) for each in given)


def _first_of(value: object) -> object:
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return next(iter(members), None)


CURRENT: list[Walk] = []


def profile(frame: FrameType, event: str, _: Any) -> None:
    """Note each call into `app`, in whatever thread, while somebody looks."""
    if CURRENT and event == "call" and frame.f_code.co_filename.startswith(APP) and frame.f_code.co_name != "<module>":
        CURRENT[0].note(frame)


@contextmanager
def looking() -> Iterator[Walk]:
    """Yield a walk that is being counted."""
    CURRENT.append(Walk())
    try:
        yield CURRENT[0]
    finally:
        CURRENT.clear()


ordered = Readers.read


async def read_twice(self: Readers, work: Any, *rest: Any) -> Any:
    """Read the files here, where calls are counted, beside the process that reads them in earnest."""
    outcome_of(work)
    return await ordered(self, work, *rest)


def count() -> dict[str, Walk]:
    """Return the walk of a second submission: at the first one, modules are imported and tables prepared."""
    with passing_folder() as folder, running_server(folder) as url:
        upgrade(url)
        return count_on(url)


def count_on(database_url: str) -> dict[str, Walk]:
    """Walk on an empty database."""
    with open_site(database_url, Settings(max_stale_s=0)) as site:
        declare(site)
        send(site, BASE)
        site.work()
        csv = "/benchmarks/tiny/leaderboards/skill.csv"
        site.http.get(csv)
        with looking() as post:
            status = send(site, GOOD)["http"]
        with looking() as work:
            site.work()
        with looking() as get:
            board = site.http.get(csv).text
    if status != 202 or "Good" not in board:
        raise RuntimeError(f"the row was not published (the upload was answered with {status})")
    walks = (post, work, get)
    whole = Walk(
        set().union(*(each.files for each in walks)),
        set().union(*(each.handed for each in walks)),
        sum(each.n_hops for each in walks),
    )
    return {"POST": post, "evaluate and publish": work, "GET": get, "all": whole}


def main() -> None:
    """Print the numbers, and with `--files` which files they were."""
    logging.disable()
    threading.setprofile(profile)
    sys.setprofile(profile)
    Readers.read = read_twice  # type: ignore[method-assign]
    walks = count()
    sys.setprofile(None)
    for step, walk in walks.items():
        print(f"{step}: {walk}")
        if "--files" in sys.argv:
            print("\n".join(f"{'*' if file in walk.handed else ' '} {Path(file).relative_to(Path(APP).parent)}"
                            for file in sorted(walk.files)))  # fmt: skip


if __name__ == "__main__":
    main()
