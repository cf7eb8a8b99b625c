"""Somebody signs in through the identity provider of the server, which really signs and really runs; or is refused."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from joserfc.jwk import RSAKey
from sqlalchemy import func, select

from app.config import Settings
from app.db.models import BrowserSession, RoleGrant, Token
from app.errors import SettingsError
from app.rights import roles
from app.rights.visibility import viewer_of
from app.store import audit
from plumbline.retries import RETRY_AFTER_S
from tests.cases import patient
from tests.cases.provider import CLIENT_ID, CLIENT_SECRET, LocalProvider, path_of, running_provider
from tests.cases.signing_in import SESSION, cookie, form_key, send_form, signed
from tests.cases.walkthrough import MANIFEST, declare
from tests.fixtures import Site, open_site

COOKIE = "__Host-plumbline-oidc"
ROLES = "ml=steward, guests=reviewer@tiny, bosses=admin, club=submitter"


@pytest.fixture
def provider() -> Iterator[LocalProvider]:
    """A provider where Ann signs in."""
    with running_provider() as running:
        yield running


def settings(provider: LocalProvider, **more: Any) -> Settings:
    """Return the settings of a server that trusts the provider."""
    given = {"oidc_issuer": provider.address, "oidc_client_id": CLIENT_ID, "oidc_client_secret": CLIENT_SECRET}
    return Settings(**given, base_url="http://testserver", oidc_roles=ROLES, max_stale_s=0, **more)


@pytest.fixture
def joined(database_url: str, provider: LocalProvider) -> Iterator[Site]:
    """A server that trusts the provider."""
    with open_site(database_url, settings(provider)) as opened:
        yield opened


def begin(site: Site, query: str = "") -> tuple[str, str]:
    """Begin a login, sign in at the provider, and return where that leads back, and the cookie of the login."""
    begun = site.http.get(f"/login/oidc{query}", follow_redirects=False)
    assert begun.status_code == 303, begun.text
    back = patient.get(begun.headers["location"], follow_redirects=False)
    return path_of(back.headers["location"]), cookie(begun, COOKIE)


def finish(site: Site, path: str, cookies: str) -> httpx2.Response:
    """Come back from the provider."""
    answer: httpx2.Response = site.http.get(path, headers={"Cookie": cookies}, follow_redirects=False)
    return answer


def sign_in(site: Site, query: str = "") -> httpx2.Response:
    """Sign in as a browser does."""
    return finish(site, *begin(site, query))


def account(site: Site, answer: httpx2.Response) -> str:
    """Return the page of whoever signed in."""
    return site.http.get("/account", headers={"Cookie": cookie(answer, SESSION)}).text


def count(site: Site, model: Any) -> int:
    """Return how many rows there are."""
    with site.sessions() as session:
        return session.scalars(select(func.count()).select_from(model)).one()


def newest(site: Site) -> tuple[str, int | None, str | None]:
    """Return action, status and refusal of the newest event."""
    with site.sessions() as session:
        event = audit.list_events(session, audit.EventQuery(limit=1))[0].event
    return event.action, event.status, event.refusal


def test_somebody_signs_in_through_the_provider(joined: Site) -> None:
    """With the role of their group, a name of their own, a session as any other, and an event in the audit."""
    answer = sign_in(joined, "?next=/audit")
    shown = account(joined, answer)

    assert (answer.status_code, answer.headers["location"]) == (303, "/audit")
    assert ("<h1>Ann Lee</h1>" in shown, "role steward" in shown) == (True, True)
    assert newest(joined) == ("GET /login/oidc/callback", 303, None)
    assert 'href="/login/oidc?next=/account"' in joined.http.get("/login").text


def test_who_signs_out_is_told_of_the_provider_and_shown_the_way_out(joined: Site, provider: LocalProvider) -> None:
    """Signed out here they are still signed in there; who signed in with a token is told nothing of it."""
    held = {"Cookie": cookie(sign_in(joined), SESSION)}
    left = joined.http.post("/logout", headers=held | form_header(joined, held), follow_redirects=False)
    shown = joined.http.get(left.headers["location"]).text
    by_token = signed(joined)
    other = joined.http.post("/logout", headers=by_token | form_header(joined, by_token), follow_redirects=False)

    assert f'href="{provider.address}/logout?client_id={CLIENT_ID}"' in shown
    assert (left.headers["location"], other.headers["location"]) == ("/login?left=1", "/login")


def form_header(site: Site, held: dict[str, str]) -> dict[str, str]:
    """Return what a write in a session carries."""
    return {"X-CSRF-Token": form_key(site, held)}


def test_the_same_person_is_the_same_token_whatever_they_are_called(joined: Site, provider: LocalProvider) -> None:
    """By the provider's own name for them; another person of the same name and e-mail is another one."""
    before = count(joined, Token)
    sign_in(joined)
    provider.claims = {"name": "Ann Smith"}
    sign_in(joined)
    once = count(joined, Token) - before
    provider.claims = {"sub": "another"}

    assert (once, "<h1>Ann Lee 2</h1>" in account(joined, sign_in(joined))) == (1, True)


