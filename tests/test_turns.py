"""Places for a few: nobody holds all of them, fills the room for others, or comes before who has used less."""

import asyncio

import pytest
from starlette.concurrency import run_in_threadpool

from app.errors import Busy
from app.turns import FORGETS_S, SLICE_S, Turn, Turns

ANN, BOB, EVE = "token 1", "token 2", "192.0.2.7"


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The event loop that the tests run on."""
    return "asyncio"


def entered(turns: Turns, *owners: str) -> list[Turn]:
    """Return the turns of these owners, asked for in this order."""
    asked = [Turn.of(owner) for owner in owners]
    for turn in asked:
        turns.enter(turn)
    return asked


def is_refused(turn: Turn) -> bool:
    """Say whether a turn was told to come again."""
    return turn.called is not None and turn.called.done() and isinstance(turn.called.exception(), Busy)


def order_of(turns: Turns, asked: list[Turn]) -> list[str | None]:
    """Return who had the places, ending one after the other."""
    order = []
    while held := [turn for turn in asked if turn.payer and not turn.is_over]:
        first = min(held, key=lambda turn: turn.number)
        order.append(first.payer)
        turns.end(first)
    return order


async def test_one_owner_never_holds_all_places() -> None:
    """Even where nobody else is there: whoever comes next has a place at once."""
    turns = Turns(2)
    asked = entered(turns, *[EVE] * 10)
    assert (turns.n_running, turns.n_waiting) == (1, 9)
    (ann,) = entered(turns, ANN)
    assert ann.payer == ANN
    assert [turn.payer for turn in asked] == [EVE, *[None] * 9]


async def test_a_single_place_is_given_to_anybody() -> None:
    """There is none to be left to others."""
    assert entered(Turns(1), EVE)[0].payer == EVE


async def test_who_comes_later_is_next_beside_ten_of_one_owner() -> None:
    """Each had used nothing when they asked; who has had a place has used its time."""
    clock = Clock()
    turns = Turns(1, clock=clock)
    asked = entered(turns, *[EVE] * 10, ANN, BOB)
    clock.now += 5
    assert order_of(turns, asked)[:4] == [EVE, ANN, BOB, EVE]


async def test_what_counts_is_the_processor_time_that_was_said() -> None:
    """Held for as long, one used little of it; where nobody says, the time that a place was held counts."""
    clock = Clock()
    turns = Turns(3, clock=clock)
    first = entered(turns, ANN, BOB, EVE)
    first[0].cost_s, first[1].cost_s = 40.0, 0.5
    clock.now += 10
    for turn in first:
        turns.end(turn)
    assert [round(turns.used_s(owner), 1) for owner in (ANN, BOB, EVE)] == [40.0, 0.5, 10.0]
    others = entered(turns, "token 3", "token 4", "token 5")
    ann, eve, bob = entered(turns, ANN, EVE, BOB)
    for number, turn in enumerate(others):
        turns.end(turn)
        assert [each.payer is not None for each in (bob, eve, ann)] == [number >= at for at in range(3)]


async def test_what_was_used_is_forgotten_over_a_minute() -> None:
    """A tenth of it is left after two minutes and a bit; what is held now counts too."""
    clock = Clock()
    turns = Turns(2, clock=clock)
    (turn,) = entered(turns, EVE)
    turn.cost_s = 100.0
    turns.end(turn)
    clock.now += FORGETS_S
    assert turns.used_s(EVE) == pytest.approx(36.8, abs=0.1)
    entered(turns, EVE)
    clock.now += FORGETS_S
    assert turns.used_s(EVE) == pytest.approx(13.5 + FORGETS_S, abs=0.1)


async def test_the_more_urgent_comes_first_among_those_alike() -> None:
    """A page that is in use before a query; but who has used seconds more does not come first by urgency."""
    clock = Clock()
    turns = Turns(1, clock=clock)
    asked = [Turn.of(ANN), Turn.of(BOB, 2), Turn.of(EVE, 0)]
    for turn in asked:
        turns.enter(turn)
    assert order_of(turns, asked) == [ANN, EVE, BOB]
    (held,) = entered(turns, EVE)
    held.cost_s = 3.0
    again = [Turn.of(EVE, 0), Turn.of(BOB, 2)]
    for turn in again:
        turns.enter(turn)
    assert order_of(turns, [held, *again]) == [EVE, BOB, EVE]


async def test_the_excess_of_one_owner_is_refused_and_nobody_elses() -> None:
    """Who fills the room loses its last one when somebody else comes, and may send no more."""
    turns = Turns(2, room=4)
    eve = entered(turns, *[EVE] * 6)
    assert [is_refused(turn) for turn in eve] == [False] * 5 + [True]
    entered(turns, ANN)
    others = entered(turns, BOB, "token 3")
    assert not any(map(is_refused, others))
    assert [is_refused(turn) for turn in eve] == [False] * 3 + [True] * 3
    assert turns.n_waiting == 4
    with pytest.raises(Busy):
        turns.refuse_if_full(EVE)
    turns.refuse_if_full("token 4")


async def test_who_uses_much_does_not_begin_while_others_wait() -> None:
    """It is told before it sends anything, and after how long it may; with nobody waiting it is read."""
    clock = Clock()
    turns = Turns(2, costly_s=30.0, clock=clock)
    (turn,) = entered(turns, EVE)
    turn.cost_s = 80.0
    turns.end(turn)
    turns.refuse_if_full(EVE)
    entered(turns, ANN, BOB, "token 3")
    with pytest.raises(Busy, match="80 s of processor time") as refused:
        turns.refuse_if_full(EVE)
    with pytest.raises(Busy):
        entered(turns, EVE)
    turns.refuse_if_full("token 3")
    clock.now += refused.value.retry_after_s
    turns.refuse_if_full(EVE)


async def test_who_joins_brings_their_own_standing() -> None:
    """A page that two wait for comes as soon as it would for the one who has used less."""
    clock = Clock()
    turns = Turns(1, clock=clock)
    (held,) = entered(turns, EVE)
    held.cost_s = 10.0
    eves, anns = entered(turns, EVE, ANN)
    last = entered(turns, EVE)[0]
    turns.join(last, BOB)
    assert order_of(turns, [held, eves, anns, last]) == [EVE, ANN, BOB, EVE]
    assert turns.n_waiting == turns.n_running == 0


async def test_what_another_waits_for_too_is_not_refused_as_excess() -> None:
    """Else one could have the page refused that somebody else asked for."""
    turns = Turns(1, room=2)
    eve = entered(turns, *[EVE] * 3)
    turns.join(eve[2], ANN)
    entered(turns, BOB)
    assert [is_refused(turn) for turn in eve] == [False, True, False]


async def test_a_wait_that_is_given_up_takes_no_place() -> None:
    """While waiting, and at the very moment of getting it."""
    turns = Turns(1)
    (held,) = entered(turns, ANN)
    early, late = (asyncio.create_task(turns.wait(Turn.of(BOB))) for _ in range(2))
    await asyncio.sleep(0)
    early.cancel()
    turns.end(held)
    late.cancel()
    await asyncio.gather(early, late, return_exceptions=True)
    assert (turns.n_running, turns.n_waiting) == (0, 0)
    assert entered(turns, EVE)[0].payer == EVE


async def test_a_place_is_given_back_once() -> None:
    """A second end does nothing, nor does one before anything was asked for."""
    turns = Turns(2)
    (held,) = entered(turns, ANN)
    for turn in (held, held, Turn.of(BOB)):
        turns.end(turn)
    assert turns.n_running == 0


async def test_a_long_wait_ends_with_a_word() -> None:
    """The place it waited for is then nobody's."""
    turns = Turns(1, wait_s=0.01)
    entered(turns, ANN)
    with pytest.raises(Busy, match="waited"):
        await turns.wait(Turn.of(BOB))
    assert turns.n_waiting == 0


