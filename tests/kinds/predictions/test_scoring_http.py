"""Private labels over HTTP: parts, quotas, the ladder and the close."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, text

from app.db.models import LabelAttempt
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.store.benchmarks import find_declared
from app.store.disclosed import look_up_quota
from tests.cases.secret_labels import SLUG, begin, board, checks, knowing, manifest, send, truth, words
from tests.cases.ydf_http import records
from tests.fixtures import Site

N_ITEMS = 120
ALICE = 1


def shown(site: Site, entrant: str = "A") -> float:
    """Publish, and return what the board says of an entrant's accuracy."""
    site.work()
    return float(board(site)[entrant]["accuracy"])


def test_only_what_is_better_is_shown_in_steps_of_the_public_part(site: Site) -> None:
    """Of three submissions of an entrant the better second is shown and after a worse third still is; another worse
    entrant of the owner stands there without a number and without a report. Somebody else has a ladder of its own. The
    same again is shown again, and a claim is never compared: whoever is told that 0.8 is wrong has been told something.
    """
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.25, per_day: 10", ("accuracy", "auc", "logloss")), words(labels))
    claim = '{"A": {"accuracy": 0.1}}'
    first = send(site, knowing(labels, 0.6, 6), claims=claim).json()["id"]
    before = shown(site)
    second = send(site, knowing(labels, 0.95)).json()["id"]
    better = shown(site)
    send(site, knowing(labels, 0.5, 9))
    worse = send(site, knowing(labels, 0.55, 8), "B").json()["id"]
    again = send(site, knowing(labels, 0.95), "C").json()["id"]
    send(site, knowing(labels, 0.6, 6), "D", "bob")
    repeated, rows = shown(site), board(site)
    chosen = records(site, f"/benchmarks/{SLUG}/leaderboards/board/explore.csv?entrant=A&entrant=B")
    reports = [site.http.get(f"/submissions/{n}/tables/intervals.csv").status_code for n in (second, worse, again)]
    (told,) = [
        row for row in site.http.get(f"/benchmarks/{SLUG}/disclosed.json", headers=site.auth("steward")).json()["rows"]
        if row["owner"] == "alice"
    ]  # fmt: skip

    assert before < better == repeated
    assert {row["n_items"] for row in rows.values() if row["accuracy"]} == {"30"}
    for name in ("accuracy", "accuracy_calibrated_low", "accuracy_calibrated_high"):
        steps = float(rows["A"][name]) / 0.05
        assert abs(steps - round(steps)) < 1e-9, (name, rows["A"][name])
    assert (rows["B"]["rank"], rows["B"]["accuracy"]) == ("", "")
    assert rows["C"]["accuracy"] == rows["A"]["accuracy"]
    assert 0.0 < float(rows["D"]["accuracy"]) < better
    assert [checks(site, n)["ladder"][0] for n in (second, worse)] == ["passed", "warned"]
    assert reports == [200, 404, 200]
    assert {row["entrant"]: row["accuracy"] for row in chosen} == {"A": rows["A"]["accuracy"], "B": ""}
    assert checks(site, first)["claims"][0] == "warned"
    assert (told["n_attempts"], told["n_answers"], told["n_shown"]) == (5, 5, 3)
    assert (told["n_numbers"] > 10, told["bits_at_most"]) == (True, 30.0)
    for headers, status in (({}, 401), (site.auth(), 403), (site.auth("bob"), 403)):
        assert site.http.get(f"/benchmarks/{SLUG}/disclosed.json", headers=headers).status_code == status


def test_the_quota_of_an_owner_is_spent_over_all_entrants_and_comes_back_after_a_day(site: Site) -> None:
    """A dry run tells it and spends none; beyond it 429 says when the next is possible, to a dry run too, and others
    have their own. A withdrawal gives no attempt back; twenty-four hours less a minute still count, a minute more not.
    """
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 2"), words(labels))
    for _ in range(3):
        dry = send(site, knowing(labels, 0.9), query="?dry_run=true").json()
    quota = {check["rule"]: check for check in dry["checks"]}["quota"]
    answers = [send(site, knowing(labels, 0.5 + at / 10, at), f"E{at}") for at in range(3)]
    spent = send(site, knowing(labels, 0.7), query="?dry_run=true")
    withdraw = f"/submissions/{answers[0].json()['id']}/withdraw"

    assert (quota["outcome"], quota["reason"]) == (
        "passed", "Scored submission 1 of 2 that an owner has in any 24 hours."
    )  # fmt: skip
    assert [answer.status_code for answer in (*answers, spent)] == [202, 202, 429, 429]
    assert 86_000 < int(answers[2].headers["retry-after"]) <= 86_400
    assert "The next one is possible at" in answers[2].json()["detail"]
    assert send(site, knowing(labels, 0.5), "F", "bob").status_code == 202
    assert site.http.post(withdraw, json={"reason": "mistake"}, headers=site.auth()).status_code == 200
    assert send(site, knowing(labels, 0.9)).status_code == 429
    later = [_after(site, minutes, knowing(labels, 0.6)) for minutes in (24 * 60 - 1, 2)]
    assert [answer.status_code for answer in later] == [429, 202]
    assert 0 < int(later[0].headers["retry-after"]) <= 60


def _after(site: Site, minutes: int, predicted: list[float]) -> Any:
    with site.as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        moved = f"UPDATE label_attempt SET at = at - interval '{minutes} minutes'"  # noqa: S608 - a number of ours
        session.execute(text(moved))
    return send(site, predicted, "B")


