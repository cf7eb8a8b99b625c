"""What a submission costs the database, and that its answer is what its address says afterwards."""

from sqlalchemy import Engine, event

from tests.cases.walkthrough import BASE, GOOD, declare, send
from tests.fixtures import Site

MOST_STATEMENTS, MOST_TRANSACTIONS = 53, 5
"""Of one submission of one new entrant that cites a registration; every statement is half a millisecond of a core.

Two of them say whether the entrant is one of its owner's that was withdrawn, renamed: for new names alone.
"""


def test_a_submission_takes_few_statements(site: Site) -> None:
    """Who sends and where to is looked up once."""
    declare(site)
    send(site, BASE)
    seen: list[str] = []

    def note(*arguments: object) -> None:
        seen.append(str(arguments[2]))

    def begin(*_: object) -> None:
        seen.append("BEGIN")

    event.listen(Engine, "before_cursor_execute", note)
    event.listen(Engine, "begin", begin)
    try:
        answer = send(site, GOOD)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        event.remove(Engine, "begin", begin)

    assert answer["http"] == 202
    n_transactions = seen.count("BEGIN")
    assert n_transactions <= MOST_TRANSACTIONS
    assert len(seen) - n_transactions <= MOST_STATEMENTS, "\n".join(text[:99] for text in seen)


def test_the_answer_is_what_its_address_says(site: Site) -> None:
    """Also with a flag, checks and claims."""
    declare(site)
    claims = '{"Base": {"MASE": 2.5}}'
    answers = [send(site, BASE, claims=claims), send(site, BASE.replace(b"4.0", b"4.5")), send(site, GOOD + BASE[16:])]
    read = [site.http.get(f"/submissions/{answer['id']}.json").json() for answer in answers]

    created = [{name: value for name, value in each.items() if name not in ("http", "warnings")} for each in answers]
    assert created == read
    assert [bool(each["flags"]) for each in read] == [False, True, True]
