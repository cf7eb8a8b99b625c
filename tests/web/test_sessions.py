"""A browser signs in with a token: its session ends, is nobody else's, and no other site writes with it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import update

from app.db.models import BrowserSession
from app.store import audit
from tests.cases.signing_in import FORM, SESSION, cookie, form_key, login, signed
from tests.fixtures import Site


def test_somebody_signs_in_with_a_token(site: Site) -> None:
    """The cookie is for this host, over TLS, out of reach of scripts and other sites; the account says who it is."""
    answer = login(site)
    line = next(each for each in answer.headers.get_list("set-cookie") if each.startswith(SESSION))
    account = site.http.get("/account", headers={"Cookie": cookie(answer, SESSION)})

    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(line.split("; "))
    assert "Domain" not in line
    assert "<h1>steward</h1>" in account.text
    assert site.tokens["steward"] not in account.text


def test_a_wrong_token_begins_no_session(site: Site) -> None:
    """A sentence says so, and the try is in the audit."""
    for token in ("plb_unknown", "x", "пароль"):
        answer = login(site, token=token)
        assert (answer.status_code, SESSION in str(answer.headers)) == (401, False), token
    with site.sessions() as session:
        noted = audit.list_events(session, audit.EventQuery(limit=1))[0].event

    assert (noted.action, noted.status) == ("POST /login", 401)


def test_a_login_form_of_another_site_signs_nobody_in(site: Site) -> None:
    """Neither without the cookie that came with the form, nor where the browser says that it was another site."""
    shown = site.http.get("/login")
    fields = {"form": cookie(shown, FORM).partition("=")[2], "token": site.tokens["steward"]}
    without = site.http.post("/login", data=fields)
    crossing = site.http.post(
        "/login", data=fields, headers={"Cookie": cookie(shown, FORM), "Sec-Fetch-Site": "cross-site"}
    )

    assert (without.status_code, crossing.status_code) == (403, 403)


def test_a_session_that_was_there_before_the_login_is_worth_nothing(site: Site) -> None:
    """Whatever cookie somebody planted, the session has a secret of its own."""
    planted = f"{SESSION}=planted"
    answer = login(site, cookies=planted)

    assert cookie(answer, SESSION) != planted
    assert site.http.get("/account", headers={"Cookie": planted}).status_code == 401


def test_a_login_leads_to_where_somebody_was_and_to_no_other_site(site: Site) -> None:
    """On this server; else to the account."""
    elsewhere = ("https://evil.example/", "//evil.example", "/\\evil.example", "evil", "/a\r\nb")

    assert {login(site, next=each).headers["location"] for each in elsewhere} == {"/account"}
    assert login(site, next="/audit?limit=5").headers["location"] == "/audit?limit=5"


def test_a_write_in_a_session_needs_the_key_of_its_forms(site: Site) -> None:
    """Not that of another session, and not from another site, which could send the cookie along.

    What was written is in the audit with its session, so that what a stolen one did can be told.
    """
    headers, other = signed(site, "admin"), signed(site, "admin")
    key, others_key = form_key(site, headers), form_key(site, other)
    order = {"name": "new", "role": "submitter"}
    tries = {
        "no key": ("", {}),
        "another's": (f"?csrf={others_key}", {}),
        "another site": (f"?csrf={key}", {"Sec-Fetch-Site": "cross-site"}),
        "own": (f"?csrf={key}", {"Sec-Fetch-Site": "same-origin"}),
    }
    statuses = {
        name: site.http.post(f"/tokens{query}", json=order, headers=headers | more).status_code
        for name, (query, more) in tries.items()
    }
    with site.sessions() as session:
        noted = audit.list_events(session, audit.EventQuery(limit=1))[0].event

    assert statuses == {"no key": 403, "another's": 403, "another site": 403, "own": 201}
    assert (noted.action, noted.session_id) == ("POST /tokens", 1)


def test_a_session_ends(site: Site) -> None:
    """With its day, after hours without use, because somebody said so, or at once with its token."""
    ends: list[dict[str, Any]] = [
        {"expires_at": datetime.now(UTC) - timedelta(seconds=1)},
        {"used_at": datetime.now(UTC) - timedelta(hours=3)},
        {"ended_at": datetime.now(UTC)},
    ]
    for ended in ends:
        headers = signed(site)
        with site.sessions.begin() as session:
            session.execute(update(BrowserSession).values(ended))
        assert site.http.get("/account", headers=headers).status_code == 401, ended
    headers = signed(site, "alice")
    site.http.delete("/tokens/1", headers=site.auth("admin")).raise_for_status()

    assert site.http.get("/account", headers=headers).status_code == 401


def test_signing_out_everywhere_ends_every_session(site: Site) -> None:
    """Signing out ends one; a session that is replayed afterwards is nobody's."""
    first, second, third = signed(site), signed(site), signed(site)
    out = f"csrf={form_key(site, first)}"
    left = site.http.post(f"/logout?{out}", headers=first, follow_redirects=False)
    between = [site.http.get("/account", headers=each).status_code for each in (first, second, third)]
    site.http.post(f"/logout/everywhere?csrf={form_key(site, second)}", headers=second, follow_redirects=False)
    after = [site.http.get("/account", headers=each).status_code for each in (second, third)]

    assert (left.status_code, left.headers["location"]) == (303, "/login")
    assert (between, after) == ([401, 200, 200], [401, 401])
    assert site.http.get("/whoami", headers=site.auth("steward")).status_code == 200


def test_what_a_steward_does_asks_for_the_token_again(site: Site) -> None:
    """In a session that began a while ago; reading does not."""
    headers = signed(site, "admin")
    path = f"/tokens?csrf={form_key(site, headers)}"
    with site.sessions.begin() as session:
        session.execute(update(BrowserSession).values(proved_at=datetime.now(UTC) - timedelta(minutes=11)))
    refused = site.http.post(path, json={"name": "new", "role": "submitter"}, headers=headers)

    assert refused.status_code == 403
    assert refused.json()["detail"].startswith("Sign in again at /login")
    assert site.http.get("/tokens", headers=headers).status_code == 200
