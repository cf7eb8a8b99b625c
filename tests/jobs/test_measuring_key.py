"""What was measured by other code is not found again: an upgrade measures anew."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.jobs.evidence import measurement_key
from tests.cases.chamber import MANIFEST, manifest

pytestmark = pytest.mark.heavy

APP = Path(__file__).parents[2] / "app"
PRINT_KEY = """
import sys
from app.jobs.evidence import measurement_key
from app.kinds.parse import parse_manifest

declared = parse_manifest(sys.stdin.buffer.read())
print(measurement_key(declared, declared.leaderboards[0]))
"""


def key_by(folder: Path) -> str:
    """Return the key of the first board as the code in a folder makes it."""
    printed = subprocess.run(
        [sys.executable, "-c", PRINT_KEY], cwd=folder, input=MANIFEST, capture_output=True, check=True
    )
    return printed.stdout.decode().strip()


def test_other_code_keeps_its_measurements_elsewhere(tmp_path: Path) -> None:
    """A copy of the app has the same key until one line of its statistics changes."""
    shutil.copytree(APP, tmp_path / "app", ignore=shutil.ignore_patterns("__pycache__"))
    same = key_by(tmp_path)
    with (tmp_path / "app" / "stats" / "interval.py").open("a") as source:
        source.write("# another rounding\n")

    assert same == measurement_key(manifest(), manifest().leaderboards[0])
    assert key_by(tmp_path) != same


def test_what_is_only_shown_leaves_the_measurements_where_they_are() -> None:
    """Another title, or another text, measures nothing anew; another unit of the draws does."""
    declared = manifest()
    board = declared.leaderboards[0]
    titled = declared.model_copy(update={"title": "Another"})
    drawn = board.model_copy(update={"uncertainty": board.uncertainty.model_copy(update={"rng_seed": 99})})

    assert measurement_key(titled, board) == measurement_key(declared, board)
    assert measurement_key(declared, drawn) != measurement_key(declared, board)
