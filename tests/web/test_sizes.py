"""How large a benchmark may become, whoever sends; and that runs that are not admitted use nothing up."""

from collections.abc import Iterator

import pytest

from app.config import Settings
from tests.cases.walkthrough import PREREG
from tests.fixtures import Site, open_site

MANIFEST = """\
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
columns: {entrant: model, task: task, leaked: null}
metrics: {MASE: {direction: minimize, min: 0}}
tasks: {open: true}
admission: {prereg: ADMISSION}
leaderboards: [{name: average, method: mean, metric: MASE}]
"""


@pytest.fixture
def small(database_url: str) -> Iterator[Site]:
    """A server that compares few: six entrants, four of a submitter, on as many tasks as make thirty cells."""
    limits = Settings(max_stale_s=0, max_entrants=6, max_entrants_of_submitter=4, max_cells=30)
    with open_site(database_url, limits) as opened:
        yield opened


def declare(site: Site, admission: str) -> None:
    """Make the benchmark."""
    content = MANIFEST.replace("ADMISSION", admission)
    assert site.http.post("/benchmarks", content=content, headers=site.auth("steward")).status_code == 201


def send(site: Site, entrants: str, tasks: str, who: str = "alice", *, is_dry: bool = False) -> tuple[int, str]:
    """Submit a row for each entrant and task, one letter each; return the status and the sentence."""
    rows = "model,task,MASE\n" + "".join(f"{entrant},{task},1.5\n" for entrant in entrants for task in tasks)
    answer = site.http.post(
        "/benchmarks/tiny/submissions",
        params={"dry_run": is_dry},
        files=[("files", ("r.csv", rows.encode()))],
        headers=site.auth(who),
    )
    return answer.status_code, answer.json().get("detail", "")


def test_a_benchmark_grows_to_its_limits_and_no_further(small: Site) -> None:
    """Of all, of one submitter, and of cells; what is there already can always be sent again, and nothing is stored."""
    declare(small, "optional")
    cases = [
        ("alice", "ABCDE", "1", 409, "of this submission 5 in this benchmark would be yours; at most 4 may be."),
        ("alice", "ABCD", "12", 202, ""),
        ("bob", "EFG", "1", 409, "the benchmark would have 7; this server compares at most 6."),
        ("bob", "EF", "123456", 409, "6 entrants and 6 tasks; entrants times tasks may be at most 30 on this server."),
        ("bob", "E", "123", 202, ""),
        ("alice", "ABCD", "21", 202, ""),
        ("alice", "A", "3456", 202, ""),
        ("alice", "B", "7", 409, "5 entrants and 7 tasks"),
    ]
    for who, entrants, tasks, status, sentence in cases:
        dry, sent = (send(small, entrants, tasks, who, is_dry=is_dry) for is_dry in (True, False))
        small.work()

        assert dry == (200 if status == 202 else status, sent[1])
        assert sent[0] == status, (entrants, tasks, sent)
        assert sentence in sent[1]
    listed = small.http.get("/benchmarks.json").json()[0]
    assert (listed["n_entrants"], listed["n_submissions"]) == (5, 4)


def test_what_is_not_admitted_uses_nothing_up(small: Site) -> None:
    """Names and tasks of runs without the registration that is asked for are on no board."""
    declare(small, "required")
    stored = [
        send(small, entrants, tasks, "bob") for entrants, tasks in (("ABCD", "1"), ("EFGH", "1"), ("I", "1234567"))
    ]
    small.http.post("/preregs", content=PREREG, headers=small.auth())
    rows = b"model,task,MASE\n" + b"".join(b"%c,%d,1.5\n" % (name, task) for name in b"WXYZ" for task in range(1, 7))
    answer = small.http.post(
        "/benchmarks/tiny/submissions",
        files=[("files", ("r.csv", rows)), ("prereg", ("prereg.yaml", PREREG))],
        headers=small.auth(),
    )

    assert [status for status, _ in stored] == [202, 202, 202]
    assert answer.status_code == 202
    assert answer.json()["status"] == "received"
