"""What others take from a benchmark, and how a reader comes to it: formats, badges, feeds, citations, search, news."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.config import Settings
from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site, new_database, open_site

TINY = "/benchmarks/tiny"
BOARD = f"{TINY}/leaderboards/average"
ODD = '<b>&"x'
REASON = "a wrong column <was> read"
SERVER = "https://boards.example"
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@contextmanager
def of_base_and_good(postgres_url: str, migrated: str) -> Iterator[tuple[Site, int]]:
    """Open a site that has published Base and Good, with the number of Good's submission."""
    settings = Settings(max_stale_s=0, base_url=SERVER)
    with new_database(postgres_url, migrated) as url, open_site(url, settings) as site:
        declare(site)
        send(site, BASE)
        good: int = send(site, GOOD)["id"]
        site.work()
        yield site, good


@pytest.fixture(scope="module")
def published(postgres_url: str, migrated: str) -> Iterator[Site]:
    """Three snapshots: Base and Good, one more with a strange name, and then without Good, which was withdrawn."""
    with of_base_and_good(postgres_url, migrated) as (site, good):
        send(site, GOOD.replace(b"Good", b'"<b>&""x"'), who="bob", metadata='{"organisation": "Lab & Sons"}')
        site.work()
        site.http.post(f"/submissions/{good}/withdraw", json={"reason": REASON}, headers=site.auth())
        site.work()
        yield site


def parsed(content: bytes) -> ElementTree.Element:
    """Return a document of our own making."""
    return ElementTree.fromstring(content)  # noqa: S314 - nobody else wrote it


def page(site: Site, address: str) -> str:
    """Return a page as a browser gets it."""
    answer = site.http.get(address, headers={"accept": "text/html"})
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.mark.parametrize(
    "address",
    [BOARD, f"{TINY}/tasks", f"{TINY}/tasks/t1", f"{TINY}/entrants/Base", f"{TINY}/claims", f"{TINY}/ranks"],
)
def test_every_table_is_there_for_data_frames_too(published: Site, address: str) -> None:
    """NDJSON, Arrow and Parquet hold the rows of the JSON, and the two typed ones its notes."""
    document = published.http.get(f"{address}.json").json()
    lines = published.http.get(f"{address}.ndjson").text.splitlines()
    arrow = pa.ipc.open_file(published.http.get(f"{address}.arrow").content).read_all()
    parquet = pq.read_table(io.BytesIO(published.http.get(f"{address}.parquet").content))

    assert [json.loads(line) for line in lines] == document["rows"]
    assert arrow.to_pylist() == parquet.to_pylist() == document["rows"]
    assert json.loads(parquet.schema.metadata[b"plumbline"])["notes"] == document["notes"]


def test_numbers_keep_their_types_in_arrow(published: Site) -> None:
    """Ranks are whole numbers, scores floating ones, flags booleans."""
    schema = pa.ipc.open_file(published.http.get(f"{BOARD}.arrow").content).schema

    assert [str(schema.field(name).type) for name in ("rank", "entrant", "mean_MASE", "may_be_first")] == [
        "int64", "string", "double", "bool"]  # fmt: skip


def test_a_badge_says_the_rank_set_and_is_escaped(published: Site) -> None:
    """The name of the entrant stands in the address, whatever is in it; what people wrote is never markup."""
    answer = published.http.get(f"{BOARD}/badge/Base.svg")
    strange = published.http.get(f"{BOARD}/badge/%3Cb%3E&%22x.svg")
    label = parsed(answer.content).attrib["aria-label"]

    assert answer.headers["content-type"] == "image/svg+xml"
    assert label.startswith("average: rank 2 (1–2) of 2. ")
    assert "One other may be first too: Base." in label
    assert "rank 1" in parsed(strange.content).attrib["aria-label"]


def test_a_badge_of_what_is_over_is_grey(published: Site) -> None:
    """Withdrawn, or of an older snapshot, which it names."""
    grey, blue = b"#6b7885", b"#0a4f8f"
    now = published.http.get(f"{BOARD}/badge/Base.svg").content
    gone = published.http.get(f"{BOARD}/badge/Good.svg").content
    before = published.http.get(f"{BOARD}/badge/Good.svg?snapshot=1").content

    assert (blue in now, grey in gone, grey in before) == (True, True, True)
    assert (b"not on the board" in gone, b"snapshot 1" in before) == (True, True)
    assert published.http.get(f"{BOARD}/badge/Base").status_code == 404


