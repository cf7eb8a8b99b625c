"""Real and hostile names over HTTP: entered as they are, shown as they are, found at their address, and harmless."""

import csv
import io
import itertools
import json
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from app.names import name_key
from app.render.text import path_of_name
from app.values.formulas import guard_formula
from tests.cases import grids
from tests.fixtures import Site

MODELS = (Path(__file__).parents[1] / "data" / "mteb" / "models.txt").read_text("utf-8").splitlines()

OPEN = """\
schema_version: 1
slug: SLUG
title: Tiny
evidence: evaluation_summary
columns: {entrant: model, task: task}
metrics: {score: {direction: maximize}}
tasks: {open: true}
leaderboards:
  - {name: average, method: mean, metric: score, missing: drop, uncertainty: {n_resamples: 100}}
"""

REAL = [
    "EleutherAI/pythia-160m",
    "openai/text-embedding-3-large (embed_dim=512)",
    "voyage-3.5 (output_dtype=int8)",
    "GPT-4o, 2024-08-06 [temp=0]",
    "通义千问",
    "مدل فارسی",
    "Zoë's 50% & <b>",
]
HOSTILE = [
    "=cmd|' /C calc'!A0",
    "'=cmd",
    "+1",
    "-1",
    "@SUM(A1)",
    "../../x",
    "..",
    ".",
    "%2e%2e",
    "%252e%252e/%00",
    "a/b.csv",
    "rows.json",
    "a.yaml",
    "/etc/passwd",
    "a//b/",
    "~2E~",
    "a\\b",
    "a?b=c#d",
    "a;b",
    "owner",
    "x/owner",
    "<script>alert(1)</script>",
    '"onmouseover="x',
    "{{ 7*7 }}",
    "javascript:alert(1)",
    "x" * 200,
    "通" * 200,
]
REFUSED = ["a\x00b", "a\nb", "a\u202eb", "a\u200bb", "x" * 201, "", " a", "e\u0301", "a\ufe0f", "\ufdfa" * 20]


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each has a benchmark of its own."""
    return shared_site


@pytest.fixture
def slug(site: Site) -> str:
    """The name of a benchmark of the test's own."""
    return grids.declare(site, OPEN, None)


def enter(site: Site, slug: str, *names: str, task: str = "t", tasks: Sequence[str] = ()) -> dict[str, Any]:
    """Submit a row of each name as CSV, or one of each task too."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["model", "task", "score"])
    # A text that begins like a formula is written with the mark, as our own CSV has it.
    pairs = itertools.product(names, tasks or [task])
    writer.writerows([[guard_formula(name), guard_formula(each), at] for at, (name, each) in enumerate(pairs)])
    rows = out.getvalue().encode()
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=[("files", ("r.csv", rows))], headers=site.auth())
    site.work()
    return {"http": answer.status_code, **answer.json()}


def board_csv(site: Site, slug: str) -> list[str]:
    """Return the entrants of the board's CSV as they are written there."""
    text = site.http.get(f"/benchmarks/{slug}/leaderboards/average.csv").content.decode()
    return [row["entrant"] for row in csv.DictReader(io.StringIO(text))]


def board_json(site: Site, slug: str) -> list[str]:
    """Return the entrants of the board's JSON."""
    return [row["entrant"] for row in site.http.get(f"/benchmarks/{slug}/leaderboards/average.json").json()["rows"]]


def test_every_model_of_mteb_enters_under_its_name(site: Site, slug: str) -> None:
    """324 names with slashes, brackets and equals signs stand on the board as they are."""
    assert enter(site, slug, *MODELS)["status"] == "received"
    assert len(MODELS) == 324
    assert sorted(board_json(site, slug)) == sorted(MODELS)
    assert sorted(board_csv(site, slug)) == sorted(MODELS)


