"""Sending predictions of the small benchmarks over HTTP."""

from tests.fixtures import Site


def submit(site: Site, content: str, entrant: str = "A") -> int:
    """Submit a file of predictions and return the submission's number."""
    answer = site.http.post(
        "/benchmarks/guess/submissions",
        files=[("files", ("p.csv", content))],
        data={"entrant": entrant},
        headers=site.auth(),
    )
    assert answer.status_code == 202, answer.text
    return int(answer.json()["id"])
