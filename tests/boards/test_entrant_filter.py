"""Entrants are found by what is said of them; what is not said matches nothing."""

import pytest

from app.boards.entrant_filter import Wish

SAID = {
    "organization": "A Lab",
    "licence": "Apache-2.0",
    "purpose": "research",
    "open_weights": True,
    "n_parameters": 7e9,
    "released": "2026-03-01",
}


@pytest.mark.parametrize(
    ("wish", "holds"),
    [
        (Wish(organization=("a lab",)), True),
        (Wish(organization=("B Lab",)), False),
        (Wish(licence=("MIT", "apache-2.0"), purpose=("research",)), True),
        (Wish(licence=("Apache-2.0",), purpose=("baseline",)), False),
        (Wish(open_weights=True), True),
        (Wish(open_weights=False), False),
        (Wish(min_parameters=7e9, max_parameters=7e9), True),
        (Wish(max_parameters=6e9), False),
        (Wish(min_parameters=8e9), False),
        (Wish(released_from="2026-03-01", released_to="2026-03-01"), True),
        (Wish(released_from="2026-03-02"), False),
        (Wish(released_to="2026-02-28"), False),
    ],
    ids=str,
)
def test_everything_that_is_asked_must_be_said(wish: Wish, holds: bool) -> None:
    """Words in any case, numbers and days up to and with their ends."""
    assert wish.holds(SAID) is holds
    assert wish.holds({}) is False


def test_nothing_asked_is_no_wish() -> None:
    """Everybody is as asked."""
    assert (Wish().is_made, Wish().holds({})) == (False, True)
