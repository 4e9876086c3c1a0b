"""The notebook is what this file writes from first_hour.py (MOONFARM_UPDATE=1 writes it again), and its cells run."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tests import ROOT, program

SOURCE = ROOT / "env/python/examples/first_hour.py"
NOTEBOOK = SOURCE.with_suffix(".ipynb")

# It runs the cells of a notebook one after the other; where there is no IPython, pictures are left out.
RUN = """
import json, sys, types
try:
    import IPython.display
except ImportError:
    sys.modules["IPython"], sys.modules["IPython.display"] = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    sys.modules["IPython.display"].Image = open
cells = [cell for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
names = {"__name__": "__main__"}
for number, cell in enumerate(cells):
    exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
"""


def notebook(source: str) -> str:
    """Returns the notebook (nbformat 4) of a program in which "# %%" begins a cell."""
    cells = []
    for markdown, text in re.findall(r"^# %%( \[markdown\])?\n(.*?)(?=^# %%|\Z)", source, re.S | re.M):
        if markdown:
            text = re.sub(r"^# ?", "", text, flags=re.M)
        cell = {"cell_type": "markdown" if markdown else "code", "id": f"cell-{len(cells)}", "metadata": {}, "source": text.strip().splitlines(True)}
        cells.append(cell if markdown else {**cell, "execution_count": None, "outputs": []})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


class Notebook(unittest.TestCase):
    def test_file(self):
        made = notebook(SOURCE.read_text(encoding="utf-8"))
        if os.environ.get("MOONFARM_UPDATE"):
            NOTEBOOK.write_text(made, encoding="utf-8")
        self.assertEqual(NOTEBOOK.read_text(encoding="utf-8"), made, "MOONFARM_UPDATE=1 writes it again")

    @unittest.skipIf(importlib.util.find_spec("torch") is None, "left out: there is no torch")
    def test_cells(self):
        path = os.pathsep.join([str(ROOT / "env" / "python"), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path, "MOONFARM_PROGRAM": str(program())}
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", RUN, NOTEBOOK], cwd=folder, env=environment, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater((Path(folder) / "first.gif").stat().st_size, 1000)
        won = {opponent: int(share) for share, opponent in re.findall(r"won (\d+)% against (\w+)", done.stdout)}
        self.assertEqual([*won], ["random", "rush", "turtle"])
        self.assertGreaterEqual(won["random"], 90, done.stdout)


if __name__ == "__main__":
    unittest.main()
