"""What a board says of runs that are nearly another's, and of runs that were begun too early, over HTTP."""

import html
import zlib
from typing import Any

import httpx2
import pytest

from app.boards.provenance import COPIED
from app.store import benchmark_rows, preregs
from tests.cases import grids
from tests.fixtures import Site

TASKS = [f"t{at:02}" for at in range(12)]
MANIFEST = f"""
schema_version: 1
slug: SLUG
title: Copies
evidence: evaluation_summary
columns: {{entrant: model, task: task, leaked: null}}
metrics: {{error: {{direction: minimize, min: 0}}}}
tasks: [{", ".join(f"{{id: {task}}}" for task in TASKS)}]
leaderboards:
  - {{name: board, method: mean, metric: error, missing: drop}}
"""
PAGE = {"Accept": "text/html"}


def errors(entrant: str, lower_by: float = 0.0) -> bytes:
    """Return an error for each task, in many digits, of a leader."""
    of_task = [1 + zlib.crc32(task.encode()) / 2**32 - lower_by for task in TASKS]
    rows = [f"{entrant},{task},{error!r}" for task, error in zip(TASKS, of_task, strict=True)]
    return "\n".join(["model,task,error", *rows, ""]).encode()


def send(site: Site, slug: str, rows: bytes, who: str = "bob", **fields: str) -> dict[str, Any]:
    """Submit rows and return the answer."""
    address = f"/benchmarks/{slug}/submissions"
    answer: httpx2.Response = site.http.post(
        address, files=[("files", ("r.csv", rows))], data=fields, headers=site.auth(who)
    )
    return dict(answer.json())


def warned(answer: dict[str, Any]) -> dict[str, str]:
    """Return the warnings of a submission, by rule."""
    return {each["rule"]: each["reason"] for each in answer["checks"] if each["outcome"] == "warned"}


def flags(site: Site, slug: str) -> dict[str, str | None]:
    """Return the flags on the rows of the board."""
    site.work()
    rows = site.http.get(f"/benchmarks/{slug}/leaderboards/board.json").json()["rows"]
    return {row["entrant"]: row["flags"] for row in rows}


@pytest.fixture(scope="module")
def site(shared_site: Site) -> Site:
    """One site for all of them: each makes a benchmark of its own."""
    return shared_site


def test_a_copy_of_the_leader_with_a_little_noise_is_flagged_on_its_row(site: Site) -> None:
    """It leads by a millionth; whose rows it has nearly is said when it arrives, and the leader has no flag."""
    slug = grids.declare(site, MANIFEST, None)
    send(site, slug, errors("leader"), "alice")
    site.work()
    answer = send(site, slug, errors("copy", lower_by=1e-6))

    assert "copy agrees with leader to a thousandth in 100% of the compared rows" in warned(answer)["near_rows"]
    assert flags(site, slug) == {"leader": None, "copy": "near_rows"}
    explored = site.http.get(f"/benchmarks/{slug}/leaderboards/board/explore.json?task=t00&task=t01&task=t02").json()
    assert {row["entrant"]: row["flags"] for row in explored["rows"]} == flags(site, slug)
    assert "Flagged: copy" in " ".join(explored["meta"]["statement"])


def test_copies_that_are_sent_at_once_are_compared_with_each_other(site: Site) -> None:
    """Nothing was evaluated between them, so none of them is current yet."""
    slug = grids.declare(site, MANIFEST, None)
    answers = [send(site, slug, errors(f"clone-{at}", lower_by=at * 1e-6), "bob") for at in range(3)]

    assert ["near_rows" in warned(answer) for answer in answers] == [False, True, True]
    assert flags(site, slug) == {"clone-0": None, "clone-1": "near_rows", "clone-2": "near_rows"}


def test_a_new_name_of_who_withdrew_another_is_flagged(site: Site) -> None:
    """Best of several, of which one sees one: the same name would be attempt 3."""
    slug = grids.declare(site, MANIFEST, None)
    for tried in ("first try", "second try"):
        sent = send(site, slug, errors(tried, lower_by=len(tried) / 100))
        site.work()
        site.http.post(f"/submissions/{sent['id']}/withdraw", json={"reason": "bad luck"}, headers=site.auth("bob"))
    answer = send(site, slug, errors("fresh", lower_by=0.2))
    send(site, slug, errors("another's", lower_by=-0.2), "alice")

    assert "fresh, after second try (submission" in warned(answer)["renamed"]
    assert flags(site, slug) == {"fresh": "renamed", "another's": "near_rows"}