def test_the_next_attempt_is_possible_when_one_of_those_that_count_is_a_day_old(site: Site) -> None:
    """Of three attempts under a quota lowered to two since, the second decides: the first and the third do not."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 3"), words(labels))
    for at in range(3):
        assert send(site, knowing(labels, 0.5, at), f"E{at}").status_code == 202
    lowered = site.http.put(f"/benchmarks/{SLUG}", content=manifest("per_day: 2"), headers=site.auth("steward"))
    with site.sessions() as session:
        attempts = list(session.scalars(select(LabelAttempt.at).order_by(LabelAttempt.at)))
        quota = look_up_quota(session, find_declared(session, SLUG), ALICE)

    assert lowered.status_code == 200, lowered.text
    assert quota is not None
    assert (quota.n_used, quota.next_at) == (3, attempts[1] + timedelta(hours=24))


def test_submissions_at_the_same_instant_share_one_quota(site: Site) -> None:
    """Eight at once, of which three are taken."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 3"), words(labels))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda at: send(site, knowing(labels, 0.5, at), f"E{at}").status_code, range(8)))

    assert sorted(answers) == [202] * 3 + [429] * 5


def test_a_debug_run_is_an_attempt_with_a_ladder(site: Site) -> None:
    """It shows what a leaderboard run would, and what it showed must be beaten. More entrants than allowed are refused
    whatever the run is for: one of a hundred entrants would be a hundred answers.
    """
    labels = truth(60)
    begin(site, manifest("per_day: 2, entrants_per_submission: 2"), words(labels))
    plan = f"benchmark: {SLUG}\nrun_purpose: debug\nmetrics: [accuracy]\ntasks: all\n".encode()
    site.http.post("/preregs", content=plan, headers=site.auth())
    prereg = [("prereg", ("p.yaml", plan))]
    rows = [f"{name},i{at:04},0.5" for name in "ABC" for at in range(60)]
    content = "\n".join(["entrant,item,prediction", *rows])
    many = site.http.post(
        f"/benchmarks/{SLUG}/submissions", files=[("files", ("p.csv", content)), *prereg], headers=site.auth()
    )
    first = send(site, knowing(labels, 0.9), files=prereg).json()["id"]
    second = send(site, knowing(labels, 0.6, 6), "B", files=prereg).json()["id"]
    site.work()

    assert many.status_code == 422
    assert "3 entrants; at most 2" in many.json()["problems"][0]["message"]
    assert site.http.get(f"/submissions/{first}/tables/intervals.csv").status_code == 200
    assert site.http.get(f"/submissions/{second}/tables/intervals.csv").status_code == 404
    assert checks(site, second)["ladder"][0] == "warned"
    assert send(site, knowing(labels, 0.9), "C").status_code == 429


def test_a_steward_who_knows_the_labels_has_no_quota(site: Site) -> None:
    """References are shown as they come, without a rank; the part and the digits are those of everybody."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 1, public_share: 0.25"), words(labels))
    for at, share in enumerate((0.9, 0.7, 0.5)):
        assert send(site, knowing(labels, share, at), f"E{at}", "steward").status_code == 202
    site.work()
    rows = board(site)

    assert {row["n_items"] for row in rows.values()} == {"30"}
    assert all(row["accuracy"] and not row["rank"] for row in rows.values())


def test_values_and_their_reports_are_rounded_too(site: Site) -> None:
    """No residual, bin or error in more digits than the part allows."""
    rng = np.random.default_rng(8)
    labels = np.round(rng.normal(50, 9, N_ITEMS), 6)
    begin(site, manifest(None, ("rmse",), "kind: regression"), labels.tolist())
    send(site, (labels + rng.normal(size=N_ITEMS)).round(3).tolist())
    site.work()
    text = site.http.get("/submissions/1/tables/conditional.csv").text

    assert max(len(cell.partition(".")[2]) for line in text.splitlines()[1:] for cell in line.split(",")) <= 2


def test_public_labels_and_scoring_contradict_each_other() -> None:
    """And every wrong value of a rule is named."""
    for part, scoring, said in (
        ("labels: public", "per_day: 3", "is about labels that are a secret"),
        (
            "labels: private",
            "per_day: 0, ladder: perhaps, digits: 9, public_share: 2, closes_at: tomorrow",
            "closes_at",
        ),
    ):
        with pytest.raises(ManifestRejected) as refused:
            parse_manifest(manifest(scoring).replace("labels: private", part).encode())
        assert said in str(refused.value.problems)


def test_the_public_share_stays_as_it_was_declared(site: Site) -> None:
    """What was shown cannot be taken back, and more would be shown than was promised."""
    begin(site, manifest("public_share: 0.25"), words(truth(N_ITEMS)))
    wider = site.http.put(f"/benchmarks/{SLUG}", content=manifest("public_share: 0.9"), headers=site.auth("steward"))

    assert (wider.status_code, "public share" in wider.text) == (409, True)


def test_linked_tokens_share_a_quota_and_a_best(site: Site) -> None:
    """A second token would be a second quota."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 2"), words(labels))
    order = {"counted_as": "alice", "reason": "the same person"}
    linked = site.http.put(f"/benchmarks/{SLUG}/owners/bob", json=order, headers=site.auth("steward"))
    send(site, knowing(labels, 0.9))
    second = send(site, knowing(labels, 0.6, 6), "B", "bob").json()["id"]
    third = send(site, knowing(labels, 0.7, 7), "C", "bob")
    site.work()

    assert linked.status_code == 200
    assert checks(site, second)["ladder"][0] == "warned"
    assert third.status_code == 429
