"""Which code computed a board: the release, and a digest of the source that decides its numbers."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from app.program.plugins import KINDS, foreign_packages

# What turns rows into numbers. Pages and addresses may change without making a new snapshot.
DECIDING = (
    "stats/*.py",
    "boards/**/*.py",
    "kinds/**/*.py",
    "values/scores.py",
    "manifest/*.py",
    "jobs/boards.py",
    "jobs/claims.py",
)


API_VERSION = 1
"""The version of the HTTP API, see docs/http-api.md; what is removed from it makes the next one."""


@cache
def code_version() -> str:
    """Return release, digest of the deciding source and of other packages' kinds, and the numpy that ran it."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for pattern in DECIDING:
        for path in sorted(root.glob(pattern)):
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    # What a stranger's kind computes is changed by a release of its package.
    for package in foreign_packages(KINDS):
        digest.update(package.encode() + b"\0")
    return f"{release()}+{digest.hexdigest()[:12]}.numpy-{np.__version__}"


@cache
def release() -> str:
    """Return the version of the installed package."""
    return version("plumbline-server")
