"""The HTTP API has a version: every answer names it, and nothing of it goes away that was not announced."""

from pathlib import Path

import pytest

from client.typed import described
from tests.fixtures import Site

LISTED = Path(__file__).parents[1] / "data" / "api_1.txt"


def operations() -> set[str]:
    """Return every operation with the parameters and fields that it demands."""
    result = set()
    for path, methods in described()["paths"].items():
        for method, operation in methods.items():
            names = sorted(each["name"] for each in operation.get("parameters", ()) if each.get("required"))
            result.add(" ".join([method.upper(), path, *names]))
    return result


@pytest.mark.heavy
def test_no_operation_of_the_version_goes_away_or_asks_for_more() -> None:
    """What is listed stays as it is; docs/http-api.md says how a removal is announced a release ahead."""
    listed = {line for line in LISTED.read_text("utf-8").splitlines() if line}

    assert listed - operations() == set()


def test_every_answer_names_the_version(site: Site) -> None:
    """Pages, documents and refusals alike; and so does the description."""
    addresses = ("/", "/benchmarks.json", "/benchmarks/nothing", "/openapi.json", "/whoami/submissions")
    reported = [site.http.get(address).headers.get("plumbline-api-version") for address in addresses]

    assert reported == ["1"] * len(addresses)
    assert described()["info"]["x-api-version"] == 1
