"""What entrants are, over HTTP: written by files, one by one and by model cards, all or nothing, and shown beside the
scores, which it never touches.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import psycopg
import pytest
from sqlalchemy import insert, make_url, select

from app.config import Settings
from app.db.models import Entrant
from tests.cases.signing_in import form_key, send_form, signed
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, give, send
from tests.fixtures import Site, new_database, open_site

DECLARED = """
entrant_fields:
  - organisation
  - {name: n_parameters, type: integer, direction: minimize, shown: true, title: Parameters}
  - licence
  - open_weights
  - released
  - url
  - {name: MASE_of_card, type: number}
""".replace("MASE_of_card", "claimed")
TINY = "/benchmarks/tiny"
BOARD = f"{TINY}/leaderboards/average"
FIELDS = ("organisation", "n_parameters", "licence", "open_weights", "released", "url", "claimed")
CARD = b"""---
license: mit
release_date: 2025-11-30
tags: [forecasting]
model-index:
  - {name: Good, results: [{metrics: [{type: MASE, value: 0.0}]}]}
---
# Good

n_parameters: 1
"""


@pytest.fixture(scope="module")
def published(postgres_url: str, migrated: str) -> Iterator[Site]:
    """Alice's Base, and Bob's Good and Great in one file, on a board that declares seven fields."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings(max_stale_s=0)) as site:
        made = site.http.post("/benchmarks", content=MANIFEST + DECLARED, headers=site.auth("steward"))
        assert made.status_code == 201, made.text
        give(site, "tiny", "Base")
        assert site.http.post("/preregs", content=PREREG, headers=site.auth()).status_code == 201
        assert send(site, BASE, metadata='{"licence": "BSD-3-Clause", "n_parameters": 12}')["http"] == 202
        both = GOOD + b"Great,t1,0.1\nGreat,t2,0.2\nGreat,t3,9.0\n"
        of_both = send(site, both, "bob", metadata='{"n_parameters": 5}')
        assert (of_both["http"], [each["column"] for each in of_both["warnings"]]) == (202, ["metadata.n_parameters"])
        site.work()
        yield site


def put(site: Site, entrant: str, values: Any, who: str = "steward", **query: Any) -> Any:
    """Say what one entrant is, as a program does."""
    return site.http.put(f"{TINY}/entrants/{entrant}/fields", json=values, headers=site.auth(who), params=query)


def post(site: Site, content: str | bytes, name: str = "f.csv", who: str = "steward", **query: Any) -> Any:
    """Send a file of many."""
    return site.http.post(f"{TINY}/entrants", files={"file": (name, content)}, headers=site.auth(who), params=query)


def rows(site: Site, address: str) -> dict[str, dict[str, str]]:
    """Return the rows of a CSV by entrant."""
    answer = site.http.get(address)
    assert answer.status_code == 200, answer.text
    return {row["entrant"]: row for row in csv.DictReader(io.StringIO(answer.text))}


def test_what_a_submission_says_of_its_one_entrant_stands_in_until_it_is_said(published: Site) -> None:
    """Of several entrants in one upload nothing is taken: it would be the same of all of them."""
    shown = rows(published, f"{BOARD}.csv")

    assert {name: row["n_parameters"] for name, row in shown.items()} == {"Base": "12", "Good": "", "Great": ""}
    assert put(published, "Base", {"n_parameters": 13}).status_code == 200
    assert rows(published, f"{BOARD}.csv")["Base"]["n_parameters"] == "13"


