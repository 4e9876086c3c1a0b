"""The lines of Python in README.md, as printed."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import moonfarm  # noqa: F401  without the library the tests fail here

ROOT = Path(__file__).resolve().parents[3]


class Readme(unittest.TestCase):
    def test_from_python(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        section = text.split("## From Python\n")[1].split("\n## ")[0]
        blocks = re.findall(r"```python\n(.*?)```", section, re.S)
        self.assertGreaterEqual(len(blocks), 5)
        for block in blocks:
            with self.subTest(block.splitlines()[0]):
                self.run_block(block)

    def run_block(self, block):
        for needed in ("gymnasium", "numpy"):
            if f"import {needed}" in block and importlib.util.find_spec(needed) is None:
                self.skipTest(f"left out: there is no {needed}")
        with tempfile.TemporaryDirectory() as folder:
            if "data/td" in block:
                if shutil.which("go") is None:
                    self.skipTest("left out: there is no go")
                make = "go run ./cmd/moonfarm generate towerdefence --episodes 50 --seed 1 --obs none --out".split()
                subprocess.run([*make, Path(folder) / "data" / "td"], cwd=ROOT, check=True, capture_output=True)
            if "state.json" in block:
                shutil.copy(ROOT / "sim/towerdefence/wire/testdata/stateB.json", Path(folder) / "state.json")
            path = os.pathsep.join([str(ROOT / "env" / "python"), os.environ.get("PYTHONPATH", "")])
            done = subprocess.run(
                [sys.executable, "-c", block],
                cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout)


if __name__ == "__main__":
    unittest.main()
