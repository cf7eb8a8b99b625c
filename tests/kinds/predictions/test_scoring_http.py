"""Private labels over HTTP: parts, quotas, the ladder and the close."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
from sqlalchemy import select, text

from app.db.models import LabelAttempt
from app.store.benchmarks import find_declared
from app.store.disclosed import look_up_quota
from tests.cases.secret_labels import SLUG, begin, board, checks, knowing, manifest, send, truth, words
from tests.cases.ydf_http import records
from tests.fixtures import Site

N_ITEMS = 120
ALICE = 1


def test_before_the_close_only_the_public_part_is_scored(site: Site) -> None:
    """Whatever is predicted of private items, the board is the same; it counts the public ones alone."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.25"), words(labels))
    assert send(site, knowing(labels, 0.8)).status_code == 202
    site.work()
    row = board(site)["A"]

    assert row["n_items"] == "30"
    assert row["rank"] == "1"
    assert 0.5 < float(row["accuracy"]) < 1.0


def test_scores_are_no_finer_than_half_their_standard_error(site: Site) -> None:
    """Thirty items: steps of 0.05, in the board, its intervals and the submission's own tables."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.25", ("accuracy", "auc", "logloss")), words(labels))
    send(site, knowing(labels, 0.8))
    site.work()
    row = board(site)["A"]

    for name in ("accuracy", "accuracy_calibrated_low", "accuracy_calibrated_high"):
        steps = float(row[name]) / 0.05
        assert abs(steps - round(steps)) < 1e-9, (name, row[name])


def test_a_worse_entrant_of_the_same_owner_is_held_back(site: Site) -> None:
    """It stands on the board without a number; its submission has no report, and says why."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.5"), words(labels))
    first, second = send(site, knowing(labels, 0.9)).json()["id"], send(site, knowing(labels, 0.6, 6), "B").json()["id"]
    site.work()
    rows = board(site)

    assert (rows["B"]["rank"], rows["B"]["accuracy"]) == ("", "")
    assert checks(site, second)["ladder"][0] == "warned"
    assert checks(site, first)["ladder"][0] == "passed"
    assert site.http.get(f"/submissions/{second}/tables/intervals.csv").status_code == 404
    assert site.http.get(f"/submissions/{first}/tables/intervals.csv").status_code == 200


def test_what_is_not_better_repeats_the_old_score_of_its_entrant(site: Site) -> None:
    """The later submission counts at the close; until then the board says what it said."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.5"), words(labels))
    send(site, knowing(labels, 0.9))
    site.work()
    before = board(site)["A"]
    send(site, knowing(labels, 0.6, 6))
    site.work()

    assert board(site)["A"]["accuracy"] == before["accuracy"]


def test_what_is_better_replaces_what_was_shown_of_its_entrant(site: Site) -> None:
    """Of two submissions that were shown the newer one is on the board, and after a worse third it still is."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.5"), words(labels))
    shown = []
    for share, seed in ((0.6, 6), (0.95, 5), (0.5, 9)):
        send(site, knowing(labels, share, seed))
        site.work()
        shown.append(float(board(site)["A"]["accuracy"]))

    assert shown[0] < shown[1] == shown[2]


def test_another_owner_has_a_ladder_of_its_own(site: Site) -> None:
    """Who is worse than somebody else is shown all the same."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.5"), words(labels))
    send(site, knowing(labels, 0.9))
    send(site, knowing(labels, 0.6, 6), "B", "bob")
    site.work()

    assert float(board(site)["B"]["accuracy"]) < float(board(site)["A"]["accuracy"])


def test_the_quota_of_an_owner_is_spent_over_all_entrants(site: Site) -> None:
    """Beyond it 429 says when the next is possible; nothing is stored, and others have their own."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 2"), words(labels))
    answers = [send(site, knowing(labels, 0.5 + at / 10, at), f"E{at}") for at in range(3)]

    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert 86_000 < int(answers[2].headers["retry-after"]) <= 86_400
    assert "The next one is possible at" in answers[2].json()["detail"]
    assert send(site, knowing(labels, 0.5), "F", "bob").status_code == 202


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


