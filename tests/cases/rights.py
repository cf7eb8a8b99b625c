"""Somebody of each role of `app.rights.policy`, and a request for each thing that a role may or may not do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select, text

from app.db.models import Try
from app.rights.policy import ANY, READ, RIGHTS, STEWARD, SUBMIT, WHOLE, WRITE
from tests.cases.registrations import YAML
from tests.cases.reservations import prereg
from tests.cases.signing_in import form_key, signed
from tests.cases.walkthrough import GOOD, MANIFEST, PREREG
from tests.fixtures import Site

REASON = {"reason": "because"}
ATTESTED = {"registered_at": "2020-01-01T00:00:00Z", "evidence": "a tag"}
INVITED = MANIFEST.replace("prereg: required", "prereg: required, submissions: invited") + "entrant_fields: [licence]\n"
SLUGS = {"open": "public", "private": "private", "sketch": "draft"}
"""Benchmarks of `here` beside tiny, where who submits was invited."""
DRAFT = INVITED + "# later\n"
FILES = [("files", ("r.csv", GOOD.replace(b"Good", b"Fine"))), ("prereg", ("p.yaml", PREREG))]
RESULTS = [("files", ("r.csv", b"model,task,score\nA,t1,1\nB,t1,2\n"))]
DESCRIBED = {"file": ("f.csv", b"entrant,licence\nGood,MIT\n")}
CARD = b"---\nlicense: mit\n---\n"
TABLE = {"file": ("l.csv", b"item,label\na,1\n")}
MANIFEST_SENT = {"content": INVITED, "headers": YAML}
FORM = {"follow_redirects": False}


@dataclass(frozen=True)
class Person:
    """Somebody with a token: their roles, as the table names them, and what limits the token."""

    name: str
    roles: frozenset[str]
    scopes: tuple[str, ...] | None = None
    benchmarks: tuple[str, ...] | None = None
    entrants: tuple[str, ...] | None = None
    is_stale: bool = False
    token: str = ""

    def may(self, example: "Example") -> bool:
        """Say what the table says, by words of this test's own."""
        right = RIGHTS[example.action]
        if self.benchmarks is not None and example.is_here:
            return False
        if self.entrants is not None and example.entrant not in (None, *self.entrants):
            return False
        roles = set(self.roles)
        if example.is_open and "reviewer" not in roles:
            roles.add("submitter")
        cells = [cell for role in roles if (cell := getattr(right, role)) is not None]
        is_stale = self.is_stale and example.method != "GET"
        if "admin" in self.roles:
            cells += [cell for cell in (right.steward, right.any_steward) if cell is not None]
        cells = [cell for cell in cells if not is_stale or cell not in (STEWARD, WHOLE)]
        if self.entrants is not None:
            return any(COVERED_BY[cell] & {"read", "submit"} for cell in cells)
        return any(self.scopes is None or not COVERED_BY[cell].isdisjoint(self.scopes) for cell in cells)


COVERED_BY = {
    ANY: {"read", "submit", "steward"}, READ: {"read"}, SUBMIT: {"submit"}, STEWARD: {"steward"},
    WRITE: {"submit", "steward"}, WHOLE: set(),
}  # fmt: skip
STEWARDS = frozenset({"holder", "any_steward", "steward"})
PEOPLE = (
    Person("stranger", frozenset({"holder"})),
    Person("reader", frozenset({"holder"}), ("read",)),
    Person("submitter", frozenset({"holder", "submitter"})),
    Person("narrow", frozenset({"holder", "submitter"}), entrants=("Good",)),
    Person("reviewer", frozenset({"holder", "reviewer"})),
    Person("unreading", frozenset({"holder", "reviewer"}), ("submit",)),
    Person("there", frozenset({"holder", "any_steward"})),
    Person("elsewhere", STEWARDS, benchmarks=("other",)),
    Person("reading", STEWARDS, ("read",)),
    Person("submitting", STEWARDS, ("submit",)),
    Person("deciding", STEWARDS, ("steward",)),
    Person("naming", STEWARDS, entrants=("Good",)),
    Person("stale", STEWARDS, is_stale=True, token="here"),
    Person("watching", frozenset({"holder", "admin"}), ("read",)),
    Person("ruling", frozenset({"holder", "admin"}), ("steward",)),
    Person("named", frozenset({"holder", "admin"}), entrants=("Good",)),
    Person("owner", frozenset({"holder", "owner", "submitter"}), token="alice"),
    Person("here", STEWARDS),
    Person("admin", frozenset({"holder", "admin"})),
)
"""Each may more than some before; who may do something is asked in this order, so that an admin is the last."""


