"""What somebody decides in a browser: roles, invitations, tokens; the forms send to the addresses of programs."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import update

from app.db.models import BrowserSession
from app.names import is_holder
from tests.cases.routes import all_routes
from tests.cases.signing_in import form_key, send_form, signed
from tests.cases.walkthrough import MANIFEST
from tests.fixtures import Site

PEOPLE = "/benchmarks/tiny/people"
OPEN = MANIFEST.replace("admission: {", "admission: {registration: {per_day: 1, token_days: 30}, ")


def secret(text: str) -> str:
    """Return the text that a page shows once."""
    match = re.search(r'class="secret">(pl[bi]_[\w-]+)<', text)
    assert match is not None, text
    return match[1]


def test_a_steward_gives_and_ends_a_role_in_the_browser(tiny: Site) -> None:
    """With an end, which the page shows; a form leads back to the page that it stood on."""
    headers = signed(tiny)
    path = "/benchmarks/tiny/roles"
    given = send_form(tiny, path, headers, PEOPLE, token="alice", role="reviewer", until="2099-01-02T03:04")
    shown = tiny.http.get(PEOPLE, headers=headers).text
    ended = send_form(tiny, f"{path}/reviewer/alice?method=DELETE", headers, PEOPLE)
    roles = tiny.http.get(path, headers=headers).json()

    assert [(each.status_code, each.headers["location"]) for each in (given, ended)] == [(303, PEOPLE)] * 2
    assert "2099-01-02 03:04" in shown
    assert "alice" not in [held["name"] for held in roles["roles"]]
    assert [change["change"] for change in roles["history"]][-2:] == ["granted", "revoked"]


def test_only_who_may_give_a_role_is_offered_it(tiny: Site) -> None:
    """A steward makes no stewards, in no form and by no form."""
    steward, admin = signed(tiny), signed(tiny, "admin")
    offered = [tiny.http.get(PEOPLE, headers=each).text.count("<option>steward") for each in (steward, admin)]
    forged = send_form(tiny, "/benchmarks/tiny/roles", steward, PEOPLE, token="alice", role="steward")

    assert offered == [0, 2]
    assert (forged.status_code, forged.headers["content-type"]) == (403, "text/html; charset=utf-8")


def test_somebody_is_invited_and_signs_in_without_a_program(tiny: Site) -> None:
    """The code is shown once, its page makes the token, and the token signs in."""
    headers = signed(tiny)
    invited = send_form(
        tiny, "/invitations", headers, PEOPLE, benchmark="tiny", role="submitter", days="3", token_days=""
    )
    code = secret(invited.text)
    form = tiny.http.get(f"/invitation?code={code}").text
    sent = {"code": code, "name": "carol"}
    created = tiny.http.post("/invitations/redeem?then=/login", data=sent, headers={"Accept": "text/html"})
    tiny.tokens["carol"] = secret(created.text)

    assert f'value="{code}"' in form
    assert [each.headers["cache-control"] for each in (invited, created)] == ["no-store"] * 2
    assert tiny.http.get("/account", headers=signed(tiny, "carol")).text.count("Submitter of") == 1


def test_an_admin_makes_and_revokes_a_token_in_the_browser(site: Site) -> None:
    """Limited as the form says; its text is shown once and is in no list."""
    headers = signed(site, "admin")
    fields = {"name": "dave", "role": "submitter", "expires_at": "2099-01-01T00:00", "scopes": ["read", "submit"]}
    created = send_form(site, "/tokens", headers, "/account/tokens", **fields)
    about = site.http.get("/whoami", headers={"Authorization": f"Bearer {secret(created.text)}"}).json()
    listed = site.http.get("/account/tokens", headers=headers).text
    revoked = send_form(site, f"/tokens/{about['id']}?method=DELETE", headers, "/account/tokens")

    assert (about["scopes"], about["expires_at"][:10]) == (["read", "submit"], "2099-01-01")
    assert ("dave" in listed, secret(created.text) in listed) == (True, False)
    assert revoked.status_code == 303
    assert site.http.get("/whoami", headers={"Authorization": f"Bearer {secret(created.text)}"}).status_code == 401


def test_somebody_renews_their_token_and_erases_their_name_in_the_browser(site: Site) -> None:
    """The new text is shown once, and the former one ends when the form says."""
    headers = signed(site, "alice")
    renewed = send_form(site, "/tokens/1/rotate", headers, overlap_h="0")
    erased = send_form(site, "/tokens/1/erase", headers, reason="I leave")

    assert site.http.get("/whoami", headers=site.auth()).status_code == 401
    assert site.http.get("/whoami", headers={"Authorization": f"Bearer {secret(renewed.text)}"}).status_code == 200
    assert erased.status_code == 303
    assert "<h1>erased-" in site.http.get("/account", headers=headers).text


def test_whoever_asks_gets_a_token_in_the_browser_where_the_manifest_lets_them(tiny: Site) -> None:
    """And where it does not there is no such page."""
    closed = tiny.http.get("/benchmarks/tiny/join")
    changed = tiny.http.put("/benchmarks/tiny", content=OPEN, headers=tiny.auth("steward"))
    form = tiny.http.get("/benchmarks/tiny/join").text
    sent = {"data": {"name": "carol"}, "headers": {"Accept": "text/html"}}
    answers = [tiny.http.post("/benchmarks/tiny/join?then=/login", **sent) for _ in range(2)]

    assert (closed.status_code, changed.status_code) == (404, 200)
    assert 'action="/benchmarks/tiny/join?then=/login%3Fnext%3D/submit/tiny"' in form
    assert [each.status_code for each in answers] == [201, 429]


def test_a_dangerous_form_asks_for_the_token_again(site: Site) -> None:
    """In a session that began a while ago; the page leads to the login and from there back."""
    headers = signed(site, "admin")
    with site.sessions.begin() as session:
        session.execute(update(BrowserSession).values(proved_at=datetime.now(UTC) - timedelta(minutes=11)))
    for write, fields in (
        ("/tokens", {"name": "new", "role": "submitter"}),
        ("/tokens/4/rotate", {"overlap_h": "0"}),
        ("/tokens/4/erase", {"reason": "I leave"}),
        ("/tokens/1?method=DELETE", {}),
        ("/invitations", {"role": "submitter"}),
    ):
        refused = send_form(site, write, headers, "/account/tokens", **fields)
        assert refused.status_code == 403, write
        assert 'href="/login?next=%2Faccount%2Ftokens&amp;again=1"' in refused.text


def test_a_form_that_is_wrong_is_answered_with_a_page(site: Site) -> None:
    """Which names the field, and what is allowed there, and leads back to where the browser was, on this server."""
    headers = signed(site, "admin") | {"Referer": "https://evil.example/account/tokens"}
    wrong = send_form(site, "/tokens", headers, name="a", role="emperor", scopes="everything")

    assert (wrong.status_code, wrong.headers["content-type"]) == (422, "text/html; charset=utf-8")
    assert ("emperor" in wrong.text, "submitter, steward, admin" in wrong.text) == (True, True)
    assert ('<a href="/account/tokens">Back to the form</a>' in wrong.text, "evil" in wrong.text) == (True, False)


def test_a_form_asks_for_the_names_that_are_taken(site: Site) -> None:
    """So that the browser says beside the field what the server would refuse."""
    match = re.search(r'name="name".*?maxlength="(\d+)" pattern="([^"]+)"', site.http.get("/invitation").text)

    assert match is not None
    for name in ("Ann Lee", "a", "x" * 100, "x" * 101, "-a", "a-(b)+c._", "\u0430nn", "a\tb", "a/b"):
        is_asked_for = re.fullmatch(match[2], name) is not None and len(name) <= int(match[1])
        assert is_asked_for == is_holder(name), name


def test_a_form_leads_to_no_other_site(tiny: Site) -> None:
    """Whatever its address says: a part that is filled in from the answer could leave two slashes at the beginning."""
    given = {"token": "alice", "role": "reviewer"}
    for then in ("//evil.example", "/{nothing}/elsewhere.example"):
        led = send_form(tiny, "/benchmarks/tiny/roles", signed(tiny), then, **given)
        assert (led.status_code, led.headers["location"]) == (303, "/account")


def test_no_write_of_a_session_goes_without_the_key_of_its_forms(site: Site, database_url: str) -> None:
    """Every route that knows who writes, as a form and as a program's request; none is read before."""
    headers = signed(site, "admin") | {"Accept": "text/html"}
    actual: dict[str, int] = {}
    for route in all_routes(database_url):
        for method in set(route.methods or ()) - {"GET", "HEAD"}:
            path = re.sub(r"\{\w+\}", "1", route.path.replace("{slug}", "tiny"))
            asked: dict[str, Any] = {"headers": headers, "follow_redirects": False}
            actual[f"{method} {route.path}"] = site.http.request(method, path, **asked).status_code
            asked["data"] = {"reason": "x"}
            form = site.http.post(f"{path}?then=/&method={method}", **asked)
            actual[f"{method} {route.path}, a form"] = form.status_code
    unsigned = {"/login", "/invitations/redeem", "/benchmarks/{slug}/join"}

    assert len(actual) > 50
    assert {
        name: status
        for name, status in actual.items()
        if status != 403 and not unsigned & set(name.removesuffix(", a form").split())
    } == {}


def test_the_method_of_a_form_counts_for_forms_alone(site: Site) -> None:
    """A program's POST is a POST; and no form makes a reading of a write."""
    headers = signed(site, "admin")
    key = form_key(site, headers)
    program = site.http.post(f"/tokens/1?method=DELETE&csrf={key}", headers=headers)
    reading = site.http.post(f"/tokens?then=/&method=GET&csrf={key}", headers=headers)

    assert (program.status_code, reading.status_code) == (405, 422)


def test_a_form_from_another_site_makes_no_token(site: Site) -> None:
    """Not even one for which nobody needs a session."""
    sent = {"code": "x", "name": "carol"}
    headers = {"Accept": "text/html", "Sec-Fetch-Site": "cross-site"}

    assert site.http.post("/invitations/redeem?then=/", data=sent, headers=headers).status_code == 403
