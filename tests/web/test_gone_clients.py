"""A client that leaves before its body is whole is no fault of the server."""

import asyncio
import logging
from typing import Any

import pytest
from fastapi import FastAPI, Request

from app.web.problems import install
from app.web.requests import yaml_body


def test_a_body_that_ends_early_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    """Half a preregistration and the end of the connection: 400, and no traceback that hides a real fault."""
    app, sent = FastAPI(), []
    install(app)

    @app.post("/preregs")
    async def register(request: Request) -> None:
        await yaml_body(request, 100, "preregistration")

    pieces = [{"type": "http.request", "body": b"a: ", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return pieces.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/yaml"), (b"accept", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/preregs", "headers": headers, "query_string": b""}
    asyncio.run(app(scope, receive, send))

    assert sent[0]["status"] == 400
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