async def test_a_thread_waits_for_its_turn_too() -> None:
    """And gives its place back, whatever happens in it."""
    turns = Turns(1)

    def compute() -> int:
        with turns.taken_in_thread(ANN):
            n_running = turns.n_running
            raise RuntimeError(n_running)

    with pytest.raises(RuntimeError, match="1"):
        await run_in_threadpool(compute)
    assert turns.n_running == 0


class Halted:
    """Work that notes whether it runs."""

    def __init__(self) -> None:
        self.states: list[str] = []

    def stop(self) -> None:
        """Note that it was stopped."""
        self.states.append("stopped")

    def go_on(self) -> None:
        """Note that it goes on."""
        self.states.append("goes on")

    def give_up(self) -> None:
        """Note that it is given up."""
        self.states.append("given up")


def working(turns: Turns, *owners: str) -> list[tuple[Turn, Halted]]:
    """Return the turns of these owners, asked for in this order, with work that can be stopped."""
    asked = []
    for turn in entered(turns, *owners):
        work = Halted()
        turns.may_stop(turn, work)
        asked.append((turn, work))
    return asked


async def test_work_makes_way_for_who_has_used_far_less() -> None:
    """Not before it has gone on for a slice; it goes on by itself, and counts once."""
    clock = Clock()
    turns = Turns(2, clock=clock)
    (anns, _), (eves, halted) = working(turns, ANN, EVE)
    clock.now += SLICE_S / 2
    (bobs,) = entered(turns, BOB)
    assert (bobs.payer, halted.states) == (None, [])
    turns.end(anns)
    assert bobs.payer == BOB
    clock.now += 9.5
    (late,) = entered(turns, ANN)
    assert (late.payer, halted.states) == (ANN, ["stopped"])
    turns.end(late)
    assert halted.states == ["stopped", "goes on"]
    clock.now += 2
    eves.cost_s = 7.0
    turns.end(eves)
    turns.end(bobs)
    assert turns.used_s(EVE) == pytest.approx(7.0, abs=0.5)
    assert (turns.n_running, turns.n_waiting) == (0, 0)


