"""`plumbline benchmark commitment`: the commitment to labels, computed again from their file."""

from pathlib import Path

import pytest

from app.cli.__main__ import run
from app.kinds.labels import Opening
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.labels import labels_digest
from app.values.scores import Labels
from tests.cases.prediction_boards import two_classes
from tests.cases.predictions import yaml

SALT = "5a" * 32


def test_a_commitment_is_computed_again_from_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The right one is confirmed; another one ends the command with an error."""
    truth, _ = two_classes(20)
    items = [f"i{at}" for at in range(20)]
    part = Predictions(kind="classification", classes=["no", "yes"])
    digest = labels_digest([Labels("t", items, truth.label)], part)
    expected = Opening(bytes.fromhex(SALT), 0.5, digest).commitment()
    (tmp_path / "manifest.yaml").write_text(yaml())
    rows = [f"{item},{'yes' if label else 'no'}" for item, label in zip(items, truth.label.tolist(), strict=True)]
    (tmp_path / "labels.csv").write_text("\n".join(["item,label", *rows[::-1]]))
    asked = ["benchmark", "commitment", str(tmp_path / "manifest.yaml"), str(tmp_path / "labels.csv"), "--salt", SALT]
    right = run([*asked, "--expected", expected])
    message = capsys.readouterr().out
    wrong = run([*asked, "--expected", "0" * 64])

    assert (right, expected in message.replace("\n", "")) == (0, True)
    assert wrong == 1
