"""What a server knows out as JSON lines and in again: every address answers the same, and nothing comes in half."""

import json
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from app.db.dumps import BackupError
from app.db.transfer import NAME, export, import_folder
from app.store import rows
from tests.cases.databases import as_owner, as_runtime, new_database
from tests.cases.walkthrough import BASE, BETTER, GOOD, declare, send
from tests.fixtures import LOW, Site, SiteAfter, open_site

ADDRESSES = [
    *(f"/benchmarks/tiny/{kind}{number}" for number in ("", "?snapshot=1", "?snapshot=2") for kind in (
        "leaderboards/average.csv", "leaderboards/skill.json", "leaderboards/skill/pairwise.csv", "entrants/Good.csv",
        "rows.csv",
    )),
    "/benchmarks/tiny/snapshots.json", "/benchmarks/tiny/audit.csv", "/submissions/1.json", "/submissions/2.json",
    "/benchmarks/tiny/manifest.yaml", "/benchmarks/tiny/preregs.csv",
]  # fmt: skip


def fill(site: Site) -> None:
    """Publish three snapshots, in the last of which somebody is superseded."""
    declare(site)
    for sent in (BASE, GOOD):
        assert send(site, sent)["http"] == 202
        site.work()
    send(site, BETTER)
    site.work()


@pytest.fixture
def filled(site_after: SiteAfter) -> Site:
    """Such a server, published once for all of these."""
    return site_after(fill)


def answers(site: Site) -> dict[str, tuple[int, bytes]]:
    """Return what the addresses answer an admin."""
    got = {address: site.http.get(address, headers=site.auth("admin")) for address in ADDRESSES}
    return {address: (answer.status_code, answer.content) for address, answer in got.items()}


def test_what_comes_in_answers_as_what_went_out(filled: Site, postgres_url: str, migrated: str, tmp_path: Path) -> None:
    """Byte for byte, of every snapshot; and the new server goes on with the next numbers."""
    before = answers(filled)
    assert [status for status, _ in before.values()].count(200) > len(ADDRESSES) / 2
    export(as_owner(filled.database_url), tmp_path / "out")
    with new_database(postgres_url, migrated) as url:
        import_folder(tmp_path / "out", as_owner(url))
        with open_site(as_runtime(url), LOW, dict(filled.tokens)) as site:
            with site.as_owner() as session:
                for number in rows.all_submissions(session):
                    rows.rebuild_submission(session, submission=number)
            after = answers(site)
            assert {address: after[address] for address in before if after[address] != before[address]} == {}
            assert send(site, BASE.replace(b"1.0", b"3.0"))["http"] == 202
            site.work()
            newest = site.http.get("/benchmarks/tiny/leaderboards/average.json", headers=site.auth("admin")).json()
            assert newest["snapshot"] == 4
        export(as_owner(url), tmp_path / "again")


def test_an_export_of_the_first_release_is_read(filled: Site, postgres_url: str, migrated: str, tmp_path: Path) -> None:
    """Its format was 1 and its schema v0001; that of this version is 2, so that the first release refuses it."""
    assert export(as_owner(filled.database_url), tmp_path / "out").format == 2
    noted(tmp_path / "out", format=1, schema_revision="v0001")
    with new_database(postgres_url, migrated) as url:
        import_folder(tmp_path / "out", as_owner(url))
        with psycopg.connect(as_owner(url)) as connection:
            assert connection.execute("SELECT count(*) > 0 FROM score").fetchall() == [(True,)]


def cut(folder: Path) -> None:
    """Leave the last bytes of a file out."""
    path = folder / "score.jsonl"
    path.write_bytes(path.read_bytes()[:-9])


def noted(folder: Path, **change: object) -> None:
    """Say something else of it: a format to come, another product."""
    note = json.loads((folder / NAME).read_text())
    (folder / NAME).write_text(json.dumps(note | change))


