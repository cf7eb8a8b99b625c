"""What installed packages declare by entry points: kinds of evidence and readers of harnesses, ours and others'."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from app.errors import PluginError

KINDS, HARNESSES = "plumbline.kinds", "plumbline.harnesses"
OWN = "plumbline-server"

T = TypeVar("T")


def load_plugins(group: str, expected: type[T]) -> dict[str, T]:
    """Return what is declared in a group of entry points by its name, in the order that each thing has by its `order`.

    The name of the entry point is that of the thing. Raises PluginError, in one sentence, where ours are not installed
    and where one cannot be loaded.
    """
    declared = entry_points(group=group)
    if not any(_package(each) == OWN for each in declared):
        raise PluginError(
            f"The package {OWN} is not installed with its entry points {group}, so that nothing is known of them: run "
            "`pip install --no-deps --no-build-isolation -e .` in its folder."
        )
    loaded: dict[str, Any] = {}
    for each in declared:
        if each.name in loaded:
            raise PluginError(f"{_words(each)} cannot be loaded: another package declares {each.name} as well.")
        loaded[each.name] = _load(each, expected)
    return {name: loaded[name] for name in sorted(loaded, key=lambda name: (loaded[name].order, name))}


def _load(entry: EntryPoint, expected: type[T]) -> T:
    try:
        thing = entry.load()
    except Exception as error:
        raise PluginError(f"{_words(entry)} cannot be loaded: {type(error).__name__}: {error}.") from error
    if not isinstance(thing, expected):
        raise PluginError(f"{_words(entry)} cannot be loaded: it is no {expected.__name__}.")
    name: str = getattr(thing, "name", "")
    if name != entry.name:
        raise PluginError(f"{_words(entry)} cannot be loaded: what it leads to has the name {name!r}.")
    return thing


def _words(entry: EntryPoint) -> str:
    return f"The entry point {entry.name} of {entry.group} in the package {_package(entry)} ({entry.value})"


def _package(entry: EntryPoint) -> str:
    return "" if entry.dist is None else entry.dist.name


def foreign_packages(group: str) -> Sequence[str]:
    """Return name and version of each other package that declares something in a group, sorted."""
    found = {each.dist.name: each.dist.version for each in entry_points(group=group) if each.dist is not None}
    return sorted(f"{name} {version}" for name, version in found.items() if name != OWN)
