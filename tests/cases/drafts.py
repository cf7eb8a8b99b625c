"""Tables of results that nobody wrote a manifest for, and what becomes of them."""

import random
from collections.abc import Sequence
from pathlib import Path

from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.receiving.drafting import Ask, Draft, ResultsSheet, Wishes, draft_manifest, read_sheet

LIMITS = Limits.from_settings(Settings())
MTEB = Path(__file__).parents[2] / "examples" / "mteb-eng-v2" / "results" / "eng_v2.csv"


def latency_table() -> str:
    """Return milliseconds of three systems on eight queries, five runs each."""
    chance = random.Random(1)
    lines = ["system,query,run,latency_ms"]
    for system, base in (("sqlite", 12), ("duckdb", 8), ("postgres", 10)):
        for query in range(1, 9):
            for run in range(5):
                lines.append(f"{system},Q{query},{run},{base * query * chance.lognormvariate(0, 0.3):.3f}")
    return "\n".join(lines) + "\n"


def nobody(question: str, answers: Sequence[str]) -> None:
    """Answer no question."""
    del question, answers


def sent(paths: Sequence[Path]) -> list[SentFile]:
    """Return files as they are sent."""
    return [SentFile(path.name, path) for path in paths]


def sheet_of(text: str, folder: Path, name: str = "results.csv") -> ResultsSheet:
    """Return a table as a sheet."""
    path = folder / name
    path.write_text(text, "utf-8")
    return read_sheet(sent([path]), folder / "unpacked", LIMITS)


def draft_of(text: str, folder: Path, wishes: Wishes | None = None, ask: Ask = nobody) -> Draft:
    """Return what is drafted of a table."""
    return draft_manifest(sheet_of(text, folder), "results", wishes or Wishes(), ask)
