"""A bug is never somebody's fault: who breaks a board alone is set aside, who breaks it beside others is not blamed."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from app.boards import evidence as evidences
from app.boards.measured import MeasuredMethod, Measurement
from app.boards.methods.estimate import METHOD
from app.jobs import publish, refresh
from app.store import benchmark_rows
from tests.cases.publications import CLASSES, predictions
from tests.fixtures import Site

HONEST = "item,prediction,label\n" + "".join(f"i{n},{0.2 + 0.03 * n:.2f},{('no', 'yes')[n % 2]}\n" for n in range(20))
ONE_ROW = "item,prediction,label\ni0,0.1,no\n"
BUG = "tuple index out of range"
SECRETS = ("IndexError", BUG, "Traceback")

Breaks = Callable[[Sequence[bool]], bool]
"""Whether a board breaks, by whether each of its entrants is right everywhere, as those of one row are."""


def alone(perfect: Sequence[bool]) -> bool:
    """Break wherever one of one row is."""
    return any(perfect)


def together(perfect: Sequence[bool]) -> bool:
    """Break only where one of one row is beside an honest one."""
    return any(perfect) and not all(perfect)


def always(perfect: Sequence[bool]) -> bool:
    """Break whoever is there."""
    return True


def alone_and_honest_pairs(perfect: Sequence[bool]) -> bool:
    """Break wherever one of one row is, and by another bug wherever two honest ones are."""
    return any(perfect) or perfect.count(False) > 1


ARRIVALS = pytest.mark.parametrize(
    ("first", "n_honest", "n_odd"),
    [
        ("odd", 1, 1),
        ("honest", 2, 1),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("honest", 3, 10), ("odd", 3, 6))),
    ],
)


@pytest.fixture
def break_boards(monkeypatch: pytest.MonkeyPatch) -> Callable[[Breaks | None], None]:
    """Return how a bug gets into the ranking of boards, and out again."""
    real = evidences.measured_method

    def inject(breaks: Breaks | None) -> None:
        def assemble(manifest: Any, spec: Any, measurements: Sequence[Measurement], evidence: Any) -> Any:
            if breaks and breaks([each.estimates["accuracy"].point == 1.0 for each in measurements]):
                raise IndexError(BUG)
            return METHOD.assemble(manifest, spec, measurements, evidence)

        broken = MeasuredMethod(METHOD.spec, assemble)
        monkeypatch.setattr(evidences, "measured_method", lambda spec: real(spec) and broken)

    return inject


def declare(site: Site) -> None:
    """Make a benchmark whose submitters bring their labels."""
    part = CLASSES[0].replace(", missing: failure", ", labels: submitted")
    manifest = predictions(part, "accuracy").replace("SLUG", "guess")
    assert site.http.post("/benchmarks", content=manifest, headers=site.auth("steward")).status_code == 201


def arrive(site: Site, content: str, who: str, *names: str) -> list[int]:
    """Send a file for each of some entrants, publish after each, and return the submissions."""
    numbers = []
    for name in names:
        sent = site.http.post(
            "/benchmarks/guess/submissions",
            files=[("files", ("r.csv", content))],
            data={"entrant": name},
            headers=site.auth(who),
        )
        assert sent.status_code == 202, sent.text
        numbers.append(sent.json()["id"])
        site.work()
    return numbers


def names(word: str, n: int) -> list[str]:
    """Return names of entrants."""
    return [f"{word}{at}" for at in range(n)]


def shown(site: Site) -> Any:
    """Return the board."""
    return site.http.get("/benchmarks/guess/leaderboards/b0.json").json()


def entrants(site: Site) -> list[str]:
    """Return who is on the board."""
    return sorted(row["entrant"] for row in shown(site)["rows"])


def health(site: Site, who: str = "admin") -> list[tuple[str, int | None]]:
    """Return what faults cost by the page of health."""
    rows = site.http.get("/health.json", headers=site.auth(who)).json()["rows"]
    return [(row["what"], row["submission"]) for row in rows if row["what"].startswith("fault")]


def figure(site: Site, what: str) -> float:
    """Return how often faults cost this now, by /metrics."""
    lines = site.http.get("/metrics").text.splitlines()
    (value,) = [line.split()[-1] for line in lines if line.startswith(f'plumbline_faults{{what="{what}"}}')]
    return float(value)


def check_nothing_is_told(site: Site, numbers: Sequence[int]) -> None:
    """No page, receipt or JSON that the public, a submitter or a steward reads has the exception; the admin's has."""
    paths = [
        "/benchmarks/guess",
        "/benchmarks/guess/leaderboards/b0",
        *(f"/submissions/{number}" for number in numbers),
    ]
    for path in (*paths, *(f"{path}.json" for path in paths), "/health", "/health.json", "/metrics"):
        for who in ("alice", "steward"):
            text = site.http.get(path, headers=site.auth(who)).text
            assert not [word for word in SECRETS if word in text], (path, who)
    assert BUG in site.http.get("/health.json", headers=site.auth("admin")).text


