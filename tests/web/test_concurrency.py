"""So many requests are in hand at once, in turns of who asks; who waits for a body, or has ended, holds no place."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from app.store.audit import Act
from app.web.caller import Caller
from app.web.concurrency import MOST_BEGUN, ROOM, ConcurrencyLimit


async def nothing_more() -> dict[str, Any]:
    """Wait for a body that never comes."""
    await asyncio.Event().wait()
    return {}


async def ignored(_message: Any) -> None:
    """Take an answer."""


async def begun_of(n_sent: int, handle: Callable[[Any, Any], Awaitable[object]], most: int) -> int:
    """Return how many of the requests that were sent have reached the app."""
    begun = 0

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        nonlocal begun
        begun += 1
        await handle(receive, send)

    bounded = ConcurrencyLimit(app, most)
    requests = ({"type": "http", "client": (f"a{n}", 1)} for n in range(n_sent))
    sent = [asyncio.create_task(bounded(request, nothing_more, ignored)) for request in requests]
    for _ in range(50):
        await asyncio.sleep(0)
    for task in sent:
        task.cancel()
    await asyncio.gather(*sent, return_exceptions=True)
    return begun


def test_no_more_than_so_many_are_begun() -> None:
    """The others wait for one of them."""
    assert asyncio.run(begun_of(9, lambda _receive, _send: asyncio.Event().wait(), most=4)) == 4


def test_who_waits_for_a_body_holds_no_place() -> None:
    """Two hundred bodies that never come stop nobody."""
    assert asyncio.run(begun_of(9, lambda receive, _send: receive(), most=4)) == 9


def test_who_takes_an_answer_slowly_holds_no_place() -> None:
    """Two hundred exports that nobody reads on stop nobody."""

    async def stream(_receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    assert asyncio.run(begun_of(9, stream, most=4)) == 9


def test_a_place_is_given_back_when_a_request_ends_or_fails() -> None:
    """Once, also where it had asked for its body."""

    async def fail(_receive: Any, _send: Any) -> None:
        raise ValueError

    assert asyncio.run(begun_of(9, lambda _receive, _send: asyncio.sleep(0), most=1)) == 9
    assert asyncio.run(begun_of(9, fail, most=1)) == 9


async def settled() -> None:
    """Let everything that can go on go on."""
    for _ in range(50):
        await asyncio.sleep(0)


class Waited:
    """An app that answers nothing until it is told to, and what reached it: the client and how far it got."""

    def __init__(self) -> None:
        self.reached: list[tuple[str, str]] = []
        self.go_on = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Read the body of a write, then wait."""
        if scope["method"] == "POST":
            while (await receive())["more_body"]:
                pass
        self.reached.append((scope["client"][0], scope["path"]))
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


def asked(address: str, path: str, method: str = "GET", kind: str = "application/yaml", token: int = 0) -> Any:
    """Return a request as a server passes it on; `token` is whose it is found to be before its body is read."""
    known = (
        {"caller": Caller(token, "Ann", "submitter", act=Act("register a preregistration"), owner_id=token)}
        if token
        else {}
    )
    headers = [(b"content-type", kind.encode())]
    return {"type": "http", "method": method, "path": path, "client": (address, 1), "headers": headers, "state": known}


async def whole_body() -> dict[str, Any]:
    """Send a body at once; the client then stays."""
    return {"type": "http.request", "body": b"", "more_body": False}


def staying() -> Callable[[], Awaitable[dict[str, Any]]]:
    """Return the messages of a client that has nothing to send and waits for its answer."""
    sent = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        return next(sent, None) or await nothing_more()

    return receive


def reached_of(asking: Callable[[ConcurrencyLimit], list[Any]]) -> list[tuple[str, str]]:
    """Return what reached an app of three places for reads and two for bodies while it answered nobody."""

    async def main() -> list[tuple[str, str]]:
        app = Waited()
        sent = [asyncio.create_task(each) for each in asking(ConcurrencyLimit(app))]
        await settled()
        reached = list(app.reached)
        for each in sent:
            each.cancel()
        await asyncio.gather(*sent, return_exceptions=True)
        return reached

    return asyncio.run(main())


