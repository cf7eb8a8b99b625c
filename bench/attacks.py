"""What each attack of the corpus does to everybody else: `python -m bench attacks`.

After the corpus come the attacks by owners: as many of them as a server has places less one try to keep everybody else
waiting. What somebody else asks for may take two seconds longer than alone, and a web hook of theirs ten seconds.
"""

import io
import random
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2
import yaml

from app.jobs import notifying
from app.store.notifications import MOST
from bench.pages import PAGE
from bench.server import EXAMPLE, UNLIMITED, headers, settle, submit
from tests.attacks.attacks import ATTACKS
from tests.attacks.watch import ELSEWHERE, target, watched
from tests.cases.listeners import Heard, slow_listener, web_listener
from tests.cases.running_server import RunningServer, fresh_data_dir, running_server

Asking = Callable[[httpx2.Client], int]
ALONE, BESIDE, EVERY_S = 5, 15, 1.0
LONGER_S = 2.0
HOOK_WITHIN_S = 10.0


def measure_attacks() -> None:
    """Print a row for each attack, against a server behind the shipped proxy."""
    head = ("attack", "answered", "took, s", "web grew, MiB", "largest reader, MiB", "/healthz waited, s")
    print("|", " | ".join((*head, "a page waited, s", "a server beside waited, s")), "|")
    print("|---" * (len(head) + 2) + "|")
    with target(behind_proxy=True) as victim:
        for name, (attack, _) in ATTACKS.items():
            began = time.monotonic()
            with watched(victim) as harm:
                statuses = attack(victim)
            taken = time.monotonic() - began
            waits = f"{harm.longest_s['health']:.2f} | {harm.longest_s['page']:.2f} | {harm.longest_beside_s:.2f}"
            answered = ", ".join(map(str, statuses)) or "nothing"
            print(f"| {name} | {answered} | {taken:.1f} | {harm.growth_mib:.0f} | {harm.reader_mib:.0f} | {waits} |")
    measure_owners()
    measure_hooks()


@dataclass(frozen=True)
class Attacked:
    """A server with the benchmark fev-bench and its entrants, and two submitters: who attacks, and somebody else."""

    server: RunningServer
    eve: Mapping[str, str]
    bob: Mapping[str, str]

    def dry_run(self, holder: Mapping[str, str], name: str, content: bytes) -> int:
        """Send a file to be checked, and return the status of the answer."""
        address = f"{self.server.address}/benchmarks/fev-bench/submissions?dry_run=true"
        return httpx2.post(address, files=[("files", (name, content))], headers=holder, timeout=120).status_code

    def explore(self, reader: httpx2.Client) -> int:
        """Ask for a board over 60 of the 100 tasks that nobody has asked for, and return the status."""
        tasks = [("task", name) for name in random.sample(TASKS, 60)]
        return reader.get(f"{self.server.address}{PAGE}/explore.json", params=tasks).status_code


TASKS = [task["id"] for task in yaml.safe_load((EXAMPLE / "manifest.yaml").read_text())["tasks"]]


@contextmanager
def attacked(**settings: str) -> Iterator[Attacked]:
    """Start a server with its own limits on what waits, but none on how much somebody may ask in a minute."""
    manifest = yaml.safe_load((EXAMPLE / "manifest.yaml").read_text()) | {"admission": {"prereg": "optional"}}
    with fresh_data_dir() as data_dir, running_server(data_dir, **UNLIMITED, **settings) as server:
        httpx2.post(f"{server.address}/benchmarks", content=yaml.safe_dump(manifest), headers=headers(server))
        for path in sorted((EXAMPLE / "results").glob("*.csv")):
            settle(server, submit(server, "fev-bench", path.name, path.read_bytes()))
        yield Attacked(server, _token(server, "eve"), _token(server, "bob"))


def _token(server: RunningServer, name: str) -> Mapping[str, str]:
    made = httpx2.post(f"{server.address}/tokens", json={"name": name, "role": "submitter"}, headers=headers(server))
    return {"Authorization": f"Bearer {made.raise_for_status().json()['token']}"}


def one_token_uploads(victim: Attacked) -> tuple[Asking, list[Asking]]:
    """Three files of a million records each in a zip of half a megabyte, on four connections of one token."""
    return _uploads(victim, [victim.eve])


def more_tokens_than_places_upload(victim: Attacked) -> tuple[Asking, list[Asking]]:
    """The same of three tokens that nobody has linked, beside two places."""
    return _uploads(victim, [_token(victim.server, f"eve {number}") for number in range(3)])


def _uploads(victim: Attacked, attackers: Sequence[Mapping[str, str]]) -> tuple[Asking, list[Asking]]:
    record = b'{"model":"A","task":"t","MASE":0.12,"x":{"a":[1,2,3]}},'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.json", b"[" + (record * 1_000_000)[:-1] + b"]")
    rows = sorted((EXAMPLE / "results").glob("*.csv"))[0].read_text().replace("\nAutoARIMA,", "\nBobs,").encode()

    def sending(holder: Mapping[str, str]) -> Asking:
        return lambda _: victim.dry_run(holder, "a.zip", packed.getvalue())

    return (
        lambda _: victim.dry_run(victim.bob, "bobs.csv", rows),
        [sending(holder) for holder in attackers] * 4,
    )


def one_address_explores(victim: Attacked) -> tuple[Asking, list[Asking]]:
    """Ever-new choices on twelve connections of one address."""
    return victim.explore, [victim.explore] * 12


