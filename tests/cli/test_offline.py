"""The commands that need no server, and what every command does with its user's mistakes."""

import os
from pathlib import Path

import pytest

from app.cli.__main__ import main, run
from app.config import Settings
from tests.cases.chamber import EXAMPLES
from tests.cases.offline import plumbline

pytestmark = pytest.mark.heavy


def test_help_lists_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever starts a server finds all of its settings where they start it."""
    code = run(["serve", "--help"])
    shown = capsys.readouterr().out
    missing = [name for name in Settings.model_fields if f"PLUMBLINE_{name.upper()}:" not in shown]

    assert code == 0
    assert missing == []


def test_products_are_left_to_one_thread_unless_somebody_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several wait for each other busily, and take the processors from whoever reads or submits."""
    monkeypatch.setattr("sys.argv", ["plumbline", "--help"])
    for before, after in ((None, "1"), ("2", "2")):
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", before or "")
        if before is None:
            monkeypatch.delenv("OPENBLAS_NUM_THREADS")
        with pytest.raises(SystemExit):
            main()
        assert os.environ["OPENBLAS_NUM_THREADS"] == after


def test_a_file_that_is_not_there_is_told_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    """A typing error in a path ends in one message."""
    code = run(["submit", "my-bench", "/nowhere/scores.csv"])
    err = capsys.readouterr().err

    assert code == 2
    assert "/nowhere/scores.csv" in err
    assert "Traceback" not in err


def test_an_address_that_is_no_postgres_is_refused_without_showing_it() -> None:
    """The message names the setting and not its value, which may hold a password."""
    done = plumbline("db", "check", PLUMBLINE_DATABASE_URL="mysql://me:secret@db/plumbline")

    assert done.returncode == 2
    assert "PLUMBLINE_DATABASE_URL" in done.stderr
    assert "secret" not in done.stderr


def test_a_database_that_does_not_answer_is_told_without_its_password() -> None:
    """No traceback, and no secret in the log."""
    done = plumbline("db", "check", PLUMBLINE_DATABASE_URL="postgresql://me:secret@127.0.0.1:1/plumbline")

    assert done.returncode == 2
    assert "does not answer" in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_the_readme_lists_every_setting() -> None:
    """One table has them all; the limits as the settings themselves describe them."""
    readme = (EXAMPLES.parent / "README.md").read_text()
    limits = {name: field for name, field in Settings.model_fields.items() if name.startswith("max_")}
    rows = [f"| `PLUMBLINE_{name.upper()}` | {field.default} | {field.description} |" for name, field in limits.items()]

    assert [name for name in Settings.model_fields if f"| `PLUMBLINE_{name.upper()}` |" not in readme] == []
    assert [row for row in rows if row not in readme] == []


def test_a_refused_secret_is_not_shown() -> None:
    """What is almost a token, or holds a password, stands in no log."""
    done = plumbline("serve", PLUMBLINE_ADMIN_TOKEN="nearly-a-secret", PLUMBLINE_PORT="many")

    assert done.returncode == 2
    assert "PLUMBLINE_ADMIN_TOKEN: " in done.stderr
    assert "PLUMBLINE_PORT='many'" in done.stderr
    assert "nearly-a-secret" not in done.stdout + done.stderr


@pytest.mark.parametrize("command", [["token", "list"], ["token", "create", "me"], ["db", "check"], ["db", "url"]])
def test_a_folder_without_a_database_is_told_and_left_alone(tmp_path: Path, command: list[str]) -> None:
    """A misspelt folder does not become a new server that nobody asked for."""
    done = plumbline(*command, PLUMBLINE_DATA_DIR=str(tmp_path / "misspelt"))

    assert done.returncode == 2
    assert f"There is no database in {tmp_path / 'misspelt'}" in done.stderr
    assert list(tmp_path.iterdir()) == []