def with_row(folder: Path, table: str, change: dict[str, object]) -> None:
    """Change the first row of a table and its digest, as somebody hostile would."""
    path, note = folder / f"{table}.jsonl", json.loads((folder / NAME).read_text())
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([json.dumps(json.loads(first) | change), *others]) + "\n")
    note["tables"][table]["sha256"] = sha256(path.read_bytes()).hexdigest()
    (folder / NAME).write_text(json.dumps(note))


def with_table(folder: Path) -> None:
    """Add a table that a later version may have."""
    (folder / "later.jsonl").touch()
    listed = json.loads((folder / NAME).read_text())["tables"]
    noted(folder, tables=listed | {"later": {"n_rows": 0, "sha256": sha256(b"").hexdigest()}})


def without_table(folder: Path) -> None:
    """Leave out a table of this version."""
    noted(folder, tables={name: each for name, each in tables_of(folder).items() if name != "score"})


def listed(folder: Path, **change: object) -> None:
    """Say something else of a table."""
    tables = tables_of(folder)
    noted(folder, tables=tables | {"score": tables["score"] | change})


def renamed(folder: Path, name: str) -> None:
    """List a table under another name."""
    tables = tables_of(folder)
    noted(folder, tables={name if each == "token" else each: of for each, of in tables.items()})


def with_line(folder: Path, line: str) -> None:
    """Write a table of one line."""
    (folder / "score.jsonl").write_text(f"{line}\n")
    listed(folder, n_rows=1, sha256=sha256((folder / "score.jsonl").read_bytes()).hexdigest())


def tables_of(folder: Path) -> dict[str, dict[str, object]]:
    """Return what the note lists."""
    return dict(json.loads((folder / NAME).read_text())["tables"])


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (cut, "is not whole"),
        (partial(noted, format=3), "of format 3, and this version, .* with the version that wrote it or a newer one"),
        (partial(noted, schema_revision="v9999"), "its schema v9999, later than v0002, that of this version"),
        (without_table, "is not whole: its export.json does not list score"),
        (partial(listed, n_rows=10**30), "the file of score is missing, cut short or changed"),
        (partial(renamed, name="../token"), "is not the note of an export"),
        (partial(with_line, line="{}"), "Line 1 of score.jsonl is no row: expected a JSON object with columns"),
        (partial(with_line, line="[" * 200_000), "Line 1 of score.jsonl is no row"),
        (partial(noted, product="mlflow"), "an export of 'mlflow', not of plumbline"),
        (with_table, "has what this version, .*, does not know: later"),
        (partial(with_row, table="token", change={"power": 9}), "the column power"),
        (partial(with_row, table="token", change={"role": "emperor"}), "ck_token_role"),
        (partial(with_row, table="submission", change={"token_id": 999}), "fk_submission_token_id"),
        (lambda folder: (folder / NAME).unlink(), "has no export.json"),
    ],
    ids=[
        "cut",
        "newer",
        "newer schema",
        "less",
        "rows",
        "name",
        "no column",
        "deep",
        "product",
        "table",
        "column",
        "value",
        "reference",
        "note",
    ],
)
def test_what_is_hostile_or_cut_leaves_nothing(
    filled: Site, postgres_url: str, migrated: str, tmp_path: Path, break_it: Callable[[Path], None], said: str
) -> None:
    """One sentence that says what, and a database as empty as before."""
    export(as_owner(filled.database_url), tmp_path / "out")
    break_it(tmp_path / "out")
    with new_database(postgres_url, migrated) as url:
        with pytest.raises(BackupError, match=said):
            import_folder(tmp_path / "out", as_owner(url))
        with psycopg.connect(as_owner(url)) as connection:
            assert connection.execute("SELECT count(*) FROM token").fetchall() == [(0,)]
    with pytest.raises(BackupError, match=r"in the database already|is not|has|of format|not of|later than"):
        import_folder(tmp_path / "out", as_owner(filled.database_url))
