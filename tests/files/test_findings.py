"""What many problems of one upload cost: they are all counted, and told within moments."""

from app.files.findings import MOST_MEANT, Findings
from app.names import MOST_ALIKE, nearest


def test_what_was_meant_is_looked_for_of_few_names() -> None:
    """A file may have another wrong name in each of a million rows, and each takes long; one that was told stays so."""
    findings = Findings()
    said = [findings.unknown("not a task", f"lift{at}", ["lift", "place"]) for at in [*range(MOST_MEANT + 1), 0]]

    assert [each.startswith("not a task; did you mean lift? It has") for each in said] == [True] * MOST_MEANT + [
        False,
        True,
    ]
    assert said[MOST_MEANT] == "not a task; it has lift, place"


def test_what_was_meant_is_not_looked_for_among_very_many() -> None:
    """Up to so many it is found."""
    known = [f"task{at}" for at in range(MOST_ALIKE)]

    assert nearest("tusk7", known) is not None
    assert nearest("tusk7", [*known, "one more"]) is None
