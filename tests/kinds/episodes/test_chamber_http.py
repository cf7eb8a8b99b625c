"""Pre-registered episodes over HTTP: the published bundles, their claims, and forgeries that end not admitted."""

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

from app.cli.demo import Example, ExampleSubmission
from app.prereg.prereg import git_blob_sha1, sha256_hex
from tests.cases.chamber import EXAMPLES, MANIFEST, PREREG, bundle, episodes, zipped
from tests.cases.chamber_http import register, send
from tests.fixtures import Site

COCARRY = EXAMPLES / "chamber-cocarry"
PERMITTING = MANIFEST.replace(b"min_seeds: 5}", b"min_seeds: 5, failure_policy: best_effort}")


def send_example(site: Site, name: str) -> list[dict[str, Any]]:
    """Load one of the examples that `make run` loads."""
    example = Example(EXAMPLES / name)
    preregs = [s.prereg.read_bytes() for s in example.submissions if s.prereg is not None]
    register(site, example.manifest.read_bytes(), *preregs)
    return [send(site, name, *_contents(submission)) for submission in example.submissions]


Published = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def example(shared_site: Site) -> Published:
    """What `send_example` returns of an example, which is sent once for all tests that read it."""
    return cache(partial(send_example, shared_site))


def _contents(submission: ExampleSubmission) -> tuple[dict[str, bytes], bytes, str | None]:
    prereg = b"" if submission.prereg is None else submission.prereg.read_bytes()
    return {path.name: path.read_bytes() for path in submission.files}, prereg, submission.entrant


ONE_SEED = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0]")
MORE_SEEDS = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0, 1, 2, 3, 4, 5]")
FORGERIES: dict[str, tuple[dict[str, bytes], str, str]] = {
    "every failure left empty, and the hashes made to agree": (
        bundle([record | {"success": record["success"] or None} for record in episodes()]),
        "scores_present", "Episodes without a score that ranks: success of mover in 20 of 40."),
    "an edited registration": (bundle(prereg=MORE_SEEDS), "prereg_unchanged", git_blob_sha1(PREREG)),
    "a cited blob of another": (bundle(prereg_blob_sha="1" * 40), "prereg_unchanged", "cites git blob 1111"),
    "one seed, as registered": (
        bundle(episodes([0]), prereg=ONE_SEED), "min_seeds", "mover has 1 seed on place; the benchmark requires 5."),
    "a seed listed sixteen times": (
        bundle(seed_schedule={"root_seed": 0, "seeds": [0] * 16, "episodes_per_seed": 8}),
        "seeds", "seed 0 is listed 16 times"),
    "a missing seed": (
        bundle(episodes(range(4))), "seeds", "Registered seeds are missing: mover on place lacks 4."),
    "a seed that nobody registered": (
        bundle(episodes(range(6))), "seeds", "mover on place has seeds that were not registered: 5."),
    "one episode of one seed left out": (
        bundle(episodes()[1:]), "episodes_per_seed", "mover, place, left, seed 0 has 3"),
    "an interval of one resample": (
        bundle(summary={"n_resamples": 1, "bootstrap_root_seed": 0}),
        "resamples", "An interval from fewer than 1000 resamples is not one"),
    "a third partner": (
        bundle(episodes(members=["left", "right", "up"])),
        "conditions", "mover has conditions that were not registered: up."),
    "a dirty tree, as it says itself": (bundle(dirty=True), "dirty", "dirty"),
    "a pooled bootstrap": (bundle(bootstrap_method="iid"), "bundle_bootstrap_method", "iid bootstrap is not"),
    "a claimed mean that is not ours": (
        bundle(summary={"success_mean": 0.9, "n_resamples": 2000, "bootstrap_root_seed": 0}),
        "claimed_summary", "success_mean: 0.9 claimed, 0.5 computed"),
}  # fmt: skip