def test_groups_give_and_take_roles_at_each_login(joined: Site, provider: LocalProvider) -> None:
    """On the server and in a benchmark; what a group gave ends by itself."""
    declare(joined)
    shown = []
    for groups in (["ml", "bosses"], ["club"], ["guests"]):
        provider.claims = {"groups": groups}
        shown.append(account(joined, sign_in(joined)).partition("role ")[2].partition(",")[0])
    with joined.sessions() as session:
        granted = session.scalars(select(RoleGrant).where(RoleGrant.role == "reviewer")).one()

    assert shown == ["admin", "submitter", "submitter"]
    assert granted.until is not None


def test_who_is_no_steward_any_more_neither_reads_nor_decides_as_one(joined: Site, provider: LocalProvider) -> None:
    """The role in the benchmark stays written, counts for no submitter's token, and counts again with the group."""
    manifest = MANIFEST.replace("slug: tiny", "slug: hidden")
    seen = []
    for groups in (["ml"], ["club"], ["ml"]):
        provider.claims = {"groups": groups}
        headers = {"Cookie": cookie(sign_in(joined), SESSION)}
        if not seen:
            headers["X-CSRF-Token"] = form_key(joined, headers)
            path = "/benchmarks?visibility=private"
            joined.http.post(path, content=manifest, headers=headers).raise_for_status()
        with joined.sessions() as session:
            ann = session.scalars(select(Token).where(Token.name == "Ann Lee")).one()
            number = session.scalars(select(RoleGrant.benchmark_id).where(RoleGrant.token_id == ann.id)).one()
            reading, stewards = viewer_of(session, ann), roles.list_stewards(session, number)
            decides = roles.decides(session, number, ann.id)
            seen.append((reading.benchmark_ids, reading.decides, [each.id for each in stewards], decides))
        status = joined.http.get("/benchmarks/hidden.json", headers={"Cookie": headers["Cookie"]}).status_code
        assert status == (200 if decides else 404)

    own = frozenset({number})
    assert seen[0] == seen[2] == (own, own, [ann.id], True)
    assert seen[1] == (frozenset(), frozenset(), [], False)


def test_an_admin_of_the_provider_is_not_the_last_admin(joined: Site, provider: LocalProvider) -> None:
    """Their token ends: a server whose provider is away keeps somebody who can sign in."""
    provider.claims = {"groups": ["bosses"]}
    sign_in(joined)

    assert joined.http.delete("/tokens/4", headers=joined.auth("admin")).status_code == 409


def test_who_is_in_no_group_with_a_role_is_refused(joined: Site, provider: LocalProvider) -> None:
    """With a sentence, and nothing is made."""
    before = count(joined, Token)
    provider.claims = {"groups": ["others"]}
    answer = sign_in(joined)

    assert (answer.status_code, count(joined, Token)) == (403, before)
    assert newest(joined)[:2] == ("GET /login/oidc/callback", 403)


WRONG = {
    "audience": {"aud": "another-server"},
    "one of two audiences, for another": {"aud": ["another-server", CLIENT_ID], "azp": "another-server"},
    "issuer": {"iss": "https://evil.example"},
    "nonce": {"nonce": "of another login"},
    "no nonce": {"nonce": None},
    "expired": {"exp": 1_000_000_000},
    "nobody": {"sub": None},
}


def test_a_token_that_is_not_for_this_login_begins_no_session(joined: Site, provider: LocalProvider) -> None:
    """Whatever is wrong with it; a sentence says so, and the refusal is in the audit."""
    for wrong, claims in WRONG.items():
        provider.claims = claims
        answer = sign_in(joined)

        assert (answer.status_code, SESSION in str(answer.headers)) == (401, False), wrong
        assert newest(joined)[1] == 401
    assert count(joined, BrowserSession) == 0


def test_a_token_that_another_signed_begins_no_session(joined: Site, provider: LocalProvider) -> None:
    """Also where it says that it was signed with the provider's key."""
    provider.key = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})

    assert sign_in(joined).status_code == 401


def test_a_provider_changes_its_key(joined: Site, provider: LocalProvider) -> None:
    """The keys are asked for anew when a token is signed with one that is not known."""
    first = sign_in(joined).status_code
    provider.key = RSAKey.generate_key(2048, {"kid": "second", "use": "sig"})
    provider.published = [provider.key]

    assert (first, sign_in(joined).status_code) == (303, 303)


