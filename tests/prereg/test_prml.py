"""PRML manifests as preregistrations: what `falsify` itself locked is read, and what is wrong has its line and key."""

from pathlib import Path

import pytest

from app.prereg.fields import Hypothesis
from app.prereg.prereg import parse_prereg, sha256_hex
from tests.cases.preregs import problems_of

DATA = Path(__file__).parents[1] / "data" / "prml"
LOCKED = (DATA / "claim.prml.yaml").read_bytes()


def changed(old: str, new: str) -> bytes:
    """Return the locked manifest with something else in a place."""
    assert old in LOCKED.decode()
    return LOCKED.decode().replace(old, new).encode()


def test_a_locked_manifest_is_a_claim_of_one_model() -> None:
    """Metric, comparator and threshold are the claim; the seed binds; the rest is kept as it stands."""
    prereg = parse_prereg(LOCKED)

    assert (prereg.form, prereg.benchmark, prereg.tasks, prereg.seeds) == ("evaluation", None, None, (0,))
    assert (prereg.entrants, prereg.metrics) == (("anthropic/claude-sonnet-4-0",), ("accuracy",))
    claim = Hypothesis(("anthropic/claude-sonnet-4-0",), "accuracy", 0.6, "greater", "PRML claim")
    assert prereg.hypotheses == (claim,)
    assert prereg.document["dataset"]["id"] == "inspect_evals/arc_easy"


def test_its_address_is_the_hash_that_falsify_locked() -> None:
    """The bytes are canonical, so that the SHA-256 of both is one."""
    assert sha256_hex(LOCKED) == (DATA / "claim.prml.prml.sha256").read_text().strip()


def test_without_a_model_anybody_may_be_measured() -> None:
    """PRML 0.1 names no model; the claim is of an arm without a name."""
    prereg = parse_prereg(changed("model:\n  id: anthropic/claude-sonnet-4-0\n", "").replace(b"prml/0.2", b"prml/0.1"))

    assert prereg.entrants is None
    assert prereg.hypotheses[0].contrast == ("unnamed-arm",)


@pytest.mark.parametrize(
    ("old", "new", "column", "message"),
    [
        ("prml/0.2", "prml/9", "version", "version must be one of prml/0.1, prml/0.2"),
        ("threshold: 0.6", "threshold: .inf", "threshold", "numbers must be finite"),
        ("threshold: 0.6", "threshold: high", "threshold", "threshold must be a number"),
        ("comparator: '>='", "comparator: '=='", "comparator", "decided as greater or less"),
        ("comparator: '>='", "comparator: '=>'", "comparator", "comparator must be one of"),
        ("seed: 0", "seed: often", "seed", "an integer or null"),
        ("metric: accuracy\n", "", "metric", "the key metric is required"),
        ("metric: accuracy", "metric: accuracy\nmetrics: [a]", "metrics", "did you mean metric?"),
        ("  hash: c9fd", "  hash: C9FD", "dataset.hash", "64 hexadecimal digits"),
        ("producer:\n  id: example.org", "producer: example.org", "producer", "a mapping of id"),
    ],
    ids=["version", "infinite", "text", "equal", "comparator", "seed", "missing", "unknown", "hash", "producer"],
)
def test_what_is_wrong_has_its_key_and_a_sentence(old: str, new: str, column: str, message: str) -> None:
    """One problem each, with the line where it stands."""
    (problem,) = problems_of(changed(old, new))

    assert (problem.column, problem.row is not None) == (column, True)
    assert message in problem.message
