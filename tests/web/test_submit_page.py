"""Submitting from a browser: the form, what is checked, what is refused, and what one has sent."""

import json
import re
from collections.abc import Mapping

import httpx2
import pytest

from tests.cases.signing_in import signed
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, declare, send
from tests.fixtures import Site

FORM = "/submit/tiny"
NOTHING: Mapping[str, str] = {}
BAD = b"model,task,MASE\nOops,t1,much\nOops,t9,1.0\n"


@pytest.fixture(scope="module")
def published(shared_site: Site) -> Site:
    """A site with an entrant of alice's."""
    declare(shared_site)
    assert send(shared_site, BASE)["http"] == 202
    shared_site.work()
    return shared_site


def signed_in(site: Site, who: str = "alice") -> dict[str, str]:
    """Sign in, and return the headers of a browser."""
    return {**signed(site, who), "accept": "text/html"}


def prereg_of(form: str) -> bytes:
    """Return a registration for the benchmark of a form."""
    return PREREG.replace(b"tiny", form.rpartition("/")[2].encode())


def sent(
    site: Site, headers: dict[str, str], rows: bytes, act: str, said: Mapping[str, str] = NOTHING, form: str = FORM
) -> httpx2.Response:
    """Fill in the form as a browser does and send it; fields that nobody filled in are there and empty."""
    shown = site.http.get(form, headers=headers)
    action = re.search(r'action="([^"]*csrf=[^"]*)"', shown.text)
    assert action is not None, shown.text
    stated = {f"metadata.{name}": text for name, text in {"organisation": "", "notes": "", **said}.items()}
    data = {"prereg_sha256": "", "entrant": "", "act": act, **stated}
    files = [("files", ("r.csv", rows)), ("prereg", ("p.yaml", prereg_of(form)))]
    answer: httpx2.Response = site.http.post(action[1], data=data, files=files, headers=headers, follow_redirects=False)
    return answer


def test_a_stranger_is_led_to_the_login_and_back(published: Site) -> None:
    """The form needs a session."""
    answer = published.http.get(FORM, follow_redirects=False)

    assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next={FORM}")


def test_a_check_stores_nothing_and_says_what_would_change(published: Site) -> None:
    """The page of the try has every check, and the rank that it would get."""
    headers = signed_in(published)
    before = published.http.get("/benchmarks.json").json()
    answer = sent(published, headers, GOOD, "check")
    page = published.http.get(answer.headers["location"], headers=headers).text

    assert answer.status_code == 303
    assert "It would be admitted" in page
    assert "Good would have rank 1" in page
    assert published.http.get("/benchmarks.json").json() == before


def test_a_refused_upload_keeps_a_page_with_its_problems(published: Site) -> None:
    """Only its sender and the stewards find it; the account lists it."""
    headers = signed_in(published)
    address = sent(published, headers, BAD, "submit").headers["location"]
    page = published.http.get(address, headers=headers).text

    assert address.startswith("/tries/")
    assert "much" in page
    assert published.http.get(address, headers=signed_in(published, "bob")).status_code == 404
    assert published.http.get(address, headers=signed_in(published, "admin")).status_code == 200
    assert address in published.http.get("/account/submissions", headers=headers).text


def test_a_refusal_of_the_api_says_where_it_is_kept(published: Site) -> None:
    """By a link that its sender may follow."""
    answer = published.http.post("/benchmarks/tiny/submissions", files=[("files", ("r.csv", BAD))],
                                 headers=published.auth())  # fmt: skip
    address = re.search(r"<([^>]+)>", answer.headers["link"])

    assert answer.status_code == 422
    assert address is not None
    assert published.http.get(f"{address[1]}.json", headers=published.auth()).json()["status"] == 422


def test_an_upload_from_the_form_is_a_submission(published: Site) -> None:
    """With what was said of its entrant, typed; the sender's own page lists it."""
    headers = signed_in(published)
    message = {"organisation": "A lab", "licence": "Apache-2.0", "n_parameters": "7e9", "open_weights": "yes"}
    address = sent(published, headers, GOOD.replace(b"Good", b"Formed"), "submit", message).headers["location"]
    stored = published.http.get(f"{address}.json").json()

    assert address.startswith("/submissions/")
    assert stored["metadata"] == {
        "organisation": "A lab",
        "licence": "Apache-2.0",
        "n_parameters": 7e9,
        "open_weights": True,
    }
    assert f'href="{address}"' in published.http.get("/account/submissions", headers=headers).text


def test_declared_fields_are_not_taken_for_those_of_the_form(published: Site) -> None:
    """A field may be called as one of the form is, and the page asks for no more than is taken."""
    names = ("act", "files", "prereg", "prereg_sha256", "csrf", "notes")
    declared = [{"name": name, "type": "text"} for name in names]
    manifest = f"{MANIFEST.replace('slug: tiny', 'slug: named')}\nentrant_fields: {json.dumps(declared)}\n"
    created = published.http.post("/benchmarks", content=manifest, headers=published.auth("steward"))
    headers, message = signed_in(published), dict.fromkeys(names, "check") | {"notes": "n" * 500}
    registered = published.http.post("/preregs?benchmark=named", content=prereg_of("/submit/named"),
                                     headers=published.auth())  # fmt: skip
    address = sent(published, headers, GOOD.replace(b"Good", b"Named"), "submit", message, "/submit/named")
    page = published.http.get("/submit/named", headers=headers).text

    assert (created.status_code, registered.status_code) == (201, 201)
    assert published.http.get(f"{address.headers['location']}.json").json()["metadata"] == message
    assert "textarea" not in page
    assert re.search(r'name="metadata.notes"\s+type="text"\s+maxlength="500"', page)


def test_the_form_is_refused_without_the_key_of_the_session(published: Site) -> None:
    """Another site cannot have somebody submit."""
    headers = signed_in(published)
    files = [("files", ("r.csv", GOOD))]

    assert published.http.post(FORM, data={"act": "submit"}, files=files, headers=headers).status_code == 403


def test_who_is_erased_leaves_no_tries(published: Site) -> None:
    """What was refused holds their rows, and nothing rests on it."""
    bob = published.auth("bob")
    refused = published.http.post("/benchmarks/tiny/submissions", files=[("files", ("r.csv", BAD))], headers=bob)
    address = re.search(r"<([^>]+)>", refused.headers["link"])
    number = published.http.get("/whoami", headers=bob).json()["id"]
    erased = published.http.post(f"/tokens/{number}/erase", json={"reason": "asked"}, headers=published.auth("admin"))

    assert (erased.status_code, address is not None) == (200, True)
    assert address is not None
    assert published.http.get(address[1], headers=published.auth("admin")).status_code == 404
