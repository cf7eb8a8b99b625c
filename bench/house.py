"""Counts of the plan of the code that can be read off its files: `python -m bench.house`.

What runs is counted by `bench.walk`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
APP = ROOT / "app"
ASKS = re.compile(
    r"""\bevidence (==|!=) ["']|\bevidence (not )?in \(|\bpredictions is (not )?None|\[(\w+\.)*manifest\.evidence\]"""
)
KIND = re.compile(r"^ *(?:from|import) app\.kinds\.(summary|episodes|series|predictions)\b", re.MULTILINE)


def main() -> None:
    """Print each count."""
    sources = {path: path.read_text("utf-8") for path in sorted(APP.rglob("*.py"))}
    asking = list(asks({**sources, **{path: path.read_text("utf-8") for path in ROOT.glob("templates/*.html")}}))
    of_a_kind = {path: text for path, text in sources.items() if path.parent.parent == APP / "kinds"}
    print(f"modules and packages at the root of app: {len(rooms())}, of them {len(list(flat()))} flat modules")
    print(f"files {len(sources)}, lines {n_lines(sources)}; in folders of kinds {len(of_a_kind)}, {n_lines(of_a_kind)}")
    print(f"conditionals on the kind: {len(asking)} in {len(set(asking))} files")
    print(f"imports from one kind into another: {len(list(crossings(of_a_kind)))}")
    outside = {path: text for path, text in sources.items() if not path.is_relative_to(APP / "kinds")}
    print(
        f"imports of one kind's modules from outside app/kinds: {sum(len(KIND.findall(t)) for t in outside.values())}"
    )


def rooms() -> set[str]:
    """Return what lies at the root of the app, but for the mark of a typed package and what makes it one."""
    return {path.name for path in APP.iterdir()} - {"__init__.py", "__pycache__", "py.typed"}


def flat() -> Iterator[str]:
    """Yield the modules at the root of the app."""
    return (name for name in rooms() if name.endswith(".py"))


def n_lines(sources: dict[Path, str]) -> int:
    """Return how many lines there are in all."""
    return sum(text.count("\n") for text in sources.values())


def asks(sources: dict[Path, str]) -> Iterator[Path]:
    """Yield the file of each line, outside the folders of the kinds, that decides by the kind of evidence."""
    for path, text in sources.items():
        if path.parent.parent != APP / "kinds":
            yield from (path for line in text.splitlines() if ASKS.search(line))


def crossings(of_a_kind: dict[Path, str]) -> Iterator[tuple[str, str]]:
    """Yield each import of one kind from another."""
    for path, text in of_a_kind.items():
        yield from ((path.parent.name, kind) for kind in KIND.findall(text) if kind != path.parent.name)


if __name__ == "__main__":
    main()
