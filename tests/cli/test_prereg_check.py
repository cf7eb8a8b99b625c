"""`plumbline prereg check` without a server: a published bundle, and the same bundle forged in every known way."""

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli.__main__ import run
from tests.cases.chamber import EXAMPLES, with_sums, zipped

HANDOVER = EXAMPLES / "chamber-handover"
Files = dict[str, bytes]


@pytest.fixture
def handover() -> Files:
    """The files of a published bundle."""
    with zipfile.ZipFile(HANDOVER / "results" / "B-STAT.zip") as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def sealed(files: Files, **described: Any) -> Files:
    """Return a bundle's files with all of its hashes made to agree, as a forger would."""
    description = json.loads(files["bundle.json"]) | described
    listed = [name for name in files if name in description["manifest"]]
    description["manifest"] = {name: hashlib.sha256(files[name]).hexdigest() for name in listed}
    return with_sums({**files, "bundle.json": json.dumps(description).encode()})


def changed_description(files: Files, key: str, **values: Any) -> dict[str, Any]:
    """Return a part of the bundle's description with other values."""
    described: dict[str, Any] = json.loads(files["bundle.json"])[key]
    return {key: described | values}


def edited_prereg(files: Files) -> Files:
    """The number of episodes was lowered after the fact."""
    edited = files["prereg.yaml"].replace(b"episodes_per_seed_per_partner: 50", b"episodes_per_seed_per_partner: 40")
    return sealed({**files, "prereg.yaml": edited})


def one_seed(files: Files) -> Files:
    """Only the best seed was kept."""
    kept = {name: content for name, content in files.items() if name not in _episodes(1, 2, 3, 4)}
    return sealed(kept, **changed_description(files, "seed_schedule", seeds=[0]))


def a_seed_sixteen_times(files: Files) -> Files:
    """One seed was run and listed as if it were sixteen."""
    kept = {name: content for name, content in files.items() if name not in _episodes(1, 2, 3, 4)}
    return sealed(kept, **changed_description(files, "seed_schedule", seeds=[0] * 16))


def one_resample(files: Files) -> Files:
    """The interval is a point."""
    return sealed(files, **changed_description(files, "summary", n_resamples=1))


def a_better_mean(files: Files) -> Files:
    """The summary claims what the episodes do not give."""
    return sealed(files, **changed_description(files, "summary", success_mean=0.9))


def no_summary(files: Files) -> Files:
    """Nothing is claimed, so nothing could be found to differ."""
    return sealed(files, summary={})


def failures_left_empty(files: Files) -> Files:
    """Every episode that failed has no score."""
    emptied = {name: files[name].replace(b'"success":false', b'"success":null') for name in _episodes(0, 1, 2, 3, 4)}
    return sealed({**files, **emptied})


def a_bad_cell_left_out(files: Files) -> Files:
    """One partner's episodes of one seed are gone."""
    name = "episodes_seed3.jsonl"
    lines = [line for line in files[name].splitlines(keepends=True) if b"presenter_mismatch_45" not in line]
    return sealed({**files, name: b"".join(lines)})


def _episodes(*seeds: int) -> set[str]:
    return {f"episodes_seed{seed}.jsonl" for seed in seeds}


def check(tmp_path: Path, files: Files, *options: str) -> int:
    """Hold a bundle against the registration of the handover rows and return the exit code."""
    path = tmp_path / "run.zip"
    path.write_bytes(zipped(files))
    prereg, manifest = HANDOVER / "prereg.yaml", HANDOVER / "manifest.yaml"
    command = ["prereg", "check", str(prereg), "--manifest", str(manifest), "--evidence", str(path)]
    return run([*command, "--entrant", "B-STAT", *options])


