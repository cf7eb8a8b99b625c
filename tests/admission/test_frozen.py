"""What admission answers, whole: the rule, the outcome and the sentence of every check of many submissions."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.admission.case import Check, History, TokenHolder
from app.admission.claims import deviations_table
from app.manifest.model import AtLeast, Grid, Manifest, OpenTasks
from app.values.facts import FLAGS, Finding, Forensics
from app.values.scores import ScoreTable
from app.values.table import Table
from tests.cases.admission import (
    AXIS,
    RECEIVED,
    REGISTERED,
    RUN_BEGAN,
    applied,
    case,
    demanding,
    facts,
    grid,
    registered,
    table,
)
from tests.cases.chamber import manifest
from tests.cases.frozen import assert_frozen, assert_same, checks_as_text, tables_as_text

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
CLAIM = {"success_ci_low": 0.2, "success_ci_high": 0.4, "n_resamples": 2000, "bootstrap_root_seed": 0}
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
    "of a schema to come": {"schema_version": 99},
    "of a clustered bootstrap": {"bootstrap_method": "hierarchical", "run_purpose": "leaderboard"},
    "of a pooled bootstrap": {"bootstrap_method": "iid", "run_purpose": "debug"},
    "that cites another": {"cited_blob_sha1": "1" * 40},
    "with another blob": {"prereg_sha256": None, "prereg_blob_sha1": "1" * 40},
    "silent about its registration": {"prereg_sha256": None, "prereg_blob_sha1": None, "cited_blob_sha1": None},
    "that lists more seeds": {"seeds": (0, 1, 2, 3, 4, 9)},
    "that lists a seed twice": {"seeds": (0, 0, 0, 1, 1, 2, 3, 4)},
    "with few resamples": {"summary": CLAIM | {"n_resamples": 999}},
    "with resamples and a half": {"summary": CLAIM | {"n_resamples": 2000.5}},
    "with too many resamples": {"summary": CLAIM | {"n_resamples": 10**9}},
    "without its resamples": {"summary": {"success_ci_low": 0.2, "success_ci_high": 0.4}},
    "with ends turned round": {"summary": CLAIM | {"success_ci_low": 0.5}},
    "without a seed of its draws": {"summary": CLAIM | {"bootstrap_root_seed": None}},
    "with half a seed of its draws": {"summary": CLAIM | {"bootstrap_root_seed": 0.5}},
    "of a dirty commit": {"code_commit": "abc1234-dirty"},
    "of a commit": {"code_commit": "abc1234"},
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


BEGINNINGS = {
    "never": None,
    "when it was registered": REGISTERED,
    "when it was sent": RECEIVED,
    "after it was sent": RECEIVED + timedelta(seconds=1),
}


def lacking() -> dict[str, ScoreTable]:
    """Return rows of which some, or all, lack a score that ranks or one that does not."""
    tables = {"none": (0, 0), "one that ranks": (1, 0), "one that does not": (0, 1), "all that rank": (99, 0)}
    created = {name: table(grid(), ("success", "violation")) for name in tables}
    for name, (n_first, n_second) in tables.items():
        created[name].values[:n_first, 0] = float("nan")
        created[name].values[:n_second, 1] = float("nan")
    return created


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
    lenient = case(registered=registered(failure_policy="best_effort"))
    yield "best effort that the benchmark does not permit", applied(replace(lenient, manifest=manifest()))
    yield from ((f"demanded, begun {name}", applied(case(manifest=demanding(started_at="required"), started_at=began)))
                for name, began in BEGINNINGS.items())  # fmt: skip
    yield from ((f"begun {name}", applied(case(started_at=began))) for name, began in BEGINNINGS.items())
    late = replace(registered(), registered_at=RECEIVED + timedelta(days=1))
    yield "dated after the upload", applied(case(registered=late))
    yield "attested after the upload", applied(case(registered=replace(late, attested=True)))
    yield "dirty where it is allowed", applied(case(facts(dirty=True), manifest=demanding(dirty="allow")))
    yield "no registration where none is needed", applied(case(registered=None, manifest=demanding(prereg="optional")))
    anything = manifest().model_copy(update={"tasks": OpenTasks(open=True)})
    yield "tasks that nobody declares", applied(case(manifest=anything, registered=registered(tasks=None)))
    yield from ((f"registered: {name}", applied(case(registered=registered(**r)))) for name, r in REGISTRATIONS.items())
    yield from ((f"an axis: {name}", applied(case(registered=registered(AXIS, **r))))
                for name, r in REGISTRATIONS.items())  # fmt: skip
    yield from ((f"a bundle: {name}", applied(case(facts(**stated)))) for name, stated in BUNDLES.items())
    demanded = demanding(claims="required")
    yield from ((f"claims demanded of a bundle: {name}", applied(case(facts(**stated), manifest=demanded)))
                for name, stated in BUNDLES.items() if "summary" in stated)  # fmt: skip
    yield "another commit than the submission's", applied(case(facts(code_commit="abc1234"), code_commit="def5678"))
    yield from ((f"scores: {name}", applied(case(scores=scores))) for name, scores in lacking().items())
    yield from ((f"scores, best effort: {name}", applied(case(scores=scores, registered=lenient.registered)))
                for name, scores in lacking().items())  # fmt: skip
    yield from ((f"scores, not registered: {name}", applied(case(scores=scores, registered=None)))
                for name, scores in lacking().items())  # fmt: skip
    yield from ((f"rows: {name}", applied(case(rows=rows))) for name, rows in ROWS.items())
    yield from ((f"rows of an axis: {name}", applied(case(rows=rows, registered=registered(AXIS))))
                for name, rows in ROWS.items())  # fmt: skip
    yield from ((f"asked: {name}", applied(case(manifest=demanding(**rules)))) for name, rules in RULES.items())
    yield from ((f"asked, not registered: {name}", applied(case(manifest=demanding(**rules), registered=None)))
                for name, rules in RULES.items())  # fmt: skip


def answers_of_a_server() -> Iterator[tuple[str, list[Check]]]:
    """Yield what a server alone can say: who registered, which attempt it is, whose names and rows are alike."""
    registrant, other = TokenHolder(3, "ann"), TokenHolder(4, "bob")
    by_ann = replace(registered(), by=registrant)
    yield "by the registrant", applied(case(registered=by_ann, submitter=registrant))
    yield "by another", applied(case(registered=by_ann, submitter=other))
    yield "by nobody that is known", applied(case(registered=by_ann))
    yield from ((name, applied(case(history=history))) for name, history in HISTORIES.items())
    yield "a name alike", applied(case(entrants=("m\N{CYRILLIC SMALL LETTER O}ver", "walker"), forensics=Forensics()))
    yield "its own name in capitals", applied(case(entrants=("MOVER",)))
    yield "nothing noticed", applied(case(forensics=Forensics()))
    yield "nothing noticed, also before", applied(case(forensics=Forensics(), history=History()))
    noticed = Forensics(findings=tuple(Finding(flag, "mover", f"mover, {flag}") for flag in reversed(list(FLAGS))))
    yield "everything noticed", applied(case(forensics=noticed))
    yield "noticed before", applied(case(forensics=Forensics(), history=HISTORIES["with findings"]))
    for name, axes in {"seeds": {"seeds": AtLeast(at_least=5)}, "more seeds": {"seeds": AtLeast(at_least=6)}}.items():
        declared = freeing(axes)
        yield f"may choose {name}", applied(case(manifest=declared))
        yield f"may choose {name}, not registered", applied(case(manifest=declared, registered=None))


HISTORIES = {
    "the first": History(1, 1, {"mover": 1}),
    "the first without a registration": History(None, 1, {"mover": 1}),
    "the second of the entrant": History(1, 1, {"mover": 2, "walker": 1}),
    "more than are registered": History(3, 2, {"mover": 1}),
    "as many as are registered": History(2, 2, {"mover": 1}),
    "with findings": History(1, 1, {"mover": 1}, (Finding("other_results", "mover", "mover in submission 2, 3 rows"),)),
}


def freeing(axes: Mapping[str, AtLeast]) -> Manifest:
    """Return the small benchmark, whose registrations may choose some axes."""
    declared = manifest()
    declared_grid = (declared.grid or Grid()).model_copy(update={"registration_may_choose": axes})
    return declared.model_copy(update={"grid": declared_grid})


def deviations() -> Iterator[Table]:
    """Yield what was declared beside what was delivered, of the same registrations and rows."""
    yield from (deviations_table(registered(**stated), table(grid()), [facts()]) for stated in REGISTRATIONS.values())
    predicted = ("auc", "success")
    yield from (deviations_table(registered(), table(rows), [], predicted) for rows in ROWS.values())
    paired = registered(own_partner=("mover",), conditions=None)
    yield deviations_table(paired, table([*grid(), *grid(entrant="other")]), [])
    yield deviations_table(registered(own_partner=("mover",)), table(grid(conditions=("own",))), [])


@pytest.mark.heavy
def test_the_checks_are_as_they_were() -> None:
    """Of submissions that break no rule, one, or several."""
    assert_frozen("checks", checks_as_text(answers()))


def test_what_a_server_knows_is_said_as_it_was() -> None:
    """Beside what the files and the registration say."""
    assert_same("checks-server", checks_as_text(answers_of_a_server()))


def test_deviations_are_as_they_were() -> None:
    """Of each registration, with a bundle, and of each set of rows without one."""
    assert_same("deviations", tables_as_text(deviations()))