def test_one_client_leaves_a_read_to_the_others() -> None:
    """A hundred reads of one address are made two at a time, and somebody else's beside them."""

    def asking(bounded: ConcurrencyLimit) -> list[Any]:
        flood = [bounded(asked("a", "/search"), staying(), ignored) for _ in range(100)]
        return [*flood, bounded(asked("b", "/search"), staying(), ignored)]

    assert reached_of(asking) == [("a", "/search"), ("a", "/search"), ("b", "/search")]


def test_readiness_waits_for_nobodys_reads() -> None:
    """A flood of reads must not make a server look unready."""

    def asking(bounded: ConcurrencyLimit) -> list[Any]:
        flood = [bounded(asked("a", "/search"), staying(), ignored) for _ in range(100)]
        return [*flood, bounded(asked("a", "/readyz"), staying(), ignored)]

    assert ("a", "/readyz") in reached_of(asking)


def test_a_token_has_one_body_worked_on_at_a_time() -> None:
    """Wherever it sends from; another token's is worked on beside it, and files have turns elsewhere."""

    def asking(bounded: ConcurrencyLimit) -> list[Any]:
        flood = [bounded(asked(f"a{n}", "/preregs", "POST", token=1), whole_body, ignored) for n in range(12)]
        files = bounded(asked("c", "/files", "POST", kind="multipart/form-data; boundary=b"), whole_body, ignored)
        return [*flood, bounded(asked("b", "/preregs", "POST", token=2), whole_body, ignored), files]

    assert reached_of(asking) == [("a0", "/preregs"), ("b", "/preregs"), ("c", "/files")]


def test_who_goes_away_while_waiting_is_not_worked_for() -> None:
    """Else a client that asks and leaves keeps a server busy for minutes."""

    async def main() -> list[tuple[str, str]]:
        app = Waited()
        bounded = ConcurrencyLimit(app)
        left = asyncio.Event()

        async def leave() -> dict[str, Any]:
            await left.wait()
            return {"type": "http.disconnect"}

        stay = [bounded(asked("a", "/stays"), staying(), ignored) for _ in range(2)]
        leaving = [bounded(asked("a", "/leaves"), leave, ignored) for _ in range(50)]
        sent = [
            asyncio.create_task(each) for each in [*stay, *leaving, bounded(asked("a", "/last"), staying(), ignored)]
        ]
        await settled()
        left.set()
        await settled()
        app.go_on.set()
        await asyncio.gather(*sent)
        return app.reached

    assert asyncio.run(main()) == [("a", "/stays"), ("a", "/stays"), ("a", "/last")]


def test_writes_that_nobody_has_looked_at_are_refused_beyond_a_room() -> None:
    """The last ones of whoever sends most; somebody else's is let in, and what is refused reaches no app."""

    async def main() -> tuple[list[int], list[tuple[str, str]]]:
        reached: list[tuple[str, str]] = []
        go_on = asyncio.Event()

        async def app(scope: Any, _receive: Any, send: Any) -> None:
            reached.append((scope["client"][0], scope["path"]))
            await go_on.wait()
            await send({"type": "http.response.start", "status": 202, "headers": []})

        bounded, statuses = ConcurrencyLimit(app), []

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        flood = [
            asyncio.create_task(bounded(asked("a", f"/{n}", "POST"), whole_body, sending)) for n in range(ROOM + 20)
        ]
        await settled()
        flood.append(asyncio.create_task(bounded(asked("b", "/other", "POST"), whole_body, sending)))
        await settled()
        refused = list(statuses)
        go_on.set()
        await asyncio.gather(*flood)
        return refused, reached

    refused, reached = asyncio.run(main())
    n_refused = 20 - (MOST_BEGUN - 1)
    assert refused == [503] * n_refused
    assert reached[:MOST_BEGUN] == [*(("a", f"/{n}") for n in range(MOST_BEGUN - 1)), ("b", "/other")]
    assert len(reached) == ROOM + 21 - n_refused
