"""A published bundle without its 882 failed episodes, over HTTP: hashes, summary and registration as good as can be."""

import hashlib
import itertools
import json
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from app.prereg.prereg import git_blob_sha1
from app.stats.cluster import chamber_generator, draw_chamber, estimate, group_sample, interquartile_mean
from tests.cases.chamber import EXAMPLES, lines, with_sums, zipped
from tests.cases.chamber_http import register, send
from tests.fixtures import Site

EXAMPLE = EXAMPLES / "chamber-cocarry"
NUMBERS = itertools.count()
STRICT = (EXAMPLE / "manifest.yaml").read_bytes()
PERMITTING = STRICT.replace(b"  claims: required\n", b"  claims: required\n  failure_policy: best_effort\n")
BEST_EFFORT = b"\nfailure_policy: best_effort\n"
ALL_SEEDS = b"    eval_seeds: [0, 1, 2, 3, 4]"


def published() -> dict[str, bytes]:
    """Return the files of the bundle as it was published."""
    with zipfile.ZipFile(EXAMPLE / "results" / "B-STAT.zip") as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def kept_of(prereg: bytes, is_kept: Callable[[dict[str, Any]], bool]) -> tuple[dict[str, bytes], int]:
    """Return the bundle with some of its episodes, everything it says of itself made right, and how many are gone."""
    files, kept, n_all = published(), [], 0
    reported = json.loads(files["bundle.json"])
    for name in [name for name in files if name.startswith("episodes_seed")]:
        own = [json.loads(line) for line in files[name].splitlines()]
        kept += (mine := [episode for episode in own if is_kept(episode)])
        n_all += len(own)
        files[name] = lines(mine)
        if not mine:
            del files[name]
    files["prereg.yaml"] = prereg
    seeds = sorted({episode["seed"] for episode in kept})
    reported["seed_schedule"] |= {"seeds": seeds, "episodes_per_seed": len(kept) // len(seeds)}
    reported["summary"] = summary_of(kept, reported["summary"])
    reported["prereg_blob_sha"] = git_blob_sha1(prereg)
    reported["manifest"] = {
        name: hashlib.sha256(files[name]).hexdigest() for name in reported["manifest"] if name in files
    }
    files["bundle.json"] = json.dumps(reported).encode()
    return with_sums(files), n_all - len(kept)


def summary_of(kept: Sequence[dict[str, Any]], before: dict[str, Any]) -> dict[str, Any]:
    """Return the summary that a bundle states of its episodes, computed as CHAMBER does."""
    values = np.array([float(episode["success"]) for episode in kept])
    sample = group_sample(values, np.array([episode["seed"] for episode in kept]))
    drawn = draw_chamber(sample, before["n_resamples"], chamber_generator(0, "evaluation.bundle_bootstrap"))
    iqm = estimate(sample, {"iqm": interquartile_mean}, drawn, level=0.95)["iqm"]
    ends = {"success_iqm": iqm.point, "success_ci_low": iqm.low, "success_ci_high": iqm.high}
    return before | {"n_episodes": len(kept), "success_mean": float(values.mean())} | ends


def members_of(prereg: bytes) -> bytes:
    """Return the lines of a registration that name the partners."""
    start = prereg.index(b"    eval_members:")
    return prereg[start : prereg.index(b"  rows:", start)]


def begin(site: Site, manifest: bytes, *preregs: bytes) -> str:
    """Make a benchmark under a name of its own, register what will be cited, and return the name."""
    slug = f"cocarry-{next(NUMBERS)}"
    named = manifest.replace(b"slug: chamber-cocarry", f"slug: {slug}".encode())
    register(site, named.replace(b"n_resamples: 2000", b"n_resamples: 200"), *preregs)
    return slug


def rows_of(site: Site, slug: str) -> dict[str, dict[str, Any]]:
    """Return the board's rows by entrant."""
    shown = site.http.get(f"/benchmarks/{slug}/leaderboards/success.json").json()["rows"]
    return {row["entrant"]: row for row in shown}


def attack(site: Site, manifest: bytes, more: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return where the shorn bundle ended and the board's rows by entrant, the oracle being there whole."""
    honest = (EXAMPLE / "prereg.yaml").read_bytes()
    prereg = honest + more
    slug = begin(site, manifest, honest, prereg)
    send(site, slug, {"o.zip": (EXAMPLE / "results" / "REF-SCRIPT.zip").read_bytes()}, honest, "REF-SCRIPT")
    files, n_gone = kept_of(prereg, lambda episode: bool(episode["success"]))
    assert n_gone == 882
    ended = send(site, slug, {"run.zip": zipped(files)}, prereg, "B-STAT")
    return ended, rows_of(site, slug)


def easy_part(site: Site, manifest: bytes, easy: bytes, is_kept: Callable[[dict[str, Any]], bool]) -> Any:
    """Return where a bundle of the part that its registration names ended, and the board's row of it."""
    files, _ = kept_of(easy, is_kept)
    slug = begin(site, manifest, (EXAMPLE / "prereg.yaml").read_bytes(), easy)
    ended = send(site, slug, {"run.zip": zipped(files)}, easy, "B-STAT")
    return ended, rows_of(site, slug).get("B-STAT")


def test_without_the_manifests_leave_it_is_not_admitted(shared_site: Site) -> None:
    """Summary, hashes and registration pass; what is missing keeps it out, whatever the registration says of it."""
    ended, shown = attack(shared_site, STRICT, BEST_EFFORT)
    checks = {check["rule"]: check["outcome"] for check in ended["checks"]}

    assert (ended["status"], "B-STAT" in shown) == ("not_admitted", False)
    assert (checks["claims"], checks["prereg_unchanged"]) == ("passed", "passed")
    assert {rule for rule, outcome in checks.items() if outcome == "failed"} == {"episodes_per_seed", "schedule"}


def test_with_the_manifests_leave_it_has_no_rank(shared_site: Site) -> None:
    """`best_effort` in the manifest too: admitted, 868 of 1,750 on the row, and no rank."""
    ended, shown = attack(shared_site, PERMITTING, BEST_EFFORT)
    row = shown["B-STAT"]

    assert ended["admitted"], ended["checks"]
    assert (row["rank"], row["unranked_because"], row["covered"]) == (None, "partial", "868 of 1,750")
    assert row["may_be_first"] is None


def test_where_the_absent_are_worst_it_has_what_it_had(shared_site: Site) -> None:
    """`absent: worst`: the mean of the 1,750, as if the failures had been sent."""
    _, shown = attack(shared_site, PERMITTING.replace(b"  items: 50\n", b"  items: 50\n  absent: worst\n"), BEST_EFFORT)

    assert (shown["B-STAT"]["success"], shown["B-STAT"]["n_absent"]) == (pytest.approx(0.496), 882)


def test_a_registration_of_the_easiest_partner_alone_does_not_shrink_the_grid(shared_site: Site) -> None:
    """The real episodes with one of seven partners, delivered and registered whole: 250 of 1,750, and no rank."""
    honest = (EXAMPLE / "prereg.yaml").read_bytes()
    easy = honest.replace(members_of(honest), b"    eval_members: [imp_blend_b]\n")
    ended, row = easy_part(shared_site, STRICT, easy, lambda episode: episode["metadata"]["member"] == "imp_blend_b")

    assert ended["admitted"], [check for check in ended["checks"] if check["outcome"] == "failed"]
    assert (row["rank"], row["covered"], row["may_be_first"]) == (None, "250 of 1,750", None)


def test_a_registration_of_the_easiest_seeds_alone_does_not_shrink_the_grid(shared_site: Site) -> None:
    """The real episodes of the two best of five seeds, registered so: 700 of 1,750 and no rank, or not admitted."""
    easy = (EXAMPLE / "prereg.yaml").read_bytes().replace(ALL_SEEDS, b"    eval_seeds: [1, 3]")
    lax = STRICT.replace(b"  min_seeds: 5\n", b"")
    of_seed = [
        easy_part(shared_site, manifest, easy, lambda episode: episode["seed"] in (1, 3)) for manifest in (STRICT, lax)
    ]
    (refused, nowhere), (ended, row) = of_seed
    failed = [check["rule"] for check in refused["checks"] if check["outcome"] == "failed"]

    assert (refused["status"], nowhere, failed) == ("not_admitted", None, ["min_seeds"])
    assert ended["admitted"], [check for check in ended["checks"] if check["outcome"] == "failed"]
    assert (row["rank"], row["covered"], row["may_be_first"]) == (None, "700 of 1,750", None)
