"""Change the pure rooms a little, many times, and see whether a test notices: `make mutate`.

mutmut makes the mutants and runs them; it takes names, not a sample, so the sample is drawn here, by a seed that is in
the repository. Everything that no test killed counts as a survivor: what no test reaches, what ran out of time, what
was skipped. Compiled loops run uncompiled, or a mutant of theirs would be hidden by the cache of the compiler.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from multiprocessing import cpu_count
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MUTANTS = ROOT / "mutants"
SEED = 20_260_101
N_MUTANTS = 500
KILLED = {1, 3}
"""What pytest ends with when a test failed, or could not even be set up."""
STATUS: Mapping[int | None, str] = {None: "not run", 0: "survived", 5: "no tests", 33: "no tests", 36: "timeout"}

GENERATE = (
    "from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths;"
    "from pathlib import Path; Path('mutants').mkdir(exist_ok=True);"
    "copy_src_dir(); copy_also_copy_files(); setup_source_paths(); create_mutants({n_processes})"
)

# Not -m, by which mutmut would import itself twice.
MUTMUT = "from mutmut.__main__ import cli; cli()"


def main() -> None:
    """Draw a sample, run it and say which mutants live on; the exit code is 1 below the given share of killed ones."""
    asked = arguments()
    started_at = time.monotonic()
    run(sys.executable, "-c", GENERATE.format(n_processes=asked.processes))
    names = sample(outcomes(), asked.number, asked.seed)
    run(sys.executable, "-c", MUTMUT, "run", f"--max-children={asked.processes}", *names)
    found = outcomes()
    survivors = {name: found[name] for name in names if found[name] not in KILLED}
    report(survivors, len(names), asked.seed, time.monotonic() - started_at)
    sys.exit(1 - len(survivors) / len(names) < asked.at_least)


def arguments() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description="Mutation tests of the pure rooms.")
    parser.add_argument("--number", type=int, default=N_MUTANTS, help="how many mutants (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sample (%(default)s)")
    parser.add_argument("--processes", type=int, default=cpu_count(), help="at once (%(default)s)")
    parser.add_argument("--at-least", type=float, default=0.0, help="the share that must be killed (%(default)s)")
    return parser.parse_args()


def run(*command: str) -> None:
    """Run a step in the repository; Ctrl-C and errors end everything."""
    subprocess.run(command, cwd=ROOT, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=True)


def outcomes() -> dict[str, int | None]:
    """Return the exit code of every mutant by its name, None for one that has not run."""
    found: dict[str, int | None] = {}
    for path in sorted(MUTANTS.rglob("*.meta")):
        found |= json.loads(path.read_text())["exit_code_by_key"]
    return found


def sample(names: Mapping[str, object], number: int, seed: int) -> Sequence[str]:
    """Return this many names, the same ones for the same seed and the same code."""
    return sorted(random.Random(seed).sample(sorted(names), min(number, len(names))))


def report(survivors: Mapping[str, int | None], n_mutants: int, seed: int, took_s: float) -> None:
    """Say what lives on and why, and the share that was killed."""
    for name, code in sorted(survivors.items()):
        print(f"{STATUS.get(code, f'exit code {code}'):9}  {name}")
    counts = Counter(STATUS.get(code, "other") for code in survivors.values())
    killed = n_mutants - len(survivors)
    print(
        f"{killed} of {n_mutants} mutants killed ({killed / n_mutants:.1%}), seed {seed}, in {took_s / 60:.1f} minutes"
    )
    print(f"Living: {dict(counts)}. One of them in full: .venv/bin/mutmut show NAME")


if __name__ == "__main__":
    main()
