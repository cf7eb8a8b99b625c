"""A against B: the sentence one may write of two entrants, its rows as CSV and JSON, and what is refused."""

import re

import pytest

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
    "Part": (((0.9, 0.6), (2.1, 0.4), (3.9, 0.6), (3.1, 0.4)) * 2)[:7],
}
HOME = "/benchmarks/duel/leaderboards"


def publish(site: Site) -> None:
    """Publish four: Good is better than Base on every task, Like is like it, and Part is Like but for a task."""
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


def sentence(site: Site, board: str, a: str, b: str) -> str:
    """Return what one may write of two entrants."""
    answer = site.http.get(f"{HOME}/{board}/against.json", params={"a": a, "b": b})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["notes"][0])


@pytest.fixture(scope="module")
def duel(shared_site: Site) -> Site:
    """A site on which the four are published, only to be read."""
    publish(shared_site)
    return shared_site


@pytest.mark.parametrize(
    ("board", "a", "b", "begins", "ends"),
    [
        pytest.param("error", "Good", "Base", "Good’s mean scaled error is lower than Base’s by 1.250 (95 % interval ",
                     ").",
                     id="means of 1.25 and 2.5, lower is better"),
        pytest.param("accuracy", "Base", "Good", "Good’s mean ACC is higher than Base’s by 0.350 (", "",
                     id="means of 0.85 and 0.5, higher is better"),
        pytest.param("skill", "Base", "Good", "Good is better than Base on skill score on scaled error: relative skill "
                     "0.500 (", "(without an interval).", id="half the error on every task: alike, so no interval"),
        pytest.param("error", "Like", "Base", "Not settled: Like and Base have the same mean scaled error "
                     "(95 % interval of this pair alone: ", "", id="an interval with zero in it"),
    ],
)  # fmt: skip
def test_the_better_one_is_named_first_and_by_how_much(
    duel: Site, board: str, a: str, b: str, begins: str, ends: str
) -> None:
    """Whoever is asked for first, by the direction of the metric, or that it is not settled."""
    message = sentence(duel, board, a, b)

    assert (message.startswith(begins), message.endswith(ends)) == (True, True), message
    assert message == sentence(duel, board, b, a) or message.startswith("Not settled: ")


def test_who_is_partial_has_its_bounds_and_is_not_said_to_differ_by_nothing(duel: Site) -> None:
    """The pair is by the board's scores; the ranks if all gaps were worst or best stand on its page."""
    message = sentence(duel, "skill", "Good", "Part")
    shown = duel.http.get("/benchmarks/duel/entrants/Part").text.partition("On the boards")[2].partition("</table>")[0]
    (row,) = re.findall(r"(?s)<tr>(?:(?!</tr>).)*leaderboards/skill.*?</tr>", shown)
    cells = [re.sub(r"(?s)<.*?>", "", cell).strip() for cell in re.findall(r"(?s)<t[dh].*?</t[dh]>", row)]
    board = {row["entrant"]: row for row in duel.http.get(f"{HOME}/skill.json").json()["rows"]}["Part"]

    assert message.startswith("Good is better than Part on skill score on scaled error: relative skill ")
    assert re.search(r" relative skill 0\.492 \(95 % interval of this pair alone: 0\.\d+ to 0\.\d+\)\. ", message), (
        message
    )
    assert message.endswith(". The rule for missing results puts Good before Part, too.")
    assert cells[-2:] == [str(board["rank_if_worst"]), str(board["rank_if_best"])]
    assert "7 of 8" in cells


def test_csv_and_json_are_the_pairwise_row_where_there_is_nothing_else(duel: Site) -> None:
    """One row, of A and B in the order of the question."""
    asked = {"a": "Base", "b": "Good"}
    header, *lines = duel.http.get(f"{HOME}/error/against.csv", params=asked).text.splitlines()
    rows = duel.http.get(f"{HOME}/error/against.json", params=asked).json()["rows"]

    assert header.startswith("entrant_a,entrant_b,win_rate,")
    assert [line.split(",")[:3] for line in lines] == [["Base", "Good", "0.0"]]
    assert [row["advantage"] for row in rows] == [-1.25]


def test_the_page_shows_the_sentence_and_the_form_and_the_square_leads_to_it(duel: Site) -> None:
    """The two are chosen in a form without scripts and stay chosen; the snapshot goes with the names."""
    shown = duel.http.get(f"{HOME}/error/against?a=Good&b=Base&snapshot=1").text
    empty = duel.http.get(f"{HOME}/error/against")

    assert "mean scaled error is lower than Base" in shown
    assert "<option selected>Base" in shown
    assert re.search(r"<h2[^>]*>\s*Task by task\s*</h2>", shown)
    assert (empty.status_code, "<button>Compare</button>" in empty.text) == (200, True)
    assert 'href="against?a=Good&amp;b=Base' in duel.http.get(f"{HOME}/error/pairwise?snapshot=1").text
    assert duel.http.get(f"{HOME}/error/against?a=Good&b=Base&snapshot=9").status_code == 404


