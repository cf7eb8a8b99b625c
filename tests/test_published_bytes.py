"""Every CSV of the boards that the examples publish, compared with the digests of what they were, and what their JSON
says of each column, as text.

They change only where a change of the numbers, columns or words is meant. Then write them anew, look at which
addresses differ (`git diff`) and say why in the commit:

    REWRITE_DIGESTS=1 .venv/bin/python -m pytest tests/test_published_bytes.py
"""

import csv
import gzip
import hashlib
import io
import os
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.special

from app.cli.demo import find_examples
from app.cli.serve import EXAMPLES
from app.config import Settings
from tests.cases.examples import load
from tests.fixtures import Site, new_database, open_site

DIGESTS = Path(__file__).parent / "data" / "published_bytes.txt"
COLUMNS = Path(__file__).parent / "data" / "published_columns.txt"
FIELDS = ("name", "title", "kind", "unit", "direction", "digits", "glossary", "interval")
"""Of a column, in this order; null is a dash."""
MOST_ASKED = 100_000
"""Characters of a CSV whose JSON is asked for: of one table of pairs the columns are those of the next."""
HTML = {"Accept": "text/html"}
MAX_FIELD = 1 << 24
LARGEST_PAGE = 60_000

# When and in which order something was done, and by which code, is put aside before a digest is taken.
COLUMNS_ASIDE = frozenset({"code_version", "input_digest", "id", "number", "snapshot", "submission"})

MADE_WHEN_ASKED = ("/explore", "/letters", "/tradeoff", "/matrix", "/history")

DIGITS = 6
NOISE = 1e-12
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")


class Digest(NamedTuple):
    """The digest of what an address gives, and of the same with its numbers rounded."""

    exact: str
    rounded: str


def arithmetic() -> str:
    """Return a digest of results whose last bit depends on the processor, through numpy, scipy and BLAS."""
    values = np.linspace(0.001, 30.0, 5000)
    results = np.vstack([np.exp(-values), np.log(values), values**0.7, scipy.special.ndtri(values / 31.0)])
    return shortened(results.tobytes() + (results @ results.T).tobytes() + results.mean(axis=1).tobytes())


def shortened(content: bytes) -> str:
    """Return the first half of a SHA-256, as many digits as keep the file readable."""
    return hashlib.sha256(content).hexdigest()[:32]


def digest_of(content: str) -> Digest:
    """Return the digests of a CSV without what is put aside."""
    kept = without_columns(content)
    return Digest(shortened(kept.encode()), shortened(NUMBER.sub(rounded, kept).encode()))


def without_columns(content: str) -> str:
    """Return a CSV with nothing in the columns that are put aside, and untouched where there is none of them."""
    csv.field_size_limit(MAX_FIELD)
    header = content.partition("\n")[0].strip().split(",")
    if COLUMNS_ASIDE.isdisjoint(header):
        return content
    written = io.StringIO()
    rows = csv.reader(io.StringIO(content, newline=""))
    csv.writer(written, lineterminator="\n").writerows(
        ["" if name in COLUMNS_ASIDE else cell for name, cell in zip(header, row, strict=True)] for row in rows
    )
    return written.getvalue()


def rounded(number: re.Match[str]) -> str:
    """Return a number with few digits; what is left of a difference of equals is zero."""
    value = float(number[0])
    return "0" if abs(value) < NOISE else f"{value:.{DIGITS}g}"


