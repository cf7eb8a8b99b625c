"""Identity: what a run says that it is, against its registration, itself and earlier runs; on CHAMBER's own bundles."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from app.admission.case import EarlierIdentity, identity_findings
from app.cli.demo import Example
from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import read_evidence
from app.prereg.prereg import parse_prereg
from app.values.facts import BundleFacts
from tests.cases.admission import facts
from tests.cases.chamber import EXAMPLES

COCARRY = Example(EXAMPLES / "chamber-cocarry")
PREREG = parse_prereg((COCARRY.folder / "prereg.yaml").read_bytes())


@cache
def given(entrant: str) -> BundleFacts:
    """Return what a published bundle of the campaign says of itself."""
    declared = parse_manifest(Path(COCARRY.manifest).read_bytes())
    (files,) = [sent.files for sent in COCARRY.submissions if sent.entrant == entrant and "pilot" not in str(sent)]
    uploads = [SentFile(path.name, path) for path in files]
    (bundle,) = read_evidence(declared, uploads, entrant, Limits.from_settings(Settings())).facts.bundles
    return bundle


def flags_of(bundle: BundleFacts, *earlier: BundleFacts, code_commit: str | None = None) -> list[str]:
    """Return what is flagged, without the name of the bundle."""
    before = [EarlierIdentity(7, one.entrant, one.identity) for one in earlier]
    result = list(identity_findings(PREREG, [bundle], code_commit, before))
    assert {finding.flag for finding in result} <= {"identity", "no_prereg_in_bundle"}
    return [finding.sentence.partition(": ")[2] or finding.flag for finding in result]


def stating(bundle: BundleFacts, **changed: str) -> BundleFacts:
    """Return the bundle with another identity."""
    return replace(bundle, identity={**bundle.identity, **{key.replace("_", " "): v for key, v in changed.items()}})


@pytest.mark.heavy
def test_the_published_bundles_of_a_campaign_raise_no_flag() -> None:
    """Each runs what was registered, with the partners that the others have."""
    stat, oracle = given("B-STAT"), given("REF-SCRIPT")

    assert flags_of(stat, oracle) == flags_of(oracle, stat) == []


def test_another_policy_than_the_registered_one_or_that_of_another_entrant_is_flagged() -> None:
    """B-STAT is registered as static, the pair as `joint_ego:<that seed's selected pair checkpoint>`, which the run
    fills in; one bundle may be sent under two names.
    """
    bundle = given("B-STAT")
    pair = replace(bundle, entrant="B-JOINT")
    fits, differs = (stating(pair, policy=policy, partner_set="adhoc:own") for policy in ("joint_ego:a.pt", "random"))
    copied = replace(stating(bundle, policy="static"), entrant="mine")

    assert flags_of(stating(bundle, policy="random")) == ["its policy is random, registered is static"]
    assert flags_of(fits) == []
    assert flags_of(differs)[0].startswith("its policy is random, registered is joint_ego:<")
    assert flags_of(copied, bundle) == ["its policy is B-STAT's in submission 7"]


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("partner imp_stiff_low", "0000000000000000", "its partner imp_stiff_low is 0000000000000000, it was 2551"),
        ("partner set", "adhoc:easy", "its partner set is adhoc:easy, registered is cocarry_partners@v1"),
        ("task version", "7", "its task version is 7, it was 1 in submission 7"),
        ("partners file", "SHA-256 00", "its partners file is SHA-256 00, it was SHA-256"),
    ],
)
def test_other_partners_or_another_version_are_flagged(key: str, value: str, sentence: str) -> None:
    """A partner's hash, the set, the file of gains, the version of the task."""
    bundle = given("B-STAT")
    forged = replace(bundle, identity={**bundle.identity, key: value})

    assert any(each.startswith(sentence) for each in flags_of(forged, replace(bundle, entrant="B-RND")))


@pytest.mark.parametrize("key", ["policy", "partner set"])
def test_leaving_an_identity_out_is_flagged_as_well(key: str) -> None:
    """What the registration names and the bundle does not say."""
    bundle = given("B-STAT")
    silent = replace(bundle, identity={name: value for name, value in bundle.identity.items() if name != key})

    assert any(each.startswith(f"it states no {key}, registered is") for each in flags_of(silent))


@pytest.mark.parametrize("changed", [{"partner_set": "adhoc:easy"}, {"partner_set": None}, {"task_version": None}])
def test_without_a_registration_earlier_bundles_say_what_is_the_benchmarks(changed: dict[str, str | None]) -> None:
    """Calling the set one's own, or not naming it, is no way around the comparison."""
    bundle = given("B-STAT")
    identity = {**bundle.identity, **{key.replace("_", " "): value for key, value in changed.items()}}
    forged = replace(bundle, identity={key: value for key, value in identity.items() if value is not None})
    actual = identity_findings(None, [forged], None, [EarlierIdentity(7, "B-RND", bundle.identity)])
    (key,) = changed

    assert any(f"no {key.replace('_', ' ')}" in f.sentence or "adhoc:easy" in f.sentence for f in actual)


def test_a_run_without_partners_is_held_to_the_version_of_the_task() -> None:
    """A spike has no partner set; where an earlier run had none either, its other keys are the entrant's own."""
    spike = facts(entrant="spike", identity={"task version": "1", "seeds file": "a"})
    earlier = EarlierIdentity(3, "older", {"task version": "2", "seeds file": "b"})
    actual = identity_findings(None, [spike], None, [earlier])

    assert [each.sentence for each in actual] == ["run: its task version is 1, it was 2 in submission 3"]


@pytest.mark.parametrize(
    ("mine", "theirs", "own", "flagged"),
    [
        ("adhoc:mine", "all@v1", ("pair",), ["its task version is 2, it was 1 in submission 3"]),
        (
            "adhoc:mine",
            "all@v1",
            (),
            [
                "its partner set is adhoc:mine, it was all@v1 in submission 3",
                "its task version is 2, it was 1 in submission 3",
                "its partner set is adhoc:mine, registered is all@v1",
            ],
        ),
        ("all@v1", "adhoc:theirs", ("pair",), ["its task version is 2, it was 1 in submission 3"]),
    ],
    ids=["registered with its own", "not registered so", "the other's own"],
)
def test_a_partner_of_ones_own_is_no_other_set_where_it_is_registered(
    mine: str, theirs: str, own: tuple[str, ...], flagged: list[str]
) -> None:
    """The version of the task is the benchmark's all the same, also beside another entrant with its own partner."""
    declared = replace(PREREG, policies={}, partner_set="all@v1", task_version=None, own_partner=own)
    pair = facts(entrant="pair", prereg_sha256="0" * 64, identity={"partner set": mine, "task version": "2"})
    earlier = EarlierIdentity(3, "older", {"partner set": theirs, "task version": "1"})
    actual = identity_findings(declared, [pair], None, [earlier])

    assert [each.sentence for each in actual] == [f"run: {sentence}" for sentence in flagged]


def test_another_commit_than_the_submissions_is_flagged() -> None:
    """A short one is the beginning of a long one."""
    bundle = given("B-STAT")

    assert flags_of(bundle, code_commit=(bundle.code_commit or "")[:10]) == []
    assert flags_of(bundle, code_commit="1" * 40)[0].endswith(f"the submission's code_commit is {'1' * 40}")


def test_a_bundle_without_its_preregistration_is_flagged() -> None:
    """Its layout has a place for it."""
    assert flags_of(replace(given("B-STAT"), prereg_sha256=None)) == ["no_prereg_in_bundle"]
