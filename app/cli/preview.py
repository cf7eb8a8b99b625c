"""Boards shown in the browser from this machine's memory: the pages of a server, without a server's database.

Called by `app.cli.drafts`. It listens on the loopback address alone and on a port that the system chooses.
"""

import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from app.cli.output import note, say
from app.errors import FieldRejected
from app.kinds.known import kind_of
from app.manifest.manifest import Manifest
from app.render.assets import ICON, assets
from app.render.columnar import MEDIA_TYPES, WRITERS
from app.render.exports import table_to_csv, table_to_json
from app.render.glossary import glossary_entries
from app.render.html import render
from app.render.table_view import TableView
from app.values.table import Table

HTML = "text/html; charset=utf-8"
Answer = tuple[HTTPStatus, str, bytes]


def _icon() -> Answer:
    return HTTPStatus.OK, "image/svg+xml", ICON


def _glossary() -> Answer:
    return HTTPStatus.OK, HTML, render("glossary.html", title="Glossary", entries=glossary_entries())


FIXED: Mapping[str, Callable[[], Answer]] = {"/favicon.svg": _icon, "/glossary": _glossary}
"""What each page of a preview leads to beside its tables."""


@dataclass(frozen=True)
class PreviewSite:
    """The tables of a benchmark at the addresses that they would have on a server."""

    manifest: Manifest
    tables: Sequence[Table]

    @property
    def home(self) -> str:
        """Return the address of the first board."""
        return self._address(f"leaderboard/{self.manifest.leaderboards[0].name}")

    @cached_property
    def _by_address(self) -> Mapping[str, Table]:
        return {self._address(table.name): table for table in self.tables}

    def _address(self, name: str) -> str:
        kind, _, board = name.partition("/")
        place = f"/benchmarks/{self.manifest.slug}"
        if board not in {spec.name for spec in self.manifest.leaderboards}:
            return f"{place}/tables/{name.removeprefix('tables/')}"
        return f"{place}/leaderboards/{board}" + ("" if kind == "leaderboard" else f"/{kind}")

    def answer(self, asked: str) -> Answer:
        """Return what an address answers."""
        parts = urlsplit(asked)
        if parts.path in assets():
            content, kind = assets()[parts.path]
            return HTTPStatus.OK, kind, content
        if parts.path in FIXED:
            return FIXED[parts.path]()
        stem, dot, ending = parts.path.rpartition(".")
        fmt = ending if dot and ending in ("csv", "json", *WRITERS) else "html"
        address = stem if fmt != "html" else parts.path
        table = self._by_address.get(self.home if address == "/" else address)
        if table is None:
            text = "This address is not part of the preview; it exists once the benchmark is created on a server."
            return HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", text.encode()
        if fmt in WRITERS:
            return HTTPStatus.OK, MEDIA_TYPES[fmt], WRITERS[fmt](table, {"preview": True})
        if fmt == "csv":
            return HTTPStatus.OK, "text/csv; charset=utf-8", table_to_csv(table)
        if fmt == "json":
            return HTTPStatus.OK, "application/json", table_to_json(table, {"preview": True})
        return self._page(table, parse_qsl(parts.query))

    def _page(self, table: Table, query: Sequence[tuple[str, str]]) -> Answer:
        address = self._address(table.name)
        others = [(other.title, self._address(other.name)) for other in self.tables if other is not table]
        facts = kind_of(self.manifest).pages.facts(self.manifest)
        trail = [(f"Preview of {self.manifest.slug}", self.home)]
        view = TableView(self.manifest.slug, address, table, trail=trail, links=others, facts=facts)
        try:
            return HTTPStatus.OK, HTML, render("table.html", title=table.title, view=view, asked=query)
        except FieldRejected as error:
            return HTTPStatus.UNPROCESSABLE_ENTITY, "text/plain; charset=utf-8", str(error).encode()


def serve_preview(manifest: Manifest, tables: Sequence[Table], *, open_browser: bool) -> None:
    """Serve the boards until the user ends it."""
    with make_server(PreviewSite(manifest, tables)) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}{PreviewSite(manifest, tables).home}"
        say(f"Preview: {address}")
        sys.stdout.flush()
        note("Nothing is stored. Ctrl-C ends it.")
        if open_browser:
            webbrowser.open(address)
        server.serve_forever()


def make_server(site: PreviewSite) -> ThreadingHTTPServer:
    """Return a server of the site on a free port of the loopback address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, content = site.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *message: Any) -> None:
            """Say nothing of each request."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)
