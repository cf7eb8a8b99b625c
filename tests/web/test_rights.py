"""Who may do what: for each thing that the table of rights names, somebody of each role asks for it over HTTP."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from fastapi import APIRouter
from sqlalchemy import text
from sqlalchemy.orm import Session

from app.config import Settings
from app.errors import Forbidden, SignedInLongAgo
from app.rights import tokens
from app.rights.policy import RIGHTS, Holder, Relation, allows, refuse_other_entrants, require
from app.store import audit
from app.turns import Turn
from app.web.caller import may
from app.web.checked_first import CheckedFirst
from tests.cases.databases import as_runtime, new_database
from tests.cases.rights import EXAMPLES, PEOPLE, Example, Person, lay_out, sign_in_long_ago
from tests.cases.routes import all_routes
from tests.fixtures import OWN_DATABASE, Site, open_site

PUBLIC = "read what is public"


@dataclass(frozen=True)
class World:
    """One site for all of the table, and what stands for the parts of the examples in braces."""

    site: Site
    parts: dict[str, str]
    ids: dict[str, int]

    def ask(self, example: Example, who: Person | None) -> int:
        """Send a request as somebody, None for nobody; return the status."""
        path, headers = example.path, dict(example.sent.get("headers", {}))
        for part, value in self.parts.items():
            path = path.replace(part, value)
        if who is not None and who.is_stale:
            headers |= sign_in_long_ago(self.site, who.token)
        elif who is not None:
            headers |= self.site.auth(example.owner if who.name == "owner" else who.token or who.name)
        sent = {**example.sent, "headers": headers}
        status: int = self.site.http.request(example.method, path, **sent).status_code
        return status

    def newest_event(self) -> int:
        """Return the number of the newest event of the audit."""
        with self.site.sessions() as session:
            return audit.list_events(session, audit.EventQuery(limit=1))[0].event.id

    def events_after(self, number: int) -> list[tuple[int | None, int | None]]:
        """Return the status of each event since then but logins, and whose it was, the oldest first."""
        with self.site.sessions() as session:
            listed = [each.event for each in audit.list_events(session, audit.EventQuery()) if each.event.id > number]
        return [(each.status, each.token_id) for each in reversed(listed) if each.action != "POST /login"]

    def token_id(self, example: Example, name: str) -> int | None:
        """Return the number of somebody's token."""
        return self.ids.get(example.owner if name == "alice" else name)


@pytest.fixture(scope="module")
def world(postgres_url: str, migrated: str) -> Iterator[World]:
    """The benchmarks and their people, made once: who is refused changes nothing."""
    limits = ("max_requests_per_minute", "max_reads_per_minute", "max_wrong_tokens_per_minute")
    often = Settings(max_rows=200, max_stale_s=0, **dict.fromkeys(limits, 10**6))
    with new_database(postgres_url, migrated, OWN_DATABASE) as url, open_site(as_runtime(url), often) as site:
        parts = lay_out(site)
        with site.sessions() as session:
            ids = {token.name: token.id for token in tokens.list_tokens(session)}
        yield World(site, parts, ids)


PARTS = {
    "/static/{name}": "/static/plumbline.css",
    "{slug}": "tiny",
    "{version}": "1",
    "{number}": "1",
    "{board}": "average",
    "{name}": "average",
    "{entrant}": "Good",
    "{task}": "t1",
    "{submission}": "1",
    "{kind}": "breakdown",
    "{table}": "deviations",
    "{file}": "metrics.csv",
}


def test_what_is_public_says_the_same_to_everyone(world: World) -> None:
    """Also to a token that is not known: who may see nothing that is hidden sees every page as a stranger does."""
    world.site.work()
    parts = {**PARTS, "{sha256}": world.parts["{registered}"]}
    paths = {
        route.path_format for route in all_routes(world.site.database_url) if getattr(route, "action", None) == PUBLIC
    }
    for part, example in parts.items():
        paths = {path.replace(part, example) for path in paths}
    given = {"nobody": {}, "x": {"Authorization": "x"}, "there": world.site.auth("there")}
    answers = {path: [answer(world.site, path, headers) for headers in given.values()] for path in paths}

    assert [path for path in paths if "{" in path] == []
    assert {path for path, given in answers.items() if len(set(given)) != 1} == set()
    assert {path for path, given in answers.items() if given[0][0] in (401, 403)} == set()