def test_a_file_of_many_is_columns_everywhere_and_touches_no_score(published: Site) -> None:
    """Of the page, CSV, JSON, Parquet and explored boards; chosen and sorted like any other column."""
    before = rows(published, f"{BOARD}.csv")
    sent = post(published, "entrant,n_parameters,licence,released,open_weights,url\n"
                "Good,7e9,MIT,2026-01-31,yes,https://good.example/x\n"
                "Great,2000000,apache-2.0,2025-06-01,no,\n")  # fmt: skip
    after = rows(published, f"{BOARD}.csv")
    scores = [{k: v for k, v in row.items() if k not in FIELDS} for row in (*before.values(), *after.values())]
    page = published.http.get(BOARD, headers={"accept": "text/html"}).text
    chosen = published.http.get(f"{BOARD}.csv?column=entrant&column=licence&column=url").text.split()
    by_size = published.http.get(f"{BOARD}?sort=n_parameters&column=entrant&column=url",
                                 headers={"accept": "text/html"}).text  # fmt: skip
    document = published.http.get(f"{BOARD}.json").json()

    assert (sent.status_code, sent.json()["n_changed"]) == (200, 9)
    assert scores[: len(before)] == scores[len(before) :]
    assert (after["Good"]["n_parameters"], after["Great"]["open_weights"]) == ("7000000000", "False")
    assert "Parameters" in page
    assert "Open weights</a>" not in page
    assert chosen == ["entrant,licence,url", *[f"{n},{r['licence']},{r['url']}" for n, r in after.items()]]
    assert by_size.index("Great</a>") < by_size.index("Good</a>")
    assert '<a href="https://good.example/x">' in by_size
    assert document["rows"][0]["open_weights"] in (True, False, None)
    assert published.http.get(f"{BOARD}.parquet").content[:4] == b"PAR1"
    assert rows(published, f"{BOARD}/explore.csv?field=licence=mit")["Good"]["released"] == "2026-01-31"
    assert rows(published, f"{BOARD}/tradeoff.csv?x=n_parameters").keys() == {"Base", "Good", "Great"}
    assert rows(published, f"{TINY}/entrants.csv")["Great"]["licence"] == "apache-2.0"


def test_a_board_leads_to_itself_filtered_and_back(published: Site) -> None:
    """Its menus have the values and bounds of fields; what is chosen is named, with the board without it."""
    leads = re.findall(r'href="([^"]*explore\?field=[^"]*)">([^<]*)<', published.http.get(BOARD).text)
    there, words = next((unescape(address), words) for address, words in leads if "n_parameters" in address)
    filtered = published.http.get(there).text
    without = re.findall(r'class="pick"[^>]*href="([^"]*)"', filtered)

    assert words.startswith("up to ")
    assert len(rows(published, there.replace("/explore", "/explore.csv"))) < len(rows(published, f"{BOARD}.csv"))
    assert [published.http.get(unescape(address)).status_code for address in without] == [200]
    assert "Parameters up to" in filtered


@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        ("f.csv", "entrant,n_parameters\nGood,many\nGood,1\nNobody,2\nGreat,1.5\n",
         [(2, "n_parameters", "many"), (3, "entrant", "Good"), (4, "entrant", "Nobody"), (5, "n_parameters", "1.5")]),
        ("f.csv", "entrant,licnce,url\nGood,mit,javascript:alert(1)\nGreat,mit,\n",
         [(2, "licnce", None), (2, "url", "javascript:alert(1)")]),
        ("f.csv", "model,licence\nGood,mit\n", [(1, "entrant", None)]),
        ("f.csv", "", [(None, None, None)]),
        ("f.csv", "entrant,licence\nGood,mit,more\n", [(2, None, None)]),
        ("f.json", '[{"entrant": "Good", "licence": ["mit"]}, {"entrant": 3}, 4]',
         [(1, "licence", "['mit']"), (2, "entrant", "3"), (3, None, "4")]),
        ("f.json", '[{"entrant": "Good", "n_parameters": 1e999}]', [(1, "n_parameters", "inf")]),
        ("f.json", '[{"entrant": "Good", "licence": "a", "licence": "b"}]', [(1, None, None)]),
        ("f.xlsx", "x", [(None, "file", "f.xlsx")]),
    ],
    ids=["values", "fields", "no-names", "empty", "ragged", "json", "infinite", "repeated", "format"],
)  # fmt: skip
def test_a_file_with_anything_wrong_is_refused_whole(
    published: Site, name: str, content: str, wrong: list[tuple[int | None, str | None, str | None]]
) -> None:
    """With where, which value and what is allowed; nothing of it is stored."""
    before = published.http.get(f"{TINY}/entrants.csv").content
    answer = post(published, content, name)
    problems = [(each["row"], each["column"], each["value"]) for each in answer.json()["problems"]]

    assert answer.status_code == 422
    assert [(row, column) for row, column, _ in problems] == [(row, column) for row, column, _ in wrong]
    assert all(value is None or value == shown for (*_, value), (*_, shown) in zip(wrong, problems, strict=True))
    assert published.http.get(f"{TINY}/entrants.csv").content == before


