"""The alerts of deploy/alerts.yml fire on bad days and on no others, by Prometheus' own word, and are explained."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cases.packaging import ROOT

ALERTS = ROOT / "deploy/alerts.yml"
CASES = ROOT / "tests/data/alerts.test.yml"


def names() -> list[str]:
    """Return the names of the alerts."""
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule["alert"] for group in groups for rule in group["rules"]]


def test_every_alert_is_explained() -> None:
    """docs/operations.md says what each means and what to do."""
    operations = (ROOT / "docs/operations.md").read_text()

    assert [name for name in names() if name not in operations] == []


def test_every_alert_has_its_case_but_those_of_one_comparison() -> None:
    """What is more than a figure compared with a bound for a while is tried on series."""
    tried = set(re.findall(r"alertname: (\w+)", CASES.read_text()))

    assert set(names()) - tried == {"PlumblineDiskFull", "PlumblinePoolUsedUp"}


@pytest.mark.heavy
@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (apt-get install prometheus)")
def test_alerts_fire_on_bad_days_alone(tmp_path: Path) -> None:
    """Rates that begin, figures that go back, and a database that is away while the server answers."""
    for path in (ALERTS, CASES):
        shutil.copy(path, tmp_path)
    tried = subprocess.run(
        ["promtool", "test", "rules", CASES.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert tried.returncode == 0, tried.stdout + tried.stderr