@dataclass(frozen=True)
class Example:
    """A request that does something, and the statuses of those who may: done twice, some of it conflicts."""

    action: str
    request: str
    allowed: Iterable[int]
    sent: Mapping[str, Any] = field(default_factory=dict)
    refused: int = 403
    owner: str = "alice"
    is_of_here: bool = False
    is_open: bool = False
    entrant: str | None = None

    @property
    def is_here(self) -> bool:
        """Say whether it is about a benchmark of `here`: else a token for another one is as good as any."""
        return self.is_of_here or any(slug in self.path for slug in (*SLUGS, "tiny", "/submissions/", "/tries/"))

    @property
    def method(self) -> str:
        """Return the method of the request."""
        return self.request.partition(" ")[0]

    @property
    def writes(self) -> bool:
        """Say whether something is stored: of a try, and of a draft of a manifest that is sent back, nothing is."""
        return self.method != "GET" and "dry_run" not in self.path and self.path != "/manifests"

    @property
    def path(self) -> str:
        """Return the address of the request."""
        return self.request.partition(" ")[2]


def _json(**body: Any) -> dict[str, Any]:
    return {"json": body}


EXAMPLES: tuple[Example, ...] = (
    Example("use an invitation", "POST /invitations/redeem", {404}, _json(code="x", name="new")),
    # 404: the manifest lets nobody register.
    Example("join a benchmark that lets anybody register", "POST /benchmarks/tiny/join", {404}, _json(name="new")),
    Example("read a private benchmark", "GET /benchmarks/private.json", {200}, refused=404),
    Example("read a draft", "GET /benchmarks/sketch.json", {200}, refused=404),
    Example("read a registration under embargo", "GET /preregs/{embargoed}.json", {200}, refused=404, is_of_here=True),
    Example("see one's own account", "GET /whoami", {200}),
    Example("see one's own account", "GET /whoami/data", {200}),
    Example("see one's own account", "GET /whoami/submissions", {200}),
    Example("see one's own account", "GET /account", {200}),
    Example("see one's own account", "GET /account/submissions", {200}),
    Example("see one's own account", "GET /notifications", {200}),
    Example("sign out", "POST /logout/everywhere", {303}, FORM),
    Example("sign out", "POST /logout", {303}, FORM),
    Example("see the disputes of a submission", "GET /disputes/1", {200}),
    Example("dispute a submission", "POST /submissions/1/disputes", {201, 409}, _json(text="x")),
    Example("subscribe to one's own submissions", "POST /notifications", {201}, _json(address="https://example.com/")),
    # 404: nobody has that many.
    Example("confirm or end a subscription", "POST /notifications/99/confirm", {404}, _json(code="x")),
    Example("confirm or end a subscription", "DELETE /notifications/99", {404}),
    Example("erase a name", "POST /tokens/{spare}/erase", {200}, _json(**REASON), owner="spare"),
    Example("renew a token", "POST /tokens/{spare}/rotate", {200}, _json(overlap_h=1), owner="spare"),
    Example("register", "POST /preregs?benchmark=open", {200, 201},
            {"content": PREREG.replace(b"tiny", b"open"), "headers": YAML}, is_open=True),
    Example("submit", "POST /benchmarks/tiny/submissions?dry_run=true&impact=false", {200}, {"files": FILES},
            entrant="Fine"),
    # 403: it is for browsers, which have a session.
    Example("submit", "POST /benchmarks/open/submissions?dry_run=true&impact=false", {200},
            {"files": [FILES[0], ("prereg", ("p.yaml", PREREG.replace(b"tiny", b"open")))]},
            is_open=True, entrant="Fine"),
    Example("submit", "POST /submit/tiny", {303, 403}, {"files": FILES, **FORM}),
    Example("register", "POST /preregs?benchmark=tiny", {200, 201}, {"content": PREREG, "headers": YAML}),
    Example("see a try", "GET /tries/{try}.json", {200}, refused=404),
    Example("withdraw a submission", "POST /submissions/1/withdraw", {200, 409}, _json(**REASON)),
    Example("withdraw a submission", "POST /desk/tiny/withdraw", {303, 409},
            {"data": {"submission": "2", **REASON}, **FORM}),
    Example("say what an entrant is", "POST /benchmarks/tiny/entrants", {200}, {"files": DESCRIBED}, entrant="Good"),
    Example("say what an entrant is", "PUT /benchmarks/tiny/entrants/Good/fields", {200}, _json(licence="MIT"),
            entrant="Good"),
    Example("say what an entrant is", "PUT /benchmarks/tiny/entrants/Good/card", {200}, {"content": CARD},
            entrant="Good"),
    # 404: it is released by then.
    Example("release a reserved name", "POST /benchmarks/tiny/reservations/Kept/release", {200, 404}, _json(**REASON)),
    Example("see the draft of a manifest", "GET /benchmarks/tiny/draft.json", {200}),
    Example("see the draft of a manifest", "GET /benchmarks/tiny/draft.yaml", {200}),
    Example("see the draft of a manifest", "GET /benchmarks/tiny/draft/average.json", {200, 404}),
    Example("answer a dispute", "POST /submissions/1/disputes/99/answer", {404}, _json(answer="x")),
    Example("see the stewards' desk", "GET /desk/tiny", {200}),
    Example("change the manifest", "PUT /benchmarks/tiny", {200}, MANIFEST_SENT),
    Example("change the manifest", "POST /desk/tiny/manifest", {303}, {"data": {"manifest": INVITED, "act": "put"},
                                                                     **FORM}),
    Example("change the title", "PUT /benchmarks/tiny/title", {200}, _json(title="Tiny")),
    Example("change the draft of a manifest", "PUT /benchmarks/tiny/draft", {200}, {"content": DRAFT, "headers": YAML}),
    # 404: it is dropped by then.
    Example("change the draft of a manifest", "DELETE /benchmarks/tiny/draft", {200, 404}),
    Example("change the draft of a manifest", "POST /benchmarks/tiny/draft/publish", {404}),
    # 409 and 404: it takes neither labels nor items, which only who may put them learns.
    Example("upload labels", "PUT /benchmarks/tiny/labels", {409}, {"files": TABLE}),
    Example("upload items", "PUT /benchmarks/tiny/items", {409}, {"files": TABLE}),
    Example("see what labels there are", "GET /benchmarks/tiny/labels", {409}),
    Example("see what is disclosed of labels", "GET /benchmarks/tiny/disclosed.json", {404}),
    Example("see exact scores", "GET /benchmarks/tiny/exact.json", {404}),
    Example("close a benchmark", "POST /benchmarks/tiny/close", {409}, _json(**REASON)),
    # It is not tiny, which would take no submissions.
    Example("retire a benchmark", "POST /benchmarks/open/retire", {200, 409}, _json(**REASON)),
    Example("delete a draft", "DELETE /benchmarks/tiny", {409}),
    Example("see who may read a benchmark", "GET /benchmarks/tiny/visibility", {200}),
    Example("let more people read a benchmark", "POST /benchmarks/tiny/visibility", {200}, _json(visibility="public")),
    Example("see who has a role", "GET /benchmarks/tiny/roles", {200}),
    Example("see who has a role", "GET /benchmarks/tiny/people", {200}),
    Example("grant or revoke a role", "POST /benchmarks/tiny/roles", {200}, _json(token="reviewer", role="reviewer")),
    Example("grant or revoke a role", "DELETE /benchmarks/tiny/roles/submitter/there", {404}),
    Example("appoint or remove a steward", "POST /benchmarks/tiny/roles", {200}, _json(token="here", role="steward")),
    # 409: the last one without an end and without limits stays.
    Example("appoint or remove a steward", "DELETE /benchmarks/tiny/roles/steward/here", {409}),
    Example("link tokens as one owner", "PUT /benchmarks/tiny/owners/there", {200},
            _json(counted_as="there", **REASON)),
    Example("move an entrant", "PUT /benchmarks/tiny/entrants/Good/owner", {200}, _json(token_id=1, **REASON)),
    Example("invite to a benchmark", "POST /invitations", {201},
            _json(role="submitter", benchmark="tiny"), is_of_here=True),
    Example("invite stewards, or to the whole server", "POST /invitations", {201},
            _json(role="steward", benchmark="tiny")),
    Example("invite stewards, or to the whole server", "POST /invitations", {201}, _json(role="submitter")),
    Example("revoke an invitation", "DELETE /invitations/1", {200}, is_of_here=True),
    Example("attest a registration", "POST /preregs/{registered}/attestations", {201},
            _json(**ATTESTED), is_of_here=True),
    Example("create a benchmark", "POST /benchmarks?dry_run=true", {200},
            {"content": INVITED.replace("slug: tiny", "slug: new"), "headers": YAML}, is_of_here=True),
    Example("create a benchmark", "POST /manifests", {200}, {"files": RESULTS}),
    Example("see the tokens", "GET /tokens", {200}),
    Example("see the tokens", "GET /account/tokens", {200}),
    Example("see the audit", "GET /audit.json", {200}),
    Example("see what needs a steward", "GET /health.json", {200}),
    Example("see the invitations", "GET /invitations", {200}),
    Example("see the invitations", "GET /account/invitations", {200}),
    Example("create a token", "POST /tokens", {201, 409}, _json(name="new", role="submitter")),
    Example("revoke a token", "DELETE /tokens/99999", {404}),
)  # fmt: skip


