"""The peer of a cached page: an ASGI app that does nothing but send the same bytes. Run by `bench.pages`."""

import os
import socket
import sys
from pathlib import Path

import uvicorn
from starlette.types import Receive, Scope, Send

BODY = Path(os.environ["BARE_BODY"]).read_bytes() if "BARE_BODY" in os.environ else b""
HEADERS = [(b"content-type", b"text/html; charset=utf-8"), (b"content-length", str(len(BODY)).encode())]


async def app(scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer every request with the same page."""
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": BODY})


if __name__ == "__main__":
    listening = socket.socket(fileno=int(sys.argv[1]))
    config = uvicorn.Config(app, loop="uvloop", http="httptools", access_log=False, log_level="warning", lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])
