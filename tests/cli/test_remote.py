"""The client side of the API against a server that misbehaves on purpose: broken connections, busy, refusing."""

import asyncio
import io
import json
import socket
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import plumbline
from app.cli.__main__ import run
from plumbline.cli.remote import RemoteRequest, RemoteServer, ServerRefused

DROP = 0
CHECKS = [{"rule": "prereg", "outcome": "passed", "reason": "The prereg was registered before the run."}]
RECEIVED = {"id": 7, "url": "/submissions/7", "status": "received", "admitted": True, "checks": CHECKS}
PUBLISHED = {"id": 7, "status": "published", "reason": "Snapshot 3.", "checks": CHECKS}
CLAIM = {"rule": "claims", "outcome": "failed", "reason": "MASE was claimed as 1 and is 2."}
NOT_ADMITTED = {"id": 7, "status": "not_admitted", "reason": "The tree was dirty.", "checks": [*CHECKS, CLAIM]}
PROBLEM = {"file": "scores.csv", "row": 17, "column": "horizon", "value": "95", "message": "expected 96"}
REFUSAL = {"title": "Rejected", "status": 422, "detail": "1 problem.", "problems": [PROBLEM], "n_problems": 1}


@dataclass
class Script:
    """What the server answers, one after the other, and what it was asked."""

    address: str
    answers: list[tuple[int, dict[str, str], object]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def answer(self, status: int, document: object = None, **headers: str) -> None:
        """Add one answer; DROP closes the connection instead."""
        self.answers.append((status, headers, document))


@pytest.fixture
def script() -> Iterator[Script]:
    """Yield a real HTTP server that follows a script."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(lambda: script))
    script = Script(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield script
    server.shutdown()
    thread.join()
    server.server_close()


def make_handler(get_script: Callable[[], Script]) -> type[BaseHTTPRequestHandler]:
    """Return a handler that takes its answers from the script."""

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            script = get_script()
            script.asked.append((f"{self.command} {self.path}", dict(self.headers), self.read_body()))
            status, headers, document = script.answers.pop(0)
            if status == DROP:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            content = document if isinstance(document, bytes) else json.dumps(document).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(content)),
                **{name.replace("_", "-"): value for name, value in headers.items()},
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = respond  # noqa: N815 - the names are the library's

        def read_body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") == "chunked":
                return b""
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))

        def log_message(self, *args: object) -> None:
            """Stay quiet."""

    return Handler


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """Return a result file."""
    path = tmp_path / "scores.csv"
    path.write_text("entrant,task,MASE\nNaive,t1,1.5\n")
    return path


def submit(script: Script, scores: Path, *options: str) -> int:
    """Run `plumbline submit` and return its exit code."""
    return run(["submit", "my-bench", str(scores), "--server", script.address, "--token", "plb_secret", *options])


def test_a_published_submission_ends_with_0(script: Script, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command waits, prints the checks and where the submission stands."""
    script.answer(202, RECEIVED)
    script.answer(200, {**RECEIVED, "reason": "Waiting for evaluation."})
    script.answer(200, PUBLISHED)
    code = submit(script, scores)
    out = capsys.readouterr().out

    assert code == 0
    assert out.count("The prereg was registered before the run.") == 1
    assert "Submission 7 is published: Snapshot 3." in out


def test_a_submission_that_is_not_admitted_ends_with_1(
    script: Script, scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A CI job sees by the exit code that its run is on no board."""
    script.answer(202, RECEIVED)
    script.answer(200, NOT_ADMITTED)
    code = submit(script, scores)
    out = capsys.readouterr().out

    assert code == 1
    assert "not admitted: The tree was dirty." in out
    assert "MASE was claimed as 1 and is 2." in out


def test_without_waiting_the_first_answer_decides(script: Script, scores: Path) -> None:
    """What is not admitted already when it arrives is told by the exit code all the same."""
    script.answer(202, {**RECEIVED, "status": "not_admitted", "admitted": False})

    assert submit(script, scores, "--no-wait") == 1


@pytest.mark.parametrize("status", [200, 502])
def test_an_answer_of_something_else_is_a_sentence(
    script: Script, scores: Path, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    """A proxy's page is neither a verdict nor a traceback, also where it says that it is JSON."""
    script.answer(status, b"<html>", Content_Type="text/html")
    script.answer(status, b"<html>", Content_Type="application/json")
    codes = [submit(script, scores, "--no-wait") for _ in range(2)]

    assert codes == [2, 2]
    assert "Traceback" not in capsys.readouterr().err


def test_what_cannot_be_exported_is_a_sentence(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written where the answer is no table; a file that cannot be written is named.

    Exit code 1 means not admitted, so this is 2.
    """
    script.answer(200, b"<html>", Content_Type="text/html")
    script.answer(200, {"rows": []})
    page, nowhere = tmp_path / "board.csv", tmp_path / "none" / "board.json"
    board = ["export", "my-bench", "--board", "sql", "--server", script.address]
    codes = [run([*board, "-o", str(page)]), run([*board, "--format", "json", "-o", str(nowhere)])]
    err = capsys.readouterr().err

    assert codes == [2, 2]
    assert not page.exists()
    assert "answered with text/html" in err
    assert str(nowhere) in err


def test_a_refused_submission_ends_with_2_and_its_problems(
    script: Script, scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every problem is shown with its place, as the server told it."""
    script.answer(422, REFUSAL, Content_Type="application/problem+json")
    code = submit(script, scores)
    err = capsys.readouterr().err

    assert code == 2
    assert all(text in err for text in ("scores.csv", "17", "horizon", "95", "expected 96"))
    assert "Traceback" not in err


@pytest.mark.heavy
def test_an_unreachable_server_ends_with_3(scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No server is another case than a refusal, and its address is named."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    code = run(["submit", "my-bench", str(scores), "--server", address])

    assert code == 3
    assert f"{address} does not answer" in capsys.readouterr().err


@pytest.mark.heavy
def test_a_broken_connection_is_tried_again_with_the_same_key(script: Script, scores: Path) -> None:
    """The server can tell that it is the same submission, so nothing is stored twice; the file is sent whole again."""
    script.answer(DROP)
    script.answer(202, RECEIVED)
    code = submit(script, scores, "--no-wait")
    keys = [headers["Idempotency-Key"] for _, headers, _ in script.asked]

    assert code == 0
    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert all(scores.read_bytes() in body for _, _, body in script.asked)


def test_a_busy_server_is_asked_again(script: Script, scores: Path) -> None:
    """A 503 with Retry-After is waited for, not passed on."""
    script.answer(503, {"title": "Unavailable"}, Retry_After="0")
    script.answer(202, RECEIVED)

    assert submit(script, scores, "--no-wait") == 0


def test_the_creation_of_a_benchmark_is_not_repeated(script: Script, tmp_path: Path) -> None:
    """What may have been done already is not done again without a key that says so."""
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text("slug: my-bench\n")
    script.answer(DROP)
    code = run(["benchmark", "create", str(manifest), "--server", script.address])

    assert code == 3
    assert len(script.asked) == 1


def test_a_dry_run_stores_nothing_and_tells_the_verdict(
    script: Script, scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server is told that it is a dry run, and the exit code is that of the verdict."""
    script.answer(200, {"admitted": False, "checks": CHECKS, "n_rows": 1, "entrants": ["Naive"]})
    code = submit(script, scores, "--dry-run")

    assert code == 1
    assert script.asked[0][0] == "POST /benchmarks/my-bench/submissions?dry_run=true"
    assert "1 row of Naive would not be admitted. Nothing was stored." in capsys.readouterr().out


def test_what_is_odd_about_an_upload_is_told(script: Script, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As `benchmark check` tells it of the same files, with the place."""
    odd = {"file": None, "row": None, "column": "n-samples", "value": None, "message": "5,000 scored; there are 10"}
    script.answer(202, {**RECEIVED, "warnings": [odd]})
    submit(script, scores, "--no-wait")

    assert "Note: n-samples: 5,000 scored; there are 10" in capsys.readouterr().err


def sent_zip(body: bytes) -> bytes:
    """Return the zip in the body of a request."""
    return body[body.index(b"PK\x03\x04") : body.rindex(b"\r\n--")]


def test_a_folder_is_sent_as_a_zip_of_its_files(script: Script, tmp_path: Path) -> None:
    """With relative names and without hidden files; the same files make the same bytes, whenever they were written."""
    bundle = tmp_path / "bundle"
    (bundle / "seed0").mkdir(parents=True)
    (bundle / "seed0" / "episodes.jsonl").write_text("{}\n")
    (bundle / "bundle.json").write_text("{}")
    (bundle / ".DS_Store").write_text("x")
    for _ in range(2):
        script.answer(202, RECEIVED)
        assert submit(script, bundle, "--no-wait") == 0
        (bundle / "bundle.json").touch()
    first, second = (sent_zip(body) for _, _, body in script.asked)

    assert zipfile.ZipFile(io.BytesIO(first)).namelist() == ["bundle.json", "seed0/episodes.jsonl"]
    assert b'filename="bundle.zip"' in script.asked[0][2]
    assert first == second


def test_a_folder_with_a_link_or_without_files_is_not_sent(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link could lead to anything on this machine."""
    linked, empty = tmp_path / "bundle", tmp_path / "empty"
    linked.mkdir()
    empty.mkdir()
    (tmp_path / "secret.json").write_text("{}")
    (linked / "episodes.json").symlink_to(tmp_path / "secret.json")
    codes = [submit(script, linked), submit(script, empty)]
    err = capsys.readouterr().err

    assert (codes, script.asked) == ([2, 2], [])
    assert "links are not followed: episodes.json" in err
    assert "it contains 0 files; 1 to" in err


def test_the_fields_of_the_form_are_sent(script: Script, scores: Path, tmp_path: Path) -> None:
    """Prereg, entrant and metadata go beside the files."""
    prereg = tmp_path / "prereg.yaml"
    prereg.write_text("benchmark: my-bench\n")
    script.answer(202, RECEIVED)
    submit(script, scores, "--no-wait", "--prereg", str(prereg), "--entrant", "Naive", "--metadata", '{"version": "2"}')
    body = script.asked[0][2]

    assert all(f'name="{name}"'.encode() in body for name in ("files", "prereg", "entrant", "metadata"))


def test_metadata_that_is_not_json_is_refused_before_anything_is_sent(
    script: Script, scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A large upload does not fail after its last byte for a typing error."""
    code = submit(script, scores, "--metadata", "{version: 2}")

    assert code == 2
    assert script.asked == []
    assert "metadata" in capsys.readouterr().err


def test_the_token_is_sent_and_not_printed(script: Script, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log of the command holds no secret."""
    script.answer(401, {"title": "Unauthenticated", "detail": "Unknown token."})
    submit(script, scores)
    captured = capsys.readouterr()

    assert script.asked[0][1]["Authorization"] == "Bearer plb_secret"
    assert "plb_secret" not in captured.out + captured.err


def test_a_board_is_exported_as_it_is_published(script: Script, tmp_path: Path) -> None:
    """The bytes of the answer are the bytes of the file."""
    script.answer(200, {"rows": []})
    saved = tmp_path / "board.json"
    which = ["my-bench", "--board", "sql", "--format", "json", "--snapshot", "2"]
    code = run(["export", *which, "-o", str(saved), "--server", script.address])

    assert code == 0
    assert saved.read_bytes() == b'{"rows": []}'
    assert script.asked[0][0] == "GET /benchmarks/my-bench/leaderboards/sql.json?snapshot=2"


def test_a_prereg_is_registered_for_a_benchmark(
    script: Script, scores: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option goes into the address; without one the command says that no benchmark lists it."""
    answer = {"sha256": "ab", "url": "/preregs/ab", "registered_at": "2026-01-01T00:00:00+00:00"}
    answer |= {"reservations": [], "not_reserved": [], "warnings": []}
    script.answer(201, answer | {"benchmarks": [{"benchmark": "arm", "since": "2026-01-01T00:00:00+00:00"}]})
    script.answer(200, answer | {"benchmarks": []})
    server = ["--server", script.address, "--token", "plb_secret"]
    run(["prereg", "register", str(scores), "--benchmark", "arm", *server])
    named = capsys.readouterr().err
    run(["prereg", "register", str(scores), *server])

    assert [asked for asked, _, _ in script.asked] == ["POST /preregs?benchmark=arm", "POST /preregs"]
    assert "for no benchmark" not in named
    assert "not registered for any benchmark" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        (["submit", "{slug}", "{file}", "--no-wait"], "POST /benchmarks/{quoted}/submissions"),
        (["export", "{slug}", "--board", "sql"], "GET /benchmarks/{quoted}/leaderboards/sql.csv"),
        (["benchmark", "labels", "{slug}", "{file}"], "PUT /benchmarks/{quoted}/labels"),
        (["benchmark", "items", "{slug}", "{file}"], "PUT /benchmarks/{quoted}/items"),
        (["benchmark", "close", "{slug}", "--reason", "over"], "POST /benchmarks/{quoted}/close"),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, list) else "",
)
def test_no_slug_ends_its_path(script: Script, scores: Path, command: list[str], asked: str) -> None:
    """A mistyped one is of no benchmark; it is not the query or another address of a benchmark that is there."""
    script.answer(404, {"title": "Not found"})
    words = [word.format(slug="my-bench?a#b/c", file=scores) for word in command]
    code = run([*words, "--server", script.address])

    assert code == 2
    assert [path for path, _, _ in script.asked] == [asked.format(quoted="my-bench%3Fa%23b%2Fc")]


def sent_by(script: Script, request: RemoteRequest, *, is_awaited: bool) -> object:
    """Send a request by the client that waits or by the one that is awaited, and return the answer."""

    async def awaited() -> object:
        async with plumbline.AsyncClient(script.address, "plb_secret") as client:
            return await client._send(request)

    if is_awaited:
        return asyncio.run(awaited())
    with RemoteServer(script.address, "plb_secret") as remote:
        return remote.send_for_json(request)


@pytest.mark.parametrize("is_awaited", [False, True])
def test_both_senders_send_all_of_a_request(script: Script, *, is_awaited: bool) -> None:
    """Its content, parameters and headers, with the token."""
    script.answer(200, {"done": True})
    headers = {"Content-Type": "application/yaml"}
    request = RemoteRequest("PUT", "/place", params={"a": "1"}, headers=headers, content=b"slug: my-bench")
    answer = sent_by(script, request, is_awaited=is_awaited)
    ((asked, sent, body),) = script.asked

    assert answer == {"done": True}
    assert (asked, body) == ("PUT /place?a=1", b"slug: my-bench")
    assert (sent["Content-Type"], sent["Authorization"]) == ("application/yaml", "Bearer plb_secret")


@pytest.mark.parametrize("is_awaited", [False, True])
def test_both_senders_try_again_and_end_with_the_last_answer(script: Script, *, is_awaited: bool) -> None:
    """A broken connection and a busy server are tried again; the fourth answer is what the server says."""
    script.answer(DROP)
    for _ in range(3):
        script.answer(503, {"title": "Unavailable", "detail": "Too many at once."}, Retry_After="0")

    with pytest.raises(ServerRefused, match=r"Too many at once\. \(status 503\)"):
        sent_by(script, RemoteRequest("GET", "/place"), is_awaited=is_awaited)
    assert (len(script.asked), script.answers) == (4, [])


@pytest.mark.parametrize("is_awaited", [False, True])
def test_both_senders_say_what_answers_in_place_of_a_server(script: Script, *, is_awaited: bool) -> None:
    """A proxy's page, with its kind and the address that was asked."""
    script.answer(200, b"<html>", Content_Type="text/html")

    with pytest.raises(ServerRefused, match=f"{script.address} answered with text/html"):
        sent_by(script, RemoteRequest("GET", "/place"), is_awaited=is_awaited)
