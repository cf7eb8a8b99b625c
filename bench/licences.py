"""Who wrote what is shipped, and under which licence: `python bench/licences.py FILE` for this environment.

Run by the Dockerfile, and by `make licences` for the packages of requirements.lock. Uses the standard library alone,
because the image has nothing else for it. Fails for a package whose licence is not among those that may be shipped.
"""

import json
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
MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated"
VENDORED = Path(__file__).parents[1] / "static" / "vendored.json"
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
    return words.strip() or next(filter(None, map(licence_by_text, texts_of(package))), "not said")


def licence_by_text(text: str) -> str | None:
    """Return which licence a text is that a package came with and does not name."""
    return "MIT" if MIT in " ".join(text.split()) else None


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
        if name not in ("pip", "plumbline-server") and (not names or name in wanted)
    ]


def vendored() -> list[dict[str, str]]:
    """Return the files of others that stand in `static/`: name, version, licence, where its text and source are."""
    listed: list[dict[str, str]] = json.loads(VENDORED.read_text("utf-8"))
    return listed


def stated_of(each: dict[str, str]) -> str:
    """Return what the list says of a file of others, with the text of its licence."""
    text = (VENDORED.parent / each["licence_text"]).read_text("utf-8").strip()
    head = f"{each['name']} {each['version']}: {each['licence']}\n{each['source']}"
    return f"\n{'=' * 100}\n{head}\n\n--- {each['licence_text']}\n{text}\n"


def main(target: Path, lock: Path | None) -> int:
    """Write the list with all texts and return how many packages may not be shipped."""
    packages = shipped([] if lock is None else LOCKED.findall(lock.read_text("utf-8")))
    refused = [
        f"{each.name} {each.version}: {licence_of(each)}" for each in packages if not ALLOWED.search(licence_of(each))
    ]
    refused += [f"{each['name']} {each['version']}: {each['licence']}" for each in vendored()
                if not ALLOWED.search(each["licence"])]  # fmt: skip
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8") as opened:
        opened.write("What is shipped with plumbline (Apache-2.0), and under which licence.\n\n")
        opened.writelines(f"{each.name} {each.version}: {licence_of(each)}\n" for each in packages)
        opened.writelines(f"{each['name']} {each['version']}: {each['licence']}\n" for each in vendored())
        for each in packages:
            opened.write(f"\n{'=' * 100}\n{each.name} {each.version}: {licence_of(each)}\n{source_of(each)}\n")
            opened.writelines(f"\n{text}" for text in texts_of(each))
        opened.writelines(map(stated_of, vendored()))
    for each in refused:
        print(f"may not be shipped, by its licence: {each}", file=sys.stderr)
    print(f"{len(packages)} packages and {len(vendored())} files of others, their licences in {target}")
    return len(refused)


def source_of(package: Distribution) -> str:
    """Return where the source of a package is, as it says itself."""
    addresses = package.metadata.get_all("Project-URL") or [package.metadata.get("Home-page") or ""]
    return next((each for each in addresses if "source" in each.lower() or "code" in each.lower()), addresses[0])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None))
