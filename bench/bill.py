"""Adds to a CycloneDX bill of materials the licence that each package says it has: `python -m bench.bill FILE`.

Run by `make sbom`: the tool that writes the bill from the lock sees names, versions and hashes alone.
"""

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from bench.licences import licence_of


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
    path.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", "utf-8")
    print(f"{len(bill['components'])} components in {path}; without a licence: {', '.join(unknown) or 'none'}")
    return len(unknown)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