def test_only_the_owner_and_stewards_say_what_an_entrant_is(published: Site) -> None:
    """Also in a file of which only some are one's own; a stranger is told whom to ask."""
    own, other, half = (
        put(published, "Good", {"organisation": "Bob's"}, "bob"),
        put(published, "Good", {"organisation": "Alice's"}, "alice"),
        post(published, "entrant,organisation\nBase,A\nGood,A\n", who="alice"),
    )
    nobody = published.http.put(f"{TINY}/entrants/Good/fields", json={"organisation": "x"})

    assert [each.status_code for each in (own, other, half, nobody)] == [200, 403, 403, 401]
    assert "Not yours: Good" in half.json()["detail"]
    assert rows(published, f"{TINY}/entrants.csv")["Base"]["organisation"] == ""
    assert put(published, "Nobody", {}).status_code == 404


def test_of_two_who_edit_one_value_none_is_lost(published: Site) -> None:
    """Who says what was read is told of what came between; who does not, has both kept. Taken back is kept, too."""
    seen = put(published, "Base", {"organisation": "First"}).json()["last_change"]
    between = put(published, "Base", {"organisation": "Second"}, "alice", seen=seen)
    late = put(published, "Base", {"organisation": "Third"}, seen=seen)
    elsewhere = put(published, "Base", {"licence": "MIT"}, seen=seen)
    kept = put(published, "Base", {"organisation": None})
    page = published.http.get(f"{TINY}/entrants/Base", headers={"accept": "text/html"}).text

    assert [each.status_code for each in (between, late, elsewhere, kept)] == [200, 409, 200, 200]
    assert "Base, organisation: Second by alice" in late.json()["detail"]
    assert all(value in page for value in ("First", "Second", "taken back"))
    assert rows(published, f"{TINY}/entrants.csv")["Base"]["organisation"] == ""


def test_a_numbered_snapshot_keeps_its_bytes(published: Site) -> None:
    """It has what held when it was published, and what an address names as the last change; of no change to come."""
    pinned = f"{BOARD}.csv?snapshot=1"
    explored = f"{BOARD}/explore.csv?snapshot=1&field=licence=BSD-3-Clause"
    before = [published.http.get(address).content for address in (pinned, explored)]
    last = put(published, "Great", {"licence": "BSD-3-Clause"}).json()["last_change"]
    up_to = published.http.get(f"{pinned}&fields_to={last}")
    put(published, "Great", {"licence": "other"})

    assert [published.http.get(address).content for address in (pinned, explored)] == before
    assert published.http.get(f"{pinned}&fields_to={last}").content == up_to.content != before[0]
    assert b"BSD-3-Clause" in up_to.content
    assert published.http.get(f"{pinned}&fields_to={last + 99}").status_code == 404
    assert f"snapshot=1&amp;fields_to={last + 1}" in published.http.get(BOARD, headers={"accept": "text/html"}).text


def test_a_model_card_says_what_its_front_matter_says_and_no_score(published: Site) -> None:
    """By the names that cards have; what is below the front matter is Markdown, and scores are nobody's evidence."""
    before = rows(published, f"{BOARD}.csv")["Good"]
    address, headers = f"{TINY}/entrants/Good/card", published.auth("bob")
    taken = published.http.put(address, content=CARD, headers=headers)
    after = rows(published, f"{BOARD}.csv")["Good"]

    assert (taken.status_code, taken.json()["passed_over"]) == (200, ["tags", "model-index"])
    assert (after["licence"], after["released"], after["n_parameters"]) == ("mit", "2025-11-30", before["n_parameters"])
    assert {k: v for k, v in after.items() if k not in FIELDS} == {k: v for k, v in before.items() if k not in FIELDS}


