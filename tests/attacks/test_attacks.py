"""No stranger takes the server from everybody else: each attack against a real one."""

from collections.abc import Iterator

import pytest

from tests.attacks.attacks import ATTACKS
from tests.attacks.watch import Target, target, watched
from tests.cases.proxy import NGINX, SKIPPED

pytestmark = [pytest.mark.alone, pytest.mark.slow]

MOST_GROWTH_MIB = 200
LONGEST_S = 1.0
LONGEST_BESIDE_S = 0.5
N_TRIES = 3
READER_MIB = 1024


@pytest.fixture(scope="module")
def victim() -> Iterator[Target]:
    """A server as operators are told to run it: behind the shipped proxy."""
    if NGINX is None:
        pytest.skip(SKIPPED)
    with target(behind_proxy=True, PLUMBLINE_MAX_READING_MIB=str(READER_MIB)) as server:
        yield server


@pytest.mark.parametrize("name", ATTACKS)
def test_nobody_else_is_harmed_by(victim: Target, name: str) -> None:
    """The attack is refused, the web process stays small, and others wait a second at most, or as at an idle server."""
    attack, expected = ATTACKS[name]

    # A busy machine makes everybody wait: where a server beside waits too, nothing is known, and it is tried again.
    for _ in range(N_TRIES):
        with watched(victim) as harm:
            statuses = attack(victim)
        if harm.longest_beside_s < LONGEST_BESIDE_S:
            break

    assert statuses == expected
    assert harm.growth_mib < MOST_GROWTH_MIB
    assert harm.reader_mib < READER_MIB + 200
    assert harm.longest_there_s < max(LONGEST_S, harm.longest_beside_s)
    assert harm.n_asked > 0
