"""The command line of the client, `plumbline`: what needs no server beside it."""

import sys
from importlib.metadata import PackageNotFoundError, version

from plumbline.cli import commands

MODULES = {
    "submit": "plumbline.cli.submit",
    "submissions": "plumbline.cli.mine",
    "withdraw": "plumbline.cli.mine",
    "notify": "plumbline.cli.notifications",
    "export": "plumbline.cli.export",
}
# The server's distribution holds the client too.
DISTRIBUTIONS = ("plumbline-client", "plumbline-server")


def release() -> str:
    """Return the version of the installed distribution."""
    for name in DISTRIBUTIONS:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "unknown"


def main() -> None:
    """Run the command that this process was started with."""
    arguments = sys.argv[1:]
    sys.exit(commands.run_command(lambda: commands.build_app(arguments, MODULES, release), arguments))


if __name__ == "__main__":
    main()
