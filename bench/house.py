"""What a stranger has to hold in mind, counted: `python -m bench.house`, the way of a row with `--walk`, the share of
parameters that well-kept packages only hand on with `--beside`.

Small modules with a single importer and parameters that are only handed on are a ratchet (`tests/test_house.py`): they
go down. The other figures may grow, with a reason in the commit.

Why: docs/adr/045-house-and-words.md.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
APP = ROOT / "app"
BESIDE = ("starlette", "uvicorn", "click", "alembic", "sqlalchemy", "pydantic", "pandas", "scipy", "_pytest")

SMALL = 60
"""Lines below which a module with a single importer belongs beside its importer."""


@dataclass(frozen=True)
class House:
    """The counts; `lonely` are the small modules with a single importer."""

    modules: int
    lines: int
    lonely: tuple[str, ...]
    parameters: int
    handed_on: int

    @property
    def share_handed_on(self) -> float:
        """The share of parameters that a function only hands to another call."""
        return self.handed_on / self.parameters


def count() -> House:
    """Count the checkout."""
    sources = {_name(path): path.read_text("utf-8") for path in sorted(APP.rglob("*.py"))}
    modules = {name: source for name, source in sources.items() if not name.endswith("__init__")}
    trees = {name: ast.parse(source) for name, source in sources.items()}
    importers = _importers(trees)
    lonely = tuple(
        name for name, source in modules.items() if source.count("\n") < SMALL and len(importers.get(name, ())) == 1
    )
    parameters = [handed for tree in trees.values() for handed in _parameters(tree)]
    return House(len(modules), sum(s.count("\n") for s in sources.values()), lonely, len(parameters), sum(parameters))


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _importers(trees: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    result: dict[str, set[str]] = defaultdict(set)
    for importer, tree in trees.items():
        for node in ast.walk(tree):
            names = []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                if (module := name if name in trees else name.rpartition(".")[0]) in trees:
                    result[module].add(importer)
    return result


def _parameters(tree: ast.Module) -> Iterator[bool]:
    """Yield for each parameter that a function uses whether all it does with it is hand it to a call."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        arguments = function.args
        named = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        uses: dict[str, list[bool]] = defaultdict(list)
        handed = {id(value) for call in ast.walk(function) if isinstance(call, ast.Call) for value in _given(call)}
        for statement in function.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Name) and node.id in named:
                    uses[node.id].append(id(node) in handed)
        for name in named - {"self", "cls"}:
            if uses[name]:
                yield all(uses[name])


def _given(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def share_beside(package: str) -> float:
    """Return the share of parameters that an installed package only hands on, its tests left out."""
    folder = Path(str(import_module(package).__file__)).parent
    sources = (path for path in folder.rglob("*.py") if "tests" not in path.parts)
    handed = [each for path in sources for each in _parameters(ast.parse(path.read_text("utf-8")))]
    return sum(handed) / len(handed)


def main() -> None:
    """Print each count."""
    house = count()
    print(f"modules {house.modules}, lines {house.lines}")
    print(f"modules below {SMALL} lines with a single importer: {len(house.lonely)}")
    print(f"parameters only handed on: {house.handed_on} of {house.parameters}, {house.share_handed_on:.0%}")
    if "--lonely" in sys.argv:
        print("\n".join(house.lonely))
    if "--beside" in sys.argv:
        print("\n".join(f"{package}: {share_beside(package):.0%}" for package in BESIDE))
    if "--walk" in sys.argv:
        from bench import walk

        walk.main()


if __name__ == "__main__":
    main()
