"""The commands' side of the HTTP API: sends requests, tries again where that is safe, and turns problem
documents into the errors that the server raised. Used by every command that talks to a server.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import httpx2
import typer

from plumbline.cli.output import make_console
from plumbline.errors import Cause, PlumblineError, Problem, Rejected
from plumbline.retries import pause_s

ServerOption = Annotated[
    str, typer.Option("--server", envvar="PLUMBLINE_SERVER", help="Address of the plumbline server.")
]

TokenOption = Annotated[
    str | None, typer.Option("--token", envvar="PLUMBLINE_TOKEN", help="Token of a submitter, steward or admin.")
]

DEFAULT_SERVER = "http://127.0.0.1:8000"

MAX_ATTEMPTS = 4

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.4, 30.0

# Checking a large upload takes a while after its last byte was sent.
TIMEOUT = httpx2.Timeout(30.0, read=600.0)

BUSY = (httpx2.codes.TOO_MANY_REQUESTS, httpx2.codes.SERVICE_UNAVAILABLE)


class Unreachable(PlumblineError):
    """The server does not answer, or breaks off in the middle."""


class ServerRefused(Rejected):
    """The server answered that it does not accept the request."""

    def __init__(
        self,
        detail: str,
        problems: list[Problem],
        *,
        n_problems: int,
        status: int,
        causes: Sequence[Cause] | None = None,
    ) -> None:
        super().__init__(detail, problems, n_problems=n_problems, causes=causes)
        self.status = status


@dataclass(frozen=True)
class RemoteRequest:
    """One request. `files` makes the body anew for each attempt; `repeatable`: sending it twice does no harm."""

    method: str
    path: str
    params: Mapping[str, str] | None = None
    headers: Mapping[str, str] | None = None
    content: bytes | None = None
    json: Any = None
    form: Mapping[str, str] | None = None
    files: Callable[[], list[tuple[str, Any]]] | None = None
    repeatable: bool = True


class RemoteServer:
    """A plumbline server, as seen by one holder of a token."""

    def __init__(self, address: str, token: str | None = None) -> None:
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self.address = address.rstrip("/")
        self._client = httpx2.Client(headers=headers, timeout=TIMEOUT, follow_redirects=True)

    def __enter__(self) -> "RemoteServer":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._client.close()

    def get_json(self, path: str) -> Any:
        """Return the JSON at a path. Raises Refused and Unreachable, as every request does."""
        return self.send_for_json(RemoteRequest("GET", path))

    def send_yaml(self, method: str, path: str, content: bytes, *, repeatable: bool) -> Any:
        """Send a YAML document and return the JSON answer."""
        headers = {"Content-Type": "application/yaml"}
        return self.send_for_json(RemoteRequest(method, path, headers=headers, content=content, repeatable=repeatable))

    def send_for_json(self, request: RemoteRequest) -> Any:
        """Send a request and return the JSON answer. Raises Refused for an answer that is none."""
        response = self.send(request)
        try:
            return response.json()
        except ValueError:
            raise self.not_from_plumbline(response) from None

    def not_from_plumbline(self, response: httpx2.Response) -> ServerRefused:
        """Return the error for an answer of another kind than was asked for, such as a proxy's page."""
        kind = response.headers.get("Content-Type", "nothing").partition(";")[0]
        message = f"{self.address} answered with {kind}, unlike a plumbline server; is another program listening there?"
        return ServerRefused(message, [], n_problems=0, status=response.status_code)

    def send(self, request: RemoteRequest) -> httpx2.Response:
        """Send a request; a busy server and, where it does no harm, a broken connection are tried again."""
        for attempt in range(1, MAX_ATTEMPTS):
            try:
                response = self._send_once(request)
            except httpx2.TransportError as error:
                if not (request.repeatable or isinstance(error, httpx2.ConnectError)):
                    raise self._unreachable(error) from error
                time.sleep(wait_s(attempt, None))
                continue
            if response.status_code not in BUSY:
                return accepted(response)
            time.sleep(wait_s(attempt, response.headers.get("Retry-After")))
        try:
            return accepted(self._send_once(request))
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error

    def _send_once(self, request: RemoteRequest) -> httpx2.Response:
        return self._client.request(
            request.method,
            self.address + request.path,
            params=request.params,
            headers=request.headers,
            content=request.content,
            json=request.json,
            data=request.form,
            files=request.files() if request.files else None,
        )

    def _unreachable(self, error: httpx2.TransportError) -> Unreachable:
        return Unreachable(f"{self.address} does not answer: {error or type(error).__name__}")


def wait_s(attempt: int, retry_after: str | None) -> float:
    """Return how long to wait before another try: what the server says, else longer each time."""
    if retry_after is not None and retry_after.isdigit():
        return min(LONGEST_PAUSE_S, float(retry_after))
    return pause_s(attempt, first_s=FIRST_PAUSE_S, longest_s=LONGEST_PAUSE_S)


def accepted(response: httpx2.Response) -> httpx2.Response:
    """Return an answer that says yes. Raises Refused, with every problem that it names, for another one."""
    if response.is_success:
        return response
    document = _problem_document(response)
    problems = [_problem(each) for each in document.get("problems", [])]
    causes = [Cause(_problem(each), int(each["n"])) for each in document.get("causes", [])]
    detail = document.get("detail") or document.get("title") or response.reason_phrase
    raise ServerRefused(
        f"{detail} (status {response.status_code})",
        problems,
        n_problems=document.get("n_problems", len(problems)),
        status=response.status_code,
        causes=causes or None,
    )


PROBLEM_FIELDS = ("message", "file", "row", "column", "value")


def _problem(fields: Mapping[str, Any]) -> Problem:
    known: dict[str, Any] = {name: fields.get(name) for name in PROBLEM_FIELDS}
    return Problem(**known)


def _problem_document(response: httpx2.Response) -> dict[str, Any]:
    if "json" not in response.headers.get("Content-Type", ""):
        return {}
    try:
        document = response.json()
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


# Waits until a server has judged a submission; used by `submit` and by the loading of the examples.

UNDER_WAY = frozenset({"received", "evaluated"})

LONGEST_LOOK_S = 2.0


def wait_for_verdict(remote: RemoteServer, submission_id: int) -> dict[str, Any]:
    """Return the submission as soon as nothing more happens to it by itself."""
    console = make_console(sys.stderr)
    with console.status("Waiting for the server") as status:
        n_looks = 0
        while (submission := get_submission(remote, submission_id))["status"] in UNDER_WAY:
            status.update(f"{submission['status']}: {submission['reason']}")
            n_looks += 1
            time.sleep(pause_s(n_looks, first_s=FIRST_PAUSE_S, longest_s=LONGEST_LOOK_S))
    return submission


def get_submission(remote: RemoteServer, submission_id: int) -> dict[str, Any]:
    """Return the state of a submission."""
    submission: dict[str, Any] = remote.get_json(f"/submissions/{submission_id}.json")
    return submission
