"""What admission answers, whole: the rule, the outcome and the sentence of every check of many submissions."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from app.admission.check import Check
from tests.cases.admission import AXIS, REGISTERED, RUN_BEGAN, applied, case, demanding, facts, grid, registered
from tests.cases.frozen import assert_frozen, checks_as_text

REGISTRATIONS: Mapping[str, Mapping[str, Any]] = {
    "no seeds": {"seeds": None},
    "other seeds": {"seeds": (0, 1, 2)},
    "no conditions": {"conditions": None},
    "another condition": {"conditions": ("left", "up")},
    "no number of episodes": {"episodes_per_seed": None},
    "fewer episodes": {"episodes_per_seed": 2},
    "more episodes": {"episodes_per_seed": 50},
    "best effort": {"failure_policy": "best_effort"},
    "a pilot": {"run_purpose": "pilot"},
    "an iid bootstrap": {"run_purpose": "debug", "bootstrap_method": "iid"},
    "another entrant": {"entrants": ("other",)},
    "another task": {"tasks": ("lift",)},
    "the task": {"tasks": ("place",)},
    "another metric": {"metrics": ("speed",)},
    "the metrics": {"metrics": ("success", "violation")},
    "another benchmark": {"benchmark": "other"},
    "a tag": {"git_tag": "prereg-2"},
    "no tag": {"git_tag": None},
    "an own partner": {"own_partner": ("mover",)},
    "a partner set": {"partner_set": "strangers"},
    "a version of the task": {"task_version": "2"},
    "policies": {"policies": {"mover": "sac"}},
}
BUNDLES: Mapping[str, Mapping[str, Any]] = {
    "dirty": {"dirty": True},
    "silent about dirt": {"dirty": None},
    "of another tag": {"git_tag": "prereg-9"},
    "without a tag": {"git_tag": None},
    "of other seeds": {"seeds": (0, 1)},
    "of other episodes": {"episodes_per_seed": 3},
    "of another registration": {"prereg_sha256": "0" * 64, "prereg_blob_sha1": "0" * 40},
    "citing nothing": {"cited_blob_sha1": None},
    "without a summary": {"summary": {}},
    "of an old schema": {"schema_version": 1},
}
ROWS = {
    "three seeds": grid(range(3)),
    "one condition": grid(conditions=("left",)),
    "no conditions": grid(conditions=(None,)),
    "fewer episodes": grid(n=2),
    "more episodes": grid(n=9),
    "another entrant": grid(entrant="other"),
    "two entrants": [*grid(), *grid(entrant="other")],
    "another task": grid(task="lift"),
    "uneven seeds": grid()[:-3],
}
RULES: Mapping[str, Mapping[str, Any]] = {
    "a registration": {"prereg": "required"},
    "another form": {"prereg": "required", "prereg_forms": ["document"]},
    "seeds": {"min_seeds": 7},
    "claims": {"claims": "required"},
    "best effort": {"failure_policy": "best_effort"},
    "dirt is allowed": {"dirty": "allow"},
}


def answers() -> Iterator[tuple[str, list[Check]]]:
    """Yield each submission by name with its checks."""
    yield "as it should be", applied(case())
    yield "not registered", applied(case(registered=None))
    yield "attested", applied(case(registered=replace(registered(), attested=True)))
    yield "an axis", applied(case(registered=registered(AXIS)))
    yield "registered late", applied(case(registered=replace(registered(), registered_at=RUN_BEGAN)))
    half_a_second = RUN_BEGAN + timedelta(microseconds=500_000)
    yield "registered within the second", applied(case(registered=replace(registered(), registered_at=half_a_second)))
    yield "registered for nothing", applied(case(registered=replace(registered(), benchmarks=())))
    yield "began before", applied(case(started_at=REGISTERED - timedelta(days=1)))
    yield "silent about its beginning", applied(case(started_at=None))
    yield "dirty", applied(case(dirty=True))
    yield "silent about dirt", applied(case(dirty=None))
    yield "silent twice", applied(case(facts(dirty=None), dirty=None))
    yield "with claims", applied(case(claims={"mover": {"success": 0.5}}))
    yield from ((f"registered: {name}", applied(case(registered=registered(**r)))) for name, r in REGISTRATIONS.items())
    yield from ((f"an axis: {name}", applied(case(registered=registered(AXIS, **r))))
                for name, r in REGISTRATIONS.items())  # fmt: skip
    yield from ((f"a bundle: {name}", applied(case(facts(**stated)))) for name, stated in BUNDLES.items())
    yield from ((f"rows: {name}", applied(case(rows=rows))) for name, rows in ROWS.items())
    yield from ((f"rows of an axis: {name}", applied(case(rows=rows, registered=registered(AXIS))))
                for name, rows in ROWS.items())  # fmt: skip
    yield from ((f"asked: {name}", applied(case(manifest=demanding(**rules)))) for name, rules in RULES.items())
    yield from ((f"asked, not registered: {name}", applied(case(manifest=demanding(**rules), registered=None)))
                for name, rules in RULES.items())  # fmt: skip


def test_the_checks_are_as_they_were() -> None:
    """Of submissions that break no rule, one, or several."""
    assert_frozen("checks", checks_as_text(answers()))
