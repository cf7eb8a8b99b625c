"""The commands that need no server, and what every command does with its user's mistakes."""

import os
from pathlib import Path

import pytest

from app.cli.__main__ import main, run
from app.config import Settings
from tests.cases.chamber import EXAMPLES
from tests.cases.offline import plumbline

pytestmark = pytest.mark.heavy


PREREG = Path(__file__).parents[1] / "data/chamber_prereg/prereg/AS.yaml"


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


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The commands that people use are shown, the server's own one is not."""
    run(["--help"])
    shown = capsys.readouterr().out

    assert all(name in shown for name in ("serve", "worker", "db", "token", "benchmark", "prereg", "submit", "export"))
    assert "│ web " not in shown


def test_a_run_is_held_against_its_prereg_offline(capsys: pytest.CaptureFixture[str]) -> None:
    """The same rules as on the server, before anything is sent."""
    example = EXAMPLES / "chamber-handover"
    files = ["--manifest", str(example / "manifest.yaml"), "--evidence", str(example / "results/B-STAT.zip")]
    code = run(["prereg", "check", str(example / "prereg.yaml"), *files, "--entrant", "B-STAT"])

    assert code == 0
    assert "Exactly the 5 registered seeds were delivered." in capsys.readouterr().out


def test_a_run_that_would_not_be_admitted_ends_with_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    """The pilot has one seed."""
    example = EXAMPLES / "chamber-cocarry"
    files = ["--manifest", str(example / "manifest.yaml"), "--evidence", str(example / "results/B-RND-pilot.zip")]
    code = run(["prereg", "check", str(example / "prereg-pilot.yaml"), *files, "--entrant", "B-RND"])

    assert code == 1
    assert "the benchmark requires 5" in capsys.readouterr().out


def test_a_valid_prereg_is_told_with_its_hashes(capsys: pytest.CaptureFixture[str]) -> None:
    """The offline check names the address that the server will give it."""
    code = run(["prereg", "check", str(PREREG)])
    out = capsys.readouterr().out

    assert code == 0
    assert "axis form" in out
    assert "fca8c9aeb8eea9d9dfdfbf3a53794b4c4aab022aa9af80451f506bee52b3ebe4" in out


def test_a_prereg_that_breaks_rules_is_refused_with_all_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The offline check says what the server would say."""
    path = tmp_path / "prereg.yaml"
    text = PREREG.read_text().replace("bootstrap_method: cluster", "bootstrap_method: iid")
    path.write_text(text + "\nrun_purpos: power\n")
    code = run(["prereg", "check", str(path)])
    err = " ".join(capsys.readouterr().err.split())

    assert code == 2
    assert "iid bootstrap is not permitted for leaderboard entries" in err
    assert "run_purpos" in err


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
