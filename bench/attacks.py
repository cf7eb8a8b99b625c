"""What each attack of the corpus does to everybody else: `python -m bench attacks`."""

import time

from tests.attacks.attacks import ATTACKS
from tests.attacks.watch import target, watched


def measure_attacks() -> None:
    """Print a row for each attack, against a server with its own settings but for the time of a head."""
    head = ("attack", "answered", "took, s", "web grew, MiB", "largest reader, MiB", "/healthz waited, s")
    print("|", " | ".join((*head, "a page waited, s", "a server beside waited, s")), "|")
    print("|---" * (len(head) + 2) + "|")
    with target(PLUMBLINE_HEAD_TIMEOUT_S="2") as victim:
        for name, (attack, _) in ATTACKS.items():
            began = time.monotonic()
            with watched(victim) as harm:
                statuses = attack(victim)
            taken = time.monotonic() - began
            waits = f"{harm.longest_s['health']:.2f} | {harm.longest_s['page']:.2f} | {harm.longest_beside_s:.2f}"
            answered = ", ".join(map(str, statuses)) or "nothing"
            print(f"| {name} | {answered} | {taken:.1f} | {harm.growth_mib:.0f} | {harm.reader_mib:.0f} | {waits} |")