HOSTILE_CARDS: tuple[tuple[bytes, int, str | None], ...] = (
    (b"# no front matter", 1, None),
    (b"---\nlicense: mit\n", 1, None),
    (b"---\nlicense: [mit, bsd]\n---\n", 2, "license"),
    (b"---\ntags: []\nn_parameters: all of them\n---\n", 3, "n_parameters"),
    (b"---\nurl: javascript:alert(1)\n---\n", 2, "url"),
    (b"---\na: &a [x, x]\nb: [*a, *a]\n---\n", 2, "a"),
    (b"---\nlicense: mit\nlicense: bsd\n---\n", 3, "license"),
    (b"---\nlicense: !!python/object/apply:os.system [ls]\n---\n", 2, "license"),
    (b"---\n- a\n---\n", 2, None),
    (b"\xff\xfe---\n", 1, None),
    (b"---\nlicense: 'a\xffb'\n---\n", 2, None),
    (b"---\n" + b"[" * 100_000 + b"\n---\n", 2, None),
)


def test_a_hostile_card_is_refused_with_its_line(published: Site) -> None:
    """Wrong types, no front matter, anchors, tags, bytes that are no text; nothing of it is stored."""
    before = published.http.get(f"{TINY}/entrants.csv").content
    for card, row, column in HOSTILE_CARDS:
        answer = published.http.put(f"{TINY}/entrants/Good/card", content=card, headers=published.auth("bob"))
        first = answer.json()["problems"][0]
        assert (answer.status_code, first["row"]) == (422, row), card[:40]
        assert column is None or first["column"] == column

    assert published.http.get(f"{TINY}/entrants.csv").content == before


def test_a_browser_changes_what_its_own_entrants_are(published: Site) -> None:
    """By a form with what is there, in which an empty field takes a value back; and by a file."""
    headers = signed(published, "bob")
    shown = published.http.get("/edit/tiny/Good", headers=headers).text
    listed = published.http.get("/edit/tiny", headers=headers).text
    sent = send_form(published, f"{TINY}/entrants/Good/fields?method=PUT", headers, f"{TINY}/entrants/Good",
                     organisation="Typed", licence="", n_parameters="8e9", open_weights="no")  # fmt: skip
    after = rows(published, f"{TINY}/entrants.csv")["Good"]
    wrong = send_form(published, f"{TINY}/entrants/Good/fields?method=PUT", headers, licence="x", n_parameters="lots")
    upload, refused = (
        published.http.post(
            f"{TINY}/entrants?then=/account&csrf={form_key(published, headers)}",
            files={"file": ("f.csv", f"entrant,licence,n_parameters\n{content}\n")},
            headers={**headers, "Accept": "text/html", "Sec-Fetch-Site": "same-origin"},
            follow_redirects=False,
        )
        for content in ("Good,MIT,", "Good,BSD,many\nNobody,MIT,1")
    )

    assert 'name="licence"' in shown
    assert ('/edit/tiny/Good"' in listed, '/edit/tiny/Base"' in listed) == (True, False)
    assert (sent.status_code, sent.headers["location"]) == (303, f"{TINY}/entrants/Good")
    assert (after["organisation"], after["licence"], after["n_parameters"]) == ("Typed", "", "8000000000")
    assert (wrong.status_code, "expected a whole number" in wrong.text) == (422, True)
    assert upload.status_code == 303
    assert (refused.status_code, 'type="file"' in refused.text, "Nobody" in refused.text) == (422, True, True)
    assert "many" in refused.text
    assert rows(published, f"{TINY}/entrants.csv")["Good"]["licence"] == "MIT"
    assert published.http.get("/edit/tiny/Base", headers=headers).status_code == 403
    assert published.http.get("/edit/tiny/Good", follow_redirects=False).status_code == 303


