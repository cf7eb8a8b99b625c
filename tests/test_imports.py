"""What the source of every module of the app shows: who imports whom, and what pure rooms reach."""

import ast
import gc
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from app.kinds.registry import KINDS

# They read all sources.
pytestmark = [pytest.mark.heavy, pytest.mark.unmutated]

APP = Path(__file__).parent.parent / "app"

ARCHITECTURE = Path(__file__).parent.parent / "docs" / "architecture.md"


def written_floors(document: str) -> tuple[tuple[str, ...], ...]:
    """Return the floors that a document lists, the lowest first: lines of rooms in its one block named `floors`."""
    _, begin, rest = document.partition("\n```floors\n")
    block, end, after = rest.partition("\n```\n")
    if not begin or not end or "```floors" in after:
        raise ValueError("docs/architecture.md must have one block ```floors")
    return tuple(tuple(line.split()) for line in block.splitlines())


# A room imports its own floor and those below, never one above. `*` marks the rooms that compute and do nothing else.
WRITTEN = written_floors(ARCHITECTURE.read_text("utf-8"))
FLOORS = tuple(tuple(room.removesuffix("*") for room in floor) for floor in WRITTEN)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
PURE_ROOMS = frozenset(room[:-1] for floor in WRITTEN for room in floor if room.endswith("*"))

# What of the kinds reads files or asks for a date; everything else there computes from what it is given.
READERS = frozenset(
    {
        "app.kinds.items",
        "app.kinds.reader",
        "app.kinds.predictions.labels",
        "app.kinds.series.from_lrdbench",
        "app.kinds.predictions.read",
        "app.kinds.summary.from_fev",
        "app.kinds.summary.read",
    }
)

# Files, processes, sockets, databases and clocks, and generators that nobody handed in.
IMPURE_FILES = ("glob", "io", "os", "pathlib", "pickle", "shutil", "tempfile", "zipfile")
IMPURE_WIRES = ("asyncio", "http", "httpx2", "psycopg", "requests", "socket", "sqlalchemy", "sqlite3", "urllib")
IMPURE_MACHINE = ("logging", "multiprocessing", "psutil", "signal", "subprocess", "sys", "threading")
IMPURE_CHANCE = ("datetime", "random", "secrets", "time", "uuid", "zoneinfo")
IMPURE = frozenset(IMPURE_FILES + IMPURE_WIRES + IMPURE_MACHINE + IMPURE_CHANCE)
# Names of files as text: nothing is opened by them.
HARMLESS = frozenset({"pathlib.PurePosixPath"})
IMPURE_CALLS = frozenset({"open", "print", "input", "exec", "eval", "__import__"})

# What of numpy.random holds no state of its own; everything else there draws from the global generator.
STATELESS_RANDOM = frozenset({"BitGenerator", "Generator", "PCG64", "SeedSequence", "default_rng"})


@cache
def sources_of_app() -> dict[str, str]:
    """Return the source of each module by its dotted name."""
    paths = sorted(APP.rglob("*.py"))
    return {".".join(path.relative_to(APP.parent).with_suffix("").parts): path.read_text("utf-8") for path in paths}


@cache
def parsed(source: str) -> ast.Module:
    """Return the tree of a source, made once for all that look at it."""
    gc.disable()  # It would look through the growing tree again and again: three times the work.
    try:
        return ast.parse(source)
    finally:
        gc.enable()


@cache
def imported(source: str) -> tuple[tuple[int, str], ...]:
    """Return the line and the dotted name of everything that is imported, also inside functions.

    `from a import b` gives `a.b`, as b may be a module; a relative import gives a name that begins with a dot.
    """
    result: list[tuple[int, str]] = []
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            result += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            result += ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
    return tuple(result)


def room_of(dotted_name: str) -> str:
    """Return the room of a module of ours: the name below `app`."""
    return dotted_name.split(".")[1]


def is_inside(dotted_name: str) -> bool:
    """Say whether a dotted name is a module of ours or something in one."""
    return dotted_name.startswith("app.") and dotted_name != "app.__init__"


