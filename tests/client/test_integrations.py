"""The GitHub Action and the pre-commit hook, by running what they run, against a whole server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import patient
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

INTEGRATIONS = Path(__file__).parents[2] / "integrations"
ACTION = INTEGRATIONS / "github-action"
HOOK = INTEGRATIONS / "pre-commit" / "check-results"
TOKEN = "plumbline-admin-of-the-integrations"
MANIFEST = """
schema_version: 1
slug: tiny
title: Tiny
evidence: evaluation_summary
columns: {entrant: null, task: task}
metrics: {score: {direction: maximize, min: 0, max: 1}}
tasks: [{id: t1}, {id: t2}]
admission: {prereg: optional}
leaderboards: [{name: average, method: mean, metric: score}]
"""
ROWS = "task,score\nt1,0.5\nt2,0.25\n"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server with one benchmark, whose admin token is known."""
    with fresh_data_dir() as folder, running_server(folder, PLUMBLINE_ADMIN_TOKEN=TOKEN) as running:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/yaml"}
        patient.post(f"{running.address}/benchmarks", content=MANIFEST, headers=headers).raise_for_status()
        yield running


def run(folder: Path, *command: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a job would, with the command line on its path."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PLUMBLINE_")}
    path = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environ = plain | path | settings
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environ)


def act(folder: Path, server: RunningServer, rows: str = ROWS, **inputs: str) -> tuple[int, dict[str, str], str]:
    """Run the action's script and return its exit code, its outputs and the summary of the job."""
    results = folder / "results"
    results.mkdir(exist_ok=True)
    (results / "my scores.csv").write_text(rows)
    outputs, summary = folder / "outputs", folder / "summary"
    known = {"PLUMBLINE_SERVER": server.address, "PLUMBLINE_TOKEN": TOKEN, "BENCHMARK": "tiny", "ENTRANT": "org/model",
             "FILES": "results\n", "GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(summary)}  # fmt: skip
    done = run(folder, ACTION / "submit.sh", **(known | inputs))
    reported = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    return done.returncode, reported, summary.read_text()


def test_the_action_checks_and_stores_nothing(server: RunningServer, tmp_path: Path) -> None:
    """As a pull request would run it."""
    code, outputs, summary = act(tmp_path, server, DRY_RUN="true")

    assert (code, outputs) == (0, {"submission": "", "status": "checked"}), summary
    assert "would be admitted" in summary


def test_the_action_submits_and_says_what_became_of_it(server: RunningServer, tmp_path: Path) -> None:
    """The number and the status are outputs; the summary has the checks."""
    code, outputs, summary = act(tmp_path, server, METADATA='{"version": "1.2"}')

    assert (code, outputs["status"]) == (0, "published"), summary
    assert outputs["submission"].isdigit()
    reported = patient.get(f"{server.address}/submissions/{outputs['submission']}.json").json()
    assert reported["metadata"]["version"] == "1.2"


def test_the_action_fails_where_the_results_are_refused(server: RunningServer, tmp_path: Path) -> None:
    """With the problem in the summary."""
    code, outputs, summary = act(tmp_path, server, "task,score\nt1,fast\n")

    assert (code, outputs) == (2, {"submission": "", "status": "refused"})
    assert "fast" in summary


def test_the_action_installs_the_client_of_its_own_commit(tmp_path: Path) -> None:
    """No name is looked up anywhere but what builds it: here without even that, as this environment has it."""
    action: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    build = f"pip wheel --no-deps --no-build-isolation -w {tmp_path}"
    script = action["runs"]["steps"][0]["run"].replace("pip install", build)
    done = run(tmp_path, "bash", "-c", script, CLIENT="", GITHUB_ACTION_PATH=str(ACTION))

    assert done.returncode == 0, done.stderr
    assert [path.name.split("-")[0] for path in tmp_path.glob("*.whl")] == ["plumbline_client"]


def test_the_action_hands_every_input_to_its_script() -> None:
    """What the script reads is what the action sets, and no input is text of a command."""
    action: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text("utf-8"))
    install, submit = action["runs"]["steps"]
    script = (ACTION / "submit.sh").read_text("utf-8")
    handed = {expression for step in (install, submit) for expression in step["env"].values()}

    assert handed == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    assert all(name in script for name in submit["env"] if not name.startswith("PLUMBLINE_"))
    assert not any("${{" in step["run"] for step in (install, submit))


@pytest.mark.parametrize(("rows", "code"), [(ROWS, 2), ("entrant,task,score\n", 2)])
def test_the_hook_refuses_what_the_server_would(server: RunningServer, tmp_path: Path, rows: str, code: int) -> None:
    """Rows without an entrant, and no rows."""
    (tmp_path / "r.csv").write_text(rows)
    known = {"PLUMBLINE_SERVER": server.address, "PLUMBLINE_TOKEN": TOKEN}

    assert run(tmp_path, HOOK, "--benchmark=tiny", "r.csv", **known).returncode == code


def test_the_hook_asks_nobody_without_a_token(tmp_path: Path) -> None:
    """And says that nothing was checked; without a benchmark it cannot be meant."""
    (tmp_path / "r.csv").write_text(ROWS)
    without = run(tmp_path, HOOK, "--benchmark=tiny", "r.csv")
    lost = run(tmp_path, HOOK, "r.csv", PLUMBLINE_TOKEN="x")

    assert (without.returncode, "were not checked" in without.stderr) == (0, True)
    assert lost.returncode == 2


def test_the_hook_is_declared_with_a_script_that_can_be_run() -> None:
    """pre-commit reads `.pre-commit-hooks.yaml` at the root of the repository."""
    (hook,) = yaml.safe_load((INTEGRATIONS.parent / ".pre-commit-hooks.yaml").read_text("utf-8"))

    assert os.access(INTEGRATIONS.parent / hook["entry"], os.X_OK)
