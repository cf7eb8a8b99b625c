"""How large the image is, where no container engine runs: the Dockerfile's own steps, carried out in root file systems.

    python -m bench.image BASE [FOLDER]     BASE: a root file system with Debian and Python, as debootstrap makes one

As root. What is not a step on files (EXPOSE, HEALTHCHECK, ENTRYPOINT, CMD) is passed over; the size is that of the last
stage as one gzipped archive, which is what a registry keeps of its layers.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIMIT_MB = 350
PORT, MOST_S = 18_473, 300
# Looked for here: the environment of the image need not name the folder.
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"


@dataclass
class Stage:
    """One `FROM`: its root file system, environment, folder and user."""

    root: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"})
    folder: str = "/"

    def run(self, command: str) -> None:
        """Carry out a RUN."""
        step = [CHROOT, self.root, "/bin/sh", "-ec", f"cd {self.folder}\n{command}"]
        subprocess.run(step, env={**registries(), **self.environ}, check=True)

    def copy(self, sources: list[str], target: str, origin: Path) -> None:
        """Carry out a COPY."""
        at = self.root / os.path.join(self.folder, target).lstrip("/")  # noqa: PTH118 - one may be absolute
        for source in sources:
            result = origin / source.lstrip("/")
            into = at / result.name if target.endswith("/") else at
            into.parent.mkdir(parents=True, exist_ok=True)
            if result.is_dir():
                shutil.copytree(
                    result, at, symlinks=True, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copyfile(result, into)


def registries() -> dict[str, str]:
    """Return how pip reaches its registry from here, which a build of an image is told from outside too."""
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_PROXY")}


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile with their arguments, lines joined and comments left out."""
    lines = "\n".join(line for line in dockerfile.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [(word, rest) for line in joined.splitlines() if line.strip() for word, _, rest in [line.partition(" ")]]


def build(base: Path, folder: Path) -> Stage:
    """Carry out the Dockerfile of this repository and return its last stage."""
    stages: dict[str, Stage] = {}
    stage = Stage(base)
    for word, rest in instructions((ROOT / "Dockerfile").read_text("utf-8")):
        if word == "FROM":
            name = rest.partition(" AS ")[2] or "last"
            stage = stages[name] = Stage(folder / name)
            subprocess.run(["cp", "-a", base, stage.root], check=True)
            prepare(stage.root)
        elif word == "ENV":
            stage.environ |= dict(re.findall(r"(\w+)=(\S+)", rest))
        elif word == "WORKDIR":
            stage.folder = rest
        elif word == "RUN":
            stage.run(rest)
        elif word == "COPY":
            origin, *given = rest.split() if rest.startswith("--from=") else ("", *rest.split())
            stage.copy(given[:-1], given[-1], stages[origin.partition("=")[2]].root if origin else ROOT)
    return stage


def prepare(root: Path) -> None:
    """Give a root file system what an engine would: names of hosts, and pip's settings while it builds."""
    for path in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf"):
        if Path(path).exists():
            shutil.copyfile(path, root / path.lstrip("/"))
    given = os.environ.get("PIP_CERT")
    if given and Path(given).exists():
        (root / given.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(given, root / given.lstrip("/"))


@contextmanager
def as_in_an_engine(stage: Stage) -> Iterator[None]:
    """Give the image what an engine gives: the processes and devices of the machine, and a /tmp in memory."""
    given = {"proc": ["--rbind", "/proc"], "dev": ["--rbind", "/dev"], "tmp": ["-t", "tmpfs", "tmpfs"]}
    for at, how in given.items():
        subprocess.run(["mount", *how, stage.root / at], check=True)
    try:
        yield
    finally:
        for at in reversed(given):
            subprocess.run(["umount", "--lazy", stage.root / at], check=True)


def started(stage: Stage) -> float:
    """Return how many seconds pass from nothing to the first /readyz, with the database in the image, as its user."""
    command = [CHROOT, "--userspec=10001:10001", stage.root, "/opt/plumbline/bin/plumbline", "serve"]
    environ = {**stage.environ, "PLUMBLINE_HOST": "127.0.0.1", "PLUMBLINE_PORT": str(PORT)}
    began = time.monotonic()
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL)
    try:
        while time.monotonic() - began < MOST_S and process.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{PORT}/readyz", timeout=5) as answer:
                if answer.status == 200:
                    return round(time.monotonic() - began, 1)
            time.sleep(0.1)
        raise RuntimeError("the image does not start")
    finally:
        process.terminate()
        process.wait(60)


def programs(stage: Stage) -> list[str]:
    """Return the versions of Postgres whose programs are in the image."""
    found = {f"/{each.relative_to(stage.root)}" for each in (stage.root / "opt").rglob("bin/pg_dump")}
    found |= {f"/{each.relative_to(stage.root)}" for each in stage.root.glob("usr/lib/postgresql/*/bin/pg_dump")}
    asked = ([CHROOT, stage.root, each, "--version"] for each in sorted(found))
    return [subprocess.run(each, capture_output=True, text=True, check=True).stdout.strip() for each in asked]


def main(base: Path, folder: Path) -> int:
    """Build, measure, run the program as its user with a read-only root, and say whether the image is small enough."""
    folder.mkdir(parents=True, exist_ok=True)
    stage = build(base, folder)
    subprocess.run(["rm", "-rf", stage.root / "var/cache/apt", stage.root / "var/lib/apt/lists"], check=True)
    archive = folder / "image.tar.gz"
    subprocess.run(["tar", "--numeric-owner", "-C", stage.root, "-czf", archive, "."], check=True)
    unpacked = subprocess.run(["du", "-sm", stage.root], capture_output=True, text=True, check=True)
    command = [CHROOT, "--userspec=10001:10001", stage.root, "/opt/plumbline/bin/plumbline", "--version"]
    stated = subprocess.run(command, capture_output=True, text=True, check=True, env=stage.environ)
    size_mb = archive.stat().st_size / 1e6
    with as_in_an_engine(stage):
        start_s, versions = started(stage), programs(stage)
    result = {
        "compressed_mb": round(size_mb),
        "unpacked_mib": int(unpacked.stdout.split()[0]),
        "limit_mb": LIMIT_MB,
        "version": stated.stdout.strip(),
        "start_s": start_s,
        "programs": versions,
        "licences": (stage.root / "opt/plumbline/LICENCES.txt").stat().st_size,
    }
    print(json.dumps(result, indent=2))
    return int(size_mb > LIMIT_MB)


if __name__ == "__main__":
    work = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp(prefix="plumbline-image-"))
    sys.exit(main(Path(sys.argv[1]), work))