def lay_out(site: Site) -> dict[str, str]:
    """Make the benchmarks and their people; return what stands for the parts of the examples in braces."""

    def ask(who: str, request: str, **sent: Any) -> Any:
        headers = {**sent.pop("headers", {}), **site.auth(who)}
        answer = site.http.request(*request.split(" "), headers=headers, **sent)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def token(name: str, role: str, **limits: Any) -> int:
        made = ask("admin", "POST /tokens", json={"name": name, "role": role, **limits})
        site.tokens[name] = made["token"]
        return int(made["id"])

    token("here", "steward")
    token("there", "steward")
    ask("there", "POST /benchmarks", content=MANIFEST.replace("slug: tiny", "slug: other"), headers=YAML)
    ask("here", "POST /benchmarks", content=INVITED, headers=YAML)
    for slug, visibility in SLUGS.items():
        content = MANIFEST.replace("slug: tiny", f"slug: {slug}")
        ask("here", f"POST /benchmarks?visibility={visibility}", content=content, headers=YAML)
    for person in PEOPLE:
        name = person.token or person.name
        if name not in site.tokens:
            on_server = "steward" if "any_steward" in person.roles else "submitter"
            limits = {"scopes": person.scopes, "benchmarks": person.benchmarks, "entrants": person.entrants}
            token(name, "admin" if "admin" in person.roles else on_server, **limits)
        for role in person.roles & {"submitter", "reviewer", "steward"}:
            for slug in ("tiny", *SLUGS):
                ask("admin", f"POST /benchmarks/{slug}/roles", json={"token": name, "role": role})
    spare = token("spare", "submitter")
    until = f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%dT%H:%M:%SZ}"
    registered = ask("alice", "POST /preregs", content=PREREG, headers=YAML)["sha256"]
    ask("alice", "POST /preregs", content=prereg("Kept"), headers=YAML)
    ask("alice", "POST /preregs?benchmark=open", content=PREREG.replace(b"tiny", b"open"), headers=YAML)
    embargoed = ask("alice", f"POST /preregs?embargo_until={until}", content=prereg("Secret"), headers=YAML)["sha256"]
    for rows in (GOOD, GOOD.replace(b"Good", b"Fair")):
        files = [("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))]
        ask("alice", "POST /benchmarks/tiny/submissions", files=files)
    malformed = [("files", ("r.csv", b"nothing")), ("prereg", ("p.yaml", PREREG))]
    site.http.post("/benchmarks/tiny/submissions", files=malformed, headers=site.auth())
    ask("here", "PUT /benchmarks/tiny/draft", content=DRAFT, headers=YAML)
    ask("here", "POST /invitations", json={"role": "submitter", "benchmark": "tiny"})
    with site.sessions() as session:
        tried = session.scalars(select(Try.id)).one()
    return {"{spare}": str(spare), "{registered}": registered, "{embargoed}": embargoed, "{try}": tried}


def sign_in_long_ago(site: Site, who: str) -> dict[str, str]:
    """Return the headers of a write in a session that began so long ago that it is not fresh."""
    headers = signed(site, who)
    headers["X-CSRF-Token"] = form_key(site, headers)
    with site.as_owner() as session:
        session.execute(text("UPDATE browser_session SET proved_at = proved_at - interval '1 hour'"))
    return headers