def test_a_new_name_that_is_sent_before_the_old_one_is_withdrawn_is_flagged(site: Site) -> None:
    """The order changes nothing; what its owner sent before the withdrawn one has no flag, and nobody else's has."""
    slug = grids.declare(site, MANIFEST, None)
    send(site, slug, errors("older", lower_by=-0.4))
    tried = send(site, slug, errors("tried", lower_by=0.01))
    send(site, slug, errors("fresh", lower_by=0.2))
    send(site, slug, errors("another's", lower_by=-0.2), "alice")
    site.work()
    before = flags(site, slug)
    site.http.post(f"/submissions/{tried['id']}/withdraw", json={"reason": "bad luck"}, headers=site.auth("bob"))

    after = flags(site, slug)
    assert [name for name, said in before.items() if "renamed" in (said or "")] == []
    assert [name for name, said in after.items() if "renamed" in (said or "")] == ["fresh"]


def test_a_later_name_under_a_linked_token_is_flagged_in_words_that_hold_for_both_orders(site: Site) -> None:
    """A steward has said that alice is bob, so her entrant is a later one of an owner who withdrew."""
    slug = grids.declare(site, MANIFEST, None)
    tried = send(site, slug, errors("tried", lower_by=0.01))
    send(site, slug, errors("fresh", lower_by=0.2), "alice")
    site.work()
    order = {"counted_as": "bob", "reason": "one lab"}
    site.http.put(f"/benchmarks/{slug}/owners/alice", json=order, headers=site.auth("steward")).raise_for_status()
    site.http.post(f"/submissions/{tried['id']}/withdraw", json={"reason": "bad luck"}, headers=site.auth("bob"))

    assert flags(site, slug) == {"fresh": "near_rows renamed"}
    page = site.http.get(f"/benchmarks/{slug}/leaderboards/board", headers={"Accept": "text/html"}).text
    assert "A later name of an owner who withdrew an earlier one" in page


def test_a_name_that_looks_like_another_is_flagged_where_ranks_are_read(site: Site) -> None:
    """On the row, and in the sentence that says who is first: most readers never see a check."""
    slug, alike = grids.declare(site, MANIFEST, None), "GP\N{CYRILLIC CAPITAL LETTER TE}-4"
    send(site, slug, errors("GPT-4"), "alice")
    send(site, slug, errors(alike, lower_by=0.5))

    assert flags(site, slug) == {"GPT-4": None, alike: "near_rows lookalikes"}
    assert "a name that looks like another entrant’s, in other letters or marks)." in sentence(site, slug)


def test_a_name_cannot_speak_in_the_sentences_of_a_board(site: Site) -> None:
    """Whoever is called "B. All others are ruled out" would else say so on the board of all."""
    slug, speaking = (
        grids.declare(site, MANIFEST, None),
        "B lead with the same score. All others are ruled out",
    )
    for name in ("A 3.1 Large", speaking):
        send(site, slug, errors(name).replace(speaking.encode(), f'"{speaking}"'.encode()))
    site.work()

    said = sentence(site, slug)
    assert f"A 3.1 Large, “{speaking}” lead with the same score." in said
    assert not any(text.startswith("All others are") for text in grids.board(site, slug)["meta"]["statement"])


def sentence(site: Site, slug: str) -> str:
    """Return the text of the page of the board."""
    return html.unescape(site.http.get(f"/benchmarks/{slug}/leaderboards/board", headers=PAGE).text)


def test_a_run_that_was_refused_for_its_beginning_keeps_that_on_its_row(site: Site) -> None:
    """Sent again without a time, or with one that fits, it is admitted, and readers see what was said first."""
    slug = grids.declare(site, MANIFEST, None)
    prereg = f"benchmark: {slug}\nmetrics: [error]\nentrants: any\ntasks: all\n"
    cited = {"prereg_sha256": site.http.post("/preregs", content=prereg, headers=site.auth("bob")).json()["sha256"]}
    first = send(site, slug, errors("early"), **cited, metadata='{"started_at": "2025-01-01T00:00:00Z"}')
    again = send(site, slug, errors("early"), **cited)

    assert (first["status"], again["status"]) == ("not_admitted", "received")
    assert "early with the same rows in submission" in warned(again)["began_before"]
    assert "begun 2025-01-01 00:00:00 UTC" in warned(again)["began_before"]
    assert "began_before" in str(flags(site, slug)["early"]).split()


def test_a_dry_run_tells_what_the_glossary_says(site: Site) -> None:
    """The flags and the rank of a submission, as often as one likes, so it is not said that it tells nothing."""
    slug = grids.declare(site, MANIFEST, None)
    send(site, slug, errors("leader"), "alice")
    site.work()
    answer = site.http.post(
        f"/benchmarks/{slug}/submissions?dry_run=true",
        files=[("files", ("r.csv", errors("better", 0.1)))],
        headers=site.auth("bob"),
    ).json()
    copied = site.http.post(
        f"/benchmarks/{slug}/submissions?dry_run=true",
        files=[("files", ("r.csv", errors("copy")))],
        headers=site.auth("bob"),
    ).json()
    said = html.unescape(site.http.get("/glossary", headers=PAGE).text)

    assert answer["impact"]["boards"][0]["entrants"][0]["rank"] == 1
    assert warned(copied)
    assert "the checks and flags that a submission would get, and with the rank that it would have" in said
    assert "tell nothing of a score that its sender" not in said