def test_an_attempt_of_a_day_ago_is_given_back_and_not_before(site: Site) -> None:
    """Twenty-four hours less a minute still count; a minute more does not."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 1"), words(labels))
    assert send(site, knowing(labels, 0.5)).status_code == 202
    answers = []
    for minutes in (24 * 60 - 1, 2):
        with site.as_owner() as session:
            session.execute(text("SET LOCAL session_replication_role = replica"))
            moved = f"UPDATE label_attempt SET at = at - interval '{minutes} minutes'"  # noqa: S608 - a number of ours
            session.execute(text(moved))
        answers.append(send(site, knowing(labels, 0.6), "B"))

    assert [answer.status_code for answer in answers] == [429, 202]
    assert 0 < int(answers[0].headers["retry-after"]) <= 60


def test_submissions_at_the_same_instant_share_one_quota(site: Site) -> None:
    """Eight at once, of which three are taken."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 3"), words(labels))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda at: send(site, knowing(labels, 0.5, at), f"E{at}").status_code, range(8)))

    assert sorted(answers) == [202] * 3 + [429] * 5


def test_a_withdrawal_gives_no_attempt_back(site: Site) -> None:
    """Nor does it forget what was shown."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 1"), words(labels))
    number = send(site, knowing(labels, 0.9)).json()["id"]
    site.work()
    reason = {"reason": "mistake"}
    assert site.http.post(f"/submissions/{number}/withdraw", json=reason, headers=site.auth()).status_code == 200

    assert send(site, knowing(labels, 0.9)).status_code == 429


def test_a_dry_run_tells_the_quota_and_spends_none(site: Site) -> None:
    """It yields no score; once all is spent it is refused, as the upload itself."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 1"), words(labels))
    dry = [send(site, knowing(labels, 0.9), query="?dry_run=true").json() for _ in range(3)]
    assert send(site, knowing(labels, 0.9)).status_code == 202
    spent = [send(site, knowing(labels, 0.7), query=query) for query in ("?dry_run=true", "")]

    actual = {check["rule"]: check for check in dry[-1]["checks"]}
    assert actual["quota"]["outcome"] == "passed"
    assert actual["quota"]["reason"] == "Scored submission 1 of 1 that an owner has in any 24 hours."
    assert [answer.status_code for answer in spent] == [429, 429]


def test_more_entrants_than_allowed_are_refused_whatever_the_run_is_for(site: Site) -> None:
    """A debug run of a hundred entrants would be a hundred answers."""
    labels = truth(12)
    begin(site, manifest("entrants_per_submission: 2"), words(labels))
    plan = f"benchmark: {SLUG}\nrun_purpose: debug\nmetrics: [accuracy]\ntasks: all\n".encode()
    site.http.post("/preregs", content=plan, headers=site.auth())
    rows = [f"{name},i{at:04},0.5" for name in "ABC" for at in range(12)]
    content = "\n".join(["entrant,item,prediction", *rows])
    files = [("files", ("p.csv", content)), ("prereg", ("p.yaml", plan))]
    answer = site.http.post(f"/benchmarks/{SLUG}/submissions", files=files, headers=site.auth())

    assert answer.status_code == 422
    assert "3 entrants; at most 2" in answer.json()["problems"][0]["message"]


def test_a_debug_run_is_an_attempt_with_a_ladder(site: Site) -> None:
    """It shows what a leaderboard run would, and what it showed must be beaten."""
    labels = truth(N_ITEMS)
    begin(site, manifest("per_day: 2"), words(labels))
    plan = f"benchmark: {SLUG}\nrun_purpose: debug\nmetrics: [accuracy]\ntasks: all\n".encode()
    site.http.post("/preregs", content=plan, headers=site.auth())
    prereg = [("prereg", ("p.yaml", plan))]
    first = send(site, knowing(labels, 0.9), files=prereg).json()["id"]
    second = send(site, knowing(labels, 0.6, 6), "B", files=prereg).json()["id"]
    site.work()

    assert site.http.get(f"/submissions/{first}/tables/intervals.csv").status_code == 200
    assert site.http.get(f"/submissions/{second}/tables/intervals.csv").status_code == 404
    assert checks(site, second)["ladder"][0] == "warned"
    assert send(site, knowing(labels, 0.9), "C").status_code == 429