def published(site: Site, sizes: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield address and content of every CSV of a board that a reader can reach from the page of its benchmark.

    Notes the compressed size of every page without a plot that it comes by, in bytes.
    """
    for example in find_examples(EXAMPLES):
        home = f"/benchmarks/{example.folder.name}"
        waiting = [home]
        known = set(waiting)
        while waiting:
            address = waiting.pop()
            content = asked(site, address)
            if address.endswith(".csv"):
                yield address, content
                continue
            if "<figure" not in content:
                sizes[address] = len(gzip.compress(content.encode()))
            new = [link for link in links_of(content) if link.startswith(f"{home}/leaderboards/") and link not in known]
            waiting += new
            known |= set(new)


def asked(site: Site, address: str) -> str:
    """Return what an address answers a browser."""
    answer = site.http.get(address, headers=HTML, follow_redirects=True)
    assert answer.status_code == 200, f"{address}: {answer.text}"
    return answer.text


def links_of(page: str) -> list[str]:
    """Return the pages and CSV that a page links to, each once, without what follows the question mark.

    Boards of a reader's own are none of them: they are made of the others for whoever asks.
    """
    found = (unescape(link).partition("#")[0].partition("?")[0] for link in re.findall(r'href="([^"]*)"', page))
    kept = (link for link in found if link.endswith(".csv") or "." not in link.rpartition("/")[2])
    return list(dict.fromkeys(link for link in kept if not link.removesuffix(".csv").endswith(MADE_WHEN_ASKED)))


@pytest.fixture(scope="module")
def sizes() -> dict[str, int]:
    """The compressed size of every page without a plot, once `now` has come by it."""
    return {}


@pytest.fixture(scope="module")
def columns() -> set[str]:
    """What is said of each column, once `now` has come by it."""
    return set()


@pytest.fixture(scope="module")
def now(postgres_url: str, migrated: str, sizes: dict[str, int], columns: set[str]) -> Mapping[str, Digest]:
    """The digests of every board that the examples publish by this code."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings()) as site:
        for example in find_examples(EXAMPLES):
            load(site, example)
        site.work()
        tables = dict(sorted(published(site, sizes)))
        digests = {address: digest_of(content) for address, content in tables.items()}
        for address in (address for address, content in tables.items() if len(content) < MOST_ASKED):
            said = site.http.get(f"{address.removesuffix('.csv')}.json").json()["columns"]
            columns |= {" | ".join("-" if each[name] is None else str(each[name]) for name in FIELDS) for each in said}
    if os.environ.get("REWRITE_DIGESTS"):
        lines = [" ".join((*digest, address)) for address, digest in digests.items()]
        DIGESTS.write_text("\n".join([arithmetic(), *lines, ""]))
        COLUMNS.write_text("\n".join([*sorted(columns), ""]))
    return digests


@pytest.fixture(scope="module")
def before(now: Mapping[str, Digest]) -> Mapping[str, Digest]:
    """The digests that are kept; depends on those of now, which may have been written anew."""
    lines = [line.split(" ") for line in DIGESTS.read_text().splitlines()[1:]]
    return {address: Digest(exact, few) for exact, few, address in lines}


def test_the_examples_publish_at_the_same_addresses(now: Mapping[str, Digest], before: Mapping[str, Digest]) -> None:
    """No table appears or disappears unseen."""
    assert sorted(now) == sorted(before)


def test_what_is_said_of_a_column_is_what_it_was(now: Mapping[str, Digest], columns: set[str]) -> None:
    """Titles, units, directions, and where the glossary explains it."""
    assert now
    assert sorted(columns) == COLUMNS.read_text().splitlines()


def test_the_examples_publish_the_same_numbers(now: Mapping[str, Digest], before: Mapping[str, Digest]) -> None:
    """Every word and every number to six digits is what it was, on any processor."""
    assert [address for address in before if address in now and now[address].rounded != before[address].rounded] == []


def test_the_examples_publish_the_same_bytes(now: Mapping[str, Digest], before: Mapping[str, Digest]) -> None:
    """Every byte is what it was, where the processor computes logarithms as the one that wrote the digests did."""
    if arithmetic() != DIGESTS.read_text().partition("\n")[0]:
        pytest.skip("this processor's last bits are others than those of the digests")

    assert [address for address in before if address in now and now[address].exact != before[address].exact] == []


def test_no_page_without_a_plot_is_large(now: Mapping[str, Digest], sizes: Mapping[str, int]) -> None:
    """A phone has any of them in a moment, also the boards of hundreds of models."""
    assert len(sizes) > len(find_examples(EXAMPLES))
    assert {address: size for address, size in sizes.items() if size > LARGEST_PAGE} == {}


def test_what_is_put_aside_is_only_that() -> None:
    """A number of a submission changes no digest; a score does."""
    first = "submission,score\n17,0.25\n"
    other = "submission,score\n18,0.25\n"
    better = "submission,score\n17,0.26\n"

    assert digest_of(first) == digest_of(other) != digest_of(better)