def test_results_that_were_here_under_another_name_are_found_with_a_changed_row(site: Site) -> None:
    """For the claims of who registered after them: one value more or less makes no other evidence of it."""
    slug = grids.declare(site, MANIFEST, None)
    send(site, slug, errors("leader"), "alice")
    send(site, slug, errors("honest", lower_by=0.1), "alice")
    site.work()
    first, last = errors("copy").split(b"\n", 1)[1].split(b"\n", 1)
    send(site, slug, b"model,task,error\ncopy,t00,1.2345678\n" + last)
    site.work()
    with site.sessions() as session:
        benchmark = benchmark_rows.find_benchmark(session, slug)
        found = preregs.first_received(session, benchmark.id, {"leader", "honest", "copy"})

    assert first.startswith(b"copy,t00,")
    assert {name: called for name, (_, called) in found.items()} == {
        "leader": "leader", "honest": "honest", "copy": "leader",
    }  # fmt: skip
    assert found["copy"][0] == found["leader"][0]


def test_who_sends_its_own_rows_again_after_a_thief_has_no_flag(site: Site) -> None:
    """Corrected, and also once the thief has withdrawn."""
    slug = grids.declare(site, MANIFEST, None)
    send(site, slug, errors("leader"), "alice")
    site.work()
    stolen = send(site, slug, errors("thief"))
    site.work()
    lines = errors("leader").decode().splitlines()
    corrected = "\n".join([lines[0], "leader,t00,1.2345678", *lines[2:], ""]).encode()
    answer = send(site, slug, corrected, "alice")

    assert "same_rows" not in warned(answer)
    assert {name: "same_rows" in (own or "") for name, own in flags(site, slug).items()} == {
        "leader": False, "thief": True,
    }  # fmt: skip
    number = stolen["id"]
    site.http.post(f"/submissions/{number}/withdraw", json={"reason": "mine not"}, headers=site.auth("bob"))
    assert flags(site, slug) == {"leader": "other_results"}


def noisy(entrant: str, rows: bytes) -> bytes:
    """Return rows under another name with a noise of two ten thousandths."""
    head, *lines = rows.decode().splitlines()
    cells = [line.split(",") for line in lines]
    values = [float(error) * (1 + (-1) ** at * 2e-4) for at, (_, _, error) in enumerate(cells)]
    return "\n".join(
        [head, *(f"{entrant},{cell[1]},{value!r}" for cell, value in zip(cells, values, strict=True)), ""]
    ).encode()


def corrected(rows: bytes, n: int) -> bytes:
    """Return rows of which the last `n` came out otherwise."""
    head, *lines = rows.decode().splitlines()
    kept, others = lines[: len(lines) - n], lines[len(lines) - n :]
    again = [f"{line.rpartition(',')[0]},{3 - float(line.rpartition(',')[2])!r}" for line in others]
    return "\n".join([head, *kept, *again, ""]).encode()


def renamed(entrant: str, rows: bytes) -> bytes:
    """Return the very rows of a leader under another name."""
    return rows.replace(b"leader,", f"{entrant},".encode())


def copied(answer: dict[str, Any]) -> set[str]:
    """Return the flags of copied rows that a submission raised when it arrived."""
    return COPIED & set(warned(answer))


def test_a_thief_stays_flagged_when_the_copied_one_sends_its_rows_again(site: Site) -> None:
    """A copy with noise is no proof of having been here before the correction; who was copied has no flag."""
    slug = grids.declare(site, MANIFEST, None)
    first, again = errors("leader"), corrected(errors("leader"), 1)
    answers = []
    for rows, who in (
        (first, "alice"), (noisy("thief", first), "bob"), (again, "alice"),
        (noisy("thief", first).replace(b"\n", b" \n"), "bob"), (noisy("thief", again), "bob"), (again + b"\n", "alice"),
    ):  # fmt: skip
        answers.append(send(site, slug, rows, who))
        site.work()

    assert [sorted(copied(answer)) for answer in answers] == [[], ["near_rows"], [], ["near_rows"], ["near_rows"], []]


def test_a_part_that_was_copied_excuses_no_copy_of_all(site: Site) -> None:
    """Sent before the other corrected the rest, and flagged: it is not what its sender had first."""
    slug = grids.declare(site, MANIFEST, None)
    first, again = errors("leader"), corrected(errors("leader"), 7)
    part = b"\n".join([*renamed("thief", first).splitlines()[:6], b""])
    answers = []
    for rows, who in ((first, "alice"), (part, "bob"), (again, "alice"), (renamed("thief", again), "bob")):
        answers.append(send(site, slug, rows, who))
        site.work()

    assert [sorted(copied(answer)) for answer in answers] == [[], ["same_rows"], [], ["same_rows"]]
