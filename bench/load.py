"""Ask for one address as fast as a server answers: `python -m bench.load HOST PORT PATH SECONDS [ETAG]`.

Requests are pipelined over a few connections, so that the server and not this client is what is measured.
"""

import asyncio
import sys
import time

CONNECTIONS, DEPTH = 8, 32


async def ask(host: str, port: int, request: bytes, until: float) -> int:
    """Return how many answers one connection gave."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(request)
    size = await answer_size(reader)
    n_answers = 0
    while time.perf_counter() < until:
        writer.write(request * DEPTH)
        answers = await reader.readexactly(size * DEPTH)
        if answers[::size] != b"H" * DEPTH or answers[9::size] not in (b"2" * DEPTH, b"3" * DEPTH):
            raise RuntimeError(f"another answer than the first: {answers[:200]!r}")
        n_answers += DEPTH
    writer.close()
    return n_answers


async def answer_size(reader: asyncio.StreamReader) -> int:
    """Read one answer and return its length: every later one has the same."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    n_bytes = int(length[0]) if length and b" 304 " not in head.split(b"\r\n")[0] else 0
    await reader.readexactly(n_bytes)
    return len(head) + n_bytes


async def main(host: str, port: int, path: str, seconds: float, etag: str | None) -> float:
    """Return the requests that were answered per second."""
    headers = f"Host: {host}\r\nAccept: text/html\r\n" + (f"If-None-Match: {etag}\r\n" if etag else "")
    request = f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode()
    began = time.perf_counter()
    counts = await asyncio.gather(*(ask(host, port, request, began + seconds) for _ in range(CONNECTIONS)))
    return sum(counts) / (time.perf_counter() - began)


if __name__ == "__main__":
    _, host, port, path, seconds, *rest = sys.argv
    print(asyncio.run(main(host, int(port), path, float(seconds), rest[0] if rest else None)))