def test_a_choice_is_labelled_in_a_picture(published: Site) -> None:
    """The picture itself says that a reader chose, and what."""
    asked = f"task=t1&entrant=Base&entrant={quote(ODD)}"
    picture = "".join(
        text.text or "" for text in parsed(published.http.get(f"{BOARD}/embed.svg?{asked}").content).iter()
    )
    page = published.http.get(f"{BOARD}/explore?{asked}", headers={"accept": "text/html"}).text

    assert picture.count("Your selection, not an official board") == 1
    assert "1 of 3 tasks (t1)" in picture
    assert published.http.get(f"{BOARD}/embed.png?{asked}").content[1:4] == b"PNG"
    assert f"{BOARD}/embed.svg?task=t1&amp;entrant=Base" in page


def test_a_filtered_picture_says_so(published: Site) -> None:
    """Ranks stay, and who is not there was looked past; what is not asked rightly is refused."""
    picture = published.http.get(f"{BOARD}/embed.svg?q=bas").text

    assert "Filtered by a reader. 1 of 2 entrants shown" in picture
    assert ODD not in picture
    assert published.http.get(f"{BOARD}/embed.svg?task=none").status_code == 422


@pytest.mark.parametrize("asked", ["task=t1", "weight=t1=2", "color=red"])
def test_a_badge_takes_no_choice(published: Site, asked: str) -> None:
    """One that shows another rank than the board's would be taken for the board's: refused, and not left out."""
    assert published.http.get(f"{BOARD}/badge/Base.svg?{asked}").status_code == 422


@pytest.mark.parametrize("page", [TINY, BOARD])
def test_a_link_is_previewed_by_the_first_places(published: Site, page: str) -> None:
    """By a picture at an absolute address, which is there."""
    shown = published.http.get(page, headers={"accept": "text/html"}).text
    _, _, address = shown.partition(f'property="og:image" content="{SERVER}')
    answer = published.http.get(address.partition('"')[0])

    assert (answer.status_code, answer.content[1:4]) == (200, b"PNG")


def test_the_feed_tells_what_happened_with_its_reasons(published: Site) -> None:
    """One benchmark's and everybody's have the same entries, each with the address of what it tells."""
    own, every = (parsed(published.http.get(path).content) for path in (f"{TINY}/feed.atom", "/feed.atom"))
    titles = [entry.findtext("a:title", "", ATOM) for entry in own.findall("a:entry", ATOM)]
    links = {link.attrib["href"] for link in own.findall("a:entry/a:link", ATOM)}

    assert f"tiny: Good withdrawn: {REASON}" in titles
    assert "tiny: Base, Good entered" in titles
    assert titles == [entry.findtext("a:title", "", ATOM) for entry in every.findall("a:entry", ATOM)]
    assert all(link.startswith(f"{SERVER}{TINY}") for link in links)


def test_entries_keep_their_names(published: Site) -> None:
    """A reader of feeds shows an entry whose name changes a second time."""
    names = [each.findtext("a:id", "", ATOM) for each in parsed(published.http.get(f"{TINY}/feed.atom").content)]
    named = {name.removeprefix("urn:plumbline:tiny:") for name in names if name.startswith("urn:plumbline:tiny:")}

    assert named == {
        "1:new:/benchmarks/tiny",
        *(f"{at}:{kind}:/benchmarks/tiny/snapshots"
          for at, kind in ((1, "entered"), (2, "entered"), (2, "ranks"), (3, "ranks"), (3, "withdrawn"))),
    }  # fmt: skip


def test_the_feed_says_who_is_first_since_when_another_is_withdrawn(postgres_url: str, migrated: str) -> None:
    """With the rank before, under a name of its own, at the board of that snapshot."""
    with of_base_and_good(postgres_url, migrated) as (site, good):
        site.http.post(f"/submissions/{good}/withdraw", json={"reason": REASON}, headers=site.auth())
        site.work()
        entries = parsed(site.http.get(f"{TINY}/feed.atom").content).findall("a:entry", ATOM)

    board = f"{TINY}/leaderboards/skill?snapshot=2"
    (first,) = (each for each in entries if each.findtext("a:id", "", ATOM).endswith(f":2:first:{board}"))
    assert first.findtext("a:title", "", ATOM).startswith("tiny: Base has rank 1 on skill, from rank 2")


