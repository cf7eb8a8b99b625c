"""The commands' side of the HTTP API: sends requests, tries again where that is safe, and turns problem
documents into the errors that the server raised.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import httpx2
import typer

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

    def call(self, address: str) -> dict[str, Any]:
        """Return the arguments of one try: those of `request`, which both of httpx2's clients have."""
        return {
            "method": self.method,
            "url": address + self.path,
            "params": self.params,
            "headers": self.headers,
            "content": self.content,
            "json": self.json,
            "data": self.form,
            "files": self.files() if self.files else None,
        }


class RemoteServer:
    """A plumbline server, as seen by one holder of a token."""

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address.rstrip("/")
        self._client = httpx2.Client(**client_options(token))

    def __enter__(self) -> "RemoteServer":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._client.close()

    def get_json(self, path: str) -> Any:
        """Return the JSON at a path. Raises ServerRefused and Unreachable, as every request does."""
        return self.send_for_json(RemoteRequest("GET", path))

    def send_yaml(self, method: str, path: str, content: bytes, *, repeatable: bool) -> Any:
        """Send a YAML document and return the JSON answer."""
        headers = {"Content-Type": "application/yaml"}
        return self.send_for_json(RemoteRequest(method, path, headers=headers, content=content, repeatable=repeatable))

    def send_for_json(self, request: RemoteRequest) -> Any:
        """Send a request and return the JSON answer. Raises ServerRefused for an answer that is none."""
        return json_of(self.address, self.send(request))

    def send(self, request: RemoteRequest) -> httpx2.Response:
        """Send a request, see `attempts`, and return an answer that says yes."""
        for this in attempts(self.address, request):
            time.sleep(this.pause_s)
            try:
                this.response = self._client.request(**request.call(self.address))
            except httpx2.TransportError as error:
                this.error = error
        return accepted(this.response)


def client_options(token: str | None) -> dict[str, Any]:
    """Return what both of httpx2's clients are made with."""
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    return {"headers": headers, "timeout": TIMEOUT, "follow_redirects": True}


@dataclass
class Attempt:
    """One attempt at a request, after a pause; whoever sends it says what came of it, `response` or `error`."""

    pause_s: float
    response: httpx2.Response = field(init=False)
    error: httpx2.TransportError | None = None


def attempts(address: str, request: RemoteRequest) -> Iterator[Attempt]:
    """Yield each attempt, until the last one has the answer. Raises Unreachable.

    A busy server and, where it does no harm, a broken connection are tried again.
    """
    pause = 0.0
    for attempt in range(1, MAX_ATTEMPTS + 1):
        is_last = attempt == MAX_ATTEMPTS
        yield (this := Attempt(pause))
        if this.error is None:
            if is_last or this.response.status_code not in BUSY:
                return
            pause = wait_s(attempt, this.response.headers.get("Retry-After"))
        elif is_last or not (request.repeatable or isinstance(this.error, httpx2.ConnectError)):
            raise Unreachable(f"{address} does not answer: {this.error or type(this.error).__name__}") from this.error
        else:
            pause = wait_s(attempt, None)


def wait_s(attempt: int, retry_after: str | None) -> float:
    """Return how long to wait before another attempt: what the server says, else longer each time."""
    if retry_after is not None and retry_after.isdigit():
        return min(LONGEST_PAUSE_S, float(retry_after))
    return pause_s(attempt, first_s=FIRST_PAUSE_S, longest_s=LONGEST_PAUSE_S)


def json_of(address: str, response: httpx2.Response) -> Any:
    """Return the JSON of an answer. Raises ServerRefused for one that is none."""
    try:
        return response.json()
    except ValueError:
        raise not_from_plumbline(address, response) from None


def not_from_plumbline(address: str, response: httpx2.Response) -> ServerRefused:
    """Return the error for an answer of another kind than was asked for, such as a proxy's page."""
    kind = response.headers.get("Content-Type", "nothing").partition(";")[0]
    message = f"{address} answered with {kind}, unlike a plumbline server; is another program listening there?"
    return ServerRefused(message, [], n_problems=0, status=response.status_code)


def accepted(response: httpx2.Response) -> httpx2.Response:
    """Return an answer that says yes. Raises ServerRefused, with every problem that it names, for another one."""
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