def test_the_same_predictions_are_shown_again(site: Site) -> None:
    """A debug run and then the run itself: the same again tells nothing new."""
    labels = truth(N_ITEMS)
    begin(site, manifest(), words(labels))
    send(site, knowing(labels, 0.9))
    send(site, knowing(labels, 0.9), "B")
    site.work()
    rows = board(site)

    assert rows["A"]["accuracy"] == rows["B"]["accuracy"] != ""


def test_a_claim_about_private_labels_is_never_compared(site: Site) -> None:
    """Whoever is told that 0.8 is wrong has been told something."""
    labels = truth(N_ITEMS)
    begin(site, manifest(), words(labels))
    reported = [
        send(site, knowing(labels, 0.9), name, claims=f'{{"{name}": {{"accuracy": {claimed}}}}}').json()["id"]
        for name, claimed in (("A", 0.1), ("B", 0.9))
    ]
    site.work()

    assert [checks(site, number)["claims"][0] for number in reported] == ["warned", "warned"]


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


def test_public_labels_and_scoring_contradict_each_other(site: Site) -> None:
    """And every wrong value of a rule is named."""
    for part, scoring, words_of in (
        ("labels: public", "per_day: 3", "is about labels that are a secret"),
        (
            "labels: private",
            "per_day: 0, ladder: perhaps, digits: 9, public_share: 2, closes_at: tomorrow",
            "closes_at",
        ),
    ):
        text = manifest(scoring).replace("labels: private", part)
        answer = site.http.post("/benchmarks", content=text, headers=site.auth("steward"))
        assert answer.status_code == 422
        assert words_of in answer.text


def test_the_public_share_stays_as_it_was_declared(site: Site) -> None:
    """What was shown cannot be taken back, and more would be shown than was promised."""
    begin(site, manifest("public_share: 0.25"), words(truth(N_ITEMS)))
    wider = site.http.put(f"/benchmarks/{SLUG}", content=manifest("public_share: 0.9"), headers=site.auth("steward"))

    assert (wider.status_code, "public share" in wider.text) == (409, True)


def test_a_steward_sees_what_each_owner_was_told(site: Site) -> None:
    """Attempts, answers, numbers and bits at most, of all tokens of an owner; nobody else sees it."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.5"), words(labels))
    send(site, knowing(labels, 0.9))
    send(site, knowing(labels, 0.6, 6), "B")
    site.work()
    address = f"/benchmarks/{SLUG}/disclosed"
    (row,) = site.http.get(f"{address}.json", headers=site.auth("steward")).json()["rows"]

    assert (row["owner"], row["n_attempts"], row["n_answers"], row["n_shown"]) == ("alice", 2, 2, 1)
    assert row["n_numbers"] > 10
    assert row["bits_at_most"] == 60.0
    assert [site.http.get(f"{address}.json", headers=h).status_code for h in ({}, site.auth(), site.auth("bob"))] == [
        401, 403, 403
    ]  # fmt: skip


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


def test_a_board_of_a_readers_choice_shows_nothing_that_is_held_back(site: Site) -> None:
    """It is computed anew when it is asked for, from what may be shown, in the same steps."""
    labels = truth(N_ITEMS)
    begin(site, manifest("public_share: 0.25"), words(labels))
    send(site, knowing(labels, 0.9))
    send(site, knowing(labels, 0.6, 6), "B")
    send(site, knowing(labels, 0.5, 9))
    site.work()
    chosen = f"/benchmarks/{SLUG}/leaderboards/board/explore.csv?entrant=A&entrant=B"
    rows = {row["entrant"]: row for row in records(site, chosen)}

    assert rows["A"]["accuracy"] == board(site)["A"]["accuracy"]
    assert rows["B"]["accuracy"] == ""
