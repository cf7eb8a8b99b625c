"""Copies of a database come back byte for byte, and what is no such copy is refused."""

import json
import shutil
from pathlib import Path

import psycopg
import pytest

from app.db.dumps import BackupError, make_dump, restore_dump, verify
from app.db.embedded import running_server
from app.db.migrate import SchemaMismatch
from tests.cases.copies import Copies, copies
from tests.cases.exports import exports_of_folder
from tests.cases.offline import plumbline
from tests.cases.running_server import fresh_data_dir
from tests.fixtures import new_database

__all__ = ["copies"]


def test_a_dump_comes_back_on_an_empty_machine_byte_for_byte(copies: Copies) -> None:
    """Every export of the restored server is that of the first one; nothing but the backup is there."""
    with fresh_data_dir() as data_dir:
        with running_server(data_dir) as address:
            restore_dump(copies.dump, address)

        actual = exports_of_folder(data_dir)

    assert len(actual) > 20
    assert actual == copies.exports


def test_a_dump_is_not_restored_onto_data(copies: Copies, database_url: str) -> None:
    """What the target holds stays."""
    with pytest.raises(BackupError, match=r"The target holds \d+ tables already"):
        restore_dump(copies.dump, database_url)


def test_a_dump_is_not_restored_onto_a_running_target(copies: Copies, postgres_url: str) -> None:
    """Whoever is connected to it is named."""
    with new_database(postgres_url) as target, psycopg.connect(target, application_name="plumbline"):  # noqa: SIM117
        with pytest.raises(BackupError, match="The target is running: plumbline uses it"):
            restore_dump(copies.dump, target)


@pytest.mark.parametrize("harm", ["cut", "changed", "missing"])
def test_a_copy_that_is_not_whole_is_refused(copies: Copies, tmp_path: Path, harm: str) -> None:
    """A file cut short, a byte changed, a file gone: the sentence names the file."""
    folder = tmp_path / "copy"
    shutil.copytree(copies.dump, folder)
    harmed = folder / "database.dump"
    content = harmed.read_bytes()
    harmed.unlink()
    if harm != "missing":
        harmed.write_bytes(content[:-1] if harm == "cut" else content[:-1] + bytes([content[-1] ^ 1]))

    with pytest.raises(BackupError, match=f"is not whole: {harmed.name} is missing, cut short or changed"):
        verify(folder)


def test_a_backup_that_was_interrupted_is_none(copies: Copies, tmp_path: Path) -> None:
    """The note is written last."""
    shutil.copyfile(copies.dump / "database.dump", tmp_path / "database.dump")

    with pytest.raises(BackupError, match=r"is not a backup of plumbline: it has no backup\.json"):
        verify(tmp_path)


@pytest.mark.parametrize("change", [{"product": "mlflow"}, {"layout": 2}, {"kind": "base"}, {"files": None}])
def test_a_backup_of_another_product_is_refused(copies: Copies, tmp_path: Path, change: dict[str, object]) -> None:
    """Whatever has a note that says something else."""
    note = json.loads((copies.dump / "backup.json").read_text())
    (tmp_path / "backup.json").write_text(json.dumps({**note, **change}))

    with pytest.raises(
        BackupError, match=f"is not the note of a backup that this plumbline knows: {next(iter(change))}"
    ):
        verify(tmp_path)


def test_a_backup_whose_note_leaves_a_file_out_is_refused(copies: Copies, tmp_path: Path) -> None:
    """What is not listed would be restored without being compared with anything."""
    shutil.copytree(copies.dump, tmp_path / "copy")
    note = json.loads((copies.dump / "backup.json").read_text())
    (tmp_path / "copy" / "backup.json").write_text(json.dumps({**note, "files": {}}))

    with pytest.raises(BackupError, match=r"it lists no file, and a dump is database\.dump"):
        verify(tmp_path / "copy")


def test_a_backup_of_a_newer_plumbline_is_refused(copies: Copies, tmp_path: Path, postgres_url: str) -> None:
    """Its schema is one that this program does not know."""
    folder = tmp_path / "copy"
    shutil.copytree(copies.dump, folder)
    note = json.loads((folder / "backup.json").read_text())
    (folder / "backup.json").write_text(json.dumps({**note, "schema_revision": "r9999"}))
    with new_database(postgres_url) as target, pytest.raises(SchemaMismatch, match="the schema r9999"):
        restore_dump(folder, target)


def test_a_database_that_does_not_answer_is_told_in_a_sentence(copies: Copies, tmp_path: Path) -> None:
    """As one with another password is: no traceback, and nothing of what the address holds in confidence."""
    away = "postgresql://plumbline:hunter2@127.0.0.1:1/plumbline"
    for command in (("restore", str(copies.dump)), ("backup", str(tmp_path / "a"))):
        done = plumbline("db", *command, PLUMBLINE_DATABASE_URL=away)

        assert done.returncode == 2
        assert done.stderr.startswith("Error: The database postgresql://plumbline:***@127.0.0.1:1/plumbline does not")
        assert done.stderr.count("\n") == 1
        assert "hunter2" not in done.stderr


def test_a_restoring_that_fails_leaves_the_target_empty(copies: Copies, postgres_url: str, tmp_path: Path) -> None:
    """And the same backup can be restored there afterwards: it is all or nothing."""
    with new_database(postgres_url) as target:
        with psycopg.connect(target, autocommit=True) as connection:
            connection.execute("CREATE SCHEMA queue")
        with pytest.raises(BackupError, match=r"the database is as empty as before: .*schema \"queue\" already exists"):
            restore_dump(copies.dump, target)
        with psycopg.connect(target, autocommit=True) as connection:
            connection.execute("DROP SCHEMA queue")

        assert restore_dump(copies.dump, target).rows["public.submission"] == 2


def test_a_backup_is_not_written_over_something(database_url: str, tmp_path: Path) -> None:
    """Neither over a folder nor into one that is not there."""
    with pytest.raises(BackupError, match="is there already"):
        make_dump(database_url, tmp_path)
    with pytest.raises(BackupError, match="There is no folder"):
        make_dump(database_url, tmp_path / "gone" / "copy")


def test_an_empty_database_has_no_backup(postgres_url: str, tmp_path: Path) -> None:
    """A misspelt address is not taken for a server without submissions."""
    with new_database(postgres_url) as url, pytest.raises(BackupError, match="has no schema of plumbline"):
        make_dump(url, tmp_path / "copy")

    assert not (tmp_path / "copy").exists()