def upward_imports(sources: Mapping[str, str]) -> list[str]:
    """Return a sentence for each import of a room that is higher than the importing one."""
    return [
        f"{module} line {line} imports {name}: {room_of(module)} stands below {room_of(name)}"
        for module, source in sources.items()
        for line, name in imported(source)
        if is_inside(module) and is_inside(name) and FLOOR_OF[room_of(name)] > FLOOR_OF[room_of(module)]
    ]


def rooms_without_floor(sources: Mapping[str, str]) -> list[str]:
    """Return a sentence for each room that the order does not have."""
    rooms = sorted({room_of(module) for module in sources if is_inside(module)})
    return [f"app.{room} has no floor: give it one in docs/architecture.md" for room in rooms if room not in FLOOR_OF]


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the modules of ours that each module imports."""
    return {
        module: {
            known for _, name in imported(source) if (known := nearest_module(name, sources)) not in (None, module)
        }
        for module, source in sources.items()
    }


def nearest_module(name: str, sources: Mapping[str, str]) -> str | None:
    """Return the module that a dotted name is or lies in."""
    return next((known for known in (name, name.rpartition(".")[0]) if known in sources), None)


def impurities(sources: Mapping[str, str]) -> list[str]:
    """Return a sentence for each import or call of a pure room that reaches outside."""
    result = []
    for module, source in sources.items():
        if is_inside(module) and room_of(module) in PURE_ROOMS and module not in READERS:
            result += [
                f"{module} line {line} imports {name}: {room_of(module)} is pure"
                for line, name in imported(source)
                if name.split(".")[0] in IMPURE and name not in HARMLESS
            ]
            result += [f"{module} {sentence}: {room_of(module)} is pure" for sentence in impure_calls(source)]
    return result


def impure_calls(source: str) -> Iterator[str]:
    """Yield what a module does with files, the console and the global generator."""
    for line, name in imported(source):
        if name.startswith("numpy.random.") and name.split(".")[2] not in STATELESS_RANDOM:
            yield f"line {line} imports {name}"
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("np.random", "numpy.random"):
            if node.attr not in STATELESS_RANDOM:
                yield f"line {node.lineno} uses {ast.unparse(node)}"
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            unseeded = called.endswith("default_rng") and not node.args and not node.keywords
            if called in IMPURE_CALLS or unseeded:
                yield f"line {node.lineno} calls {called}()"


def test_no_room_imports_a_higher_one() -> None:
    """Every import goes to the same floor or below."""
    sources = {name: source for name, source in sources_of_app().items() if rooms_without_floor({name: source}) == []}

    assert upward_imports(sources) == []


def test_every_module_has_a_floor() -> None:
    """A new module says where it stands."""
    assert rooms_without_floor(sources_of_app()) == []


def test_the_document_lists_the_rooms_there_are() -> None:
    """Each room once, and none that the app does not have."""
    listed = [room for floor in FLOORS for room in floor]

    assert sorted(listed) == sorted({room_of(module) for module in sources_of_app() if is_inside(module)})


def test_no_module_imports_itself_by_a_detour() -> None:
    """The imports of the modules have no cycle."""
    order = list(TopologicalSorter(import_graph(sources_of_app())).static_order())

    assert "app.errors" in order


def reached(module: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Return the modules of ours that are imported with one, and itself."""
    result, waiting = {module}, [module]
    while waiting:
        new = graph[waiting.pop()] - result
        result |= new
        waiting += new
    return result


def test_a_worker_imports_nothing_that_answers_requests() -> None:
    """It would start twice as late; the web process, which does, shows that the test can see it."""
    graph = import_graph(sources_of_app())
    answering = {
        process: any(room_of(module) in ("web", "main") for module in reached(f"app.cli.{process}", graph))
        for process in ("worker", "web")
    }

    assert answering == {"worker": False, "web": True}