def test_every_name_is_found_at_its_address(site: Site, slug: str) -> None:
    """As a page, as CSV and as JSON, whatever it holds; what the page links to is what is found."""
    enter(site, slug, *REAL, *HOSTILE, "org/model (v1)")
    home = f"/benchmarks/{slug}/entrants"
    for name in (*REAL, *HOSTILE):
        address = f"{home}/{path_of_name(name)}"
        assert site.http.get(f"{address}.json").json()["title"] == name
        assert site.http.get(f"{address}.csv").headers["content-type"].startswith("text/csv")
        assert site.http.get(address).status_code == 200

    assert site.http.get(f"{home}/org%2Fmodel%20%28v1%29.json").status_code == 200, "encoded as clients do"


def test_an_entrant_is_itself_again_whatever_letters_it_has(site: Site, slug: str) -> None:
    """A second attempt is counted, although a database and Python write some capitals differently in small letters."""
    names = ("İstanbul", "ÉCOLE", "STRASSE", "Σίσυφος")
    first, second = enter(site, slug, *names), enter(site, slug, *reversed(names))
    other = enter(site, slug, "straße")
    said = [{each["rule"]: each["reason"] for each in sent["checks"]}["attempt"] for sent in (first, second)]

    assert said[0].startswith("The first of ")
    assert [name for name in names if f"ttempt 2 of {name}" not in said[1]] == []
    assert (other["http"], "straße is STRASSE" in other["detail"]) == (409, True)


def test_a_task_of_any_name_is_found_at_its_address(site: Site, slug: str) -> None:
    """Tasks have names of the same kind."""
    enter(site, slug, "A", tasks=(*REAL, *HOSTILE))
    for name in (*REAL, *HOSTILE):
        answer = site.http.get(f"/benchmarks/{slug}/tasks/{path_of_name(name)}.json")
        assert answer.json()["title"] == name


def test_an_address_stays_readable() -> None:
    """A slash is a slash; only what an address would take for something else is written otherwise."""
    addresses = {name: path_of_name(name) for name in (REAL[0], REAL[2], "a/b.csv", "../x", "a//b", "v~1")}

    assert addresses == {
        "EleutherAI/pythia-160m": "EleutherAI/pythia-160m",
        "voyage-3.5 (output_dtype=int8)": "voyage-3.5%20(output_dtype=int8)",
        "a/b.csv": "a/b~2Ecsv",
        "../x": "~2E~2E/x",
        "a//b": "a/~2Fb",
        "v~1": "v~7E1",
    }


def test_no_name_is_a_formula_in_a_csv_and_each_is_read_back(site: Site, slug: str) -> None:
    """An apostrophe stands before what a spreadsheet would run; the CSV, sent again, has the same names."""
    enter(site, slug, *HOSTILE)
    shown = board_csv(site, slug)
    number = enter(site, slug, *HOSTILE, task="again")["id"]
    exported = site.http.get(f"/submissions/{number}/scores.csv").content.decode()
    again = [row | {"task": "third", "model": row["entrant"]} for row in csv.DictReader(io.StringIO(exported))]
    out = io.StringIO()
    writer = csv.DictWriter(out, ["model", "task", "score"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(again)
    sent = send_rows(site, slug, out.getvalue())

    assert not [name for name in shown if name.startswith(("=", "+", "-", "@"))]
    assert sorted(e["name"] for e in sent["entrants"]) == sorted(HOSTILE)


def send_rows(site: Site, slug: str, text: str) -> dict[str, Any]:
    """Submit a CSV and return the submission's document."""
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=[("files", ("r.csv", text.encode()))],
                            headers=site.auth()).json()  # fmt: skip
    document: dict[str, Any] = site.http.get(f"/submissions/{answer['id']}.json").json()
    return document


def test_no_name_is_markup_on_a_page(site: Site, slug: str) -> None:
    """Board, entrant, against and submission show a name as text."""
    names = ["<script>alert(1)</script>", '"onmouseover="x', "{{ 7*7 }}"]
    number = enter(site, slug, *names)["id"]
    pages = [
        f"/benchmarks/{slug}/leaderboards/average",
        f"/benchmarks/{slug}/leaderboards/average/pairwise",
        f"/benchmarks/{slug}/entrants/{path_of_name(names[0])}",
        f"/submissions/{number}",
        f"/benchmarks/{slug}",
    ]

    for page in pages:
        text = site.http.get(page).text
        assert "<script>alert" not in text
        assert '"onmouseover="x' not in text


def test_what_nobody_can_see_is_refused_with_its_reason(site: Site, slug: str) -> None:
    """In the form field and in the rows; the message names the character, and holds none of it."""
    for name in REFUSED:
        rows = json.dumps([{"model": name, "task": "t", "score": 1}]).encode()
        files = [("files", ("r.json", rows))]
        answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth())

        assert (answer.status_code, answer.json()["problems"][0]["column"]) == (422, "model"), ascii(name)
        assert "\u202e" not in answer.text


