"""Adds a board to the text of a manifest and leaves the rest, comments included, as it was. For `app.web`."""

import json

import yaml

from app.errors import FieldRejected, Problem

KEY = "leaderboards"


def with_board(manifest: str, board: object) -> str:
    r"""Return the text of a manifest with a board added after its last one.

    Raises FieldRejected.

    >>> print(with_board("slug: a\nleaderboards:  # mine\n  - {name: b}\ntasks: any\n", {"name": "c"}), end="")
    slug: a
    leaderboards:  # mine
      - {name: b}
      - {"name": "c"}
    tasks: any
    """
    boards = _boards_of(manifest)
    flow = json.dumps(board, ensure_ascii=False)
    if boards.flow_style:
        at = boards.value[-1].end_mark.index if boards.value else boards.end_mark.index - 1
        return f"{manifest[:at]}{', ' if boards.value else ''}{flow}{manifest[at:]}"
    head = manifest[: boards.end_mark.index].rstrip()
    rest = manifest[len(head) :].lstrip(" ").removeprefix("\n")
    return f"{head}\n{' ' * boards.start_mark.column}- {flow}\n{rest}"


def _boards_of(manifest: str) -> yaml.SequenceNode:
    top = yaml.compose(manifest, Loader=yaml.SafeLoader)
    pairs = top.value if isinstance(top, yaml.MappingNode) else []
    for key, value in pairs:
        if key.value == KEY and isinstance(value, yaml.SequenceNode):
            return value
    raise FieldRejected("The board cannot be added.", [Problem("the manifest has no list of them", column=KEY)])
