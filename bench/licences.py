"""Who wrote what is shipped, and under which licence: `python bench/licences.py FILE` for this environment.

Run by the Dockerfile, and by `make licences` for the packages of requirements.lock. Uses the standard library alone,
because the image has nothing else for it. Fails for a package whose licence is not among those that may be shipped.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distributions
from pathlib import Path

# Copyleft that ends at the file or the library (LGPL, MPL) may be shipped: its text and its source are named.
ALLOWED = re.compile(
    r"\b(MIT|BSD|0BSD|Apache|ISC|PSF|Python Software Foundation|Python-2\.0|MPL|Mozilla|LGPL|Lesser General|"
    r"Zlib|Unlicense|CC0|PostgreSQL|HPND)\b",
    re.IGNORECASE,
)
TEXTS = re.compile(r"(?:^|/)(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*$", re.IGNORECASE)
LOCKED = re.compile(r"^([A-Za-z0-9][\w.-]*)==", re.MULTILINE)


def canonical(name: str) -> str:
    """Return a package's name as all its spellings are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence_of(package: Distribution) -> str:
    """Return what a package says that its licence is, in its own words."""
    stated = package.metadata
    classified = [
        each.rpartition(" :: ")[2] for each in stated.get_all("Classifier") or () if each.startswith("License")
    ]
    words = stated.get("License-Expression") or "; ".join(classified) or (stated.get("License") or "").split("\n")[0]
    return words.strip() or "not said"


def texts_of(package: Distribution) -> Iterator[str]:
    """Yield the licence texts that came with a package."""
    for path in package.files or ():
        if TEXTS.search(str(path)) and Path(str(path.locate())).is_file():
            yield f"--- {path}\n{Path(str(path.locate())).read_text('utf-8', 'replace').strip()}\n"


def shipped(names: Sequence[str]) -> list[Distribution]:
    """Return the installed packages of these names, or all where none is given."""
    wanted = {canonical(name) for name in names}
    result = {canonical(each.name): each for each in distributions()}
    return [
        each
        for name, each in sorted(result.items())
        if name not in ("pip", "plumbline") and (not names or name in wanted)
    ]


def main(target: Path, lock: Path | None) -> int:
    """Write the list with all texts and return how many packages may not be shipped."""
    packages = shipped([] if lock is None else LOCKED.findall(lock.read_text("utf-8")))
    refused = [each for each in packages if not ALLOWED.search(licence_of(each))]
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8") as opened:
        opened.write("What is shipped with plumbline (Apache-2.0), and under which licence.\n\n")
        opened.writelines(f"{each.name} {each.version}: {licence_of(each)}\n" for each in packages)
        for each in packages:
            opened.write(f"\n{'=' * 100}\n{each.name} {each.version}: {licence_of(each)}\n{source_of(each)}\n")
            opened.writelines(f"\n{text}" for text in texts_of(each))
    for each in refused:
        print(f"{each.name} {each.version} may not be shipped: its licence is {licence_of(each)}", file=sys.stderr)
    print(f"{len(packages)} packages, their licences in {target}")
    return len(refused)


def source_of(package: Distribution) -> str:
    """Return where the source of a package is, as it says itself."""
    addresses = package.metadata.get_all("Project-URL") or [package.metadata.get("Home-page") or ""]
    return next((each for each in addresses if "source" in each.lower() or "code" in each.lower()), addresses[0])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
