"""Who may write where, as one table: every write route for nobody, a submitter, a reviewer, two stewards and an admin.

`reviewer` is one of the benchmark tiny, `here` its steward, `there` one of another. A route without a row fails.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.store import audit, tokens
from tests.cases.registrations import YAML
from tests.cases.reservations import prereg
from tests.cases.routes import all_routes
from tests.cases.walkthrough import BASE, GOOD, MANIFEST, PREREG, send
from tests.fixtures import Site, SiteAfter

ROLES = ("nobody", "submitter", "reviewer", "there", "here", "admin")
NEW = MANIFEST.replace("slug: tiny", "slug: new")
DRAFT = MANIFEST + "# later\n"
REASON = {"reason": "because"}
ATTESTED = {"registered_at": "2020-01-01T00:00:00Z", "evidence": "a tag"}
FILES = [("files", ("r.csv", BASE.replace(b"Base", b"Fine"))), ("prereg", ("p.yaml", PREREG))]
# Route, what is asked for (its path, where that has parts, and what is sent), and the status for each of ROLES in turn.
TABLE: tuple[tuple[str, str, Mapping[str, Any], tuple[int, ...]], ...] = (
    ("POST /benchmarks", "/benchmarks", {"content": NEW, "headers": YAML}, (401, 403, 403, 201, 409, 409)),
    (
        "PUT /benchmarks/{slug}",
        "/benchmarks/tiny",
        {"content": MANIFEST, "headers": YAML},
        (401, 403, 403, 403, 200, 200),
    ),
    (
        "POST /benchmarks/{slug}/submissions",
        "/benchmarks/tiny/submissions",
        {"files": FILES},
        (401, 202, 403, 409, 409, 409),
    ),
    (
        # 409: the benchmark takes no labels, which only who may put them learns.
        "PUT /benchmarks/{slug}/labels",
        "/benchmarks/tiny/labels",
        {"files": {"file": ("l.csv", b"item,label\na,1\n")}},
        (401, 403, 403, 403, 409, 409),
    ),
    (
        # 409: the grid of the benchmark takes no file of items.
        "PUT /benchmarks/{slug}/items",
        "/benchmarks/tiny/items",
        {"files": {"file": ("i.csv", b"item\na\n")}},
        (401, 403, 403, 403, 409, 409),
    ),
    (
        "PUT /benchmarks/{slug}/entrants/{entrant}/owner",
        "/benchmarks/tiny/entrants/Good/owner",
        {"json": {"token_id": 2, **REASON}},
        (401, 403, 403, 403, 200, 200),
    ),
    (
        "POST /benchmarks/{slug}/reservations/{entrant}/release",
        "/benchmarks/tiny/reservations/Kept/release",
        {"json": REASON},
        (401, 403, 403, 403, 200, 404),
    ),
    (
        "POST /benchmarks/{slug}/roles",
        "/benchmarks/tiny/roles",
        {"json": {"token": "there", "role": "submitter"}},
        (401, 403, 403, 403, 200, 200),
    ),
    (
        "DELETE /benchmarks/{slug}/roles/{role}/{token}",
        "/benchmarks/tiny/roles/reviewer/reviewer",
        {},
        (401, 403, 403, 403, 200, 404),
    ),
    # 409: an admin comes after its steward, who has retired it.
    ("POST /benchmarks/{slug}/retire", "/benchmarks/tiny/retire", {"json": REASON}, (401, 403, 403, 403, 200, 409)),
    (
        "PUT /benchmarks/{slug}/title",
        "/benchmarks/tiny/title",
        {"json": {"title": "Tinier"}},
        (401, 403, 403, 403, 200, 200),
    ),
    # 409: its labels are not private.
    ("POST /benchmarks/{slug}/close", "/benchmarks/tiny/close", {"json": REASON}, (401, 403, 403, 403, 409, 409)),
    (
        "PUT /benchmarks/{slug}/owners/{token}",
        "/benchmarks/tiny/owners/bob",
        {"json": {"counted_as": "alice", **REASON}},
        (401, 403, 403, 403, 200, 200),
    ),
    (
        "POST /invitations",
        "/invitations",
        {"json": {"role": "submitter", "benchmark": "tiny"}},
        (401, 403, 403, 403, 201, 201),
    ),
    ("DELETE /invitations/{invitation}", "/invitations/1", {}, (401, 403, 403, 403, 200, 200)),
    ("POST /invitations/redeem", "/invitations/redeem", {"json": {"code": "x", "name": "new"}}, (404,) * 6),
    # 404: the manifest lets nobody register.
    ("POST /benchmarks/{slug}/join", "/benchmarks/tiny/join", {"json": {"name": "new"}}, (404,) * 6),
    (
        "POST /benchmarks/{slug}/visibility",
        "/benchmarks/tiny/visibility",
        {"json": {"visibility": "public"}},
        (401, 403, 403, 403, 200, 200),
    ),
    # 409: it is public, so it stays.
    ("DELETE /benchmarks/{slug}", "/benchmarks/tiny", {}, (401, 403, 403, 403, 409, 409)),
    (
        "POST /submissions/{submission}/withdraw",
        "/submissions/1/withdraw",
        {"json": REASON},
        (401, 403, 403, 403, 200, 409),
    ),
    # 403: with a token alone; the form is for who is signed in.
    ("POST /submit/{slug}", "/submit/tiny", {"files": FILES}, (401, 403, 403, 403, 403, 403)),
    ("POST /submissions/{submission}/disputes", "/submissions/1/disputes", {"json": {"text": "x"}}, (401, *[201] * 5)),
    # 404: none has this number.
    (
        "POST /submissions/{submission}/disputes/{dispute}/answer",
        "/submissions/1/disputes/99/answer",
        {"json": {"answer": "x"}},
        (401, 403, 403, 403, 404, 404),
    ),
    (
        "POST /desk/{slug}/withdraw",
        "/desk/tiny/withdraw",
        {"data": {"submission": "1", **REASON}, "follow_redirects": False},
        (401, 403, 403, 403, 303, 409),
    ),
    (
        "POST /desk/{slug}/manifest",
        "/desk/tiny/manifest",
        {"data": {"manifest": MANIFEST, "act": "put"}, "follow_redirects": False},
        (401, 403, 403, 403, 303, 303),
    ),
    ("POST /preregs", "/preregs", {"content": prereg("Mine"), "headers": YAML}, (401, 201, 403, 200, 200, 200)),
    (
        "POST /preregs/{sha256}/attestations",
        "/preregs/{sha256}/attestations",
        {"json": ATTESTED},
        (401, 403, 403, 403, 201, 201),
    ),
    # Forms of pages that the description leaves out.
    (
        "POST /desk/{slug}/withdraw",
        "/desk/tiny/withdraw",
        {"data": {"submission": "1", **REASON}, "follow_redirects": False},
        (401, 403, 403, 403, 303, 409),
    ),
    (
        "POST /desk/{slug}/manifest",
        "/desk/tiny/manifest",
        {"data": {"manifest": MANIFEST, "act": "put"}, "follow_redirects": False},
        (401, 403, 403, 403, 303, 303),
    ),
    # 403: it is for browsers, which have a session.
    ("POST /submit/{slug}", "/submit/tiny", {"files": FILES}, (401, 403, 403, 403, 403, 403)),
    # 404 for the admin: the steward before has removed it, or published it.
    (
        "PUT /benchmarks/{slug}/draft",
        "/benchmarks/tiny/draft",
        {"content": DRAFT, "headers": YAML},
        (401, 403, 403, 403, 200, 200),
    ),
    (
        "DELETE /benchmarks/{slug}/draft",
        "/benchmarks/tiny/draft",
        {},
        (401, 403, 403, 403, 200, 404),
    ),
    (
        "POST /benchmarks/{slug}/draft/publish",
        "/benchmarks/tiny/draft/publish",
        {},
        (401, 403, 403, 403, 200, 404),
    ),
    ("POST /tokens", "/tokens", {"json": {"name": "new", "role": "submitter"}}, (401, 403, 403, 403, 403, 201)),
    ("POST /tokens/{token_id}/rotate", "/tokens/1/rotate", {"json": {}}, (401, 403, 403, 403, 403, 200)),
    ("POST /tokens/{token_id}/erase", "/tokens/1/erase", {"json": REASON}, (401, 403, 403, 403, 403, 200)),
    ("DELETE /tokens/{token_id}", "/tokens/1", {}, (401, 403, 403, 403, 403, 200)),
    ("POST /notifications", "/notifications", {"json": {"address": "https://example.com/"}}, (401, *[201] * 5)),
    # 404: nobody has any yet.
    ("POST /notifications/{number}/confirm", "/notifications/99/confirm", {"json": {"code": "x"}}, (401, *[404] * 5)),
    ("DELETE /notifications/{number}", "/notifications/99", {}, (401, *[404] * 5)),
)
# What needs no token, so that nobody is asked for one.
ANONYMOUS = {"POST /invitations/redeem", "POST /benchmarks/{slug}/join"}
# What is read with a token. Everything else is for everyone, and says the same to everyone.
KEPT: Mapping[str, tuple[int, ...]] = {
    "/tokens": (401, 403, 403, 200, 200, 200),
    "/audit": (401, 403, 403, 200, 200, 200),
    "/audit.csv": (401, 403, 403, 200, 200, 200),
    "/audit.json": (401, 403, 403, 200, 200, 200),
    "/health": (401, 403, 403, 200, 200, 200),
    "/health.csv": (401, 403, 403, 200, 200, 200),
    "/health.json": (401, 403, 403, 200, 200, 200),
    # 404: it has no private labels, which only its stewards learn.
    "/benchmarks/tiny/disclosed": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/disclosed.csv": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/disclosed.json": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/disclosed.ndjson": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/disclosed.arrow": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/disclosed.parquet": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/exact": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/exact.csv": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/exact.json": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/exact.ndjson": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/exact.arrow": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/exact.parquet": (401, 403, 403, 403, 404, 404),
    "/invitations": (401, 403, 403, 200, 200, 200),
    "/notifications": (401, 200, 200, 200, 200, 200),
    "/whoami/submissions": (401, 200, 200, 200, 200, 200),
    "/whoami/data": (401, 200, 200, 200, 200, 200),
    "/whoami": (401, 200, 200, 200, 200, 200),
    "/benchmarks/tiny/visibility": (401, 403, 403, 403, 200, 200),
    # Stewards, who hear at the board that nothing is published yet.
    "/benchmarks/tiny/draft": (401, 403, 403, 403, 200, 200),
    **{
        f"/benchmarks/tiny/draft.{ending}": (401, 403, 403, 403, 200, 200)
        for ending in ("yaml", "csv", "json", "ndjson", "arrow", "parquet")
    },
    "/benchmarks/tiny/draft/average": (401, 403, 403, 403, 404, 404),
    "/benchmarks/tiny/people": (401, 403, 403, 403, 200, 200),
    "/desk/tiny": (401, 403, 403, 403, 200, 200),
    # Who has no session is led to the login.
    "/submit/tiny": (303,) * 6,
    "/disputes/1": (401, *[200] * 5),
    "/tries/1": (401, 404, 404, 404, 404, 404),
    "/account/submissions": (401, 200, 200, 200, 200, 200),
    # They make a cookie of their own for each, see test_sessions.py and test_oidc.py.
    "/login": (200,) * 6,
    "/login/oidc/callback": (404,) * 6,
    "/account": (401, 200, 200, 200, 200, 200),
    "/account/tokens": (401, 403, 403, 200, 200, 200),
    "/account/invitations": (401, 403, 403, 200, 200, 200),
    "/benchmarks/tiny/roles": (401, 403, 403, 403, 200, 200),
    "/benchmarks/tiny/labels": (401, 403, 403, 403, 409, 409),
}
UNDESCRIBED = (
    *("/", "/docs", "/glossary", "/openapi.json", "/static/plumbline.css", "/no/such/page", "/search", "/sitemap.xml"),
    *("/robots.txt", "/favicon.ico", "/favicon.svg", "/invitation", "/login/oidc"),
)
# What signs in and out: tests/web/test_sessions.py and test_oidc.py.
SIGNING = {"POST /login", "POST /logout", "POST /logout/everywhere"}
PARTS = {
    "{slug}": "tiny",
    "{version}": "1",
    "{number}": "1",
    "{board}": "average",
    "{name}": "average",
    "{entrant}": "Good",
    "{task}": "a",
    "{submission}": "1",
    "{kind}": "breakdown",
    "{table}": "deviations",
}


def lay_out(site: Site) -> None:
    """Make the benchmark tiny of `here` with a submission and a reserved name of alice; `submitter` is bob."""
    with site.sessions.begin() as session:
        site.tokens["there"] = tokens.create_token(session, "there", "steward")[1]
        site.tokens["reviewer"] = tokens.create_token(session, "reviewer", "submitter")[1]
    site.tokens.update(submitter=site.tokens["bob"], here=site.tokens["steward"])
    assert site.http.post("/benchmarks", content=MANIFEST, headers=site.auth("here")).status_code == 201
    given = {"token": "reviewer", "role": "reviewer"}
    assert site.http.post("/benchmarks/tiny/roles", json=given, headers=site.auth("here")).status_code == 200
    invited = {"role": "submitter", "benchmark": "tiny"}
    assert site.http.post("/invitations", json=invited, headers=site.auth("here")).status_code == 201
    put = "/benchmarks/tiny/draft"
    assert site.http.put(put, content=DRAFT, headers=site.auth("here") | YAML).status_code == 200
    for content in (PREREG, prereg("Kept")):
        assert site.http.post("/preregs", content=content, headers=site.auth()).status_code == 201
    assert send(site, GOOD)["http"] == 202


@pytest.fixture
def tiny(site_after: SiteAfter) -> Site:
    """A site with all that a role may write to."""
    return site_after(lay_out)


@pytest.mark.parametrize(("route", "path", "sent", "expected"), TABLE, ids=[row[0] for row in TABLE])
def test_a_role_may_write_what_the_table_says(
    tiny: Site, route: str, path: str, sent: Mapping[str, Any], expected: tuple[int, ...]
) -> None:
    """Nobody 401, too small a role or another's benchmark 403; in turn, so what is done once may conflict.

    Each try is in the audit, with its route, its status and whose it was.
    """
    sha256 = tiny.http.get("/submissions/1.json").json()["prereg_sha256"]
    actual, before = [], newest_event(tiny)
    for role in ROLES:
        headers = {**sent.get("headers", {}), **({} if role == "nobody" else tiny.auth(role))}
        request = {**sent, "headers": headers}
        actual.append(tiny.http.request(route.partition(" ")[0], path.format(sha256=sha256), **request).status_code)

    assert actual == list(expected)
    names = ("",) * 6 if route in ANONYMOUS else ("", "bob", "reviewer", "there", "steward", "admin")
    assert events_after(tiny, before) == [(status, route, name) for status, name in zip(actual, names, strict=True)]


def newest_event(site: Site) -> int:
    """Return the number of the newest event of the audit."""
    with site.sessions() as session:
        return audit.list_events(session, audit.Wanted(limit=1))[0].event.id


def events_after(site: Site, number: int) -> list[tuple[int | None, str, str]]:
    """Return status, route and name of each event since then, the oldest first."""
    with site.sessions() as session:
        listed = [each for each in audit.list_events(session, audit.Wanted()) if each.event.id > number]
    return [(each.event.status, each.event.action, each.holder or "") for each in reversed(listed)]


WITHOUT_AUDIT = """
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no audit'; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION fail()
"""


def test_nothing_is_written_that_is_not_in_the_audit(tiny: Site) -> None:
    """The event stands in the transaction of the write: without the one there is not the other."""
    sha256 = tiny.http.get("/submissions/1.json").json()["prereg_sha256"]
    for role in ROLES[1:]:
        tiny.http.get("/whoami", headers=tiny.auth(role))
    with tiny.as_owner() as session:
        session.execute(text(WITHOUT_AUDIT))
        before = everything(session)
    answers = [
        tiny.http.request(
            route.partition(" ")[0],
            path.format(sha256=sha256),
            **{**sent, "headers": {**sent.get("headers", {}), **tiny.auth(role)}},
        ).status_code
        for route, path, sent, _ in TABLE
        for role in ROLES[1:]
    ]

    assert {status for status in answers if status < 400} == set()
    assert answers.count(500) >= len(TABLE) - 3
    with tiny.sessions() as session:
        assert everything(session) == before


def everything(session: Session) -> dict[str, str]:
    """Return a digest of the rows of each table, but for the counts of who asked how often, and who serves."""
    query = text("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
    digest = "SELECT md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text), '')) FROM"
    return {
        name: session.scalar(text(f'{digest} "{name}" t'))
        for name in session.scalars(query)
        if name not in ("rate", "web_process")
    }


def test_every_route_has_a_row(database_url: str) -> None:
    """Those that write have one of their own, but for signing in and out; those that read, also undescribed ones."""
    routes = all_routes(database_url)
    writing = {
        f"{method} {each.path_format}" for each in routes for method in set(each.methods or ()) - {"GET", "HEAD"}
    }
    hidden = {each.path for each in routes if "GET" in (each.methods or ()) and not each.include_in_schema}

    assert writing - SIGNING == {route for route, *_ in TABLE}
    assert {path for path in hidden if filled(path) not in {*KEPT, *UNDESCRIBED}} == set()


def filled(path: str) -> str:
    """Return an address of a route."""
    for part, example in {"/static/{name}": "/static/plumbline.css", **PARTS}.items():
        path = path.replace(part, example)
    return path


def test_what_is_not_for_everyone_is_read_by_whom_the_table_says(tiny: Site) -> None:
    """Whose tokens there are is nobody's business but the stewards'."""
    headers = [{} if role == "nobody" else tiny.auth(role) for role in ROLES]
    answers = {
        path: tuple(tiny.http.get(path, headers=each, follow_redirects=False).status_code for each in headers)
        for path in KEPT
    }

    assert answers == {path: tuple(statuses) for path, statuses in KEPT.items()}


def test_every_other_address_says_the_same_to_everyone(tiny: Site) -> None:
    """Also to a token that is not known: a reader's credentials change nothing of a public page."""
    tiny.work()
    paths = [path for path in reading(tiny) if path not in KEPT]
    reported = {path: {answer(tiny, path, role) for role in ("nobody", "submitter", "admin")} for path in paths}

    assert paths
    assert {path for path, answers in reported.items() if len(answers) != 1} == set()
    assert {path for path, answers in reported.items() if {status for status, _ in answers} & {401, 403}} == set()


def reading(site: Site) -> list[str]:
    """Return an address of every reading route, those that the description leaves out as well."""
    described = site.http.get("/openapi.json").json()["paths"]
    result = [path for path, methods in described.items() if "get" in methods]
    for part, example in {**PARTS, "{sha256}": site.http.get("/submissions/1.json").json()["prereg_sha256"]}.items():
        result = [path.replace(part, example) for path in result]
    assert [path for path in result if "{" in path] == []
    return [*sorted(result), *UNDESCRIBED]


def answer(site: Site, path: str, role: str) -> tuple[int, bytes]:
    """Return the status and, where it is an answer, the body; a problem's names the instance, not the asker."""
    given = site.http.get(path, headers={} if role == "nobody" else site.auth(role), follow_redirects=False)
    # Counters count the requests themselves.
    return given.status_code, b"" if path == "/metrics" else given.content