def kinds_compared(source: str) -> Iterator[str]:
    """Yield each comparison, and each case of a match, with the name of a kind of evidence."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Compare | ast.MatchValue):
            words = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
            if not words.isdisjoint(KINDS.keys()):
                yield ast.unparse(node)


def test_nothing_asks_for_a_kind_outside_its_room() -> None:
    """What differs by kind is looked up once, in `app.kinds.registry`."""
    asking = {
        module: compared
        for module, source in sources_of_app().items()
        if not module.startswith("app.kinds.") and (compared := list(kinds_compared(source)))
    }

    assert asking == {}
    assert list(kinds_compared("x = 1 if kind in ('episodes', 'other') else 2")) == ["kind in ('episodes', 'other')"]


def roles_compared(source: str) -> Iterator[str]:
    """Yield each comparison of the role of somebody with a word."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith(".role"):
            words = [each for side in node.comparators for each in ast.walk(side) if isinstance(each, ast.Constant)]
            if words:
                yield ast.unparse(node)


def test_no_page_decides_what_a_role_may() -> None:
    """What follows from somebody's role stands in `app.rights`; a role that is asked for may be compared."""
    comparing = {
        compared
        for module, source in sources_of_app().items()
        if room_of(module) in ("web", "render", "receiving")
        for compared in roles_compared(source)
    }

    assert comparing <= {"wanted.role == 'steward'"}
    assert list(roles_compared("if token.role == 'admin': pass")) == ["token.role == 'admin'"]


def test_nothing_imports_one_kind_from_outside() -> None:
    """What other rooms need of a kind is in its contract, so that a stranger's kind is as good as ours."""
    rooms = tuple(f"app.kinds.{path.parent.name}." for path in (APP / "kinds").glob("*/__init__.py"))
    importing = [
        f"{module} line {line} imports {name}"
        for module, source in sources_of_app().items()
        if not module.startswith("app.kinds.")
        for line, name in imported(source)
        if f"{name}.".startswith(rooms)
    ]

    assert len(rooms) > 1
    assert importing == []


def test_no_template_asks_for_a_kind() -> None:
    """Nor does a page."""
    asks = re.compile(rf"(==|!=|\bin\b)[^%}}]*[\"'\[](?:{'|'.join(KINDS.keys())})[\"'\]]")
    pages = {path.name: asks.findall(path.read_text("utf-8")) for path in (APP.parent / "templates").rglob("*.html")}

    assert len(pages) > 20
    assert {name: asking for name, asking in pages.items() if asking} == {}
    assert asks.search("{% if kind == 'episodes' %}")


def test_nothing_waits_for_what_scipy_loads_late() -> None:
    """`import scipy` loads `scipy.stats`, half a second of it, at its first use: most commands have none."""
    early = [
        name for name, source in sources_of_app().items() if re.search(r"^(from|import) scipy\.stats", source, re.M)
    ]

    assert early == []


def test_what_computes_is_pure() -> None:
    """They read no file, no clock and no generator that was not handed to them."""
    assert impurities(sources_of_app()) == []


def test_an_upward_import_is_found() -> None:
    """An import of a higher room is named with its line, also inside a function."""
    sources = {"app.stats.resample": "import numpy\ndef draw():\n    from app.db import engine\n"}

    assert upward_imports(sources) == ["app.stats.resample line 3 imports app.db.engine: stats stands below db"]


@pytest.mark.parametrize(
    "source",
    [
        "import os.path",
        "from pathlib import Path",
        "from datetime import datetime",
        "import sqlalchemy.orm",
        "from numpy.random import normal",
        "import numpy as np\nnp.random.seed(0)",
        "import numpy as np\nrng = np.random.default_rng()",
        "text = open('file')",
    ],
)
def test_an_impurity_is_found(source: str) -> None:
    """Clocks, files, databases and global generators are found in pure rooms."""
    assert len(impurities({"app.boards.methods.mean": source})) == 1


def test_what_is_pure_is_not_found() -> None:
    """Generators that are seeded or handed in, hashes and arithmetic are allowed; other rooms may do as they like."""
    pure = "import hashlib\nimport numpy as np\nrng = np.random.default_rng(7)\ndef f(rng: np.random.Generator): ..."

    assert impurities({"app.stats.resample": pure, "app.store.rows": "import os"}) == []
