"""Every export of a server, found as a reader finds it: by following the links of its pages."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path

from starlette.testclient import TestClient

from app.config import Settings
from app.db.embedded import running_server
from app.main import create_app

LINK = re.compile(r'(?:href|src)="(/[^"#]*)')
NOT_EXPORTS = ("/static/", "/login", "/docs", "/openapi")
MOST = 2000


def all_exports(http: TestClient) -> dict[str, bytes]:
    """Return what every address gives that is no page, those of JSON documents too."""
    result, seen, waiting = dict[str, bytes](), {"/"}, ["/"]
    while waiting:
        address = waiting.pop()
        answer = http.get(address, headers={"Accept": "text/html"}, follow_redirects=False)
        is_page = answer.headers.get("content-type", "").startswith("text/html")
        if answer.status_code == 200 and not is_page:
            result[address] = answer.content
        for link in _links(answer.text) if is_page else ():
            if link not in seen and not link.startswith(NOT_EXPORTS):
                seen.add(link)
                waiting.append(link)
        assert len(seen) < MOST
    return result


def _links(text: str) -> Iterator[str]:
    yield from (unescape(link) for link in LINK.findall(text))


@contextmanager
def served(database_url: str) -> Iterator[TestClient]:
    """Yield a client of the app on a database, by which nothing is written."""
    app = create_app(Settings(max_stale_s=0, max_reads_per_minute=100_000), database_url)
    with TestClient(app, raise_server_exceptions=False) as http:
        yield http


def exports_of_folder(data_dir: Path) -> dict[str, bytes]:
    """Return every export of the embedded database of a folder."""
    with running_server(data_dir) as address, served(address) as http:
        return all_exports(http)