def test_the_form_tells_whoever_comes_second_and_keeps_what_they_typed(published: Site) -> None:
    """What was typed is there with what holds now; sent once more it holds, and both are in the history."""
    headers = signed(published, "bob")
    address = (
        f"{TINY}/entrants/Good/fields?method=PUT&seen={put(published, 'Good', {'url': None}).json()['last_change']}"
    )
    put(published, "Good", {"organisation": "Stewards"})
    late = send_form(published, address, headers, f"{TINY}/entrants/Good", organisation="Bobs", url="https://b.example")
    between = rows(published, f"{TINY}/entrants.csv")["Good"]
    again = re.search(r"seen=(\d+)", late.text)
    assert again is not None
    send_form(published, re.sub(r"seen=\d+", again[0], address), headers, organisation="Bobs", url="https://b.example")
    history = published.http.get(f"{TINY}/entrants/Good", headers={"accept": "text/html"}).text

    assert late.status_code == 409
    assert "organisation: Stewards by steward" in late.text
    assert ('value="Bobs"' in late.text, "Now it is Stewards." in late.text) == (True, True)
    assert (between["organisation"], between["url"]) == ("Stewards", "")
    assert rows(published, f"{TINY}/entrants.csv")["Good"]["organisation"] == "Bobs"
    assert ("Stewards" in history, "Bobs" in history) == (True, True)


def test_where_nothing_is_declared_nothing_is_taken(site: Site) -> None:
    """And the page says what a steward would declare."""
    assert site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("steward")).status_code == 201
    answer = site.http.post(
        f"{TINY}/entrants", files={"file": ("f.json", json.dumps([]))}, headers=site.auth("steward")
    )

    assert (answer.status_code, "entrant_fields" in answer.text) == (422, True)
    assert "entrant_fields" in site.http.get("/edit/tiny", headers=signed(site)).text


def test_who_is_erased_leaves_no_word_and_nothing_else_is_rewritten(published: Site) -> None:
    """Of people a value is emptied, and that alone: the database refuses another value, and to remove a change."""
    pat = published.http.post(
        "/tokens", json={"name": "Pat", "role": "steward"}, headers=published.auth("admin")
    ).json()
    published.tokens["pat"] = pat["token"]
    made = {"token": "Pat", "role": "steward"}
    published.http.post(f"{TINY}/roles", json=made, headers=published.auth("admin")).raise_for_status()
    assert put(published, "Good", {"organisation": "Pat & Sons", "licence": "Apache-2.0"}, "pat").status_code == 200
    asked = {"json": {"reason": "asked"}, "headers": published.auth("pat")}
    published.http.post(f"/tokens/{pat['id']}/erase", **asked).raise_for_status()

    url = make_url(published.sessions.kw["bind"].url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        said = connection.execute(
            "SELECT field, value FROM entrant_field WHERE by_id = %s ORDER BY field", [pat["id"]]
        ).fetchall()
        for change in (
            "UPDATE entrant_field SET value = '1' WHERE field = 'licence'",
            "UPDATE entrant_field SET value = NULL, by_id = 1 WHERE field = 'licence'",
            "DELETE FROM entrant_field",
        ):
            with pytest.raises(psycopg.errors.RestrictViolation):
                connection.execute(change)

    assert said == [("licence", "Apache-2.0"), ("organisation", None)]


def test_ten_thousand_entrants_are_described_at_once(published: Site) -> None:
    """Within what a request may take, also by somebody who says what they read; one wrong cell and nothing is taken."""
    names = [{"name": f"E{at}", "name_key": f"e{at}"} for at in range(10_000)]
    with published.sessions.begin() as session:
        number = session.scalars(select(Entrant.benchmark_id)).first()
        session.execute(insert(Entrant).values(benchmark_id=number), names)
    lines = [f"E{at},{at},mit,2026-01-{1 + at % 28:02}\n" for at in range(10_000)]
    wrong = post(published, "entrant,n_parameters,licence,released\n" + "".join(lines).replace("E77,77", "E77,many"))
    sent = post(published, "entrant,n_parameters,licence,released\n" + "".join(lines), seen=0)

    assert (wrong.status_code, [each["row"] for each in wrong.json()["problems"]]) == (422, [79])
    assert (sent.status_code, sent.json()["n_changed"]) == (200, 30_000)
