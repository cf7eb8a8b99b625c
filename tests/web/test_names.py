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
from tests.fixtures import Site

MODELS = (Path(__file__).parents[1] / "data" / "mteb" / "models.txt").read_text("utf-8").splitlines()

OPEN = """\
schema_version: 1
slug: tiny
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


def declare(site: Site, *names: str, task: str = "t") -> dict[str, Any]:
    """Make a benchmark whose entrants are the names, each with a score of its own, and return the answer."""
    assert site.http.post("/benchmarks", content=OPEN, headers=site.auth("steward")).status_code == 201
    return enter(site, *names, task=task)


def enter(site: Site, *names: str, task: str = "t", tasks: Sequence[str] = ()) -> dict[str, Any]:
    """Submit a row of each name as CSV, or one of each task too."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["model", "task", "score"])
    # A text that begins like a formula is written with the mark, as our own CSV has it.
    pairs = itertools.product(names, tasks or [task])
    writer.writerows([[guard_formula(name), guard_formula(each), at] for at, (name, each) in enumerate(pairs)])
    rows = out.getvalue().encode()
    answer = site.http.post("/benchmarks/tiny/submissions", files=[("files", ("r.csv", rows))], headers=site.auth())
    site.work()
    return {"http": answer.status_code, **answer.json()}


def board_csv(site: Site) -> list[str]:
    """Return the entrants of the board's CSV as they are written there."""
    text = site.http.get("/benchmarks/tiny/leaderboards/average.csv").content.decode()
    return [row["entrant"] for row in csv.DictReader(io.StringIO(text))]


def board_json(site: Site) -> list[str]:
    """Return the entrants of the board's JSON."""
    return [row["entrant"] for row in site.http.get("/benchmarks/tiny/leaderboards/average.json").json()["rows"]]


def test_every_model_of_mteb_enters_under_its_name(roomy_site: Site) -> None:
    """324 names with slashes, brackets and equals signs stand on the board as they are."""
    assert declare(roomy_site, *MODELS)["status"] == "received"

    assert len(MODELS) == 324
    assert sorted(board_json(roomy_site)) == sorted(MODELS)
    assert sorted(board_csv(roomy_site)) == sorted(MODELS)


def test_every_name_is_found_at_its_address(roomy_site: Site) -> None:
    """As a page, as CSV and as JSON, whatever it holds; what the page links to is what is found."""
    names = [*REAL, *HOSTILE]
    declare(roomy_site, *names)

    for name in names:
        address = f"/benchmarks/tiny/entrants/{path_of_name(name)}"
        assert roomy_site.http.get(f"{address}.json").json()["title"] == name
        assert roomy_site.http.get(f"{address}.csv").headers["content-type"].startswith("text/csv")
        assert roomy_site.http.get(address).status_code == 200


def test_a_task_of_any_name_is_found_at_its_address(roomy_site: Site) -> None:
    """Tasks have names of the same kind."""
    declare(roomy_site, "A")
    enter(roomy_site, "A", tasks=(*REAL, *HOSTILE))
    for name in (*REAL, *HOSTILE):
        answer = roomy_site.http.get(f"/benchmarks/tiny/tasks/{path_of_name(name)}.json")

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


def test_an_old_address_still_leads_to_its_entrant(roomy_site: Site) -> None:
    """Brackets and slashes may be percent-encoded too, as they were and as clients do."""
    declare(roomy_site, "Model (v1)", "org/model")

    for address in ("Model%20%28v1%29.json", "org%2Fmodel.json"):
        assert roomy_site.http.get(f"/benchmarks/tiny/entrants/{address}").status_code == 200


def test_no_name_is_a_formula_in_a_csv_and_each_is_read_back(roomy_site: Site) -> None:
    """An apostrophe stands before what a spreadsheet would run; the CSV, sent again, has the same names."""
    declare(roomy_site, *HOSTILE)
    shown = board_csv(roomy_site)
    number = enter(roomy_site, *HOSTILE, task="again")["id"]
    exported = roomy_site.http.get(f"/submissions/{number}/scores.csv").content.decode()
    again = [row | {"task": "third", "model": row["entrant"]} for row in csv.DictReader(io.StringIO(exported))]
    out = io.StringIO()
    writer = csv.DictWriter(out, ["model", "task", "score"], extrasaction="ignore")
    writer.writeheader()
    writer.writerows(again)
    sent = send_rows(roomy_site, out.getvalue())

    assert not [name for name in shown if name.startswith(("=", "+", "-", "@"))]
    assert sorted(e["name"] for e in sent["entrants"]) == sorted(HOSTILE)


def send_rows(site: Site, text: str) -> dict[str, Any]:
    """Submit a CSV and return the submission's document."""
    answer = site.http.post("/benchmarks/tiny/submissions", files=[("files", ("r.csv", text.encode()))],
                            headers=site.auth()).json()  # fmt: skip
    document: dict[str, Any] = site.http.get(f"/submissions/{answer['id']}.json").json()
    return document


