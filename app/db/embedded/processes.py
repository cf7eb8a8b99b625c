"""Which processes serve a cluster. Called by `embedded.server`.

The pid that Postgres left in a file proves nothing: after a crash it may belong to anybody.
"""

import signal
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from app.db.embedded.account import Account

LOOKS_EVERY_S = 0.05
PROGRAM = "postgres"
# Postgres renames its children to "postgres: <cluster_name>: <what it does>"; the postmaster keeps its command line.
TITLE = "postgres: "


def server_processes(cluster: Path, label: str, account: Account) -> list[psutil.Process]:
    """Return all living Postgres processes that work in a cluster."""
    named = (process for process in psutil.process_iter(["name"]) if process.info["name"] == PROGRAM)
    return [process for process in named if _serves(process, cluster, label, account)]


def _serves(process: psutil.Process, cluster: Path, label: str, account: Account) -> bool:
    try:
        return process.cwd() == str(cluster)
    except psutil.AccessDenied:
        # Root without the capability to look into others' processes, as in a container, still sees their arguments.
        return _claims(process, cluster, label, account)
    except psutil.NoSuchProcess:  # a zombie is one, too
        return False


def _claims(process: psutil.Process, cluster: Path, label: str, account: Account) -> bool:
    try:
        arguments = process.cmdline()
        is_accounts = process.uids().effective == account.uid
    except psutil.Error:
        return False
    return is_accounts and (str(cluster) in arguments or " ".join(arguments).startswith(f"{TITLE}{label}:"))


def find_postmaster(processes: Sequence[psutil.Process]) -> psutil.Process | None:
    """Return the one that is parent of the others and was not renamed."""
    pids = {process.pid for process in processes}
    for process in processes:
        try:
            if process.ppid() not in pids and not " ".join(process.cmdline()).startswith(TITLE):
                return process
        except psutil.NoSuchProcess:
            continue
    return None


def end_all(processes: Sequence[psutil.Process], within_s: float) -> None:
    """End server processes whose postmaster is gone: at once as Postgres does it, then by force."""
    alive = list(processes)
    for number in (signal.SIGQUIT, signal.SIGKILL):
        for process in alive:
            _send(process, number)
        give_up_at = time.monotonic() + within_s
        while alive and time.monotonic() < give_up_at:
            time.sleep(LOOKS_EVERY_S)
            alive = [process for process in alive if is_alive(process)]


def is_alive(process: psutil.Process) -> bool:
    """Say whether a process runs: one that ended and was not yet waited for does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)  # psutil checks that the pid is still the same process
    except psutil.NoSuchProcess:
        return
