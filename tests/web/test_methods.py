"""HEAD and the methods that an address has."""

import pytest

from tests.cases.walkthrough import BASE, declare, send
from tests.fixtures import Site

READ = ("/", "/benchmarks/tiny", "/healthz", "/readyz", "/submissions/1", "/submissions/1.json", "/docs")


@pytest.mark.parametrize("path", [*READ, "/submissions/99", "/benchmarks/none", "/openapi.json"])
def test_head_is_answered_like_get_without_the_body(site: Site, path: str) -> None:
    """The same status, type and length, also of a page that is not kept and of an error."""
    declare(site)
    send(site, BASE)
    head, get = site.http.head(path), site.http.get(path)

    assert head.content == b""
    assert head.status_code == get.status_code
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


def test_head_is_answered_for_figures_too(site: Site) -> None:
    """What they are, and not how long: they count on between two requests."""
    head, get = site.http.head("/metrics"), site.http.get("/metrics")

    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-type"] == get.headers["content-type"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/benchmarks", "GET, HEAD, POST"),
        ("POST", "/benchmarks/tiny", "GET, HEAD, PUT, DELETE"),
        ("POST", "/benchmarks/tiny/labels", "GET, HEAD, PUT"),
        ("GET", "/benchmarks/tiny/submissions", "POST"),
        ("HEAD", "/preregs", "POST"),
        ("PATCH", "/tokens/1", "DELETE"),
    ],
)
def test_a_wrong_method_is_told_every_right_one(site: Site, method: str, path: str, allowed: str) -> None:
    """Of all routes that share the path, not of the first."""
    answer = site.http.request(method, path)

    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
