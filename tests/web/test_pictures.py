"""The pictures of a board over HTTP: each with its table as data, and as a file that stands alone."""

import base64
import hashlib
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from app.config import Settings
from app.render.saved import in_xml, png_of
from tests.cases.walkthrough import BASE, BETTER, GOOD, declare, send
from tests.fixtures import Site, new_database, open_site

HOME = "/benchmarks/tiny/leaderboards/average"
HTML = {"accept": "text/html"}
OTHER = b"model,task,MASE\nOther,t1,0.7\nOther,t2,3.0\n"


@pytest.fixture(scope="module")
def published(postgres_url: str, migrated: str) -> Iterator[Site]:
    """A site with three entrants on three tasks, one of them partial, and two snapshots."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings(max_stale_s=0)) as site:
        declare(site)
        for rows in (BASE, GOOD, OTHER):
            assert send(site, rows)["http"] == 202
        site.work()
        send(site, BETTER)
        site.work()
        yield site


@pytest.mark.parametrize("name", ["letters", "tradeoff", "matrix", "history", "compare"])
def test_the_board_leads_to_what_there_is_to_see(published: Site, name: str) -> None:
    """Each view has a page and its table as data; one of costs or of pairs is offered where there are some."""
    is_offered = name not in ("letters", "tradeoff")
    assert (f'href="{HOME}/{name}"' in published.http.get(HOME, headers=HTML).text) == is_offered

    page = published.http.get(f"{HOME}/{name}", headers=HTML)
    assert page.status_code == 200
    assert published.http.get(f"{HOME}/{name}.csv").status_code == 200


@pytest.mark.parametrize("address", [f"{HOME}/matrix.svg", "/benchmarks/tiny/tasks/t1.svg", f"{HOME}/history.svg"])
def test_a_picture_is_saved_as_a_file(published: Site, address: str) -> None:
    """It is XML with its own style, which the policy of the site knows by its digest."""
    answer = published.http.get(address)
    drawn = ET.fromstring(answer.text)  # noqa: S314
    style = drawn.find("{http://www.w3.org/2000/svg}style")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert style is not None
    digest = base64.b64encode(hashlib.sha256((style.text or "").encode()).digest()).decode()
    assert f"'sha256-{digest}'" in answer.headers["content-security-policy"]


def test_a_picture_is_saved_as_png(published: Site) -> None:
    """Two pixels to a unit, and with its words: without them it would be smaller."""
    answer = published.http.get(f"{HOME}/matrix.png")
    plain = re.sub("<text.*?</text>", "", published.http.get(f"{HOME}/matrix.svg").text)
    width, height = (float(re.search(f'{side}="([0-9]+)"', plain)[1]) for side in ("width", "height"))  # type: ignore[index]

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert struct.unpack(">II", answer.content[16:24]) == (2 * width, 2 * height)
    assert len(answer.content) > len(png_of(plain, width, height, "#ffffff"))
    assert 'matrix.png?snapshot=2&amp;picture=1"' in published.http.get(f"{HOME}/matrix", headers=HTML).text


def test_a_character_that_no_xml_has_does_not_stop_a_picture() -> None:
    """A title of a manifest of before may have one; new ones are refused."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><text y="15">a\x01\ud800b</text></svg>'
    with pytest.raises(ValueError):  # noqa: PT011
        png_of(svg.replace("\ud800", ""), 30, 20, "#fff")

    assert png_of(in_xml(svg), 30, 20, "#fff")[1:4] == b"PNG"


def test_a_picture_that_is_not_drawn_is_not_found(published: Site) -> None:
    """The answer says how many there are."""
    answer = published.http.get(f"{HOME}/matrix.svg?picture=2")

    assert (answer.status_code, "there is 1 here" in answer.text) == (404, True)


def test_an_axis_that_the_board_does_not_have_is_refused(published: Site) -> None:
    """With the columns that it has."""
    answer = published.http.get(f"{HOME}/tradeoff.json?x=price")

    assert (answer.status_code, answer.json()["problems"][0]["column"]) == (422, "x")


def test_the_matrix_marks_what_is_absent(published: Site) -> None:
    """The partial entrant has no row on the third task."""
    rows = published.http.get(f"{HOME}/matrix.json?entrant=Other").json()["rows"]

    assert [(row["task"], row["state"]) for row in rows] == [("t1", "value"), ("t2", "value"), ("t3", "absent")]
