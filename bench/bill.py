"""Adds to a CycloneDX bill of materials the licence of each package, and the files of others in `static/`.

Run by `make sbom` as `python -m bench.bill FILE`: the tool that writes the bill from the lock sees names, versions and
hashes alone.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from bench.licences import licence_of, vendored


def main(path: Path) -> int:
    """Write the licences into the bill, and return how many components have none."""
    bill = json.loads(path.read_text("utf-8"))
    unknown = []
    for component in bill["components"]:
        try:
            stated = licence_of(distribution(component["name"]))
        except PackageNotFoundError:
            # For another system; nothing of it is installed here.
            continue
        component["licenses"] = [{"license": {"name": stated}}]
        if stated == "not said":
            unknown.append(component["name"])
    bill["components"] += [component_of(each) for each in vendored()]
    path.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", "utf-8")
    print(f"{len(bill['components'])} components in {path}; without a licence: {', '.join(unknown) or 'none'}")
    return len(unknown)


def component_of(each: dict[str, str]) -> dict[str, Any]:
    """Return a file of others as a component: what it is of, under which licence, and the digest of its bytes."""
    return {
        "bom-ref": each["purl"],
        "type": "library",
        "name": each["name"],
        "version": each["version"],
        "purl": each["purl"],
        "licenses": [{"license": {"id": each["licence"]}}],
        "hashes": [{"alg": "SHA-256", "content": each["sha256"]}],
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