def test_a_published_bundle_is_fine(tmp_path: Path, handover: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Sealing it anew changes nothing."""
    code = check(tmp_path, sealed(handover))

    assert code == 0
    assert "failed" not in capsys.readouterr().out


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("forge", "rule", "reason"),
    [
        (edited_prereg, "prereg_unchanged", "Not what was registered"),
        (one_seed, "min_seeds", "B-STAT has 1 seed on handover_place; the benchmark requires 5."),
        (a_seed_sixteen_times, "seeds", "seed 0 is listed 16 times"),
        (one_resample, "resamples", "An interval from fewer than 1000 resamples is not one"),
        (a_better_mean, "claimed_summary", "success_mean: 0.9 claimed, 0.274 computed"),
        (no_summary, "claims", "The benchmark requires a claimed interval (success_ci_low, success_ci_high)"),
        (failures_left_empty, "scores_present", "success of B-STAT in 363 of 500"),
        (a_bad_cell_left_out, "episodes_per_seed", "presenter_mismatch_45, seed 3 has 0"),
    ],
)
def test_a_forged_bundle_is_not_admitted(
    tmp_path: Path,
    handover: Files,
    capsys: pytest.CaptureFixture[str],
    forge: Callable[[Files], Files],
    rule: str,
    reason: str,
) -> None:
    """Its hashes agree, so only the rules can find it."""
    code = check(tmp_path, forge(handover))
    out = " ".join(word for word in capsys.readouterr().out.split() if word != "│")

    assert code == 1
    assert f"failed {rule} " in out
    assert reason in out


@pytest.mark.parametrize(("mean", "code"), [(0.274, 0), (0.9, 1)])
def test_a_claimed_mean_is_held_against_the_rows(tmp_path: Path, handover: Files, mean: float, code: int) -> None:
    """As the server would when it evaluates."""
    assert check(tmp_path, sealed(handover), "--claims", json.dumps({"B-STAT": {"success": mean}})) == code


def test_a_broken_hash_is_refused(tmp_path: Path, handover: Files, capsys: pytest.CaptureFixture[str]) -> None:
    """Evidence that cannot be read is no matter of admission."""
    code = check(tmp_path, {**handover, "episodes_seed0.jsonl": handover["episodes_seed1.jsonl"]})

    assert code == 2
    assert "SHA-256" in capsys.readouterr().err


def test_a_dirty_tree_can_be_told(tmp_path: Path, handover: Files) -> None:
    """As a submission would tell it in its metadata."""
    assert check(tmp_path, sealed(handover), "--dirty") == 1


def test_the_order_of_registration_and_run_is_left_to_a_server(
    tmp_path: Path, handover: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing here can witness it, and nothing pretends to."""
    check(tmp_path, sealed(handover))
    shown = capsys.readouterr()

    assert "registered_before_run" not in shown.out
    assert "Only a server can witness" in shown.err


def test_what_a_prereg_leaves_open_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No value is made up for it."""
    prereg = tmp_path / "prereg.yaml"
    prereg.write_bytes(b"benchmark: small\nmetrics: [MASE]\n")
    run(["prereg", "check", str(prereg)])
    out = capsys.readouterr().out

    assert "seeds              not declared" in out
    assert "conditions         not restricted" in out


def test_problems_are_told_with_their_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All at once."""
    prereg = tmp_path / "prereg.yaml"
    prereg.write_bytes(b"axis: XX\nseeds: [1, 1]\nepisodes_per_seed: 0\n")
    code = run(["prereg", "check", str(prereg)])
    rows = [line.split()[1] for line in capsys.readouterr().err.splitlines() if line.startswith("│")]

    assert code == 2
    assert {"1", "2", "3"} <= set(rows)


@pytest.mark.parametrize("alone", [["--manifest", "manifest.yaml"], ["--evidence", "results/B-STAT.zip"]])
def test_a_manifest_and_evidence_go_together(alone: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """One without the other is refused."""
    option, name = alone
    code = run(["prereg", "check", str(HANDOVER / "prereg.yaml"), option, str(HANDOVER / name)])

    assert code == 2
    assert "go together" in capsys.readouterr().err


@pytest.mark.parametrize("claims", ["[]", "{", '{"mover": 1}', '{"mover": {"success": "high"}}'])
def test_claims_of_another_shape_are_refused(
    tmp_path: Path, handover: Files, claims: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the form that they have."""
    code = check(tmp_path, sealed(handover), "--claims", claims)

    assert code == 2
    assert "JSON of this form" in capsys.readouterr().err
