"""The harnesses whose files are read, and whose a file is."""

from collections.abc import Sequence

from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness
from app.harnesses.every_eval_ever import EVERY_EVAL_EVER
from app.harnesses.helm import HELM
from app.harnesses.hub import HUB
from app.harnesses.inspect_logs import INSPECT
from app.harnesses.lm_eval import LM_EVAL
from app.harnesses.mteb import MTEB

HARNESSES: tuple[Harness, ...] = (LM_EVAL, HELM, INSPECT, EVERY_EVAL_EVER, MTEB, HUB)


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
