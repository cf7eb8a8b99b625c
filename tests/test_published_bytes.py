"""Every CSV and JSON that the examples publish, compared with the digests of what they were.

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
import zipfile
from collections.abc import Iterator, Mapping
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

import numpy as np
import pytest
import scipy.special

from app.cli.demo import Example, ExampleSubmission, find_examples
from app.cli.serve import EXAMPLES
from app.config import Settings
from app.prereg.prereg import sha256_hex
from tests.fixtures import Site, new_database, open_site

DIGESTS = Path(__file__).parent / "data" / "published_bytes.txt"
YAML = {"Content-Type": "application/yaml"}
HTML = {"Accept": "text/html"}
MAX_FIELD = 1 << 24
MOST_COMPARED = 50
LARGEST_PAGE = 60_000

# All that is put aside before a digest is taken: when and in which order something was done, and by which code.
ASIDE = (
    (re.compile(r'"(code_version|input_digest)":"[^"]*"'), r'"\1":""'),
    (re.compile(r'"(id|number|snapshot|submission)":\d+'), r'"\1":0'),
    (re.compile(r"/submissions/\d+"), "/submissions/0"),
    (re.compile(r"\bsnapshot \d+"), "snapshot 0"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}(\+00:00|Z)"), "TIME"),
    (re.compile(r'(commitment(?:,|","value":"))[0-9a-f]{64}'), r"\1SALTED"),
    (re.compile(r'(committed at(?:,|","value":"))[^"\r\n]*'), r"\1TIME"),
    (re.compile(r"Registered \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"), "Registered TIME"),
)
COLUMNS_ASIDE = frozenset({"code_version", "input_digest", "id", "number", "snapshot", "submission"})

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


def digest_of(address: str, content: str) -> Digest:
    """Return the digests of a CSV or JSON without what is put aside."""
    kept = without_columns(content) if ".csv" in address else content
    for pattern, replacement in ASIDE:
        kept = pattern.sub(replacement, kept)
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


# The same tables in other forms, which tests/web/test_syndication.py compares with CSV and JSON, and pictures.
OTHER_FORMS = (".ndjson", ".parquet", ".arrow", ".png", ".svg")
MADE_WHEN_ASKED = ("/explore", "/letters", "/tradeoff", "/matrix", "/history")


def load(site: Site, example: Example) -> None:
    """Send an example as `plumbline serve` does: manifest, labels, registrations, submissions."""
    slug, headers = example.folder.name, site.auth("steward")
    created = site.http.post("/benchmarks", content=example.manifest.read_bytes(), headers=headers | YAML)
    assert created.status_code == 201, created.text
    if example.labels is not None:
        labels = {"file": (example.labels.name, example.labels.read_bytes())}
        put = site.http.put(f"/benchmarks/{slug}/labels", files=labels, headers=headers)
        assert put.status_code == 201, put.text
    for submission in example.submissions:
        submit(site, slug, submission)


def submit(site: Site, slug: str, submission: ExampleSubmission) -> None:
    """Send one submission, after the registration that it cites."""
    form = {} if submission.entrant is None else {"entrant": submission.entrant}
    if submission.prereg is not None:
        plan = submission.prereg.read_bytes()
        site.http.post(f"/preregs?benchmark={slug}", content=plan, headers=site.auth("steward") | YAML)
        form["prereg_sha256"] = sha256_hex(plan)
    files = [("files", (path.name, path.read_bytes())) for path in submission.files]
    sent = site.http.post(f"/benchmarks/{slug}/submissions", files=files, data=form, headers=site.auth("steward"))
    assert sent.status_code == 202, sent.text


def published(site: Site, sizes: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Yield address and content of every CSV and JSON that a reader can reach from the list of benchmarks.

    Notes the compressed size of every page without a plot that it comes by, in bytes.
    """
    waiting = ["/benchmarks"]
    known = set(waiting)
    while waiting:
        address = waiting.pop()
        answer = site.http.get(address, headers=HTML, follow_redirects=True)
        assert answer.status_code == 200, f"{address}: {answer.text}"
        if answer.headers["content-type"].startswith("text/html"):
            if "<figure" not in answer.text:
                sizes[address] = len(gzip.compress(answer.content))
            new = [link for link in links_of(answer.text) if link not in known]
            waiting += new
            known |= set(new)
        elif address.endswith(".zip"):
            yield from members(address, answer.content)
        elif address.partition("?")[0].endswith((".csv", ".json")):
            yield address, answer.text
            waiting += neighbours(address, answer.text)