def answer(site: Site, path: str, headers: dict[str, str]) -> tuple[int, bytes]:
    """Return the status and, where it is an answer, the body; a problem's names the instance, not the asker."""
    given = site.http.get(path, headers=headers, follow_redirects=False)
    # Counters count the requests themselves.
    return given.status_code, b"" if path == "/metrics" else given.content


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each.action}: {each.request}")
def test_who_may_is_who_the_table_says(world: World, example: Example) -> None:
    """Nobody is asked for a token, others are refused; whoever may is not, and each write is in the audit."""
    right, before = RIGHTS[example.action], world.newest_event()
    asking = [each for each in PEOPLE if not (each.is_stale and example.method == "GET")]
    refused = [each for each in asking if not (right.anybody or each.may(example))]
    allowed = [each for each in asking if each not in refused]
    unknown = example.refused if example.refused == 404 and right.owner != "any" else 401
    statuses: dict[str | None, int] = {None: world.ask(example, None)}
    statuses |= {each.name: world.ask(example, each) for each in (*refused, *allowed)}

    assert statuses[None] in (example.allowed if right.anybody else {unknown})
    assert {each.name: statuses[each.name] for each in refused if statuses[each.name] != example.refused} == {}
    assert {each.name: statuses[each.name] for each in allowed if statuses[each.name] not in example.allowed} == {}
    if example.writes:
        names = ("", *(each.token or each.name for each in (*refused, *allowed)))
        whose = [None if right.anybody else world.token_id(example, name) for name in names]
        assert world.events_after(before) == list(zip(statuses.values(), whose, strict=True))


WITHOUT_AUDIT = """
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no audit'; END $$;
    CREATE TRIGGER fail BEFORE INSERT ON audit_event FOR EACH ROW EXECUTE FUNCTION fail()
"""


def test_nothing_is_written_that_is_not_in_the_audit(world: World) -> None:
    """The event stands in the transaction of the write: without the one there is not the other."""
    writes = [each for each in EXAMPLES if each.writes]
    people = [each for each in PEOPLE if each.name in ("stranger", "owner", "here", "admin")]
    # That a token was used is noted to the hour, in a transaction of its own.
    for owner in ("alice", "spare"):
        for each in people:
            world.ask(Example("see one's own account", "GET /whoami", {200}, owner=owner), each)
    with world.site.as_owner() as session:
        session.execute(text(WITHOUT_AUDIT))
        before = everything(session)
    try:
        statuses = [world.ask(example, who) for example in writes for who in people]
    finally:
        with world.site.as_owner() as session:
            session.execute(text("DROP TRIGGER fail ON audit_event; DROP FUNCTION fail()"))

    assert {status for status in statuses if status < 400} == set()
    assert statuses.count(500) > len(writes)
    with world.site.as_owner() as session:
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


def test_every_route_that_is_not_public_has_an_example(world: World) -> None:
    """Of the action that it says it is; what signs in and out has tests of its own."""
    tried = {(example.action, example.method, example.path.partition("?")[0]) for example in EXAMPLES}
    untried = [
        f"{action}: {method} {route.path_format}"
        for route in all_routes(world.site.database_url)
        for method in sorted((route.methods or set()) - {"HEAD"})
        for action in [getattr(route, "action", "")]
        if RIGHTS[action].anybody is None and not route.path_format.endswith(FORMATS)
        if not any(each[1] == method and route.path_regex.match(strip(each[2])) for each in tried)
    ]

    assert untried == []
    assert {example.action for example in EXAMPLES} == RIGHTS.keys() - {PUBLIC, "sign in"} - SHOWN


FORMATS = (".csv", ".json", ".ndjson", ".arrow", ".parquet")
SHOWN = {"see all of the tokens and of the audit"}
"""What is a column of a table that others see too: tests/web/test_tokens.py and test_audit.py."""


def strip(path: str) -> str:
    """Return an address without the format at its end."""
    return path.removesuffix(".json")


def test_the_document_has_the_table() -> None:
    """docs/security.md says of each thing which roles may do it, and which scope of a token that takes."""
    lines = SECURITY.read_text("utf-8").splitlines()
    written = [line for line in lines[lines.index(HEAD) :] if line.startswith("|")][: len(RIGHTS) + 2]

    assert written == documented()


