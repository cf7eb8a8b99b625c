"""A private benchmark beside a public one, and how its addresses are asked for and compared with what is not there."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest

from app.rights import tokens
from tests.cases.registrations import YAML
from tests.cases.walkthrough import BASE, MANIFEST, declare, send
from tests.fixtures import Site, SiteAfter

SECRET, ABSENT = "hidden-qq", "absent-qq"
NAMES = (SECRET, "qqentrant", "qqtask", "qqboard", "zyxwonder")
HIDDEN = (
    MANIFEST.replace("slug: tiny", f"slug: {SECRET}")
    .replace("title: Tiny", "title: Zyxwonder")
    .replace("{id: t1}", "{id: qqtask}")
    .replace("name: average", "name: qqboard")
)
ROWS = b"model,task,MASE\nQqentrant,qqtask,1.0\nQqentrant,t2,2.0\nQqentrant,t3,4.0\n"
OWN_PREREG = f"benchmark: {SECRET}\nmetrics: [MASE]\ntasks: all\nentrants: [Qqentrant]\nnotes: zyx\n".encode()
STRANGERS = ("nobody", "bob", "there")
PARTS = {
    "{version}": "1",
    "{number}": "1",
    "{board}": "qqboard",
    "{entrant}": "Qqentrant",
    "{task}": "qqtask",
    "{submission}": "2",
    "{kind}": "pairwise",
    "{table}": "records",
    "{file}": "metrics.csv",
    "{name}": "summary.csv",
    "{role}": "steward",
    "{invitation}": "1",
}


def hide(site: Site) -> None:
    """Make a public benchmark with a submission, and a private one of `steward` with a submission of alice."""
    with site.sessions.begin() as session:
        site.tokens["there"] = tokens.create_token(session, "there", "steward")[1]
    declare(site, "bob")
    assert send(site, BASE, "bob")["http"] == 202
    assert make(site, "private").status_code == 201
    for name in ("alice",):
        given = {"token": name, "role": "submitter"}
        site.http.post(f"/benchmarks/{SECRET}/roles", json=given, headers=site.auth("steward")).raise_for_status()
    assert site.http.post("/preregs", content=OWN_PREREG, headers=site.auth() | YAML).status_code == 201
    assert submit(site, SECRET).status_code == 202
    site.work()


@pytest.fixture
def hiding(site_after: SiteAfter) -> Site:
    """A site with something private."""
    return site_after(hide)


def make(site: Site, visibility: str) -> httpx2.Response:
    """Make the hidden benchmark."""
    path = f"/benchmarks?visibility={visibility}"
    answer: httpx2.Response = site.http.post(path, content=HIDDEN, headers=site.auth("steward") | YAML)
    return answer


def submit(site: Site, slug: str, who: str = "alice") -> httpx2.Response:
    """Submit the rows to the hidden benchmark."""
    files = [("files", ("r.csv", ROWS)), ("prereg", ("p.yaml", OWN_PREREG))]
    answer: httpx2.Response = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth(who))
    return answer


def ask(site: Site, path: str, who: str, **sent: Any) -> tuple[int, Mapping[str, str], bytes]:
    """Return status, headers and body of an answer; without those of the time and of the request."""
    method = sent.pop("method", "GET")
    headers = {**sent.pop("headers", {}), **({} if who == "nobody" else site.auth(who))}
    answer = site.http.request(method, path, headers=headers, follow_redirects=False, **sent)
    kept = {k: v for k, v in answer.headers.items() if k not in ("date", "x-request-id")}
    return answer.status_code, kept, answer.content


def paths(site: Site, slug: str, submission: str, sha256: str, method: str = "get") -> list[str]:
    """Return an address of every route that has one of these parts, with each of its formats."""
    result = []
    for path, methods in site.http.get("/openapi.json").json()["paths"].items():
        if method in methods and any(part in path for part in ("{slug}", "{submission}", "{sha256}")):
            filled = path.replace("{slug}", slug).replace("{sha256}", sha256).replace("{submission}", submission)
            for part, example in PARTS.items():
                filled = filled.replace(part, example)
            result += [filled] if filled.endswith((".csv", ".json", ".zip")) else [filled, f"{filled}.json"]
    return result


def blurred(answer: tuple[int, Mapping[str, str], bytes], sha256: str) -> tuple[int, Any, bytes]:
    """Return an answer in which what was asked for is the same; the lengths of the names are."""
    status, headers, body = answer
    for name, blank in ((SECRET, "*"), (ABSENT, "*"), (sha256, "#"), ("0" * 64, "#")):
        body = body.replace(name.encode(), blank.encode())
    body = body.replace(b"submission 2", b"submission 9").replace(b"Submission 2", b"Submission 9")
    named = {k: v.replace(SECRET, "*").replace(ABSENT, "*") for k, v in headers.items() if k != "content-length"}
    return status, named, body
