"""A against B: the sentence one may write of two entrants, its rows as CSV and JSON, and what is refused."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import select, text

from app.db.models import SnapshotTable
from app.store.snapshots import pack_table, unpack_table
from app.values.table import Column, Table
from tests.fixtures import Site

MANIFEST = """\
schema_version: 1
slug: duel
title: Duel
evidence: evaluation_summary
columns: {entrant: model, task: task, leaked: null}
metrics:
  MASE: {direction: minimize, min: 0, title: scaled error}
  ACC: {direction: maximize}
tasks: [{id: t1}, {id: t2}, {id: t3}, {id: t4}, {id: t5}, {id: t6}, {id: t7}, {id: t8}]
leaderboards:
  - {name: skill, method: skill_score, metric: MASE, baseline: Base, missing: impute}
  - {name: error, method: mean, metric: MASE}
  - {name: accuracy, method: mean, metric: ACC}
"""
ROWS = {
    "Base": ((1.0, 0.5), (2.0, 0.5), (4.0, 0.5), (3.0, 0.5)) * 2,
    "Good": ((0.5, 0.9), (1.0, 0.8), (2.0, 0.9), (1.5, 0.8)) * 2,
    "Like": ((0.9, 0.6), (2.1, 0.4), (3.9, 0.6), (3.1, 0.4)) * 2,
}
HOME = "/benchmarks/duel/leaderboards"


def publish(site: Site) -> None:
    """Publish three entrants: Good is better than Base on every task, Like is like it."""
    created = site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward"))
    assert created.status_code == 201, created.text
    for entrant, values in ROWS.items():
        lines = [f"{entrant},t{at},{error},{share}" for at, (error, share) in enumerate(values, start=1)]
        content = "\n".join(["model,task,MASE,ACC", *lines, ""])
        sent = site.http.post(
            "/benchmarks/duel/submissions", files=[("files", ("r.csv", content))], headers=site.auth("steward")
        )
        assert sent.status_code == 202, sent.text
    site.work()


def send_part(site: Site) -> None:
    """Publish a fourth entrant, without one of the tasks."""
    rows = [f"Part,t{at},{error},{share}" for at, (error, share) in enumerate(ROWS["Like"][:7], start=1)]
    files = [("files", ("r.csv", "\n".join(["model,task,MASE,ACC", *rows, ""])))]
    assert site.http.post("/benchmarks/duel/submissions", files=files, headers=site.auth()).status_code == 202
    site.work()


def sentence(site: Site, board: str, a: str, b: str) -> str:
    """Return what one may write of two entrants."""
    answer = site.http.get(f"{HOME}/{board}/against.json", params={"a": a, "b": b})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["notes"][0])


def rewrite_pairwise(site: Site, board: str, change: Callable[[Table], Table]) -> None:
    """Change the pairwise table of the snapshot, as if a method that is not known here had made it."""
    with site.as_owner() as session:
        # Published tables are immutable by trigger; only the owner of the database can put that aside.
        session.execute(text("SET LOCAL session_replication_role = replica"))
        stored = session.scalars(select(SnapshotTable).where(SnapshotTable.name == f"pairwise/{board}")).one()
        table = change(unpack_table(stored.content))
        stored.content = pack_table(table)


def with_log_ratio(table: Table) -> Table:
    """Return a pairwise table whose effect has a name that no method of ours uses."""
    return replace(table, columns=tuple(renamed(column) for column in table.columns))


def renamed(column: Column) -> Column:
    """Return a column of the advantage as one of a log ratio."""
    ends = None if column.interval is None else [end.replace("advantage", "log_ratio") for end in column.interval]
    interval = None if ends is None else (ends[0], ends[1])
    return replace(column, name=column.name.replace("advantage", "log_ratio"), interval=interval)


def without_effect(table: Table) -> Table:
    """Return a pairwise table that says who is better and not by how much."""
    kept = [at for at, column in enumerate(table.columns) if not column.name.startswith("advantage")]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[at] for at in kept), rows=rows)


def test_a_smaller_error_is_said_to_be_lower(site: Site) -> None:
    """The means are 1.25 and 2.5, and lower is better."""
    publish(site)

    message = sentence(site, "error", "Good", "Base")

    assert message.startswith("Good’s mean scaled error is lower than Base’s by 1.250 (95 % interval ")
    assert message.endswith(", Student's t of resampled differences, drawn by name, 1,000 resamples).")


def test_the_better_one_is_named_first_whoever_is_asked_for_first(site: Site) -> None:
    """The sentence does not depend on the order of the question."""
    publish(site)

    assert sentence(site, "error", "Base", "Good") == sentence(site, "error", "Good", "Base")


def test_a_larger_share_is_said_to_be_higher(site: Site) -> None:
    """The means are 0.85 and 0.5, and higher is better."""
    publish(site)

    assert sentence(site, "accuracy", "Base", "Good").startswith("Good’s mean ACC is higher than Base’s by 0.350 (")


def test_a_skill_is_said_of_the_better_one(site: Site) -> None:
    """Half the error on every task is a skill of one half: alike everywhere, so no interval can be taken from it."""
    publish(site)

    message = sentence(site, "skill", "Base", "Good")

    assert message == "Good’s skill score on scaled error is higher than Base’s by 0.500 (without an interval)."


def test_who_is_partial_is_not_said_to_differ_by_nothing(site: Site) -> None:
    """It is ranked by the rule for failures; against the leader it counts with the worst in each gap."""
    publish(site)
    send_part(site)

    message = sentence(site, "skill", "Good", "Part")

    assert message.startswith("Good’s skill score on scaled error is higher than Part’s by ")
    assert message.endswith("(with the worst value in each gap, so without an interval).")


def test_who_is_partial_has_its_bounds_on_its_own_page(site: Site) -> None:
    """The ranks if all that is missing were worst or best stand wherever the gap does."""
    publish(site)
    send_part(site)
    text = site.http.get("/benchmarks/duel/entrants/Part").text.partition("On the boards")[2].partition("</table>")[0]
    (row,) = re.findall(r"(?s)<tr>(?:(?!</tr>).)*leaderboards/skill.*?</tr>", text)
    cells = [re.sub(r"(?s)<.*?>", "", cell).strip() for cell in re.findall(r"(?s)<t[dh].*?</t[dh]>", row)]
    board = {row["entrant"]: row for row in site.http.get(f"{HOME}/skill.json").json()["rows"]}["Part"]

    assert "Rank if worst" in text
    assert cells[-2:] == [str(board["rank_if_worst"]), str(board["rank_if_best"])]
    assert "7 of 8" in cells


def test_what_the_data_do_not_separate_is_said_so(site: Site) -> None:
    """The interval of the difference holds zero."""
    publish(site)

    assert sentence(site, "error", "Like", "Base").startswith(
        "The data do not separate Like from Base on mean scaled error: advantage 0.000 (95 % interval "
    )


def test_an_effect_of_an_unknown_name_is_named_as_it_is(site: Site) -> None:
    """A method of somebody else has its own measure of a difference, whose column says that more is better for A."""
    publish(site)
    rewrite_pairwise(site, "error", with_log_ratio)

    message = sentence(site, "error", "Base", "Good")

    assert message.startswith("Good is better than Base on scaled error: log ratio 1.250 (95 % interval ")


def test_an_effect_of_an_unknown_name_that_separates_nobody_is_named_as_it_is(site: Site) -> None:
    """The plain sentence of every method."""
    publish(site)
    rewrite_pairwise(site, "error", with_log_ratio)

    message = sentence(site, "error", "Like", "Base")

    assert message.startswith(
        "The data do not separate Like from Base on scaled error: log ratio 0.000 (95 % interval "
    )


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("Base", "Good", "Good is better than Base on scaled error."),
        ("Like", "Base", "The data do not separate Like from Base on scaled error."),
    ],
)
def test_a_board_without_any_effect_still_says_who_is_better(site: Site, a: str, b: str, message: str) -> None:
    """A method may say only how probably one is the better one."""
    publish(site)
    rewrite_pairwise(site, "error", without_effect)

    assert sentence(site, "error", a, b) == message


def test_the_page_of_an_effect_of_an_unknown_name_can_be_read(site: Site) -> None:
    """The page is made of the same sentence and rows."""
    publish(site)
    rewrite_pairwise(site, "error", with_log_ratio)
    answer = site.http.get(f"{HOME}/error/against?a=Good&b=Base")

    assert (answer.status_code, "Good is better than Base on scaled error: log ratio" in answer.text) == (200, True)


def test_csv_and_json_are_the_pairwise_row_where_there_is_nothing_else(site: Site) -> None:
    """One row, of A and B in the order of the question."""
    publish(site)
    asked = {"a": "Base", "b": "Good"}
    header, *lines = site.http.get(f"{HOME}/error/against.csv", params=asked).text.splitlines()
    rows = site.http.get(f"{HOME}/error/against.json", params=asked).json()["rows"]

    assert header.startswith("entrant_a,entrant_b,win_rate,")
    assert [line.split(",")[:3] for line in lines] == [["Base", "Good", "0.0"]]
    assert [row["advantage"] for row in rows] == [-1.25]


def test_the_page_shows_the_sentence_and_the_form(site: Site) -> None:
    """The two are chosen in a form without scripts, and the chosen ones stay chosen."""
    publish(site)
    shown = site.http.get(f"{HOME}/error/against?a=Good&b=Base").text

    assert "mean scaled error is lower than Base" in shown
    assert (
        '<select name="b"><option selected>Base</option>' in shown.replace("\n", "") or "<option selected>Base" in shown
    )
    assert "against.csv?a=Good&amp;b=Base" in shown


def test_without_names_there_is_the_form_alone(site: Site) -> None:
    """Nothing is compared before somebody chooses."""
    publish(site)
    answer = site.http.get(f"{HOME}/error/against")

    assert answer.status_code == 200
    assert "<button>Compare</button>" in answer.text
    assert 'class="verdict"' not in answer.text


def test_the_square_leads_to_each_pair(site: Site) -> None:
    """Every cell is a link to its two entrants."""
    publish(site)

    assert 'href="against?a=Good&amp;b=Base"' in site.http.get(f"{HOME}/error/pairwise").text


def test_a_pair_of_an_earlier_snapshot_is_found_again(site: Site) -> None:
    """The snapshot goes with the names."""
    publish(site)

    assert "snapshot=1&amp;a=" in site.http.get(f"{HOME}/error/pairwise?snapshot=1").text or (
        'href="against?a=Good&amp;b=Base&amp;snapshot=1"' in site.http.get(f"{HOME}/error/pairwise?snapshot=1").text
    )
    assert site.http.get(f"{HOME}/error/against?a=Good&b=Base&snapshot=1").status_code == 200
    assert site.http.get(f"{HOME}/error/against?a=Good&b=Base&snapshot=9").status_code == 404


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("a=Good&b=Nobody", 404, "no entrant Nobody"),
        ("a=Ghost&b=Nobody", 404, "no entrant Ghost and no entrant Nobody"),
        ("a=Good&b=Good", 422, "with itself"),
        ("a=Good", 422, "Give two entrants to compare"),
    ],
)
def test_what_cannot_be_compared_is_refused(site: Site, query: str, status: int, message: str) -> None:
    """An unknown name is named; one entrant is not two."""
    publish(site)
    answer = site.http.get(f"{HOME}/error/against.json?{query}")

    assert answer.status_code == status
    assert message in answer.json()["detail"]


def test_an_unknown_board_has_no_pairs(site: Site) -> None:
    """404, as for its other tables."""
    publish(site)

    assert site.http.get(f"{HOME}/nothing/against").status_code == 404


def test_the_page_says_the_test_its_metric_and_its_p(site: Site) -> None:
    """Of the pair alone, and whether it holds with all pairs of the board."""
    publish(site)
    notes = site.http.get(f"{HOME}/error/against.json", params={"a": "Good", "b": "Base"}).json()["notes"]

    assert notes[1].startswith("For this pair alone p = 0.00")
    assert notes[1].endswith(
        " (t test of the difference over resamples, two-sided, of mean scaled error); "
        "with all pairs of the board tested simultaneously the two are separable."
    )


@pytest.mark.parametrize("board", ["skill", "error"])
def test_square_table_and_page_say_the_same_of_a_pair(site: Site, board: str) -> None:
    """One verdict for each pair: the dot of the square, the flag of the row, the sentence, and who may be first."""
    publish(site)
    pairs = site.http.get(f"{HOME}/{board}/pairwise.json").json()["rows"]
    square = site.http.get(f"{HOME}/{board}/pairwise").text
    first = {row["entrant"]: row["may_be_first"] for row in site.http.get(f"{HOME}/{board}.json").json()["rows"]}
    apart = {(row["entrant_a"], row["entrant_b"]) for row in pairs if row["separable"]}

    assert apart == {("Good", "Base"), ("Base", "Good"), ("Good", "Like"), ("Like", "Good")}
    assert first == {"Good": True, "Base": False, "Like": False}
    assert square.count("settled") == len(apart)
    for a, b in (("Good", "Base"), ("Like", "Base")):
        assert sentence(site, board, a, b).startswith("The data do not separate") == ((a, b) not in apart)