@pytest.fixture(scope="module")
def forged(shared_site: Site) -> dict[str, dict[str, Any]]:
    """How each forgery and the honest bundle that they are made from ended, sent to one benchmark by its registrant."""
    register(shared_site, MANIFEST, PREREG, ONE_SEED)
    numbers = {}
    for name, files in {"honest": bundle(), **{name: files for name, (files, *_) in FORGERIES.items()}}.items():
        cited = ONE_SEED if name.startswith("one seed") else PREREG
        sent = shared_site.http.post(
            "/benchmarks/arm/submissions",
            files=[("files", ("run.zip", zipped(files)))],
            data={"prereg_sha256": sha256_hex(cited)},
            headers=shared_site.auth(),
        )
        assert sent.status_code == 202, (name, sent.text)
        numbers[name] = sent.json()["id"]
    shared_site.work()
    return {name: shared_site.http.get(f"/submissions/{number}.json").json() for name, number in numbers.items()}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_ends_not_admitted_and_says_why(forged: dict[str, dict[str, Any]], name: str) -> None:
    """By the rule that finds it, in words that name what is wrong."""
    _, rule, words = FORGERIES[name]
    reasons = {check["rule"]: check["reason"] for check in forged[name]["checks"] if check["outcome"] == "failed"}

    assert forged[name]["status"] == "not_admitted"
    assert words in reasons[rule]


def test_an_honest_bundle_is_published(shared_site: Site, forged: dict[str, dict[str, Any]]) -> None:
    """The same bundle that the forgeries are made from; the board says that rows are self-reported."""
    board = shared_site.http.get("/benchmarks/arm/leaderboards/success", headers={"Accept": "text/html"}).text

    assert forged["honest"]["status"] == "published"
    assert [check["rule"] for check in forged["honest"]["checks"] if check["outcome"] == "failed"] == []
    assert "self-reported" in board


def test_the_published_bundles_give_their_published_numbers(example: Published) -> None:
    """Every claimed summary comes out bit for bit, and the pilot of one seed is kept off the board."""
    handover = example("chamber-handover")
    cocarry = example("chamber-cocarry")
    claimed = [check for s in (*handover, *cocarry) for check in s["checks"] if check["rule"] == "claimed_summary"]

    assert [s["status"] for s in (*handover, *cocarry)] == ["published"] * 5 + ["not_admitted"]
    assert [check["outcome"] for check in claimed] == ["passed"] * 5


def test_the_board_shows_the_oracle_without_a_rank(shared_site: Site, example: Published) -> None:
    """Its interquartile mean is the bundle's own, and stands beside the mean that ranks; it is no contender."""
    example("chamber-handover")
    rows = shared_site.http.get("/benchmarks/chamber-handover/leaderboards/success.json").json()["rows"]

    assert [(row["rank"], row["success_iqm_rank"], row["entrant"], row["success_iqm"]) for row in rows] == [
        (1, 1, "B-STAT", 0.048),
        (2, 2, "B-RND", 0.0),
        (None, None, "REF-SCRIPT", 0.176),
    ]


def test_a_rare_violation_stands_on_the_board(shared_site: Site, example: Published) -> None:
    """The share of episodes above 130 N, counted in the published files; an interquartile mean would say 0."""
    example("chamber-cocarry")
    rows = shared_site.http.get("/benchmarks/chamber-cocarry/leaderboards/success.json").json()["rows"]
    shown = {row["entrant"]: (row["force_violation"], row["force_violation_iqm"]) for row in rows}
    counted = {}
    for name in shown:
        with zipfile.ZipFile(COCARRY / "results" / f"{name}.zip") as archive:
            files = [archive.read(path) for path in archive.namelist() if "episodes_seed" in path]
        forces = [json.loads(line)["force_peak"] for content in files for line in content.splitlines()]
        counted[name] = sum(force > 130 for force in forces) / len(forces)

    assert {name: rate for name, (rate, _) in shown.items()} == pytest.approx(counted)
    assert 0.0 < shown["B-STAT"][0] < 0.25
    assert shown["B-STAT"][1] == 0.0


def test_the_gap_of_the_action_space_is_not_supported(shared_site: Site, example: Published) -> None:
    """−11 points over 100 pairs, against a registered 20: not by CHAMBER's rule; five seeds decide nothing by ours.
    The page of the registration has the verdict with its reason, and what was delivered.
    """
    (submission,) = example("chamber-as")
    (claim,) = shared_site.http.get("/benchmarks/chamber-as/claims.json").json()["rows"]
    page = shared_site.http.get(f"/preregs/{submission['prereg_sha256']}", headers={"Accept": "text/html"}).text
    places = [page.find(words) for words in ("inconclusive", "too few seeds (5 of 35)", "Declared against delivered")]

    assert (claim["n_pairs"], claim["gap_rule"], claim["verdict"]) == (100, "not supported", "inconclusive")
    assert claim["note"].startswith("too few seeds (5 of 35)")
    assert claim["difference"] == pytest.approx(-0.11, abs=1e-12)
    assert -1 < places[0] < places[1] < places[2]