def test_no_name_is_markup_on_a_page(roomy_site: Site) -> None:
    """Board, entrant, against and submission show a name as text."""
    names = ["<script>alert(1)</script>", '"onmouseover="x', "{{ 7*7 }}"]
    number = declare(roomy_site, *names)["id"]
    pages = [
        "/benchmarks/tiny/leaderboards/average",
        "/benchmarks/tiny/leaderboards/average/pairwise",
        f"/benchmarks/tiny/entrants/{path_of_name(names[0])}",
        f"/submissions/{number}",
        "/benchmarks/tiny",
    ]

    for page in pages:
        text = roomy_site.http.get(page).text
        assert "<script>alert" not in text
        assert '"onmouseover="x' not in text


@pytest.mark.parametrize("name", REFUSED, ids=ascii)
def test_what_nobody_can_see_is_refused_with_its_reason(site: Site, name: str) -> None:
    """In the form field and in the rows; the message names the character, and holds none of it."""
    site.http.post("/benchmarks", content=OPEN, headers=site.auth("steward"))
    rows = json.dumps([{"model": name, "task": "t", "score": 1}]).encode()
    answer = site.http.post("/benchmarks/tiny/submissions", files=[("files", ("r.json", rows))], headers=site.auth())

    assert answer.status_code == 422
    assert answer.json()["problems"][0]["column"] == "model"
    assert "\u202e" not in answer.text


@pytest.mark.parametrize(
    ("first", "second"),
    [("GPT-4", "gpt-4"), ("GPT-4", "GPT－4"), ("straße", "STRASSE"), ("ﬁne", "fine"), ("Ⅳ", "iv")],
    ids=["case", "full width", "sharp s", "ligature", "roman numeral"],
)
def test_another_spelling_is_the_same_name(site: Site, first: str, second: str) -> None:
    """Whoever comes second with it is told, in one upload as well as in two."""
    declare(site, first)
    later = enter(site, second)
    together = enter(site, f"new {first}", f"new {second}")

    assert (later["http"], together["http"]) == (409, 422)
    assert f"{second} is {first}" in later["detail"]


def test_a_task_in_another_spelling_is_refused(site: Site) -> None:
    """A task that is there twice would weigh twice."""
    declare(site, "A", task="ArguAna")
    answer = enter(site, "B", task="arguana")

    assert (answer["http"], "arguana is ArguAna" in answer["detail"]) == (409, True)


def test_a_name_that_looks_like_another_is_flagged(site: Site) -> None:
    """One Cyrillic letter makes another name that nobody can tell apart: a check says so, with the letter."""
    declare(site, "GPT-4")
    number = enter(site, "GP\N{CYRILLIC CAPITAL LETTER TE}-4")["id"]
    checks = {check["rule"]: check for check in site.http.get(f"/submissions/{number}.json").json()["checks"]}

    assert checks["lookalikes"]["outcome"] == "warned"
    assert "U+0422 CYRILLIC CAPITAL LETTER TE" in checks["lookalikes"]["reason"]


def test_names_of_other_alphabets_are_not_flagged(site: Site) -> None:
    """Names that are nobody else's look like nobody else's."""
    number = declare(site, "通义千问", "мистраль", "GPT-4", "GPT-4o", "gpt-40")["id"]
    rules = [check["rule"] for check in site.http.get(f"/submissions/{number}.json").json()["checks"]]

    assert "lookalikes" not in rules


def test_the_key_of_a_name_is_stable() -> None:
    """Folding twice changes nothing, for every name here."""
    names = [*MODELS, *REAL, *HOSTILE, "ΐ", "İ", "ﬃ", "ẛ̣"]

    assert all(name_key(name_key(name)) == name_key(name) for name in names)
    assert all(name_key(unicodedata.normalize("NFD", name)) == name_key(name) for name in names)


def test_an_entrant_of_any_name_can_be_moved_to_another_owner(roomy_site: Site) -> None:
    """The address of the owner is below that of the entrant, also where the name ends like it."""
    names = ["x/owner", "a/b.csv", "../../x"]
    declare(roomy_site, *names)
    listed = roomy_site.http.get("/tokens", headers=roomy_site.auth("admin")).json()
    bob = next(token["id"] for token in listed if token["name"] == "bob")
    for name in names:
        answer = roomy_site.http.put(
            f"/benchmarks/tiny/entrants/{path_of_name(name)}/owner",
            json={"token_id": bob, "reason": "asked for"},
            headers=roomy_site.auth("steward"),
        )
        assert answer.json() == {"entrant": name, "owner": bob, "owner_name": "bob"}


def test_items_have_real_names_too(roomy_site: Site) -> None:
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
    assert roomy_site.http.post("/benchmarks", content=manifest, headers=roomy_site.auth("steward")).status_code == 201
    parts = [("HumanEval/0", "1"), ("HumanEval", "0/1"), ("arithmetic-0", "1")]
    rows = [{"seed": 0, "item": item, "turn": turn, "right": 1} for item, turn in parts]
    content = "\n".join(json.dumps(row) for row in rows).encode()
    answer = roomy_site.http.post(
        "/benchmarks/episodes/submissions",
        files=[("files", ("r.jsonl", content))],
        data={"entrant": "EleutherAI/pythia-160m"},
        headers=roomy_site.auth(),
    ).json()
    kept = roomy_site.http.get(f"/submissions/{answer['id']}/scores.csv").text

    assert [row["item"] for row in csv.DictReader(io.StringIO(kept))] == [
        "HumanEval\\/0/1", "HumanEval/0\\/1", "arithmetic-0/1",
    ]  # fmt: skip
