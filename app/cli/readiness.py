"""Waits until a server that was just started answers; used by `plumbline serve`."""

import time
from collections.abc import Iterable, Sequence

import httpx

from app.cli.supervisor import Child, Tended
from app.errors import PlumblineError

READY_WITHIN_S = 120.0
PAUSE_S = 0.05
MAX_FAILED_STARTS = 4


class NeverReady(PlumblineError):
    """The web process does not come up; what it printed says why."""


def wait_until_ready(address: str, children: Sequence[Child], tended: Iterable[Tended]) -> None:
    """Return when the server says that it is ready; all that is `tended` is looked at meanwhile.

    Raises NeverReady when a child fails again and again, or is not ready for long though all of them are up. How long
    one may take to come up is the supervisor's to judge: on a starved machine that is minutes.
    """
    up_s, looked_at = 0.0, time.monotonic()
    while not is_ready(address):
        for each in tended:
            each.tend()
        for child in children:
            if child.n_failed_starts >= MAX_FAILED_STARTS:
                raise NeverReady(f"{child.program.name} failed {child.n_failed_starts} times; its output is above.")
        now = time.monotonic()
        up_s, looked_at = up_s + (now - looked_at) * all(child.is_up for child in children), now
        if up_s > READY_WITHIN_S:
            raise NeverReady(f"{address}/readyz did not report ready within {READY_WITHIN_S:.0f} s. {why(address)}")
        time.sleep(PAUSE_S)


def why(address: str) -> str:
    """Return what the server itself says of why it cannot serve."""
    try:
        return str(httpx.get(f"{address}/readyz", timeout=10.0).json()["detail"])
    except (httpx.HTTPError, ValueError, KeyError):
        return "It does not say why."


def is_ready(address: str) -> bool:
    """Ask the server whether it can serve."""
    try:
        return httpx.get(f"{address}/readyz", timeout=2.0).is_success
    except httpx.TransportError:
        return False