@ARRIVALS
def test_who_breaks_a_board_alone_is_set_aside_whoever_came_first(
    roomy_site: Site, break_boards: Callable[..., None], first: str, n_honest: int, n_odd: int
) -> None:
    """The honest are all there, the others named with the number of the fault, and whoever runs the server is told."""
    break_boards(alone)
    declare(roomy_site)
    honest, odd = names("Honest", n_honest), names("Odd", n_odd)
    arrivals = [(HONEST, "alice", honest), (ONE_ROW, "bob", odd)]
    numbers = {}
    for content, who, of in arrivals if first == "honest" else reversed(arrivals):
        numbers[who] = arrive(roomy_site, content, who, *of)
    board = shown(roomy_site)

    assert entrants(roomy_site) == honest
    assert sorted(fact["entrant"] for fact in board["meta"]["set_aside"]) == sorted(odd)
    assert "last_good" not in board["meta"]
    assert sorted(health(roomy_site)) == [("fault: set aside on a board", number) for number in numbers["bob"]]
    assert figure(roomy_site, "set aside on a board") == n_odd
    check_nothing_is_told(roomy_site, [*numbers["alice"], *numbers["bob"]])


@ARRIVALS
def test_who_breaks_a_board_only_beside_others_is_not_blamed(
    roomy_site: Site, break_boards: Callable[..., None], first: str, n_honest: int, n_odd: int
) -> None:
    """The last good board is shown on, marked, whoever came first; once the bug is mended everybody is on it."""
    break_boards(together)
    declare(roomy_site)
    honest, odd = names("Honest", n_honest), names("Odd", n_odd)
    arrivals = [(HONEST, "alice", honest), (ONE_ROW, "bob", odd)]
    ordered = arrivals if first == "honest" else arrivals[::-1]
    early = arrive(roomy_site, ordered[0][0], ordered[0][1], *ordered[0][2])
    late = arrive(roomy_site, ordered[1][0], ordered[1][1], *ordered[1][2])
    board = shown(roomy_site)
    page = roomy_site.http.get("/benchmarks/guess/leaderboards/b0", headers={"Accept": "text/html"}).text

    assert entrants(roomy_site) == sorted(ordered[0][2])
    assert "set_aside" not in board["meta"]
    assert board["meta"]["last_good"]["snapshot"] == len(early)
    assert board["notes"][0].startswith("Not recomputed since ")
    assert f"(fault {board['meta']['fault']})" in board["notes"][0]
    assert '<p class="alert">Not recomputed since ' in page
    assert health(roomy_site) == [("fault: board kept", None)]
    assert figure(roomy_site, "board kept") == 1
    assert "not on b0" in roomy_site.http.get(f"/submissions/{late[0]}.json").json()["reason"]
    check_nothing_is_told(roomy_site, [*early, *late])

    break_boards(None)
    arrive(roomy_site, HONEST, "alice", "Next")
    assert entrants(roomy_site) == sorted([*honest, *odd, "Next"])
    assert "last_good" not in shown(roomy_site)["meta"]
    assert (health(roomy_site), figure(roomy_site, "board kept")) == ([], 0)


def withdraw(site: Site, number: int) -> None:
    """Withdraw a submission of alice's and publish."""
    answer = site.http.post(f"/submissions/{number}/withdraw", json={"reason": "wrong"}, headers=site.auth())
    assert answer.status_code < 400, answer.text
    site.work()


