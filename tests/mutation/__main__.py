"""Change the code a little, many times, and see whether a test notices: `make mutate`.

mutmut makes the mutants and runs them; it takes names, not a sample, so the sample is drawn here, by a seed that is in
the repository. Everything that no test killed counts as a survivor: what no test reaches, what ran out of time, what
was skipped.

There are three parts, each with its own table in pyproject.toml. A mutant within a loop that numba compiles is seen
only where the loop runs as Python, and everything else would take hours there: `loops` are the modules of such loops,
uncompiled, with the tests of the statistics and the examples. `others` are the other modules of the pure rooms, with
the tests that need no database. `door` are rights, receiving and private labels, which only tests over HTTP with a
database decide; in a last part, `again`, those tests meet whatever survived in the first two.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from multiprocessing import cpu_count
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MUTANTS = ROOT / "mutants"
SEED = 20_260_101
N_MUTANTS = 500
KILLED = {1, -11}
"""What pytest ends with when a test failed; and where the process itself crashed. An error of its own, 3, is none."""
STATUS: Mapping[int | None, str] = {None: "not run", 0: "survived", 5: "no tests", 33: "no tests", 36: "timeout",
                                    -24: "timeout", -9: "timeout"}  # fmt: skip

GENERATE = (
    "from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths;"
    "from pathlib import Path; Path('mutants').mkdir(exist_ok=True);"
    "copy_src_dir(); copy_also_copy_files(); setup_source_paths(); create_mutants({n_processes})"
)

# Not -m, by which mutmut would import itself twice.
MUTMUT = "from mutmut.__main__ import cli; cli()"


@dataclass(frozen=True)
class Part:
    """Mutants that are run alike: by which table of pyproject.toml, and whether loops are compiled."""

    name: str
    table: str
    compiles: bool
    modules: Sequence[str] = ()
    """Instead of those of the table."""

    @property
    def folder(self) -> Path:
        """Where mutmut works: a folder that looks like the repository."""
        return MUTANTS / self.name

    def prepare(self, n_processes: int) -> None:
        """Link the repository into the folder, with the part's own settings, and make the mutants."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for path in tracked():
            link = self.folder / path.name
            if path.name != "pyproject.toml" and not link.is_symlink():
                link.symlink_to(path, target_is_directory=path.is_dir())
        (self.folder / "pyproject.toml").write_text(self.settings())
        self.run("-c", GENERATE.format(n_processes=n_processes))

    def settings(self) -> str:
        """Return pyproject.toml with the part's table as the one that mutmut reads."""
        text = (ROOT / "pyproject.toml").read_text("utf-8")
        if self.table != "mutmut":
            text = text.replace("[tool.mutmut]", "[tool.mutmut_other]").replace(f"[tool.{self.table}]", "[tool.mutmut]")
        if self.modules:
            before, table = text.split("[tool.mutmut]", 1)
            table = re.sub("(?m)^only_mutate = .*$", f"only_mutate = {json.dumps(self.modules)}", table, count=1)
            text = f"{before}[tool.mutmut]{table}"
        copied = [path.name for path in tracked() if path.name not in {"app", "tests", "pyproject.toml"}]
        text = text.replace('"everything"', json.dumps(copied)[1:-1])
        return text.replace('"compiled:app/stats/*"', ", ".join(f'"{path}"' for path in compiling()))

    def run(self, *arguments: str) -> None:
        """Run Python in the folder; Ctrl-C and errors end everything."""
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "0" if self.compiles else "1"}
        subprocess.run([sys.executable, *arguments], cwd=self.folder, env=environment, check=True)

    def outcomes(self) -> dict[str, int | None]:
        """Return the exit code of every mutant by its name, None for one that has not run."""
        codes: dict[str, int | None] = {}
        for path in sorted((self.folder / "mutants").rglob("*.meta")):
            codes |= json.loads(path.read_text())["exit_code_by_key"]
        return codes


def compiling() -> list[str]:
    """Return the modules of the statistics with loops that numba compiles, where no mutant would be seen."""
    imports = re.compile(r"import .*\bcompiled\b")
    modules = sorted((ROOT / "app" / "stats").glob("*.py"))
    return [
        str(path.relative_to(ROOT))
        for path in modules
        if path.stem.endswith("_loops") or imports.search(path.read_text("utf-8"))
    ]


DOOR = Part("door", "mutmut_door", compiles=True)
PARTS = (Part("loops", "mutmut_loops", compiles=False), Part("others", "mutmut", compiles=True), DOOR)


def main() -> None:
    """Draw a sample, run it and say which mutants live on; the exit code is 1 below the given share of killed ones."""
    asked = arguments()
    started_at = time.monotonic()
    if not asked.resume:
        shutil.rmtree(MUTANTS, ignore_errors=True)
    parts = [part for part in PARTS if part.name in asked.parts]
    for part in parts:
        part.prepare(asked.processes)
    every = {name for part in parts for name in part.outcomes() if name.startswith(tuple(asked.within))}
    names = sample(every, asked.number, asked.seed)
    survivors: dict[str, int | None] = dict.fromkeys(names)
    for part in parts:
        survivors = run_waiting(part, survivors, asked.processes)
    if DOOR in parts and (modules := modules_of([name for name in survivors if name not in DOOR.outcomes()])):
        again = replace(DOOR, name="again", modules=modules)
        again.prepare(asked.processes)
        survivors = run_waiting(again, survivors, asked.processes)
    report(survivors, len(names), asked.seed, time.monotonic() - started_at)
    sys.exit(1 - len(survivors) / len(names) < asked.at_least)


def arguments() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description="Mutation tests.")
    known = [part.name for part in PARTS]
    parser.add_argument("--parts", nargs="+", choices=known, default=known, help="which of them (%(default)s)")
    parser.add_argument("--within", nargs="+", default=["app."], help="modules, by how their names begin (%(default)s)")
    parser.add_argument("--number", type=int, default=N_MUTANTS, help="how many mutants (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sample (%(default)s)")
    parser.add_argument("--processes", type=int, default=cpu_count(), help="at once (%(default)s)")
    parser.add_argument("--at-least", type=float, default=0.0, help="the share that must be killed (%(default)s)")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped, as its code was")
    return parser.parse_args()


def tracked() -> list[Path]:
    """Return what is at the root of the repository, apart from what tools keep there."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in sorted({path.partition("/")[0] for path in listed.splitlines()})]


def run_waiting(part: Part, survivors: Mapping[str, int | None], n_processes: int) -> dict[str, int | None]:
    """Run those of the mutants that are the part's and have not run; return those that live on, with exit codes."""
    codes = part.outcomes()
    if waiting := [name for name in survivors if name in codes and codes[name] is None]:
        part.run("-c", MUTMUT, "run", f"--max-children={n_processes}", *waiting)
    ran = {name: code for name, code in part.outcomes().items() if name in survivors}
    return {name: code for name, code in {**survivors, **ran}.items() if code not in KILLED}


def modules_of(names: Collection[str]) -> Sequence[str]:
    """Return the files of mutants, app/kinds/nouns.py of app.kinds.nouns.x_say__mutmut_3; none of compiled loops."""
    return sorted({f"{name.rpartition('.')[0].replace('.', '/')}.py" for name in names} - set(compiling()))


def sample(names: Collection[str], number: int, seed: int) -> Sequence[str]:
    """Return this many names, those with the smallest hashes of seed and name.

    A change of one function draws other mutants of that function alone, and a larger number includes a smaller one's.
    """
    return sorted(sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())[:number])


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
