"""The harnesses whose readers installed packages declare, and whose a file is."""

from collections.abc import Sequence

from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness
from app.program import plugins
from app.program.plugins import load_plugins

HARNESSES: tuple[Harness, ...] = tuple(load_plugins(plugins.HARNESSES, Harness).values())


def split_harnesses(
    files: Sequence[ReceivedFile],
) -> tuple[list[tuple[Harness, list[ReceivedFile]]], list[ReceivedFile]]:
    """Return the files of each harness, and those that are of none."""
    by_harness: dict[str, list[ReceivedFile]] = {}
    others: list[ReceivedFile] = []
    for file in files:
        owner = next((harness for harness in HARNESSES if file.suffix in harness.suffixes and harness.owns(file)), None)
        (others if owner is None else by_harness.setdefault(owner.name, [])).append(file)
    return [(harness, by_harness[harness.name]) for harness in HARNESSES if harness.name in by_harness], others
