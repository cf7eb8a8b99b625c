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
from tests.cases.stored_rows import stored
from tests.cases.walkthrough import BASE, MANIFEST, PREREG, declare, send
from tests.fixtures import Site, open_site

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


def test_an_unknown_benchmark_is_not_found(site: Site) -> None:
    """404, as a problem document."""
    answer = site.http.post("/benchmarks/nowhere/submissions", files=[("files", ("r.csv", BASE))], headers=site.auth())

    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def test_a_prereg_of_another_benchmark_is_not_admitted(site: Site) -> None:
    """It is stored with its reason, because somebody meant it."""
    declare(site)
    other = PREREG.replace(b"tiny", b"other")
    site.http.post("/preregs", content=other, headers=site.auth() | YAML)
    answer = site.http.post(
        "/benchmarks/tiny/submissions",
        files=[("files", ("r.csv", BASE)), ("prereg", ("p.yaml", other))],
        headers=site.auth(),
    ).json()

    assert answer["status"] == "not_admitted"
    assert "The preregistration is for other, not for tiny." in answer["reason"]


def test_a_prereg_from_after_the_run_began_is_not_admitted(site: Site) -> None:
    """The run is said to have begun last year, the registration is from now."""
    declare(site)
    answer = send(site, BASE, metadata='{"started_at": "2025-01-01T00:00:00Z"}')

    assert answer["status"] == "not_admitted"
    assert "after the run began" in answer["reason"]


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


@pytest.mark.parametrize("name", ["../r.csv", "/etc/r.csv", "a/../../r.csv", "C:\\r.csv"])
def test_a_zip_that_climbs_out_is_refused(site: Site, name: str) -> None:
    """Members are never written under their own names, and such names are refused besides."""
    declare(site)
    answer = send(site, archive({name: BASE}), name="r.zip")

    assert (answer["http"], stored(site)) == (422, 0)
    assert "relative" in messages(answer)


BOMBS = {
    "aliases": b"a: &a [x, x]\nb: [*a, *a]\n",
    "depth": b"a: " + b"[" * 20_000,
    "repeated key": b"benchmark: tiny\nbenchmark: other\nmetrics: [MASE]\n",
    "tag": b"benchmark: !!python/object/apply:os.system [ls]\n",
    "size": b"notes: " + b"x" * (70 << 10),
    "binary": b"\x00\x01\x02",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_hostile_prereg_is_refused(site: Site, bomb: bytes) -> None:
    """Each with its reason, and in no time."""
    answer = site.http.post("/preregs", content=bomb, headers=site.auth() | YAML)

    assert answer.status_code in (413, 422)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("bomb", [*BOMBS.values(), b"a: " + b"x" * MAX_MANIFEST_BYTES], ids=[*BOMBS.keys(), "mebibyte"])
def test_a_hostile_manifest_is_refused(site: Site, bomb: bytes) -> None:
    """Stewards are trusted with benchmarks, not with the server."""
    answer = site.http.post("/benchmarks", content=bomb, headers=site.auth("steward") | YAML)

    assert answer.status_code in (413, 422)


def test_iid_for_the_leaderboard_is_refused_in_known_words(site: Site) -> None:
    """The words of CHAMBER's own refusal."""
    iid = PREREG + b"run_purpose: leaderboard\nbootstrap_method: iid\n"
    answer = site.http.post("/preregs", content=iid, headers=site.auth() | YAML)

    assert answer.status_code == 422
    assert "iid bootstrap is not permitted for leaderboard entries" in messages(answer.json())


def test_a_repeated_key_with_the_same_bytes_is_the_same_submission(site: Site) -> None:
    """A client that lost the answer asks again."""
    declare(site)
    both = [keyed(site, BASE), keyed(site, BASE)]

    assert [answer.status_code for answer in both] == [202, 202]
    assert both[0].json()["id"] == both[1].json()["id"]


def test_a_repeated_key_with_other_bytes_is_a_conflict(site: Site) -> None:
    """One of the two is a mistake, and nobody can say which."""
    declare(site)
    keyed(site, BASE)
    answer = keyed(site, BASE.replace(b"1.0", b"1.5"))

    assert (answer.status_code, stored(site)) == (409, 1)


def keyed(site: Site, rows: bytes) -> Any:
    """Submit rows under one Idempotency-Key."""
    return site.http.post(
        "/benchmarks/tiny/submissions",
        files=[("files", ("r.csv", rows)), ("prereg", ("p.yaml", PREREG))],
        headers=site.auth() | {"Idempotency-Key": "run-1"},
    )


def test_too_many_rows_are_refused(site: Site) -> None:
    """413 with the limit in its words."""
    declare(site)
    rows = b"model,task,MASE\n" + b"".join(b"M%d,t1,1\n" % number for number in range(201))
    answer = send(site, rows)

    assert (answer["http"], stored(site)) == (413, 0)
    assert "200" in answer["detail"]


@pytest.mark.parametrize("name", ["A\u200bB", "A\x07B", "A" * 10_000, "A\u202eB", "", "  "])
def test_a_dangerous_entrant_is_refused(site: Site, name: str) -> None:
    """Hidden and control characters, text that turns round, and ten thousand letters."""
    declare(site)
    answer = send(site, f'model,task,MASE\n"{name}",t1,1\n'.encode())

    assert (answer["http"], stored(site)) == (422, 0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("metadata", '{"colour": "red"}'),
        ("metadata", "not JSON"),
        ("metadata", '{"url": "javascript:alert(1)"}'),
        ("claims", '{"Base": {"MASE": "low"}}'),
        ("prereg_sha256", "zz"),
    ],
)
def test_a_field_that_is_not_what_it_must_be_is_refused(site: Site, field: str, value: str) -> None:
    """Every field is checked before anything is stored."""
    declare(site)
    answer = send(site, BASE, **{field: value})

    assert (answer["http"], stored(site)) == (422, 0)


