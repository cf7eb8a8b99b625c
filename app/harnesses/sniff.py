"""What a JSON file begins with, for harnesses that name their files anyhow. Called by the modules beside it."""

import re

from app.files.uploads import ReceivedFile

HEAD = 4096


def begins_with(file: ReceivedFile, *patterns: str) -> bool:
    """Say whether every pattern stands in the first kilobytes of a file."""
    with file.path.open("rb") as content:
        head = content.read(HEAD).decode("utf-8", "replace")
    return all(re.search(pattern, head) for pattern in patterns)