def joint_bundles(member: str) -> bytes:
    """Return five bundles of one seed each, made of the oracle's episodes with one partner, who is renamed."""
    with zipfile.ZipFile(COCARRY / "results" / "REF-SCRIPT.zip") as archive:
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    description = json.loads(files["bundle.json"])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for seed in range(5):
            records = [json.loads(line) for line in files[f"episodes_seed{seed}.jsonl"].splitlines()]
            own = [record for record in records if record["metadata"]["member"] == "imp_stiff_low"]
            others = [{k: v for k, v in record["metadata"].items() if k != "member"} for record in own]
            renamed = [r | {"metadata": about | {"partner": member}} for r, about in zip(own, others, strict=True)]
            schedule = description["seed_schedule"] | {"seeds": [seed], "episodes_per_seed": 50}
            summary = description["summary"] | {"n_episodes": 50}
            reported = {"task_id": "cocarry", "policy_id": "joint_ego", "seed_schedule": schedule, "summary": summary}
            tag = {"prereg_git_tag": description["prereg_git_tag"]}
            for name, content in bundle(renamed, prereg=files["prereg.yaml"], **reported, **tag).items():
                archive.writestr(f"b-joint/seed{seed}/{name}", content)
    return packed.getvalue()


def send_joint(site: Site, member: str) -> tuple[str, dict[str, Any]]:
    """Submit the jointly trained pair with a partner of that name to a benchmark of its own."""
    prereg, slug = (COCARRY / "prereg.yaml").read_bytes(), f"joint-{member.replace('_', '-')}"
    manifest = (COCARRY / "manifest.yaml").read_bytes().replace(b"slug: chamber-cocarry", f"slug: {slug}".encode())
    register(site, manifest, prereg)
    return slug, send(site, slug, {"joint.zip": joint_bundles(member)}, prereg, "B-JOINT")


def test_a_pair_with_its_own_partner_is_admitted_in_five_bundles(shared_site: Site) -> None:
    """As the published registration has it; it stands on the board as an anchor, without a rank. With a partner of the
    others it is no cell of the registered plan.
    """
    slug, ended = send_joint(shared_site, "frozen_cocarry_joint")
    (row,) = shared_site.http.get(f"/benchmarks/{slug}/leaderboards/success.json").json()["rows"]
    deviations = shared_site.http.get(f"/submissions/{ended['id']}/tables/deviations.json").json()["rows"]
    _, refused = send_joint(shared_site, "imp_stiff_low")

    assert ended["status"] == "published", ended["reason"]
    assert (row["rank"], row["label"], row["n_seeds"], row["n_episodes"]) == (None, "non-AHT upper anchor", 5, 250)
    assert [d["agrees"] for d in deviations if d["what"] == "partner of B-JOINT"] == [True]
    assert refused["status"] == "not_admitted"
    assert "B-JOINT is registered with its own trained partner only" in refused["reason"]


def test_every_table_is_a_page_and_a_csv(shared_site: Site, example: Published) -> None:
    """The board, its pairs, its parts and its profiles; the profiles of the benchmark lead to its board with the query,
    so that a past snapshot and a chosen entrant stay what was asked for.
    """
    example("chamber-handover")
    board, profiles = "/benchmarks/chamber-handover/leaderboards/success", "/benchmarks/chamber-handover/profiles.csv"
    for kind in ("", "/pairwise", "/breakdown", "/profiles", "/quantiles"):
        assert shared_site.http.get(f"{board}{kind}", headers={"Accept": "text/html"}).status_code == 200
        assert len(shared_site.http.get(f"{board}{kind}.csv").text.splitlines()) > 3
    led = shared_site.http.get(f"{profiles}?snapshot=1&entrant=REF-SCRIPT", follow_redirects=False)
    first, latest = (shared_site.http.get(profiles + query).text.splitlines() for query in ("?snapshot=1", ""))
    badge = shared_site.http.get(f"{board}/badge/REF-SCRIPT.svg").text

    assert "no rank: oracle reference" in badge
    assert led.headers["location"].endswith("/leaderboards/success/profiles.csv?snapshot=1&entrant=REF-SCRIPT")
    assert {line.split(",")[0] for line in first[1:]} == {"REF-SCRIPT"}
    assert {line.split(",")[0] for line in latest[1:]} == {"REF-SCRIPT", "B-RND", "B-STAT"}


