"""Hostile and mistaken input over HTTP: a clear answer for each, and nothing half stored."""

import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.config import Settings
from app.kinds.parse import MAX_MANIFEST_BYTES
from app.main import create_app
from tests.cases.databases import as_runtime, new_database
from tests.cases.stored_rows import stored
from tests.cases.walkthrough import BASE, PREREG, declare, send
from tests.fixtures import LOW, Site, open_site

ROOT = Path(__file__).resolve().parents[2]
YAML = {"Content-Type": "application/yaml"}


def archive(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of members with exactly these names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as created:
        for name, content in members.items():
            created.writestr(name, content)
    return packed.getvalue()


def messages(answer: Mapping[str, Any]) -> str:
    """Return every message of a problem document."""
    return json.dumps([answer["detail"], *(problem["message"] for problem in answer.get("problems", []))])


@pytest.fixture(scope="module")
def tiny(postgres_url: str, migrated: str) -> Iterator[Site]:
    """A server with low limits and one benchmark, in which nothing of what follows is stored."""
    with new_database(postgres_url, migrated) as url, open_site(as_runtime(url), LOW) as opened:
        declare(opened)
        yield opened


def test_a_zip_of_zeros_is_stopped_while_it_unpacks(site: Site, database_url: str) -> None:
    """Half a megabyte that becomes half a gigabyte is cut off at the limit, whatever its directory says."""
    declare(site)
    bomb = archive({"r.csv": bytes(500 << 20)})
    with limited_site(database_url, Settings(max_unpacked_mib=10), site) as limited:
        answer = send(limited, bomb, name="r.zip")

    assert (answer["http"], stored(site)) == (413, 0)


@contextmanager
def limited_site(database_url: str, settings: Settings, like: Site) -> Iterator[Site]:
    """Another server on the same database, with other limits and the same tokens."""
    with TestClient(create_app(settings, database_url), raise_server_exceptions=False) as http:
        yield Site(http, like.sessions, like.tokens, like.database_url)


def test_a_zip_that_climbs_out_is_refused(tiny: Site) -> None:
    """Members are never written under their own names, and such names are refused besides."""
    for name in ("../r.csv", "/etc/r.csv", "a/../../r.csv", "C:\\r.csv"):
        answer = send(tiny, archive({name: BASE}), name="r.zip")

        assert (answer["http"], "relative" in messages(answer)) == (422, True), name
    assert stored(tiny) == 0


BOMBS = (
    b"a: &a [x, x]\nb: [*a, *a]\n",
    b"a: " + b"[" * 20_000,
    b"benchmark: tiny\nbenchmark: other\nmetrics: [MASE]\n",
    b"benchmark: !!python/object/apply:os.system [ls]\n",
    b"\x00\x01\x02",
)
"""Aliases, depth, a repeated key, a tag, and bytes that are no text."""


def test_a_hostile_prereg_or_manifest_is_refused(tiny: Site) -> None:
    """Each as a problem, and in no time: stewards are trusted with benchmarks, not with the server."""
    mebibyte = b"a: " + b"x" * MAX_MANIFEST_BYTES
    sent = [("/preregs", "alice", bomb) for bomb in BOMBS]
    sent += [("/benchmarks", "steward", bomb) for bomb in (*BOMBS, mebibyte)]
    answers = [tiny.http.post(path, content=bomb, headers=tiny.auth(who) | YAML) for path, who, bomb in sent]

    assert {answer.status_code for answer in answers} == {413, 422}
    assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}


def test_iid_for_the_leaderboard_is_refused_in_known_words(tiny: Site) -> None:
    """The words of CHAMBER's own refusal."""
    iid = PREREG + b"run_purpose: leaderboard\nbootstrap_method: iid\n"
    answer = tiny.http.post("/preregs", content=iid, headers=tiny.auth() | YAML)

    assert answer.status_code == 422
    assert "iid bootstrap is not permitted for leaderboard entries" in messages(answer.json())


def test_a_repeated_key_is_the_same_submission_or_a_conflict(site: Site) -> None:
    """A client that lost the answer asks again; of other bytes nobody can say which of the two is a mistake."""
    declare(site)
    first, again, other = (keyed(site, rows) for rows in (BASE, BASE, BASE.replace(b"1.0", b"1.5")))

    assert [answer.status_code for answer in (first, again, other)] == [202, 202, 409]
    assert first.json()["id"] == again.json()["id"]
    assert stored(site) == 1


