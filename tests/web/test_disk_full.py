"""A disk that takes no more is the server's trouble, and is called that."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from plumbline.retries import RETRY_AFTER_S
from tests.cases.walkthrough import MANIFEST
from tests.fixtures import Site


@contextmanager
def small_files() -> Iterator[None]:
    """Let the system refuse this process files of more than 200 kB, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_upload_that_finds_no_room_is_answered_507(roomy_site: Site) -> None:
    """Not 500: the request is well; it says when to come again."""
    roomy_site.http.post("/benchmarks", content=MANIFEST, headers=roomy_site.auth("admin"))

    with small_files():
        answer = roomy_site.http.post(
            "/benchmarks/tiny/submissions", files=[("files", ("a.csv", b"a" * 3_000_000))], headers=roomy_site.auth()
        )

    assert (answer.status_code, answer.headers["retry-after"]) == (507, str(RETRY_AFTER_S))
    assert "no space for this upload" in answer.json()["detail"]