def links_of(page: str) -> list[str]:
    """Return the addresses that a page links to, each once, without what follows the question mark.

    Boards of a reader's own, pictures and other forms are none of them: they are made of the others for whoever asks.
    """
    result = (unescape(link).partition("#")[0].partition("?")[0] for link in re.findall(r'href="([^"]*)"', page))
    published = (link for link in result if not link.endswith((*MADE_WHEN_ASKED, *OTHER_FORMS)))
    return list(
        dict.fromkeys(link for link in published if link.startswith(("/benchmarks", "/submissions", "/preregs")))
    )


def neighbours(address: str, content: str) -> list[str]:
    """Return the comparisons of each entrant of a pairwise table with the next one: they are asked for by name.

    Of a board of many entrants none: each answer reads the whole table, which is itself among the addresses.
    """
    if not address.endswith("/pairwise.csv"):
        return []
    rows = list(csv.DictReader(io.StringIO(content)))
    names = list(dict.fromkeys(row[column] for column in ("entrant_a", "entrant_b") for row in rows))
    if len(names) > MOST_COMPARED:
        return []
    home = address.removesuffix("pairwise.csv")
    pairs = [urlencode({"a": a, "b": b}) for a, b in pairwise(names)]
    return [f"{home}against.{ending}?{pair}" for pair in pairs for ending in ("csv", "json")]


def members(address: str, packed: bytes) -> Iterator[tuple[str, str]]:
    """Yield what a zip holds as if each file had an address."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for name in archive.namelist():
            yield f"{address}/{quote(name)}", archive.read(name).decode()


def stable_addresses(digests: Mapping[str, Digest]) -> dict[str, Digest]:
    """Return the digests by addresses in which submissions are counted from one."""
    numbers = sorted({int(number) for address in digests for number in re.findall(r"^/submissions/(\d+)", address)})
    places = {number: place for place, number in enumerate(numbers, 1)}
    return {
        re.sub(r"^/submissions/(\d+)", lambda result: f"/submissions/{places[int(result[1])]}", address): digest
        for address, digest in sorted(digests.items())
    }


@pytest.fixture(scope="module")
def sizes() -> dict[str, int]:
    """The compressed size of every page without a plot, once `now` has come by it."""
    return {}


@pytest.fixture(scope="module")
def now(postgres_url: str, migrated: str, sizes: dict[str, int]) -> Mapping[str, Digest]:
    """The digests of everything that the examples publish by this code."""
    with new_database(postgres_url, migrated) as url, open_site(url, Settings()) as site:
        for example in find_examples(EXAMPLES):
            load(site, example)
        site.work()
        result = published(site, sizes)
        digests = stable_addresses({address: digest_of(address, content) for address, content in result})
    if os.environ.get("REWRITE_DIGESTS"):
        lines = [" ".join((*digest, address)) for address, digest in digests.items()]
        DIGESTS.write_text("\n".join([arithmetic(), *lines, ""]))
    return digests


@pytest.fixture(scope="module")
def before(now: Mapping[str, Digest]) -> Mapping[str, Digest]:
    """The digests that are kept; depends on those of now, which may have been written anew."""
    lines = [line.split(" ") for line in DIGESTS.read_text().splitlines()[1:]]
    return {address: Digest(exact, few) for exact, few, address in lines}


def test_the_examples_publish_at_the_same_addresses(now: Mapping[str, Digest], before: Mapping[str, Digest]) -> None:
    """No table appears or disappears unseen."""
    assert sorted(now) == sorted(before)


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
    """A time, a number of a submission and a code version change no digest; a score does."""
    first = "submission,score\n17,0.25\n"
    other = "submission,score\n18,0.25\n"
    better = "submission,score\n17,0.26\n"

    assert digest_of("a.csv", first) == digest_of("a.csv", other) != digest_of("a.csv", better)
