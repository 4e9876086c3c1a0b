#!/usr/bin/env python3
"""Builds the shared library and the command into the package folder. The package then works with PYTHONPATH=env/python.

    python3 env/python/build.py
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_backend"))

import moonfarm_build  # noqa: E402

if __name__ == "__main__":
    try:
        print(*moonfarm_build.build(), sep="\n")
    except moonfarm_build.BuildError as e:
        sys.exit(str(e))