def test_withdrawn_evidence_does_not_stay_on_a_board_that_is_kept(
    roomy_site: Site, break_boards: Callable[..., None]
) -> None:
    """The board is computed from what remains of its evidence; where that fails too it is taken down, with why."""
    declare(roomy_site)
    first, second, _ = arrive(roomy_site, HONEST, "alice", *names("Honest", 3))
    break_boards(together)
    arrive(roomy_site, ONE_ROW, "bob", "Odd")
    withdraw(roomy_site, first)
    assert entrants(roomy_site) == ["Honest1", "Honest2"]
    assert shown(roomy_site)["notes"][0].startswith("Without evidence that came after ")

    break_boards(always)
    withdraw(roomy_site, second)
    board = shown(roomy_site)
    assert (board["rows"], board["meta"]["unavailable_reason"]) == ([], "fault")
    assert "has evidence withdrawn since" in board["notes"][0]
    assert health(roomy_site) == [("fault: board missing", None)]

    break_boards(together)
    arrive(roomy_site, HONEST, "alice", "Next")
    assert entrants(roomy_site) == ["Honest2"]


def test_a_worker_of_another_version_computes_anew_what_a_fault_kept(
    roomy_site: Site, break_boards: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever upgrades to where the bug is mended need not wait for a submission; the same version does not try."""
    declare(roomy_site)
    arrive(roomy_site, HONEST, "alice", "Honest")
    break_boards(always)
    arrive(roomy_site, HONEST, "bob", "Next")
    break_boards(None)
    refresh.mark_faulty(roomy_site.sessions)
    roomy_site.work()
    assert entrants(roomy_site) == ["Honest"]

    monkeypatch.setattr(refresh, "code_version", lambda: "another")
    refresh.mark_faulty(roomy_site.sessions)
    roomy_site.work()
    assert entrants(roomy_site) == ["Honest", "Next"]


def test_culprits_are_recorded_where_the_rest_fails_too(roomy_site: Site, break_boards: Callable[..., None]) -> None:
    """The last good board is kept by the second bug; who breaks it alone is named, and on the page of health."""
    declare(roomy_site)
    arrive(roomy_site, HONEST, "alice", *names("Honest", 2))
    break_boards(alone_and_honest_pairs)
    (odd,) = arrive(roomy_site, ONE_ROW, "bob", "Odd")

    assert entrants(roomy_site) == names("Honest", 2)
    assert [fact["submission"] for fact in shown(roomy_site)["meta"]["set_aside"]] == [odd]
    assert sorted(health(roomy_site), key=str) == [("fault: board kept", None), ("fault: set aside on a board", odd)]


def test_a_faulty_snapshot_never_serves_as_the_same(roomy_site: Site, break_boards: Callable[..., None]) -> None:
    """The same inputs are computed again to a snapshot of their own, good or faulty."""
    declare(roomy_site)
    arrive(roomy_site, HONEST, "alice", *names("Honest", 2))
    break_boards(always)
    arrive(roomy_site, HONEST, "bob", "Next")
    assert entrants(roomy_site) == names("Honest", 2)

    for breaks, expected in ((always, names("Honest", 2)), (None, [*names("Honest", 2), "Next"])):
        break_boards(breaks)
        with roomy_site.sessions.begin() as session:
            benchmark_rows.mark_data_changed(session, benchmark_rows.find_benchmark(session, "guess").id)
        roomy_site.work()
        assert entrants(roomy_site) == expected
    snapshots = roomy_site.http.get("/benchmarks/guess/snapshots.json").json()
    assert len(snapshots) == 5


def test_what_another_version_computed_never_serves_as_the_same(
    roomy_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same inputs are the same snapshot for one version of the code, and another one for the next."""
    declare(roomy_site)
    arrive(roomy_site, HONEST, "alice", "Honest")
    numbers = []
    for version in ("one", "one", "another"):
        monkeypatch.setattr(publish, "code_version", lambda said=version: said)
        with roomy_site.sessions.begin() as session:
            benchmark_rows.mark_data_changed(session, benchmark_rows.find_benchmark(session, "guess").id)
        roomy_site.work()
        numbers.append(max(each["number"] for each in roomy_site.http.get("/benchmarks/guess/snapshots.json").json()))

    assert numbers == [2, 2, 3]
