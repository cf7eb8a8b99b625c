"""What programs do over HTTP, done by the forms of a browser: each is answered with the same sentence, and keeps what
was typed.
"""

import html
import re

import httpx2

from tests.cases.signing_in import signed
from tests.cases.walkthrough import PREREG, declare
from tests.fixtures import Site

FORM, NEW = "/register/tiny", "/new-benchmark"
OTHER = PREREG + b"entrants: [Mine]\n"
PAGE = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


def actions(shown: str) -> list[str]:
    """Return where the forms of a page and their buttons lead, as a browser reads them."""
    return [html.unescape(each) for each in re.findall(r'(?:form)?action="([^"]*csrf=[^"]*)"', shown)]


def sent(
    site: Site, address: str, headers: dict[str, str], *, file: bytes | None = None, **fields: str
) -> httpx2.Response:
    """Send a form with a field for a file, as a browser does: with nothing chosen its name is empty."""
    files = [("yaml_file", ("" if file is None else "p.yaml", file or b"", "application/octet-stream"))]
    answer: httpx2.Response = site.http.post(
        address, data=fields, files=files, headers={**headers, **PAGE}, follow_redirects=False
    )
    return answer


def test_who_registers_in_a_browser_goes_on_to_submit_with_it_chosen(site: Site) -> None:
    """Checked first, which stores nothing, then registered by the same bytes, then submitted under it."""
    declare(site)
    alice = signed(site, "alice")
    shown = site.http.get(FORM, headers={**alice, **PAGE}).text
    register, check = actions(shown)[:2]
    checked = sent(site, check, alice, yaml=OTHER.decode().replace("\n", "\r\n"))
    known = site.http.get("/benchmarks/tiny/registrations.json").json()["rows"]
    registered = sent(site, register, alice, yaml=OTHER.decode().replace("\n", "\r\n"))
    address = registered.headers["location"]
    submit = site.http.get(address, headers={**alice, **PAGE}).text

    assert (checked.status_code, len(known)) == (200, 1)
    assert "nothing is stored yet" in checked.text
    assert "entrants: [Mine]" in checked.text
    assert registered.status_code == 303
    assert site.http.get(f"/preregs/{address.partition('=')[2]}.yaml").content == OTHER
    assert f'value="{address.partition("=")[2]}" selected' in submit


def test_a_refused_registration_keeps_the_text_and_has_the_sentence_of_the_api(site: Site) -> None:
    """Whether it was typed or in a file, and in a session that lost its key."""
    declare(site)
    alice = signed(site, "alice")
    register = actions(site.http.get(FORM, headers={**alice, **PAGE}).text)[0]
    wrong = b"benchmark: tiny\nmetrics: [MASE]\ntasks: [t1, t1]\nseeed: [1]\n"
    said = site.http.post("/preregs?benchmark=tiny", content=wrong, headers=site.auth()).json()
    typed = sent(site, register, alice, yaml=wrong.decode())
    dropped = sent(site, register, alice, yaml="", file=wrong)
    forged = sent(site, re.sub(r"csrf=\w+", "csrf=0", register), alice, yaml=wrong.decode())

    assert (typed.status_code, dropped.status_code, forged.status_code) == (422, 422, 403)
    for answer in (typed, dropped):
        assert html.escape(said["problems"][0]["message"]) in answer.text
        assert "seeed: [1]" in answer.text
    assert "seeed: [1]" in forged.text


RESULTS = b"model,task,accuracy,seconds\n" + b"".join(
    b"%s,t%d,0.%d,%d\n" % (name, task, 40 + 10 * at + task, 3 + at)
    for at, name in enumerate((b"small", b"mid", b"large"))
    for task in range(1, 7)
)


def drop(site: Site, headers: dict[str, str], content: bytes, name: str = "my results.csv", **fields: object) -> str:
    """Drop a file of results on the page of a new benchmark, and return the page that it answers with."""
    address = actions(site.http.get(NEW, headers={**headers, **PAGE}).text)[0]
    answer = site.http.post(address, data=fields, files=[("files", (name, content))], headers={**headers, **PAGE})
    assert answer.status_code in (200, 422), answer.text
    return str(answer.text)