def test_an_email_that_is_not_verified_signs_nobody_in(joined: Site, provider: LocalProvider) -> None:
    """And it is by no e-mail that somebody is known."""
    provider.claims = {"email_verified": False, "email": "boss@example.org"}
    answer = sign_in(joined)

    assert (answer.status_code, "not verified your e-mail" in answer.text) == (403, True)


def test_only_addresses_of_the_domains_sign_in_where_some_are_named(database_url: str, provider: LocalProvider) -> None:
    """Verified ones: neither another's, nor one that nobody verified, nor none."""
    tried: list[dict[str, Any]] = [{}, {"email": "ann@evil.example"}, {"email_verified": None}, {"email": None}]
    statuses = []
    with open_site(database_url, settings(provider, oidc_domains="example.org")) as site:
        for claims in tried:
            provider.claims = claims
            statuses.append(sign_in(site).status_code)

    assert statuses == [303, 403, 403, 403]


def test_a_login_works_once_and_in_the_browser_that_began_it(joined: Site) -> None:
    """Neither replayed, nor in a browser that another one's address was given to, nor with another's state."""
    path, cookies = begin(joined)
    elsewhere = finish(joined, path, "")
    crossed = finish(joined, path, begin(joined)[1])
    first = finish(joined, path, cookies)
    replayed = finish(joined, path, cookies)

    assert [each.status_code for each in (elsewhere, crossed, first, replayed)] == [401, 401, 303, 401]
    assert count(joined, BrowserSession) == 1


def test_a_provider_that_is_away_is_said_so_and_tokens_still_sign_in(
    database_url: str, provider: LocalProvider
) -> None:
    """503 with when to try again; nothing else of the server needs it."""
    gone = settings(provider).model_copy(update={"oidc_issuer": "http://127.0.0.1:9"})
    with open_site(database_url, gone) as site:
        refused = site.http.get("/login/oidc", headers={"Accept": "text/html"})

        assert (refused.status_code, refused.headers["retry-after"]) == (503, str(RETRY_AFTER_S))
        assert "sign in with a token" in refused.text
        assert site.http.get("/whoami", headers=site.auth()).status_code == 200


def test_a_server_without_a_provider_has_no_such_login(site: Site) -> None:
    """And its login offers none."""
    assert site.http.get("/login/oidc").status_code == 404
    assert "/login/oidc" not in site.http.get("/login").text


def test_what_is_dangerous_asks_the_provider_again(joined: Site, provider: LocalProvider) -> None:
    """Who showed the provider who they are a while ago is asked anew, however young their session is."""
    provider.claims = {"auth_time": 1_700_000_000}
    headers = {"Cookie": cookie(sign_in(joined), SESSION)}
    old = send_form(joined, "/invitations", headers, role="submitter", benchmark="tiny")
    stale = sign_in(joined, "?again=1")
    provider.claims = {}
    fresh = {"Cookie": cookie(sign_in(joined, "?again=1"), SESSION)}
    created = joined.http.post(f"/benchmarks?csrf={form_key(joined, fresh)}", content=MANIFEST, headers=fresh)

    assert (old.status_code, "again=1" in old.text) == (403, True)
    assert (stale.status_code, provider.asked["prompt"], provider.asked["max_age"]) == (401, "login", "0")
    assert created.status_code == 201


def test_who_is_revoked_here_signs_in_no_more(joined: Site) -> None:
    """Whatever the provider says; and an erased name is known to no provider."""
    sign_in(joined)
    joined.http.post("/tokens/5/erase", json={"reason": "x"}, headers=joined.auth("admin")).raise_for_status()
    other = account(joined, sign_in(joined))
    joined.http.delete("/tokens/6", headers=joined.auth("admin")).raise_for_status()

    assert "<h1>Ann Lee</h1>" in other
    assert sign_in(joined).status_code == 401


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"PLUMBLINE_OIDC_ISSUER": "https://id.example"}, "PLUMBLINE_OIDC_CLIENT_ID"),
        ({"PLUMBLINE_OIDC_ISSUER": "http://id.example"}, "https"),
        ({"PLUMBLINE_OIDC_ROLES": "ml=emperor"}, "ml=emperor"),
        ({"PLUMBLINE_OIDC_ROLES": "ml=admin@tiny"}, "ml=admin@tiny"),
    ],
    ids=["half", "plain http", "role", "admin of a benchmark"],
)
def test_settings_of_a_provider_that_make_no_sense_are_refused(given: dict[str, str], named: str) -> None:
    """At the start, by name, and never with the secret."""
    with pytest.raises(SettingsError, match=named):
        Settings.from_env({**given, "PLUMBLINE_OIDC_CLIENT_SECRET": "hush"})
