"""What admission answers about tasks, axes and claims, whole; also of evaluation summaries, which have no seeds."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from app.admission.case import Check
from app.admission.claims import check_claims, decided_later
from app.kinds.parse import parse_manifest
from tests.cases.admission import AXIS, EVALUATION, applied, case, grid, registered, summary
from tests.cases.chamber import MANIFEST
from tests.cases.frozen import assert_same, checks_as_text

AXES = parse_manifest(MANIFEST.replace(b"{id: place}", b"{id: AS}, {id: OM}").replace(b"[document]", b"[axis]"))
TWO_TASKS = registered(tasks=("place", "reach"))


def answers_about_tasks() -> Iterator[tuple[str, list[Check]]]:
    """Yield what is said of tasks, of axes, and of evidence that has neither seeds nor items."""
    for name, tasks in {"the axis": ("AS",), "another": ("OM",), "both": ("AS", "OM")}.items():
        rows = [row for task in tasks for row in grid(task=task)]
        yield f"episodes of {name}", applied(case(rows=rows, registered=registered(AXIS), manifest=AXES))
        other = registered(AXIS.replace(b"axis: AS", b"axis: CR"))
        yield f"an unknown axis, episodes of {name}", applied(case(rows=rows, registered=other, manifest=AXES))
    for policy in ("strict", "best_effort"):
        declared = replace(TWO_TASKS, prereg=replace(TWO_TASKS.prereg, failure_policy=policy))
        yield f"{policy}, a task is missing", applied(case(registered=declared))
    for name, tasks in {"one": ("place",), "both": ("place", "reach"), "another": ("throw",)}.items():
        yield f"a summary of {name}", applied(summary(EVALUATION, tasks))
    yield "a summary, registered with seeds", applied(summary(EVALUATION + b"seeds: [1, 2]\n"))
    for name, old, new in SUMMARIES:
        yield f"a summary, registered for {name}", applied(summary(EVALUATION.replace(old, new)))


SUMMARIES = (
    ("another benchmark", b"small", b"large"),
    ("another metric", b"[MASE]", b"[MASE, WQL]"),
    ("another entrant", b"[mover, naive]", b"[naive]"),
    ("one task", b"[place, reach]", b"[place]"),
)


def answers_about_claims() -> Iterator[tuple[str, list[Check]]]:
    """Yield what is said of claimed means beside computed ones."""
    ours = {("mover", "success"): 0.5, ("mover", "violation"): None}
    for name, claims in CLAIMED.items():
        yield f"claimed: {name}", check_claims(claims, ours)
    yield "claimed: too much to draw", [decided_later("claims")]


CLAIMED: Mapping[str, Mapping[str, Mapping[str, float]] | None] = {
    "nothing": None,
    "for nobody": {},
    "the same": {"mover": {"success": 0.5}},
    "the same but for a rounding": {"mover": {"success": 0.5 + 4e-7}},
    "another": {"mover": {"success": 0.5 + 2e-6}},
    "what has no value": {"mover": {"violation": 0.5, "success": 0.5}},
    "of another": {"other": {"success": 0.5}},
    "much": {f"m{at}": {"success": 0.5} for at in range(12)},
}


def test_what_is_said_of_tasks_and_claims_is_as_it_was() -> None:
    """Of registrations of an axis and of evaluation summaries too."""
    assert_same("checks-tasks", checks_as_text([*answers_about_tasks(), *answers_about_claims()]))