def test_what_must_be_known_of_all_pairs_is_said_once(duel: Site) -> None:
    """Eight tasks may lack one that is far off: that stands under the sentence, not again over the rows."""
    page = duel.http.get(f"{HOME}/accuracy/against", params={"a": "Good", "b": "Base"}).text

    assert page.count("Comparisons are not widened for a task") == 1


def test_a_page_without_a_pair_links_to_no_rows(duel: Site) -> None:
    """There are none before two are chosen: every address of data would be refused."""
    page = duel.http.get(f"{HOME}/accuracy/against").text

    assert "against.csv" not in page
    assert "a=&amp;b=" not in page
    assert f"{HOME}/accuracy/against?snapshot=" in page


def test_of_many_the_best_are_compared_and_who_is_not_among_them_is_told_so(shared_site: Site) -> None:
    """The last of 201 is on the board, and an answer that it compares no such entrant would deny that."""
    manifest = (
        MANIFEST.partition("  - {name: error")[0].replace("duel", "crowd").replace("missing: impute", "missing: drop")
    )
    created = shared_site.http.post("/benchmarks", content=manifest, headers=shared_site.auth("steward"))
    assert created.status_code == 201, created.text
    names = ["Base", *(f"M{at:03}" for at in range(200))]
    lines = [f"{name},t{task},{1 + at},0.5" for at, name in enumerate(names) for task in range(1, 9)]
    sent = shared_site.http.post(
        "/benchmarks/crowd/submissions",
        files=[("files", ("r.csv", "\n".join(["model,task,MASE,ACC", *lines, ""])))],
        headers=shared_site.auth("steward"),
    )
    assert sent.status_code == 202, sent.text
    shared_site.work()
    home = "/benchmarks/crowd/leaderboards/skill/against.json"
    beyond = shared_site.http.get(home, params={"a": "Base", "b": "M199"})

    assert shared_site.http.get(home, params={"a": "Base", "b": "M198"}).status_code == 200
    assert beyond.status_code == 404
    assert beyond.json()["detail"].endswith("compares no entrant M199. Only its best 200 are compared.")


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("error/against.json?a=Good&b=Nobody", 404, "no entrant Nobody"),
        ("error/against.json?a=Ghost&b=Nobody", 404, "no entrant Ghost and no entrant Nobody"),
        ("error/against.json?a=Good&b=Good", 422, "with itself"),
        ("error/against.json?a=Good", 422, "Give two entrants to compare"),
        ("nothing/against.json?a=Good&b=Base", 404, "nothing"),
    ],
)
def test_what_cannot_be_compared_is_refused(duel: Site, query: str, status: int, message: str) -> None:
    """An unknown name or board is named; one entrant is not two."""
    answer = duel.http.get(f"{HOME}/{query}")

    assert (answer.status_code, message in answer.json()["detail"]) == (status, True), answer.text


@pytest.mark.parametrize("board", ["skill", "error"])
def test_square_table_and_page_say_the_same_of_a_pair(duel: Site, board: str) -> None:
    """One verdict for each pair: the dot of the square, the flag of the row, the sentence, and who may be first."""
    pairs = duel.http.get(f"{HOME}/{board}/pairwise.json").json()["rows"]
    square = duel.http.get(f"{HOME}/{board}/pairwise").text
    first = {row["entrant"]: row["may_be_first"] for row in duel.http.get(f"{HOME}/{board}.json").json()["rows"]}
    whole = [row for row in pairs if "Part" not in (row["entrant_a"], row["entrant_b"])]
    apart = {(row["entrant_a"], row["entrant_b"]) for row in whole if row["separable"]}

    assert apart == {("Good", "Base"), ("Base", "Good"), ("Good", "Like"), ("Like", "Good")}
    assert [name for name, is_first in first.items() if is_first] == ["Good"]
    # Those that the rule for gaps decides are in the square too, and say whether a test does.
    assert square.count("settled") == sum(row["separable"] is True for row in pairs)
    ruled = [row for row in pairs if row.get("decided_by") == "rule for gaps and test"]
    assert [row["p_value"] < 0.05 for row in ruled] == [True] * (2 if board == "skill" else 0)
    for a, b in (("Good", "Base"), ("Like", "Base")):
        assert sentence(duel, board, a, b).startswith("Not settled: ") == ((a, b) not in apart)