SECURITY = Path(__file__).parents[2] / "docs" / "security.md"
COLUMNS = ("anybody", "holder", "owner", "submitter", "reviewer", "steward", "any_steward", "admin")
HEAD = f"| | {' | '.join(each.replace('_', ' ') for each in COLUMNS)} |"


def documented() -> list[str]:
    """Return the table of the document."""
    rows = [f"| {action} | {' | '.join(right[role] or '' for role in COLUMNS)} |" for action, right in RIGHTS.items()]
    return [HEAD, "|---" * (len(COLUMNS) + 1) + "|", *(row.replace("  ", " ") for row in rows)]


def test_who_has_no_scope_for_it_is_told_which() -> None:
    """A refusal says who may, and whom to ask, or what the token lacks."""
    holder = Holder(1, "ann", "steward", scopes=frozenset({"read"}))
    here = Relation("tiny", frozenset({"steward"}))

    with pytest.raises(Forbidden, match="only for read; this needs one for steward"):
        require("close a benchmark", holder, here)
    with pytest.raises(Forbidden, match=r"Only a steward of tiny may do this\. Ask ann or bea\."):
        require("close a benchmark", holder, Relation("tiny"), lambda: "ann or bea")


def token(role: str = "submitter", *scopes: str, **limits: object) -> Holder:
    """Return the holder of a token of a role, with these scopes alone where some are named."""
    return replace(Holder(1, "ann", role, scopes=frozenset(scopes) or None), **limits)  # type: ignore[arg-type]