def test_a_snapshot_can_be_cited(published: Site) -> None:
    """With the permanent address of its first board."""
    text = published.http.get(f"{TINY}/cite.bib?snapshot=2").text

    assert text.startswith("@misc{tiny-snapshot-2,")
    assert f"url = {{{SERVER}{TINY}/leaderboards/skill?snapshot=2}}" in text


def test_metadata_names_every_column_of_every_board(published: Site) -> None:
    """Croissant: a file and a set of records for each board, with types."""
    about = published.http.get(f"{TINY}/croissant.json").json()
    fields = {field["name"]: field["dataType"] for field in about["recordSet"][1]["field"]}
    header = published.http.get(f"{BOARD}.csv").text.splitlines()[0].split(",")

    assert about["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert list(fields) == header
    assert (fields["rank"], fields["mean_MASE"], fields["entrant"]) == ("sc:Integer", "sc:Float", "sc:Text")


def test_crawlers_find_the_boards_and_leave_what_is_computed_for_readers(published: Site) -> None:
    """The sitemap has absolute addresses; robots.txt keeps them from asking for endless choices."""
    sitemap, robots = published.http.get("/sitemap.xml").text, published.http.get("/robots.txt").text

    assert f"<loc>{SERVER}{BOARD}</loc>" in sitemap
    assert "Disallow: /*/explore?" in robots
    assert f"Sitemap: {SERVER}/sitemap.xml" in robots
    assert published.http.get("/favicon.ico").headers["content-type"] == "image/svg+xml"


def test_a_withdrawn_entrant_leaves_its_trace_on_the_board(published: Site) -> None:
    """Below the ranks, with the submission and the public reason; not on the board that still had it."""
    trace = "Withdrawn, so not on this board"

    assert trace in page(published, BOARD)
    assert "a wrong column &lt;was&gt; read" in page(published, BOARD)
    assert trace not in page(published, f"{BOARD}?snapshot=1")


FOR_EVERYBODY = ["/submissions/1", "/search?q=skill", "/", "/glossary", f"{BOARD}.csv", f"{BOARD}.csv?snapshot=1",
                 f"{BOARD}?snapshot=1", f"{BOARD}/badge/Base.svg?snapshot=1"]  # fmt: skip


@pytest.mark.parametrize("address", FOR_EVERYBODY)
def test_what_is_for_everybody_is_asked_for_again(published: Site, address: str) -> None:
    """A status changes, and a name may be erased, of an old snapshot too; data that are as they were are not sent."""
    answer = published.http.get(address, headers={"Accept": "text/html"})
    known = {"Accept": "text/html", "If-None-Match": answer.headers.get("etag", "")}

    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    assert published.http.get(address, headers=known).status_code == (
        304 if known["If-None-Match"] or BOARD in address else 200
    )


@pytest.mark.parametrize("address", ["/docs", "/openapi.json", "/submissions/1", f"{BOARD}.json"])
def test_everything_that_is_worth_it_is_compressed(published: Site, address: str) -> None:
    """Also what no cache keeps; what is read with a token is not."""
    packed = published.http.get(address, headers={"accept-encoding": "gzip"})
    with_token = published.http.get("/whoami", headers={**published.auth(), "accept-encoding": "gzip"})

    assert (packed.headers.get("content-encoding"), packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert "content-encoding" not in with_token.headers
    assert published.http.get(address, headers={"accept-encoding": "identity"}).text == packed.text


def test_a_table_says_how_programs_read_it(published: Site) -> None:
    """Lines for pandas, R and curl with the address that always gives the same rows."""
    text = page(published, BOARD).replace("&#34;", '"')

    assert f'pd.read_parquet("{SERVER}{BOARD}.parquet?snapshot=3")' in text
    assert f'read.csv("{SERVER}{BOARD}.csv?snapshot=3")' in text
    assert f'curl --compressed -o table.csv "{SERVER}{BOARD}.csv?snapshot=3"' in text
