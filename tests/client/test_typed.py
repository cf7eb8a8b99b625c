"""The types of the client are those that the HTTP API describes, and its wheel leaves nothing out that it needs."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

from app.config import Settings
from client.typed import TARGET, described, documents
from plumbline.cli.folders import MAX_FILES

ROOT = Path(__file__).parents[2]


@pytest.mark.heavy
def test_the_types_of_the_client_are_those_of_the_api() -> None:
    """Every key is answered with its type; `python -m client.typed` writes down those that the API has more."""
    here, elsewhere = fields(TARGET.read_text("utf-8")), fields(documents(described()))

    assert {name: actual.items() - elsewhere[name].items() for name, actual in here.items()} == {
        key: set() for key in here
    }
    assert {"Submission", "DryRun", "Table"} <= here.keys()


def fields(module: str) -> dict[str, dict[str, str]]:
    """Return the keys of each type with their types."""
    classes = [node for node in ast.parse(module).body if isinstance(node, ast.ClassDef)]
    return {
        each.name: {ast.unparse(f.target): ast.unparse(f.annotation) for f in each.body if isinstance(f, ast.AnnAssign)}
        for each in classes
    }


def test_the_wheel_of_the_client_has_every_module_that_it_imports() -> None:
    """What the files of the wheel import of this project is in it too, and of others only what it depends on."""
    files = shipped()
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in files}
    imported = {module for path in files.values() for module in imports(path)}
    own = {module for module in imported if module.split(".")[0] in ("app", "plumbline")}

    assert own <= modules
    assert imported - own <= {"httpx2", "pandas", "rich", "typer"}


def shipped() -> dict[str, Path]:
    """Return the Python files of the client's wheel by their place in it."""
    reported = tomllib.loads((ROOT / "client" / "pyproject.toml").read_text("utf-8"))
    included = reported["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    result = {}
    for source, target in included.items():
        path = (ROOT / "client" / source).resolve()
        of_folder = {f"{target}/{each.relative_to(path)}": each for each in path.rglob("*.py")}
        result |= of_folder
    return result


def imports(path: Path) -> set[str]:
    """Return the modules that a file imports which Python itself does not have."""
    result = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            of_package = (ROOT / node.module.replace(".", "/")).is_dir()
            result |= {f"{node.module}.{name.name}" for name in node.names} if of_package else {node.module}
        elif isinstance(node, ast.Import):
            result |= {name.name for name in node.names}
    short = {name if name.split(".")[0] in ("app", "plumbline") else name.split(".")[0] for name in result}
    return short - sys.stdlib_module_names


def test_the_client_packs_as_many_files_as_a_server_takes() -> None:
    """It does not have the server's settings, so the number stands twice."""
    assert Settings().max_files == MAX_FILES