def test_another_spelling_is_the_same_name(site: Site, slug: str) -> None:
    """Whoever comes second with it is told, in one upload as well as in two."""
    spellings = [("GPT-4", "gpt-4"), ("GPT-5", "GPT－5"), ("straße", "STRASSE"), ("ﬁne", "fine"), ("Ⅳ", "iv")]
    enter(site, slug, *(first for first, _ in spellings))
    for first, second in spellings:
        later = enter(site, slug, second)
        together = enter(site, slug, f"new {first}", f"new {second}")

        assert (later["http"], together["http"]) == (409, 422), first
        assert f"{second} is {first}" in later["detail"]


def test_a_task_in_another_spelling_is_refused(site: Site, slug: str) -> None:
    """A task that is there twice would weigh twice."""
    enter(site, slug, "A", task="ArguAna")
    answer = enter(site, slug, "B", task="arguana")

    assert (answer["http"], "arguana is ArguAna" in answer["detail"]) == (409, True)


def test_the_key_of_a_name_is_stable() -> None:
    """Folding twice changes nothing, for every name here."""
    names = [*MODELS, *REAL, *HOSTILE, "ΐ", "İ", "ﬃ", "ẛ̣"]

    assert all(name_key(name_key(name)) == name_key(name) for name in names)
    assert all(name_key(unicodedata.normalize("NFD", name)) == name_key(name) for name in names)


def test_an_entrant_of_any_name_can_be_moved_to_another_owner(site: Site, slug: str) -> None:
    """The address of the owner is below that of the entrant, also where the name ends like it."""
    names = ["x/owner", "a/b.csv", "../../x"]
    enter(site, slug, *names)
    listed = site.http.get("/tokens", headers=site.auth("admin")).json()
    bob = next(token["id"] for token in listed if token["name"] == "bob")
    for name in names:
        answer = site.http.put(
            f"/benchmarks/{slug}/entrants/{path_of_name(name)}/owner",
            json={"token_id": bob, "reason": "asked for"},
            headers=site.auth("steward"),
        )
        assert answer.json() == {"entrant": name, "owner": bob, "owner_name": "bob"}


def test_items_have_real_names_too(site: Site) -> None:
    """`HumanEval/0` and `arithmetic-0` are items of episodes; a slash within one of two parts stays a part of it."""
    manifest = """\
schema_version: 1
slug: episodes
title: Episodes
evidence: episodes
episodes: {item: [item, turn], condition: null}
metrics: {right: {direction: maximize, min: 0, max: 1}}
tasks: [{id: HumanEval}]
leaderboards:
  - {name: right, method: estimate, metrics: [right], statistic: mean, uncertainty: {n_resamples: 100}}
"""
    assert site.http.post("/benchmarks", content=manifest, headers=site.auth("steward")).status_code == 201
    parts = [("HumanEval/0", "1"), ("HumanEval", "0/1"), ("arithmetic-0", "1")]
    rows = [{"seed": 0, "item": item, "turn": turn, "right": 1} for item, turn in parts]
    content = "\n".join(json.dumps(row) for row in rows).encode()
    answer = site.http.post(
        "/benchmarks/episodes/submissions",
        files=[("files", ("r.jsonl", content))],
        data={"entrant": "EleutherAI/pythia-160m"},
        headers=site.auth(),
    ).json()
    kept = site.http.get(f"/submissions/{answer['id']}/scores.csv").text

    assert [row["item"] for row in csv.DictReader(io.StringIO(kept))] == [
        "HumanEval\\/0/1", "HumanEval/0\\/1", "arithmetic-0/1",
    ]  # fmt: skip
