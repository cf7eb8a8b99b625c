"""Problems that a person can act on: told by cause, with what was found and what was probably meant."""

import sys
from typing import Any

import pytest

from app.errors import Cause, Causes, Problem, Rejected
from app.files.findings import Findings
from plumbline.cli.output import cause_table, make_console
from tests.cases.walkthrough import BASE, send
from tests.fixtures import Site

EPISODES = """\
schema_version: 1
slug: episodes
title: Episodes
evidence: episodes
episodes: {item: [item], condition: null}
metrics: {right: {direction: maximize, min: 0, max: 1}}
tasks: [{id: arithmetic}]
leaderboards:
  - {name: right, method: estimate, metrics: [right], statistic: mean, uncertainty: {n_resamples: 100}}
"""


def submit_episodes(site: Site, rows: str, **fields: str) -> dict[str, Any]:
    """Make the benchmark of episodes and send a file of them."""
    assert site.http.post("/benchmarks", content=EPISODES, headers=site.auth("steward")).status_code == 201
    answer = site.http.post("/benchmarks/episodes/submissions", files=[("files", ("r.csv", rows.encode()))],
                            data=fields, headers=site.auth())  # fmt: skip
    document: dict[str, Any] = answer.json()
    return document


def test_two_causes_in_900_rows_are_told_as_two(roomy_site: Site) -> None:
    """1,800 problems, of which 1,000 are listed, have two causes with their counts and first rows."""
    rows = "seed,item,right\n" + "".join(f"x,task-{n},1\n" for n in range(900))
    answer = submit_episodes(roomy_site, rows)

    assert answer["n_problems"] == 1800
    assert [(cause["n"], cause["column"], cause["row"]) for cause in answer["causes"]] == [
        (900, "entrant", 2), (900, "seed", 2),
    ]  # fmt: skip
    assert answer["causes"][0]["message"] == "no entrant; send the form field entrant, or a column entrant"


def test_a_cause_is_the_same_whatever_numbers_and_value_it_names() -> None:
    """The message of each row may name its own row and value."""
    problems = [
        Problem(f"{v} has a row already: row {n}", "r.csv", n, "task", v) for n, v in ((3, "alpha"), (9, "beta"))
    ]

    assert Causes(problems).listed() == (Cause(problems[0], 2),)


def test_rows_beyond_the_thousandth_are_counted_with_their_cause() -> None:
    """They are not described one by one, and not forgotten."""
    findings = Findings()
    findings.add_each(range(5000), lambda at: Problem("not a number", "r.csv", at + 2, "MASE", "x"))
    with pytest.raises(Rejected) as refused:
        findings.raise_if_any(["r.csv"])

    assert [(cause.n, cause.first.row) for cause in refused.value.causes] == [(5000, 2)]
    assert len(refused.value.problems) == 1000


def test_no_more_causes_are_kept_than_anyone_reads() -> None:
    """A file in which every row has another message fills no memory."""
    causes = Causes(Problem("unknown", column=f"c{'x' * n}") for n in range(5000))

    assert len(causes.listed()) == 100


def test_the_command_line_prints_a_line_for_each_cause(capsys: pytest.CaptureFixture[str]) -> None:
    """With how many problems it made, and the first of them."""
    first = Problem("no entrant", "r.csv", 2, "entrant")
    make_console(sys.stdout).print(cause_table([Cause(first, 900), Cause(Problem("odd", "r.csv", 7, "seed", "x"))]))
    lines = [line for line in capsys.readouterr().out.splitlines() if "r.csv" in line]

    assert ["900" in lines[0], "no entrant" in lines[0], len(lines)] == [True, True, 2]


def test_a_missing_column_is_told_beside_the_columns_that_are_there(tiny: Site) -> None:
    """With the one that was probably meant."""
    (problem,) = send(tiny, BASE.replace(b"MASE", b"mase"))["problems"]

    assert problem["message"] == "the column MASE is missing; did you mean mase? The file has model, task, mase"


def test_a_metric_that_no_episode_has_is_told_beside_the_columns_that_are_there(site: Site) -> None:
    """`rihgt` was meant to be `right`."""
    answer = submit_episodes(site, "seed,item,rihgt\n0,a,1\n", entrant="A")

    assert "did you mean rihgt? The file has item, rihgt, seed" in answer["problems"][0]["message"]


@pytest.mark.parametrize(
    ("address", "column", "hint"),
    [
        ("/benchmarks/tiny/leaderboards/skill.csv?snapshoot=1", "snapshoot", "did you mean snapshot?"),
        ("/benchmarks/tiny/leaderboards/skill?columns=rank", "columns", "known are fields_to, snapshot"),
        ("/benchmarks/tiny?q=x", "q", "known are status"),
    ],
)
def test_an_unknown_parameter_is_refused_by_name(tiny: Site, address: str, column: str, hint: str) -> None:
    """It was passed over, and the whole table came as if it had been asked for."""
    answer = tiny.http.get(address)

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["column"] == column
    assert hint in answer.json()["problems"][0]["message"]


def test_what_a_table_takes_and_what_other_sites_append_is_no_fault(tiny: Site) -> None:
    """Sorting and details, and the marks that a link gets when it is shared."""
    send(tiny, BASE)
    tiny.work()
    for query in ("sort=entrant&order=asc", "detail=1", "utm_source=x&fbclid=y", ""):
        assert tiny.http.get(f"/benchmarks/tiny/leaderboards/skill?{query}").status_code == 200, query


def test_an_unknown_parameter_or_field_of_an_upload_is_refused(tiny: Site) -> None:
    """`dryrun` for `dry_run` would store what was only to be tried, `entrants` for `entrant` would be passed over."""
    files = [("files", ("r.csv", BASE))]
    tried = tiny.http.post("/benchmarks/tiny/submissions?dryrun=true", files=files, headers=tiny.auth())
    answer = send(tiny, BASE, entrants="Base")

    assert (tried.status_code, "did you mean dry_run?" in tried.text) == (422, True)
    assert (answer["http"], answer["problems"][0]["column"]) == (422, "entrants")
    assert "did you mean entrant?" in answer["problems"][0]["message"]