def begin(site: Site, slug: str, *preregs: bytes, manifest: bytes = MANIFEST) -> str:
    """Make the small benchmark under another name, register what will be cited, and return the name."""
    register(site, manifest.replace(b"slug: arm", f"slug: {slug}".encode()), *preregs)
    return slug


def test_failures_left_empty_count_as_failures_under_best_effort(shared_site: Site) -> None:
    """The board gives the mean that the honest bundle has, with the number of episodes that were left empty."""
    prereg = PREREG + b"failure_policy: best_effort\n"
    emptied = [record | {"success": record["success"] or None} for record in episodes()]
    slug = begin(shared_site, "emptied", prereg, manifest=PERMITTING)
    ended = send(shared_site, slug, {"run.zip": zipped(bundle(emptied, prereg=prereg))}, prereg)
    (row,) = shared_site.http.get(f"/benchmarks/{slug}/leaderboards/success.json").json()["rows"]

    assert ended["status"] == "published"
    assert (row["success"], row["n_failed"]) == (0.5, 20)


def test_a_power_run_is_never_ranked_and_a_withdrawn_one_stays_in_the_denominator(shared_site: Site) -> None:
    """Two seeds and a pooled bootstrap are allowed for power; its numbers stand on its page, and both registrations
    have an outcome.
    """
    power = PREREG.replace(b"[0, 1, 2, 3, 4]", b"[0, 1]") + b"run_purpose: power\nbootstrap_method: iid\n"
    slug = begin(shared_site, "outcomes", power, PREREG)
    ended = send(shared_site, slug, {"run.zip": zipped(bundle(episodes([0, 1]), prereg=power))}, power)
    summary = shared_site.http.get(f"/submissions/{ended['id']}/tables/summary.csv").text.splitlines()
    number = send(shared_site, slug, {"run.zip": zipped(bundle())}, PREREG)["id"]
    reason = {"reason": "wrong gripper"}
    shared_site.http.post(f"/submissions/{number}/withdraw", json=reason, headers=shared_site.auth())
    shared_site.work()
    registrations = shared_site.http.get(f"/benchmarks/{slug}/registrations.json").json()["rows"]

    assert (ended["status"], ended["run_purpose"]) == ("not_admitted", "power")
    assert summary[1].startswith("mover,place,success,")
    assert sorted(row["outcome"] for row in registrations) == ["reported", "withdrawn"]


def test_a_dry_run_says_what_the_evaluation_says(shared_site: Site) -> None:
    """A claimed summary, and claimed means of the form, are held against the episodes, in the same words."""
    slug = begin(shared_site, "dry", PREREG)
    claiming = bundle(summary={"success_mean": 0.9})
    answers = [
        shared_site.http.post(
            f"/benchmarks/{slug}/submissions?dry_run=true",
            files=[("files", ("run.zip", zipped(files)))],
            data={"prereg_sha256": sha256_hex(PREREG)} | claims,
            headers=shared_site.auth(),
        ).json()
        for files, claims in (
            (claiming, {}),
            (bundle(), {"claims": '{"mover": {"success": 0.9}}'}),
        )
    ]
    before, means = map(told, answers)
    ended = send(shared_site, slug, {"run.zip": zipped(claiming)}, PREREG)

    assert answers[0]["admitted"] is False
    assert before["claimed_summary"][0] == means["claims"][0] == "failed"
    assert "success_mean: 0.9 claimed, 0.5 computed" in before["claimed_summary"][1]
    assert before == told(ended)


def told(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return outcome and reason of each check."""
    return {check["rule"]: (check["outcome"], check["reason"]) for check in answer["checks"]}