@pytest.mark.parametrize("n_owners", [1, 2, 3, 8])
async def test_whoever_used_little_has_a_place_after_one_slice_each(n_owners: int) -> None:
    """However many others have heavy work: those that came before have had a slice, and no more."""
    clock = Clock()
    turns = Turns(2, room=32, clock=clock)
    heavy = [each for _ in range(4) for each in working(turns, *[f"token {9 + at}" for at in range(n_owners)])]
    for _ in range(40):
        clock.now += SLICE_S / 4
        turns.look()
    (ann,) = entered(turns, ANN)
    for _ in range(4):
        clock.now += SLICE_S / 4
        turns.look()
    assert ann.payer == ANN
    running = [turn for turn, _ in heavy if turn in turns._running]
    assert len(running) == 1


async def test_equals_do_not_stop_each_other() -> None:
    """What has begun goes on while others wait that have used as much, or half."""
    clock = Clock()
    turns = Turns(1, clock=clock)
    (used,) = entered(turns, BOB)
    used.cost_s = 5.0
    turns.end(used)
    ((_, halted),) = working(turns, ANN)
    entered(turns, BOB)
    clock.now += 8
    turns.look()
    assert halted.states == []
    clock.now += 2
    turns.look()
    assert halted.states == ["stopped"]


async def test_of_more_stopped_than_places_who_used_most_is_given_up() -> None:
    """So that what is kept in memory is bounded; it holds nothing afterwards."""
    clock = Clock()
    turns = Turns(1, clock=clock)
    ((eves, eve_halted),) = working(turns, EVE)
    clock.now += 5
    ((anns, ann_halted),) = working(turns, ANN)
    clock.now += 1.5
    (bobs,) = entered(turns, BOB)
    assert (bobs.payer, eve_halted.states) == (BOB, ["stopped", "given up"])
    for turn in (eves, bobs):
        turns.end(turn)
    assert ann_halted.states == ["stopped", "goes on"]
    turns.end(anns)
    assert (turns.n_running, turns.n_waiting) == (0, 0)


async def test_work_that_ends_while_it_is_stopped_gives_no_place_back_twice() -> None:
    """As when its process was done before the signal came."""
    clock = Clock()
    turns = Turns(1, clock=clock)
    ((eves, _),) = working(turns, EVE)
    clock.now += 5
    (anns,) = entered(turns, ANN)
    eves.work = None
    turns.end(anns)
    assert turns.n_running == 1
    turns.end(eves)
    (again,) = entered(turns, EVE)
    assert (again.payer, turns.n_running, turns.n_waiting) == (EVE, 1, 0)
