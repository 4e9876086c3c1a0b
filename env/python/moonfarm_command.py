"""The command moonfarm that pip installs. It starts the program in the folder moonfarm/bin, without the package and what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# The program: the one that the environment variable MOONFARM_PROGRAM names, or else where the build puts it.
PROGRAM = Path(os.environ.get("MOONFARM_PROGRAM") or Path(__file__).parent / "moonfarm" / "bin" / ("moonfarm.exe" if sys.platform == "win32" else "moonfarm"))
MISSING = f"moonfarm: the program {PROGRAM} is not there; python3 env/python/build.py builds it"


def run(arguments: list[str]) -> int:
    """Runs the program in the place of this process, on Windows as a child; returns the exit status if it cannot."""
    if not PROGRAM.is_file():
        print(MISSING, file=sys.stderr)
        return 1
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print("Of the Python package: train trains a network, export writes a dataset in another format. The other commands:\n", flush=True)
    if sys.platform == "win32":
        return subprocess.run([PROGRAM, *arguments]).returncode
    os.execv(PROGRAM, ["moonfarm", *arguments])


def main() -> int:
    """Runs the program, or one of the package's own subcommands."""
    if sys.argv[1:2] in (["export"], ["train"]):
        from moonfarm.__main__ import main as package

        return package()
    return run(sys.argv[1:])