def manifest_in(shown: str) -> str:
    """Return the text of the manifest of a page, as a browser would send it."""
    found = re.search(r'<textarea name="yaml"[^>]*>\n(.*?)</textarea>', shown, re.DOTALL)
    assert found is not None, shown
    return html.unescape(found[1])


def test_a_file_becomes_a_board_a_draft_and_a_public_benchmark_without_a_line_of_yaml(site: Site) -> None:
    """Guesses with controls, a preview of the boards, a draft that nobody else sees, and its publication."""
    steward = signed(site)
    shown = drop(site, steward, RESULTS)
    changed = drop(site, steward, RESULTS, title="Ours", slug="ours", metric=["seconds"], direction="seconds=minimize")
    making = next(each for each in actions(changed) if each.startswith("/benchmarks?visibility=draft"))
    made = sent(site, making, steward, yaml=manifest_in(changed))
    hidden = site.http.get("/benchmarks/ours").status_code
    desk = site.http.get(made.headers["location"], headers={**steward, **PAGE}).text
    people = site.http.get("/benchmarks/ours/people", headers={**steward, **PAGE}).text
    opening = next(each for each in actions(people) if "/visibility?" in each)
    site.http.post(opening, data={"visibility": "public"}, headers={**steward, **PAGE})

    assert "higher is better" in shown
    assert shown.index("large") < shown.index("small</"), "the boards are computed, the best is first"
    assert "metric: accuracy" not in manifest_in(changed)
    assert made.headers["location"] == "/desk/ours"
    assert hidden == 404
    assert "/benchmarks/ours/people#readers" in desk
    assert site.http.get("/benchmarks/ours").status_code == 200


def test_what_a_draft_cannot_be_made_of_is_refused_as_over_http(site: Site) -> None:
    """A table without a number, a file of no kind, none at all, and a column that is not there: each says so."""
    steward = signed(site)
    for content, name, fields in (
        (b"model,task\na,b\n", "r.csv", {}),
        (b"%PDF-1.7\n", "r.pdf", {}),
        (b"", "r.csv", {}),
        (RESULTS, "r.csv", {"entrant": "nobody"}),
        (RESULTS, "r.csv", {"direction": "accuracy=up"}),
    ):
        said = site.http.post(
            "/manifests", data=fields, files=[("files", (name, content))], headers=site.auth("steward")
        ).json()
        shown = drop(site, steward, content, name, **fields)

        assert said["status"] == 422
        assert html.escape(said["problems"][0]["message"], quote=True).replace("&#x27;", "&#39;") in shown


def test_labels_alone_say_what_is_predicted_and_are_uploaded_by_the_desk(site: Site) -> None:
    """Two classes, several, or numbers; a metric that is not ticked is gone; texts without number are refused."""
    steward = signed(site)
    kinds = {"binary": ["no", "yes"], "several": ["a", "b", "c"], "numbers": [f"{at}.5" for at in range(30)]}
    of = {kind: b"item,label\n" + b"".join(b"i%d,%s\n" % (at, words[at % len(words)].encode()) for at in range(60))
          for kind, words in kinds.items()}  # fmt: skip
    drafted = {kind: manifest_in(drop(site, steward, content, f"{kind}.csv")) for kind, content in of.items()}
    fewer = manifest_in(drop(site, steward, of["binary"], "binary.csv", metric=["accuracy"]))
    texts = b"item,label\n" + b"".join(b"i%d,w%d\n" % (at, at) for at in range(60))
    refused = drop(site, steward, texts, "texts.csv")
    making = next(each for each in actions(drop(site, steward, of["binary"])) if "visibility=draft" in each)
    sent(site, making, steward, yaml=drafted["binary"])
    desk = site.http.get("/desk/binary", headers={**steward, **PAGE}).text
    putting = next(each for each in actions(desk) if "/labels?" in each)
    wrong, right = (
        site.http.post(
            putting, files=[("file", ("l.csv", content))], headers={**steward, **PAGE}, follow_redirects=False
        )
        for content in (of["several"], of["binary"])
    )

    assert "classes: [no, yes]" in drafted["binary"]
    assert all("labels: private" in text for text in drafted.values())
    assert ("kind: regression" in drafted["numbers"], "rank_by: rmse" in drafted["numbers"]) == (True, True)
    assert "rank_by: accuracy" in drafted["several"]
    assert ("auc" in drafted["binary"], "auc" in fewer) == (True, False)
    assert "60 different labels, which are no numbers" in refused
    assert (wrong.status_code, right.status_code) == (422, 303)
    assert "60 labels, uploaded" in site.http.get("/desk/binary", headers={**steward, **PAGE}).text