BY_OWNERS: Mapping[str, tuple[Callable[[Attacked], tuple[Asking, list[Asking]]], int, set[int]]] = {
    "uploads: a zip of 3,000,000 records, 4 connections of one token": (one_token_uploads, 200, {413}),
    "uploads: the same zip, 4 connections of each of 3 tokens": (more_tokens_than_places_upload, 200, set()),
    "explored boards: 12 connections of one address": (one_address_explores, 200, {200, 503}),
}
"""Every attack by owners: what somebody else and the attackers ask, and with which statuses these must be answered."""


def measure_owners() -> None:
    """Print how long somebody else waits alone and beside each attack by owners."""
    print("\n| attack, by as many owners as places less one, or as named | somebody else, alone: longest, s "
          "| beside it: longest, s | answered | attackers answered |")  # fmt: skip
    print("|---" * 5 + "|")
    with attacked() as victim:
        for name, (attack, wanted, given) in BY_OWNERS.items():
            asking, attackers = attack(victim)
            alone, _ = _ask(asking, ALONE)
            with _attacking(attackers) as answered:
                beside, statuses = _ask(asking, BESIDE)
            counts = ", ".join(f"{n} × {status}" for status, n in sorted(answered.items()))
            others = ", ".join(f"{n} × {status}" for status, n in sorted(statuses.items()))
            print(f"| {name} | {alone:.2f} | {beside:.2f} | {others} | {counts} |")
            if set(statuses) != {wanted} or not given <= set(answered):
                raise RuntimeError(f"{name}: somebody else was answered {others}, the attackers {counts}")
            if attack is not more_tokens_than_places_upload and beside > alone + LONGER_S:
                raise RuntimeError(f"{name}: somebody else waited {beside - alone:.1f} s longer than alone")


def _ask(asking: Asking, n_times: int) -> tuple[float, Counter[int]]:
    """Ask from another address once a second, and return the longest wait and the statuses."""
    longest, statuses = 0.0, Counter[int]()
    with httpx2.Client(transport=httpx2.HTTPTransport(local_address=ELSEWHERE), timeout=120) as reader:
        for _ in range(n_times):
            began = time.monotonic()
            statuses[asking(reader)] += 1
            longest = max(longest, time.monotonic() - began)
            time.sleep(max(0.0, EVERY_S - time.monotonic() + began))
    return longest, statuses


@contextmanager
def _attacking(attackers: list[Asking]) -> Iterator[Counter[int]]:
    """Have everybody ask again and again while the block runs; the answers are counted."""
    done, answered = threading.Event(), Counter[int]()

    def attack(asking: Asking) -> None:
        with httpx2.Client(timeout=120) as reader:
            while not done.is_set():
                answered[asking(reader)] += 1

    threads = [threading.Thread(target=attack, args=(each,)) for each in attackers]
    for thread in threads:
        thread.start()
    try:
        yield answered
    finally:
        done.set()
        for thread in threads:
            thread.join()


def measure_hooks() -> None:
    """Print how long somebody's hook takes alone, and beside hooks that answer byte by byte and never end."""
    print("\n| attack | somebody else, alone: longest, s | beside it: longest, s | hooks held |")
    print("|---" * 4 + "|")
    with attacked(PLUMBLINE_WEBHOOK_NETWORKS="127.0.0.0/8") as victim, slow_listener() as slow, web_listener() as heard:
        _subscribe(victim, victim.bob, heard.port)
        alone = max(_heard_after(victim, heard, number) for number in range(3))
        for number in range(notifying.PLACES - 1):
            attacker = _token(victim.server, f"eve{number}")
            for _ in range(MOST):
                _subscribe(victim, attacker, slow.port)
            settle(victim.server, _send(victim, attacker, f"Eve{number}"))
        waited = [_heard_after(victim, heard, number) for number in range(3, 3 + BESIDE)]
        n_held = len(slow.bodies)
    name = f"web hooks: {MOST} of each of {notifying.PLACES - 1} tokens that answer a byte every tenth of a second"
    print(f"| {name} | {alone:.1f} | {max(waited):.1f} | {n_held} |")
    if n_held < notifying.PLACES - 1:
        raise RuntimeError(f"only {n_held} attackers were called")
    if max(waited) > HOOK_WITHIN_S:
        raise RuntimeError(f"somebody else's hook came after {max(waited):.1f} s")


def _subscribe(victim: Attacked, holder: Mapping[str, str], port: int) -> None:
    order = {"address": f"http://127.0.0.1:{port}/", "events": ["published"]}
    httpx2.post(f"{victim.server.address}/notifications", json=order, headers=holder).raise_for_status()


def _send(victim: Attacked, holder: Mapping[str, str], entrant: str) -> httpx2.Response:
    rows = sorted((EXAMPLE / "results").glob("*.csv"))[0].read_text().replace("\nAutoARIMA,", f"\n{entrant},").encode()
    address = f"{victim.server.address}/benchmarks/fev-bench/submissions"
    return httpx2.post(address, files=[("files", ("r.csv", rows))], headers=holder, timeout=120).raise_for_status()


def _heard_after(victim: Attacked, heard: Heard, number: int) -> float:
    """Send a submission and return how long after its publication its hook arrives, in seconds."""
    before = len(heard.bodies)
    settle(victim.server, _send(victim, victim.bob, f"Bob{number}"))
    began = time.monotonic()
    while len(heard.bodies) == before and time.monotonic() - began < 6 * HOOK_WITHIN_S:
        time.sleep(0.05)
    return time.monotonic() - began
