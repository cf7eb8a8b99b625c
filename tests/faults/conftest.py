"""The tests of faults take minutes and both cores of a machine: they are collected where they are asked for."""

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these tests out, unless `-m` names them as `make faults` does."""
    return None if "faults" in config.option.markexpr else True
