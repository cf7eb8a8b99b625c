"""Counts the files of `app` that one CSV row enters on its way from POST to the published CSV, and the calls between
files: `python -m bench.walk`. The figures stand in `docs/architecture.md`, copied by hand.
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

from app.config.settings import Settings
from app.db.embedded.running import running_server
from app.db.migrate import upgrade
from app.reading.jobs import outcome_of
from app.reading.readers import Readers
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.conftest import open_site, passing_folder

APP = str(Path(__file__).parents[1] / "app")


@dataclass
class Walk:
    """The files that were entered, and how often a function of one called a function of another."""

    files: set[str] = field(default_factory=set)
    n_hops: int = 0

    def note(self, frame: FrameType) -> None:
        """Count a call of a function of ours."""
        entered = frame.f_code.co_filename
        self.files.add(entered)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(APP):
            caller = caller.f_back
        self.n_hops += caller is None or caller.f_code.co_filename != entered

    def __str__(self) -> str:
        """Say both numbers."""
        return f"{len(self.files)} files, {self.n_hops} hops"


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


async def read_twice(self: Readers, job: Any, *rest: Any) -> Any:
    """Read the files here, where calls are counted, beside the process that reads them in earnest."""
    outcome_of(job)
    return await ordered(self, job, *rest)


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
    whole = Walk(post.files | work.files | get.files, post.n_hops + work.n_hops + get.n_hops)
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
            print("\n".join(f"  {Path(file).relative_to(Path(APP).parent)}" for file in sorted(walk.files)))


if __name__ == "__main__":
    main()