def test_a_token_that_asks_too_often_is_told_when_to_come_back(database_url: str) -> None:
    """429 with Retry-After, and other tokens are not held up."""
    with open_site(database_url, Settings(max_requests_per_minute=3)) as site:
        codes = [site.http.post("/preregs", content=PREREG, headers=site.auth() | YAML) for _ in range(5)]
        other = site.http.post("/preregs", content=PREREG, headers=site.auth("bob") | YAML)

    assert [answer.status_code for answer in codes][-1] == 429
    assert int(codes[-1].headers["retry-after"]) > 0
    assert other.status_code in (200, 201)


@pytest.mark.parametrize(
    "path", ["/submissions/x", "/submissions/99999999999999999999", "/preregs/zz", "/benchmarks/%00"]
)
def test_an_address_that_cannot_be_is_not_found(site: Site, path: str) -> None:
    """404 and never a fault of the server."""
    assert site.http.get(path).status_code in (404, 422)


def test_an_unknown_token_is_refused(site: Site) -> None:
    """401, also with a header of ten thousand letters."""
    codes = [
        site.http.post("/preregs", content=PREREG, headers={"Authorization": value} | YAML).status_code
        for value in ("Bearer nothing", "Basic abc", "Bearer " + "x" * 10_000)
    ]

    assert codes == [401, 401, 401]


def test_every_row_of_a_foreign_file_is_named(roomy_site: Site) -> None:
    """No row of timecopilot's file is a task of fev-bench: all 27 are told, each with its number."""
    manifest = (ROOT / "examples" / "fev-bench" / "manifest.yaml").read_bytes()
    roomy_site.http.post("/benchmarks", content=manifest, headers=roomy_site.auth("steward"))
    rejected = (ROOT / "tests" / "data" / "fev" / "rejected" / "timecopilot.csv").read_bytes()
    answer = roomy_site.http.post(
        "/benchmarks/fev-bench/submissions", files=[("files", ("t.csv", rejected))], headers=roomy_site.auth()
    ).json()

    assert [problem["row"] for problem in answer["problems"]] == list(range(2, 29))


def test_a_zero_character_is_refused_and_not_a_fault(site: Site) -> None:
    """Postgres cannot store it."""
    declare(site)
    answer = send(site, BASE, metadata=json.dumps({"notes": "a\x00b"}))

    assert (answer["http"], stored(site)) == (422, 0)


def test_the_manifest_names_a_method_that_reads_the_evidence(site: Site) -> None:
    """A board of estimates cannot be made of summaries."""
    wrong = MANIFEST.replace("method: mean, metric: MASE, missing: drop", "method: estimate, metrics: [MASE]")
    answer = site.http.post("/benchmarks", content=wrong, headers=site.auth("steward"))

    assert answer.status_code == 422
    assert "does not read evidence of kind evaluation_summary" in messages(answer.json())


def test_a_packed_body_is_refused_with_how_to_send_it(site: Site) -> None:
    """Read as it is, it would be blamed for a byte that is no text; nothing of it is read."""
    packed = gzip.compress(PREREG)
    answer = site.http.post("/preregs", content=packed, headers=site.auth() | YAML | {"Content-Encoding": "gzip"})

    assert (answer.status_code, answer.headers["content-type"]) == (415, "application/problem+json")
    assert "Content-Encoding: gzip is not accepted" in answer.json()["detail"]
    assert "results.csv.gz" in answer.json()["detail"]


def test_a_form_with_too_many_fields_says_how_many_there_may_be(site: Site) -> None:
    """Fields are kept in memory, so that their number is bounded."""
    declare(site)
    address = "/benchmarks/tiny/submissions"
    fields = {f"field{number}": "1" for number in range(17)}
    answer = site.http.post(address, files=[("files", ("r.csv", BASE))], data=fields, headers=site.auth())

    assert (answer.status_code, answer.json()["detail"]) == (400, "One request has at most 16 fields.")
