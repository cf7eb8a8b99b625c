"""Entrants are found by what is said of them; what is not said matches nothing."""

import pytest

from app.boards.explore import Wish

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


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        (("architecture=decoder",), True),
        (("architecture=encoder", "architecture=Decoder"), True),
        (("architecture=encoder",), False),
        (("context=8192",), True),
        (("context>=8192",), True),
        (("context>=8193",), False),
        (("context<=8192",), True),
        (("context<=8191",), False),
        (("context>=4096", "context<=16384"), True),
        (("since>=2026-01-01",), True),
        (("since<=2025-12-31",), False),
        (("architecture=decoder", "context<=10"), False),
    ],
    ids=str,
)
def test_a_field_of_the_benchmark_is_compared_as_asked(asked: tuple[str, ...], holds: bool) -> None:
    """Words in any case, numbers and days from or up to a limit, the limit itself included."""
    facts = {"architecture": "decoder", "context": 8192.0, "since": "2026-02-01"}

    assert Wish(fields=asked).holds(facts) is holds
    assert Wish(fields=asked).holds({}) is False


def test_nothing_asked_is_no_wish() -> None:
    """Everybody is as asked."""
    assert (Wish().is_made, Wish().holds({})) == (False, True)


SENTENCES = {
    Wish(): [],
    Wish(organization=("A Lab", "B Lab"), licence=("MIT",)): ["organization A Lab or B Lab", "licence MIT"],
    Wish(purpose=("research",), open_weights=True): ["purpose research", "open weights"],
    Wish(open_weights=False): ["no open weights"],
    Wish(min_parameters=7e9, max_parameters=8e9): ["at least 7,000,000,000 parameters",
                                                   "at most 8,000,000,000 parameters"],
    Wish(released_from="2026-01-01", released_to="2026-02-01"): ["released from 2026-01-01 on",
                                                                 "released up to 2026-02-01"],
    Wish(fields=("context_length>=8192", "family=a_b")): ["context length>=8192", "family=a b"],
}  # fmt: skip


@pytest.mark.parametrize("wish", SENTENCES, ids=str)
def test_what_is_asked_is_said_in_words(wish: Wish) -> None:
    """In the order of the form, a thousand apart by a comma; somebody who asks for anything has a wish."""
    assert [*wish.words()] == SENTENCES[wish]
    assert wish.is_made is bool(SENTENCES[wish])
