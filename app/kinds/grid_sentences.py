"""What a benchmark's page and boards state about its grid: what is asked, and what submitters choose. Pure."""

from collections.abc import Iterator, Sequence

from app.admission.case import listed, numbers
from app.kinds.contract import Rule
from app.manifest.model import FILE, Axes, Grid, Manifest
from app.names import count

FEW = 4


def grid_rules(manifest: Manifest, n_items_put: int = 0) -> Sequence[Rule]:
    """Return the rules on what every entrant is asked for, and on what nobody has declared.

    `n_items_put` is the number of items that a steward has uploaded, for a grid with `items: file`.
    """
    grid, tasks = manifest.grid or Grid(), manifest.task_ids() or ()
    axes = [axis for axis in manifest.part.axes if axis != "seeds" or manifest.part.has_seeds()]
    has = Axes.model_construct(**{axis: getattr(grid, axis) for axis in axes})
    asked = [*([count(len(tasks), "task")] if len(tasks) > 1 else []), *_axes(has, n_items_put)]
    own = _with_axes_of_their_own(grid) if manifest.part.axes else ""
    words = "; ".join(asked) or (f"what the manifest names of {own}" if own else "")
    rules = [Rule("Every entrant is asked for ", words, "coverage", f". {on_absent(manifest)}")] if words else []
    if asked and own:
        rules.append(Rule(f"Something else is asked of {own}; the manifest says what."))
    baselines = dict.fromkeys(board.relative_to() for board in manifest.leaderboards)
    rules += [
        Rule(f"Boards relative to {base} ask for no task on which that has no result.") for base in baselines if base
    ]
    if chosen := [axis for axis in ("seeds", "items") if isinstance(getattr(has, axis), int)]:
        rules.append(
            Rule(f"Which {' and '.join(chosen)} these are, each submitter chooses: nobody sees how many were tried.")
        )
    return [*rules, *map(Rule, _left_to_registrations(grid)), *map(Rule, undeclared(manifest, n_items_put))]


def on_absent(manifest: Manifest) -> str:
    """Return what becomes of an entrant that lacks some of what is asked, on this benchmark's boards."""
    if manifest.absent == "worst":
        return "What is absent counts as the worst there is."
    by_rule = [board.title or board.name for board in manifest.leaderboards if board.ranks_gaps()]
    if not by_rule:
        return "Entrants that lack any of it are listed separately, without a rank."
    if len(by_rule) == len(manifest.leaderboards):
        return "Entrants that lack some of it are ranked by each board's own rule for what is missing."
    return (
        f"Entrants that lack some of it are ranked on {joined(by_rule)} by these boards' own rule for what is missing; "
        "elsewhere they are listed separately, without a rank."
    )


def undeclared(manifest: Manifest, n_items_put: int = 0) -> Iterator[str]:
    """Yield why boards are provisional: axes that the manifest leaves open, or items that nobody has uploaded yet."""
    if axes := manifest.part.open_axes(manifest):
        yield (
            f"The manifest leaves its {joined(axes)} open, so boards are provisional: "
            "ranks are about what most submitters have, and nobody is called first."
        )
    if idle := [axis for axis in Axes.model_fields if axis not in manifest.part.axes and _gives(manifest.grid, axis)]:
        yield f"The grid gives {joined(idle)}, which {manifest.evidence} does not carry: nobody is asked for them."
    if manifest.grid is not None and manifest.grid.has_file and not n_items_put:
        yield (
            "The steward has not uploaded the items yet, so boards are provisional until then "
            f"(plumbline benchmark items {manifest.slug} FILE)."
        )


def _gives(grid: Grid | None, axis: str) -> bool:
    """Say whether a grid gives an axis, for all or for some."""
    every = () if grid is None else (grid, *grid.tasks.values(), *grid.entrants.values())
    return any(getattr(axes, axis) is not None for axes in every)


def joined(names: Sequence[str]) -> str:
    """Return names as a part of a sentence, in their order.

    >>> joined(["seeds", "conditions", "items"]), joined(["tasks"])
    ('seeds, conditions and items', 'tasks')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def chosen_seeds_note(manifest: Manifest) -> Iterator[str]:
    """Yield what a board says of seeds that submitters choose: whoever runs fifty can send the luckiest five."""
    grid = manifest.grid
    if grid is None:
        return
    if isinstance(grid.seeds, int):
        yield (
            "The benchmark says how many seeds there are and not which: each submitter chose its own, so a score may "
            "be of the luckiest of more."
        )
    elif "seeds" in grid.registration_may_choose:
        yield "Each registration chose its seeds; what was run before it, nobody here sees."


def _with_axes_of_their_own(grid: Grid) -> str:
    """Return which tasks and entrants have axes of their own, few by name and many by number."""
    few = len(grid.tasks) + len(grid.entrants) <= FEW
    numbered = [count(len(some), noun) for some, noun in ((grid.tasks, "task"), (grid.entrants, "entrant")) if some]
    return listed([*grid.tasks, *grid.entrants]) if few else " and ".join(numbered)


def _axes(axes: Axes, n_items_put: int) -> Iterator[str]:
    if isinstance(axes.seeds, int):
        yield count(axes.seeds, "seed")
    elif axes.seeds is not None:
        yield f"{'seed' if len(axes.seeds) == 1 else 'seeds'} {numbers(axes.seeds)}"
    if axes.conditions is not None:
        yield f"conditions {listed(axes.conditions)}"
    if axes.items == FILE:
        yield (
            f"the {count(n_items_put, 'item')} of the steward's file"
            if n_items_put
            else "the items of a steward's file"
        )
    elif isinstance(axes.items, int):
        yield f"{count(axes.items, 'item')} in each"
    elif axes.items is not None:
        yield f"the {count(len(axes.items), 'item')} that the manifest names"


def _left_to_registrations(grid: Grid) -> Iterator[str]:
    for axis, wanted in grid.registration_may_choose.items():
        yield f"A registration names its {axis} before the run, {wanted.at_least:,} or more."