def test_a_refused_manifest_keeps_its_text_and_only_stewards_draft(site: Site) -> None:
    """What was written by hand is not lost; who may not create a benchmark is told so by both."""
    steward, alice = signed(site), signed(site, "alice")
    making = next(each for each in actions(drop(site, steward, RESULTS)) if each.startswith("/benchmarks?visib"))
    refused = sent(site, making, steward, yaml="slug: ours # mine\n")
    checked = sent(site, making.replace("visibility=draft", "dry_run=true"), steward, yaml="slug: ours # mine\n")
    files = [("files", ("r.csv", RESULTS))]

    assert (refused.status_code, checked.status_code) == (422, 422)
    assert "slug: ours # mine" in refused.text
    assert site.http.get(NEW, headers={**alice, **PAGE}).status_code == 403
    assert site.http.post("/manifests", files=files, headers=site.auth()).status_code == 403


def test_a_class_is_invited_by_a_list_of_names_and_each_comes_by_a_link(site: Site) -> None:
    """Forty links, shown once; a student follows one, has a token of that name, and may submit and nothing else."""
    declare(site)
    steward = signed(site)
    names = [f"Student {at}" for at in range(1, 41)]
    people = site.http.get("/benchmarks/tiny/people", headers={**steward, **PAGE}).text
    inviting = next(each for each in actions(people) if each.startswith("/invitations?"))
    fields = {"benchmark": "tiny", "role": "submitter", "days": "14", "token_days": "90"}
    shown = site.http.post(
        inviting, data={**fields, "names": "\r\n".join(names)}, headers={**steward, **PAGE}, follow_redirects=False
    ).text
    links = [html.unescape(each) for each in re.findall(r"<code>(http[^<]*)</code>", shown)]
    path = links[6].partition("//")[2].partition("/")[2]
    form = site.http.get(f"/{path}", headers=PAGE).text
    code = re.search(r'name="code" value="([^"]+)"', form)
    assert code is not None
    order = {"code": code[1], "name": "Student 7"}
    token = site.http.post("/invitations/redeem", json=order).json()

    assert len(set(links)) == 40
    assert 'name="name" value="Student 7"' in form
    assert "next=/submit/tiny" in html.unescape(form).replace("%2F", "/").replace("%3D", "=").replace("%3F", "?")
    assert (token["name"], token["benchmarks"], token["role"]) == ("Student 7", ["tiny"], "submitter")
    assert site.http.post("/invitations/redeem", json=order).status_code == 409


def test_a_class_with_wrong_names_is_refused_whole_and_keeps_the_list(site: Site) -> None:
    """A name twice, in whatever case, one that is taken, one that no token can have: each with its line."""
    declare(site)
    steward = signed(site)
    wrong = ["Ann", "Bo", "ANN", "alice", "<b>"]
    order = {"benchmark": "tiny", "role": "submitter", "names": wrong}
    said = site.http.post("/invitations", json=order, headers=site.auth("steward")).json()
    people = site.http.get("/benchmarks/tiny/people", headers={**steward, **PAGE}).text
    inviting = next(each for each in actions(people) if each.startswith("/invitations?"))
    fields = {"benchmark": "tiny", "role": "submitter", "days": "14", "token_days": ""}
    shown = site.http.post(inviting, data={**fields, "names": "\r\n".join(wrong)}, headers={**steward, **PAGE})

    assert [problem["row"] for problem in said["problems"]] == [3, 4, 5]
    assert shown.status_code == 422
    assert "Ann\nBo\nANN\nalice\n&lt;b&gt;" in shown.text.replace("\r\n", "\n")
    assert all(html.escape(problem["message"]) in shown.text for problem in said["problems"])
    assert site.http.get("/invitations", headers=site.auth("steward")).json() == []
