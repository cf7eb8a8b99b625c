"""The attacks themselves: each does its worst and returns the statuses that it was answered."""

import gzip
import io
import socket
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq

from tests.attacks.watch import Target

MIB = 1 << 20
N_SILENT = 1100
N_SLOW = 200
N_ZIPS = 45
HELD, RESET = 0, -1


def status_of(connection: socket.socket) -> int:
    """Return the status of the answer on a connection, RESET where it was closed without one."""
    received = b""
    with suppress(OSError):
        while b"\r\n" not in received and (piece := connection.recv(4096)):
            received += piece
    return int(received.split()[1]) if received.startswith(b"HTTP/1.1 ") else RESET


def endless_headers(victim: Target) -> list[int]:
    """Send up to 1,500 headers of 1 MiB on one connection."""
    with victim.connect() as connection, suppress(OSError):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        for number in range(1500):
            connection.sendall(b"X-%d: " % number + b"a" * MIB + b"\r\n")
    return [] if not _is_answered(victim) else [400]


def _is_answered(victim: Target) -> bool:
    """Send one header that is too large and read the answer, which one who goes on sending may not see."""
    with victim.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (70 << 10) + b"\r\n\r\n")
        return status_of(connection) == 400


def many_at_once(victim: Target) -> list[int]:
    """Send 100 requests without waiting for an answer, on each of 20 connections."""
    with ExitStack() as held:
        connections = [held.enter_context(victim.connect()) for _ in range(20)]
        for connection in connections:
            connection.sendall(b"GET /benchmarks/open HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        return sorted({status_of(connection) for connection in connections})


def endless_trailers(victim: Target) -> list[int]:
    """Send 200 headers of 1 MiB after a body, with a token and without one."""
    auth = f"Authorization: Bearer {victim.token}\r\n"
    heads = ["GET / HTTP/1.1\r\n", f"POST /preregs HTTP/1.1\r\n{auth}Content-Type: application/yaml\r\n"]
    return [_send_trailers(victim, head.encode(), at) for head in heads for at in (b"X-%d: ", b"")]


def _send_trailers(victim: Target, head: bytes, start: bytes) -> int:
    """Send headers after a body that each begin like that; without a beginning they are all one."""
    with victim.connect() as connection:
        connection.sendall(head + b"Host: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na: \r\n0\r\nX: a")
        with suppress(ConnectionError):
            for number in range(200):
                connection.sendall((b"\r\n" + start % number if start else b"") + b"a" * MIB)
        return RESET


def packed_newlines(victim: Target) -> list[int]:
    """Send 10 kB of gzip that are a header of 2,000 columns and 4 million newlines."""
    header = ",".join(["model", "task", "MASE", *(f"c{at}" for at in range(1997))])
    return [victim.post("x.csv.gz", gzip.compress(header.encode() + b"\n" * 4_100_000)).status_code]


def plain_newlines(victim: Target) -> list[int]:
    """Send 200 MB of newlines."""
    return [victim.post("x.csv", b"model,task,MASE\n" + b"\n" * 200_000_000).status_code]


def named_gzip(victim: Target) -> list[int]:
    """Send 45 zips of 40 kB at once, each with a gzip whose header names a file by 40 MiB."""
    plain = gzip.compress(b"model,task,MASE\nA,t,1\n")
    member = b"\x1f\x8b\x08\x08" + bytes(6) + b"a" * (40 * MIB) + b"\0" + plain[10:]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv.gz", member)
    return _at_once(N_ZIPS, lambda name: victim.post(name, packed.getvalue()).status_code, ["x.zip"] * N_ZIPS)


def body_without_token(victim: Target) -> list[int]:
    """Announce 512 MiB without a token, and send until there is an answer."""
    return [_send_body(victim, "open", b"")]


def body_for_nothing(victim: Target) -> list[int]:
    """Announce 512 MiB for a benchmark that does not exist, and send until there is an answer."""
    return [_send_body(victim, "none", f"Authorization: Bearer {victim.token}\r\n".encode())]


def _send_body(victim: Target, slug: str, header: bytes) -> int:
    with victim.connect() as connection:
        connection.sendall(b"POST /benchmarks/%s/submissions HTTP/1.1\r\nHost: x\r\n" % slug.encode() + header)
        connection.sendall(b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 536870912\r\n\r\n")
        connection.sendall(b'--b\r\nContent-Disposition: form-data; name="files"; filename="x.csv"\r\n\r\n')
        n_sent = 0
        connection.settimeout(0.01)
        with suppress(ConnectionError):
            while n_sent < 64 * MIB:
                with suppress(TimeoutError):
                    return _status_now(connection)
                n_sent += connection.send(b"a" * 65536)
        connection.settimeout(10)
        return status_of(connection)


def _status_now(connection: socket.socket) -> int:
    received = connection.recv(4096)
    return int(received.split()[1]) if received else RESET


def silent_connections(victim: Target) -> list[int]:
    """Open 1,100 connections and send nothing for three seconds."""
    with ExitStack() as held:
        for _ in range(N_SILENT):
            held.enter_context(victim.connect())
        time.sleep(3)
    return []


def slow_heads(victim: Target) -> list[int]:
    """Send heads byte by byte on 200 connections, until the server answers or ends them."""
    return _slowly(victim, b"GET / HTTP/1.1\r\n", b"X")


def slow_bodies(victim: Target) -> list[int]:
    """Send bodies byte by byte on 200 connections: as many are held as one address may have, the others refused."""
    head = f"POST /preregs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {victim.token}\r\n"
    head += "Content-Type: application/yaml\r\nContent-Length: 60000\r\n\r\n"
    return _slowly(victim, head.encode(), b"a")


def _slowly(victim: Target, start: bytes, piece: bytes) -> list[int]:
    statuses = set()
    with ExitStack() as held:
        connections = [held.enter_context(victim.connect()) for _ in range(N_SLOW)]
        for connection in connections:
            connection.sendall(start)
            connection.settimeout(0.001)
        ends_at = time.monotonic() + 15
        while connections and time.monotonic() < ends_at:
            for connection in list(connections):
                with suppress(TimeoutError):
                    with suppress(ConnectionError):
                        connection.send(piece)
                    statuses.add(status_of_slow(connection))
                    connections.remove(connection)
            time.sleep(0.2)
        return sorted(statuses | {HELD}) if connections else sorted(statuses)


def status_of_slow(connection: socket.socket) -> int:
    """Return the status that a connection has been answered, or raise TimeoutError when it has not."""
    try:
        received = connection.recv(4096)
    except ConnectionError:
        return RESET
    return int(received.split()[1]) if received else RESET


def no_text(victim: Target) -> list[int]:
    """Send Parquet whose text is no text."""
    items = pa.array([b"a", b"\xff\xfe"], pa.binary()).view(pa.string())
    columns = {"item": items, "prediction": pa.array([0.5, 0.5]), "label": pa.array(["no", "yes"])}
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return [victim.post("x.parquet", file.getvalue(), "guess").status_code]


def million_columns(victim: Target) -> list[int]:
    """Send a header of a million columns."""
    return [victim.post("x.csv", ",".join(f"c{at}" for at in range(1_000_000)).encode() + b"\n").status_code]


def many_searches(victim: Target) -> list[int]:
    """Ask for 300 pages that nobody keeps, at once and without a token."""
    queries = [f"/search?q={at}" for at in range(300)]
    return _at_once(60, lambda path: httpx2.get(victim.address + path, timeout=60).status_code, queries)


def wide_preregs(victim: Target) -> list[int]:
    """Register 40 documents of 60 kB that are no preregistrations, at once."""
    items = "".join(f"- {{a{at}: [1, 2, {{b: c}}]}}\n" for at in range(2400))
    return _register(victim, "/preregs", [f"notes: {at}\nx:\n{items}" for at in range(40)])


def wide_manifests(victim: Target) -> list[int]:
    """Declare five benchmarks of 70,000 keys, at once; 1 MiB is the most that there may be."""
    keys = "".join(f"k{at}: {at}\n" for at in range(70_000))
    return _register(victim, "/benchmarks", [f"title: {at}\n{keys}" for at in range(5)])


def _register(victim: Target, path: str, documents: Sequence[str]) -> list[int]:
    headers = victim.auth() | {"Content-Type": "application/yaml"}

    def register(document: str) -> int:
        return httpx2.post(victim.address + path, content=document, headers=headers, timeout=120).status_code

    return _at_once(len(documents), register, documents)


def _at_once(n: int, send: Callable[[str], int], what: Sequence[str]) -> list[int]:
    with ThreadPoolExecutor(n) as senders:
        return sorted(set(senders.map(send, what)))


ATTACKS: Mapping[str, tuple[Callable[[Target], list[int]], list[int]]] = {
    "1,500 headers of 1 MiB, no token": (endless_headers, [400]),
    "100 requests at once": (many_at_once, [200]),
    "200 headers of 1 MiB after a body": (endless_trailers, [RESET] * 4),
    "10 kB of gzip: 2,000 columns and 4 million newlines": (packed_newlines, [422]),
    "200 MB of newlines": (plain_newlines, [422]),
    "45 zips at once, each naming a file by 40 MiB": (named_gzip, [200, 503]),
    "512 MiB without a token": (body_without_token, [401]),
    "512 MiB for no benchmark": (body_for_nothing, [404]),
    "1,100 silent connections": (silent_connections, []),
    "200 slow heads": (slow_heads, [RESET]),
    "200 slow bodies": (slow_bodies, [HELD, 429]),
    "Parquet text of bytes ff fe": (no_text, [422]),
    "a million columns": (million_columns, [422]),
    "300 searches at once, no token": (many_searches, [200]),
    "40 preregistrations of 60 kB at once": (wide_preregs, [422]),
    "5 manifests of 70,000 keys at once": (wide_manifests, [422]),
}
"""Every attack by what it is, with the statuses that it must be answered."""