def keyed(site: Site, rows: bytes) -> Any:
    """Submit rows under one Idempotency-Key."""
    return site.http.post(
        "/benchmarks/tiny/submissions",
        files=[("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))],
        headers=site.auth() | {"Idempotency-Key": "run-1"},
    )


def test_too_many_rows_are_refused(tiny: Site) -> None:
    """413 with the limit in its words."""
    rows = b"model,task,MASE\n" + b"".join(b"M%d,t1,1\n" % number for number in range(201))
    answer = send(tiny, rows)

    assert (answer["http"], stored(tiny)) == (413, 0)
    assert "200" in answer["detail"]


def test_an_address_that_cannot_be_is_not_found(tiny: Site) -> None:
    """404 and never a fault of the server."""
    for path in ("/submissions/x", "/submissions/99999999999999999999", "/preregs/zz", "/benchmarks/%00"):
        assert tiny.http.get(path).status_code in (404, 422), path


def test_a_number_in_an_address_that_nothing_can_have_is_named(tiny: Site) -> None:
    """As of tokens, so of submissions, disputes and addresses: the answer says which part of the address it is."""
    said = {
        "/submissions/{}/withdraw": ("submission", {"reason": "x"}),
        "/submissions/{}/disputes": ("submission", {"text": "x"}),
        "/submissions/1/disputes/{}/answer": ("dispute", {"answer": "x"}),
        "/notifications/{}/confirm": ("number", {"code": "x"}),
    }
    for address, (part, order) in said.items():
        answer = tiny.http.post(address.format(10**20), headers=tiny.auth("steward"), json=order)
        assert (answer.status_code, answer.json()["problems"][0]["column"]) == (422, f"path.{part}"), address


def test_a_write_to_an_address_that_no_audit_can_store_is_not_found(
    tiny: Site, caplog: pytest.LogCaptureFixture
) -> None:
    """With a zero character in it, nothing has to be noted, and nothing fails in noting it."""
    for method, path in (("PUT", "/benchmarks/a%00b/title"), ("DELETE", "/benchmarks/%00")):
        answer = tiny.http.request(method, path, headers=tiny.auth("steward"))
        assert (answer.status_code, answer.json()["detail"]) == (404, "There is nothing at this address.")
    assert "could not be noted" not in caplog.text


def test_every_row_of_a_foreign_file_is_named(roomy_site: Site) -> None:
    """No row of timecopilot's file is a task of fev-bench: all 27 are told, each with its number."""
    manifest = (ROOT / "examples" / "fev-bench" / "manifest.yaml").read_bytes()
    roomy_site.http.post("/benchmarks", content=manifest, headers=roomy_site.auth("steward"))
    rejected = (ROOT / "tests" / "data" / "fev" / "rejected" / "timecopilot.csv").read_bytes()
    answer = roomy_site.http.post(
        "/benchmarks/fev-bench/submissions", files=[("files", ("t.csv", rejected))], headers=roomy_site.auth()
    ).json()

    assert [problem["row"] for problem in answer["problems"]] == list(range(2, 29))


def test_a_packed_body_is_refused_with_how_to_send_it(tiny: Site) -> None:
    """Read as it is, it would be blamed for a byte that is no text; nothing of it is read."""
    packed = gzip.compress(PREREG)
    answer = tiny.http.post("/preregs", content=packed, headers=tiny.auth() | YAML | {"Content-Encoding": "gzip"})

    assert (answer.status_code, answer.headers["content-type"]) == (415, "application/problem+json")
    assert "Content-Encoding: gzip is not accepted" in answer.json()["detail"]
    assert "results.csv.gz" in answer.json()["detail"]


def test_a_form_with_too_many_fields_says_how_many_there_may_be(tiny: Site) -> None:
    """Fields are kept in memory, so that their number is bounded."""
    fields = {f"field{number}": "1" for number in range(17)}
    files = [("files", ("r.csv", BASE))]
    answer = tiny.http.post("/benchmarks/tiny/submissions", files=files, data=fields, headers=tiny.auth())

    assert (answer.status_code, answer.json()["detail"]) == (400, "One request has at most 16 fields.")