OWN, STEWARDS = Relation("tiny", is_owner=True), Relation("tiny", frozenset({"steward"}))
OLD = {"is_fresh": False}
LIMITED = "This token is only for {}. This needs a token that is not limited to scopes or entrants, or an admin."
LACKING = "This token is only for {}; this needs one for {}."
AGAIN = SignedInLongAgo().args[0]
DECIDED: dict[str, tuple[str, Holder, Relation, str | None]] = {
    "a whole token of whose it is": ("renew a token", token(), OWN, None),
    "one for all scopes": ("renew a token", token("submitter", "read", "submit"), OWN, LIMITED.format("read, submit")),
    "one for entrants": ("renew a token", token(entrants=frozenset("BA")), OWN, LIMITED.format("A, B")),
    "one for both": ("renew a token", token("submitter", "submit", entrants=frozenset("A")), OWN,
                     LIMITED.format("submit; A")),
    "another's": ("renew a token", token("steward"), Relation(), "Only its holder, or an admin, may renew a token."),
    "another's, for an admin": ("renew a token", token("admin"), Relation(), None),
    "a write by who submits": ("dispute a submission", token("submitter", "submit"), Relation(), None),
    "a write by who decides": ("dispute a submission", token("steward", "steward"), Relation(), None),
    "a write by who reads": ("dispute a submission", token("submitter", "read"), Relation(),
                             LACKING.format("read", "submit or steward")),
    "whatever the scopes": ("see one's own account", token("submitter", "read"), Relation(), None),
    "a steward here": ("close a benchmark", token("steward"), STEWARDS, None),
    "a steward elsewhere": ("close a benchmark", token("steward"), Relation("tiny"),
                            "Only a steward of tiny may do this."),
    "a steward whose token became a submitter's": ("close a benchmark", token(), STEWARDS,
                                                   "Only a steward of tiny may do this."),
    "an admin": ("close a benchmark", token("admin"), Relation("tiny"), None),
    "an admin's token for submitting": ("close a benchmark", token("admin", "submit"), Relation("tiny"),
                                        LACKING.format("submit", "steward")),
    "an admin's token for deciding": ("close a benchmark", token("admin", "steward"), Relation("tiny"), None),
    "an admin's token for deciding that would make a wider one": (
        "create a token", token("admin", "steward"), Relation(), LIMITED.format("steward")),
    "a steward's token for deciding that would make a wider one": (
        "invite to a benchmark", token("steward", "steward"), STEWARDS, LIMITED.format("steward")),
    "a steward's token for entrants": ("withdraw a submission", token("steward", entrants=frozenset("A")), STEWARDS,
                                       LACKING.format("A", "steward")),
    "an admin's token for entrants": ("close a benchmark", token("admin", entrants=frozenset("A")), Relation("tiny"),
                                      LACKING.format("A", "steward")),
    "a token for entrants and for deciding": (
        "dispute a submission", token("steward", "steward", entrants=frozenset("A")), Relation(),
        LACKING.format("steward; A", "submit or steward")),
    "a steward's token for entrants that submits": ("submit", token("steward", entrants=frozenset("A")),
                                                    Relation("tiny", frozenset({"submitter"})), None),
    "a token for entrants that withdraws its own": (
        "withdraw a submission", token(entrants=frozenset("A")), OWN, None),
    "a steward of any benchmark": ("create a benchmark", token("steward"), Relation(), None),
    "no steward": ("create a benchmark", token(), STEWARDS,
                   "Only stewards create benchmarks; an admin creates tokens of that role."),
    "an admin, as a steward of any": ("create a benchmark", token("admin"), Relation(), None),
    "what admins do": ("create a token", token("steward"), STEWARDS, "Only an admin may create tokens."),
    "a submitter here": ("submit", token(), Relation("tiny", frozenset({"submitter"})), None),
    "a reviewer here": ("read a draft", token("submitter", "read"), Relation("tiny", frozenset({"reviewer"})), None),
    "a token for this benchmark": ("see one's own account", token(benchmarks=frozenset({"tiny"})), OWN, None),
    "a token for others": ("see one's own account", token(benchmarks=frozenset({"b", "a"})), OWN,
                           "This token is only for a, b."),
    "a token for others where none is asked about": (
        "see one's own account", token(benchmarks=frozenset({"b"})), Relation(), None),
    "an old session that decides": ("close a benchmark", token("steward", **OLD), STEWARDS, AGAIN),
    "an old session of whose it is": ("withdraw a submission", token("steward", **OLD),
                                      replace(STEWARDS, is_owner=True), None),
    "an old session of whose it is not": ("withdraw a submission", token("steward", **OLD), STEWARDS, AGAIN),
    "an old session with the scopes of a steward alone": (
        "withdraw a submission", token("steward", "read", **OLD), replace(STEWARDS, is_owner=True),
        LACKING.format("read", "submit or steward")),
    "an old session that needs a whole token": ("renew a token", token(**OLD), OWN, AGAIN),
    "an old session that writes": ("dispute a submission", token(**OLD), Relation(), None),
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
def test_role_limits_and_session_decide_together(name: str) -> None:
    """And the refusal says which of them it is."""
    action, holder, relation, refusal = DECIDED[name]

    if refusal is None:
        require(action, holder, relation)
    else:
        with pytest.raises(Forbidden) as refused:
            require(action, holder, relation)
        assert refused.value.args[0] == refusal
    assert allows(action, holder, relation) is (refusal is None)


def test_a_route_says_which_action_it_is() -> None:
    """One that says none could be for nobody or for everybody: the app does not start."""
    router = APIRouter(route_class=CheckedFirst)

    with pytest.raises(TypeError, match="/new must say"):
        router.get("/new")(lambda: None)
    with pytest.raises(KeyError):
        may("an action that the table does not have")


def test_a_refusal_comes_before_the_wait_for_a_reader(world: World) -> None:
    """Whoever may not do it is told so, and not to come again, also while no upload can be read."""
    site, loop = world.site, world.site.http.portal
    state = site.http.app.app._app._app._app.state.plumbline  # type: ignore[attr-defined]
    places = state.settings.max_readings + state.settings.max_waiting_readings
    held = [Turn.of(f"somebody {number}") for number in range(places)]
    assert loop is not None
    for turn in held:
        loop.call(state.readers.turns.enter, turn)
    who = ("alice", "steward")
    refused = [site.http.post("/manifests", files=[("files", ("r.csv", b"x"))], headers=site.auth(one)) for one in who]
    for turn in reversed(held):
        loop.call(state.readers.turns.end, turn)

    assert [answer.status_code for answer in refused] == [403, 503]


def test_a_refusal_of_many_entrants_says_how_many_more_there_are() -> None:
    """Of what the token is for as of what it is not for."""
    holder = Holder(1, "ann", "submitter", entrants=frozenset(f"M{at:02}" for at in range(12)))
    with pytest.raises(Forbidden) as refused:
        refuse_other_entrants(holder, [f"N{at:02}" for at in range(11)])

    assert " M09 and 2 more, not for N00, " in str(refused.value)
    assert str(refused.value).endswith(" N09 and 1 more.")
