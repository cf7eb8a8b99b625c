"""What each dependency buys and costs, written into docs/dependencies.md: `python -m bench.dependencies --write`.

The reasons are the remarks in pyproject.toml; sizes and licences are of this environment, and who imports a package is
read off the code. Without `--write` it prints the tables.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

from bench.licences import canonical, licence_of
from bench.written import with_part

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "dependencies.md"
TABLES = {"dependencies": "to run", "build": "to build", "otel": "to trace", "dev": "to develop"}
LINE = re.compile(r'^  "([^"]+)",(?:  # (.*))?$')
MIB = 2**20


@dataclass(frozen=True)
class Dependency:
    """A package as pyproject.toml names it, with the remark beside it."""

    needs: Requirement
    reason: str


def declared(table: str) -> list[Dependency]:
    """Return the packages of a table of pyproject.toml: `dependencies`, or an extra."""
    lines = iter((ROOT / "pyproject.toml").read_text("utf-8").splitlines())
    found = []
    for line in lines:
        if line == f"{table} = [":
            break
    for line in lines:
        if line == "]":
            break
        if match := LINE.match(line):
            found.append(Dependency(Requirement(match[1]), match[2] or ""))
    return sorted(found, key=lambda each: each.needs.name)


def table_of(table: str) -> str:
    """Return one table of the page."""
    packages = declared(table)
    alone = [package.needs for package in packages]
    if table != "dependencies":
        alone += [package.needs for package in declared("dependencies")]
    lines = ["| package | MiB | of ours | what it buys | licence |", "|---|---|---|---|---|"]
    for package in packages:
        others = brought([need for need in alone if need.name != package.needs.name])
        own, further = size_of(package.needs.name), sum(map(size_of, brought([package.needs]) - others))
        size = f"{own:.0f}" if further - own < 1.0 else f"{own:.0f}, {further:.0f} with what it alone brings"
        users = ", ".join(sorted(imported_by(package.needs.name)))
        lines.append(f"| {package.needs.name} | {size} | {users} | {package.reason} | {stated(package.needs.name)} |")
    return "\n".join(lines)


def brought(needs: Sequence[Requirement]) -> frozenset[str]:
    """Return the packages that are installed for some, themselves included."""
    found: set[tuple[str, frozenset[str]]] = set()
    open_ends = list(needs)
    while open_ends:
        need = open_ends.pop()
        key = (canonical(need.name), frozenset(need.extras))
        if key not in found:
            found.add(key)
            open_ends += required_by(*key)
    return frozenset(name for name, _ in found)


@cache
def required_by(name: str, extras: frozenset[str]) -> tuple[Requirement, ...]:
    """Return what an installed package requires here; nothing of one that is not installed."""
    try:
        stated = [Requirement(each) for each in distribution(name).requires or ()]
    except PackageNotFoundError:
        return ()
    wanted = [{"extra": extra} for extra in (*extras, "")]
    return tuple(each for each in stated if each.marker is None or any(map(each.marker.evaluate, wanted)))


@cache
def size_of(name: str) -> float:
    """Return what a package's files take, in MiB; without what Python compiles of them."""
    try:
        files = distribution(name).files or ()
    except PackageNotFoundError:
        return 0.0
    places = {Path(str(file.locate())) for file in files if "__pycache__" not in file.parts}
    return sum(place.stat().st_size for place in places if place.is_file()) / MIB


@cache
def stated(name: str) -> str:
    """Return the licence that a package states."""
    try:
        return licence_of(distribution(name)).replace("|", "/")
    except PackageNotFoundError:
        return "not installed here"


@cache
def importers() -> dict[str, frozenset[str]]:
    """Return by package who imports it: rooms of app, and plumbline, bench and tests."""
    names = packages_distributions()
    found: dict[str, set[str]] = {}
    for folder in ("app", "plumbline", "bench", "tests", "migrations"):
        for path in (ROOT / folder).rglob("*.py"):
            room = path.relative_to(ROOT / "app").parts[0].removesuffix(".py") if folder == "app" else folder
            for module in modules_in(ast.parse(path.read_text("utf-8"))):
                for name in names.get(module.partition(".")[0], ()):
                    found.setdefault(canonical(name), set()).add(room)
    return {name: frozenset(rooms) for name, rooms in found.items()}


def modules_in(tree: ast.AST) -> Iterator[str]:
    """Yield what a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def imported_by(name: str) -> frozenset[str]:
    """Return the rooms of app that import a package; bench and tests only where nobody else does."""
    rooms = importers().get(canonical(name), frozenset())
    return rooms - {"bench", "tests"} or rooms


def main() -> None:
    """Print the tables, or write them."""
    page = PAGE.read_text("utf-8")
    for table, title in TABLES.items():
        page = with_part(page, title, table_of(table))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page, "utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
