"""Compares every answer that a test gets with the description of the API: its status and its media type are there."""

import re
from functools import cached_property
from typing import Any

import httpx2

# A slash too many leads to the address without it.
NO_OPERATION = (307, 404, 405)
NOT_MODIFIED, SEE_OTHER = 304, 303


class Description:
    """The description of one app, with the addresses that it knows as patterns."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    @cached_property
    def patterns(self) -> list[tuple[re.Pattern[str], dict[str, Any]]]:
        """Return each address as a pattern, the plainest first; a task, an entrant or a table may hold slashes."""
        plain = sorted(self.document["paths"].items(), key=lambda item: item[0].count("{"))
        wide = [
            (re.sub(r"{(task|name|entrant)}(?=$|/owner$|/release$)", "{}", path), methods) for path, methods in plain
        ]
        return [(_pattern(path), methods) for path, methods in (*plain, *wide)]

    def complaint(self, method: str, path: str, status: int, media_type: str) -> str | None:
        """Return what the description does not say of an answer, None when it says everything."""
        if method == "OPTIONS" or status in (206, 416):
            # Of every file alike: preflights of other sites, and ranges.
            return None
        for pattern, methods in self.patterns:
            operation = methods.get("get" if method == "HEAD" else method.lower())
            if operation is None or not pattern.fullmatch(path):
                continue
            answer = operation["responses"].get(str(status))
            if answer is None:
                return f"{method} {path} answers {status}, which its description does not name"
            if status != NOT_MODIFIED and media_type and media_type not in answer.get("content", {}):
                return f"{method} {path} answers {status} as {media_type}, which its description does not name"
            return None
        is_page = not path.startswith(("/benchmarks/", "/submissions/", "/preregs/"))
        return None if status in NO_OPERATION or is_page else f"{method} {path} is not described"

    def check(self, response: httpx2.Response) -> None:
        """Raise AssertionError for an answer that is not described; an event hook of the tests' client."""
        request = response.request
        if "then" in request.url.params:
            # A form of a browser, answered with pages: the description is for programs.
            return
        if response.status_code == SEE_OTHER and response.headers["location"].startswith("/login?"):
            # Every page of one's own leads whoever is not signed in to the login.
            return
        media_type = response.headers.get("content-type", "").partition(";")[0]
        complaint = self.complaint(request.method, request.url.path, response.status_code, media_type)
        if complaint is not None:
            raise AssertionError(complaint)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile("".join(_piece(part) for part in re.split(r"({\w*})", path)))


def _piece(part: str) -> str:
    if part == "{}":
        return ".+"
    return "[^/]+" if part.startswith("{") else re.escape(part)
