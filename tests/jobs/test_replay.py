"""A published snapshot is recomputed from its export to the digit, and a changed cell or row is found."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from app.boards import evidence
from app.cli.__main__ import run
from app.errors import EvidenceRejected
from app.jobs.replay import Export, differences, read_export, recompute
from tests.cases import grids, lrdbench_http, publications
from tests.fixtures import Site

CANONICAL = "public_small_canonical_ground_truth"
CLAIM = "claims: {better: {contrast: [good, fair], metric: score, threshold: 0.1}}\n"


def export_of(site: Site, slug: str, folder: Path) -> Path:
    """Publish a benchmark and return the export of its snapshot."""
    site.work()
    answer = site.http.get(f"/benchmarks/{slug}/replay.zip")
    assert answer.status_code == 200, answer.text
    path = folder / "replay.zip"
    path.write_bytes(answer.content)
    return path


def episodes(site: Site, folder: Path) -> Path:
    """Return the export of a benchmark of episodes with a grid, somebody without a rank, and a decided claim."""
    slug = grids.declare(site, grids.EPISODES.replace("GRID", grids.GRID) + CLAIM)
    grids.honest(site, slug)
    grids.send(site, slug, grids.only_right("sly"), "bob")
    return export_of(site, slug, folder)


def summary(site: Site, folder: Path) -> Path:
    """Return the export of a benchmark of summaries."""
    slug = publications.begin(site, publications.SUMMARY.replace("TASKS", publications.DECLARED))
    for entrant in ("A", "Base"):
        publications.send(site, slug, f"{entrant}.csv", publications.good_summary(entrant))
    return export_of(site, slug, folder)


def series(site: Site, folder: Path) -> Path:
    """Return the export of a benchmark of series."""
    slug = lrdbench_http.make_benchmark(site, CANONICAL)
    sent = lrdbench_http.submit(site, slug, lrdbench_http.RUNS[CANONICAL].read_bytes())
    assert sent["admitted"], sent["checks"]
    return export_of(site, slug, folder)


@pytest.fixture(scope="module")
def published(shared_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The export of the episodes, published once: each test changes a copy."""
    return episodes(shared_site, tmp_path_factory.mktemp("published"))


@pytest.mark.parametrize("created", [summary, series], ids=["summary", "series"])
def test_every_table_is_recomputed_to_the_digit(shared_site: Site, tmp_path: Path, created: object) -> None:
    """Boards, pairs, profiles, claims and what a kind shows beside them: nothing differs."""
    export = read_export(created(shared_site, tmp_path))  # type: ignore[operator]
    rows = sum(len(table.rows) for table in export.published)

    assert list(differences(export, recompute(export))) == []
    assert rows > len(export.published) > 1


def test_a_kept_board_is_not_said_to_differ_from_its_rows(
    shared_site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a fault kept from an earlier snapshot is named as that; the rest is compared."""

    def fail(*_: object) -> None:
        raise IndexError("tuple index out of range")

    facts = read_export(summary(shared_site, tmp_path)).facts
    publications.send(shared_site, facts["benchmark"], "C.csv", publications.good_summary("C"))
    with monkeypatch.context() as patched:
        patched.setattr(evidence, "compute_board", fail)
        shared_site.work()
    export = read_export(export_of(shared_site, facts["benchmark"], tmp_path))
    found = list(differences(export, recompute(export)))

    kept = {table.name for table in export.published if "last_good" in table.meta}
    assert {each.table for each in found} == kept > set()
    assert {each.what for each in found} == {
        "could not be computed by a fault of the server, and is kept from an earlier snapshot"
    }


def test_a_decided_claim_is_decided_again(published: Path, tmp_path: Path) -> None:
    """A verdict that the rows do not give is named."""
    path = with_member(published, tmp_path, "tables/claims.json", b'"inconclusive"', b'"not supported"')
    export = read_export(path)
    (actual,) = differences(export, recompute(export))

    assert (actual.table, actual.column, actual.recomputed) == ("claims", "verdict", "inconclusive")


def with_member(path: Path, folder: Path, name: str, before: bytes, after: bytes) -> Path:
    """Return a copy of the export with another text in one of its members."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for member in old.namelist():
            content = old.read(member)
            if member == name:
                assert before in content, content[:2000]
                content = content.replace(before, after, 1)
            new.writestr(member, content)
    changed = folder / "changed.zip"
    changed.write_bytes(out.getvalue())
    return changed


def test_the_command_ends_with_one_where_something_differs(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says how many tables are the same, and of a changed cell of a board its place and both numbers."""
    same = run(["replay", str(published)])
    message = capsys.readouterr().out
    other = run(["replay", str(with_member(published, tmp_path, "tables/leaderboard/board.json", b"0.75", b"0.85"))])

    assert (same, other) == (0, 1)
    assert "all the same" in message
    assert "leaderboard/board row 1, column score: published 0.85, recomputed 0.75" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("snapshot.json", b'"format":1', b'"format":9', "format 9"),
        ("snapshot.json", b'"tables"', b'"tablets"', "KeyError"),
        ("rows/000000.json", b'"entrant"', b'"whose"', "KeyError"),
    ],
)
def test_a_damaged_export_is_refused(
    published: Path, tmp_path: Path, name: str, before: bytes, after: bytes, words: str
) -> None:
    """With what is wrong, never with a traceback."""
    path = with_member(published, tmp_path, name, before, after)

    with pytest.raises(EvidenceRejected) as refused:
        read_export(path)

    assert words in refused.value.problems[0].message


def test_what_is_no_export_is_refused(tmp_path: Path) -> None:
    """A text, and a zip of something else."""
    text, other = tmp_path / "a.zip", tmp_path / "b.zip"
    text.write_text("no zip")
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", json.dumps({}))

    for path in (text, other):
        with pytest.raises(EvidenceRejected):
            read_export(path)


def test_an_export_says_under_which_code_it_was_published(published: Path) -> None:
    """And which columns are counts of the server, which no rows say."""
    export: Export = read_export(published)

    assert export.facts["code_version"]
    assert "owner_submissions" in export.facts["counted_by_the_server"]
