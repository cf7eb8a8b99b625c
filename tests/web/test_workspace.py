"""The temporary folder of a web process."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from app.cli.observing import LOCK, PREFIX, own_temporary_folder, remove_abandoned


def folder_of(parent: Path, name: str) -> Path:
    """Return a folder as a web process has it, with a file in it."""
    folder = parent / f"{PREFIX}{name}"
    folder.mkdir()
    (folder / LOCK).touch()
    (folder / "received").write_text("rows")
    return folder


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """Its lock ended with it."""
    left = folder_of(tmp_path, "dead")

    remove_abandoned(tmp_path)
    assert not left.exists()


def test_the_folder_of_a_living_server_stays(tmp_path: Path) -> None:
    """Another one may start beside it; other programs' folders are nobody's business."""
    kept, other = folder_of(tmp_path, "alive"), tmp_path / "other"
    other.mkdir()

    with (kept / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_abandoned(tmp_path)
    assert (kept / "received").exists()
    assert other.exists()


def test_a_folder_that_has_no_lock_yet_stays(tmp_path: Path) -> None:
    """It may be a second old; an old one is removed."""
    young, old = tmp_path / f"{PREFIX}young", tmp_path / f"{PREFIX}old"
    young.mkdir()
    old.mkdir()
    os.utime(old, (0, 0))

    remove_abandoned(tmp_path)
    assert (young.exists(), old.exists()) == (True, False)


def test_temporary_files_are_made_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the process's, and it is gone at the end."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with own_temporary_folder() as folder, tempfile.NamedTemporaryFile() as file:
        assert Path(file.name).parent == folder
    assert not list(tmp_path.iterdir())
