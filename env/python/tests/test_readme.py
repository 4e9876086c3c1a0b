"""Runs the Python blocks in the pages of the repository, as printed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import moonfarm  # noqa: F401  without the library the tests fail here
from tests import ROOT, program



# Code before and after the blocks of a page that shows only parts of programs, in the order of the blocks.
AROUND = {
    "features/codecraft/FEATURES.md": [(
        """
import numpy as np
values = np.zeros((1, 1, 11808), np.uint8)
values[0, 0, :3] = 4, 79, 2  # a builder unit at (79, 2)
values[0, 0, 256 * 18 + 80 * 2 + 79] = 3
""",
        """
assert coarse.shape == (8, 10, 10) and windows.shape == (1, 15, 15) and windows[0, 7, 7] == 3, windows
print(others.shape)
""",
    ), (
        """
import moonfarm
import numpy as np
envs = moonfarm.make_vec("codecraft", 1, form="cells", opponent="econ")
obs, infos = envs.reset(seed=1)
planes, action = obs["planes"][0], np.zeros(256, np.int32)
legal = infos["action_mask"].reshape(256, 128)
""",
        """
assert len(cells) > 1 and legal[: len(cells), 1].all() and not legal[len(cells) :, 1].any(), cells
print(labels, x, y)
""",
    )],
    "env/python/TRAINING.md": [("", ""), ("", ""), ("", """
import moonfarm
envs = moonfarm.make_vec("towerdefence", 2, opponent="lstm.onnx(greedy)")
envs.reset(seed=1)
for _ in range(3):
    envs.step([0, 0])
print(len(envs.get_state()))
""")],
}


# Options that make commands of the pages short, by what the commands have in them.
SHORT = {
    "random_rollout": "--seconds 1",
    "moonfarm eval": "--games 2 --max-turns 20",
    "moonfarm view towerdefence": "--max-turns 20",
    "ppo.py": "--steps 300 --envs 8 --horizon 16 --batch 64 --width 16 --games 2 --max-turns 20",
    "train iterate": "--generations 1 --episodes 8 --shard-episodes 4 --rows 64 --games 2 --max-turns 10 --width 16 --batch 16",
    "train dagger": "--seconds 1 --rounds 2 --episodes 4 --games 2 --max-turns 20 --batch 16",
    "train ppo": "--updates 1 --envs 8 --steps 8 --games 2 --max-turns 10",
}


def pages():
    """Returns the text of each page of the repository by its path, except pages of test data and of other
    packages, and cards of datasets, which begin with a header of their own."""
    found = {}
    for path in sorted(ROOT.rglob("*.md")):
        folders = path.relative_to(ROOT).parts[:-1]
        text = path.read_text(encoding="utf-8")
        if not text.startswith("---\n") and not any(f.startswith(".") or f in ("testdata", "node_modules") for f in folders):
            found[path.relative_to(ROOT).as_posix()] = text
    return found


class Pages(unittest.TestCase):
    def test_python(self):
        count = 0
        for path, text in pages().items():
            for k, block in enumerate(re.findall(r"^```python\n(.*?)^```$", text, re.S | re.M)):
                count += 1
                before, after = dict(enumerate(AROUND.get(path, []))).get(k, ("", ""))
                with self.subTest(f"{path}: {block.splitlines()[0]}"):
                    self.run_block(before + block + after)
        self.assertGreaterEqual(count, 9)

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        shutil.copy(ROOT / "sim/towerdefence/wire/testdata/stateB.json", cls.folder / "state.json")

    def dataset(self):
        """Makes the dataset that the pages read, once."""
        if shutil.which("go") is None:
            self.skipTest("left out: there is no go")
        if not (self.folder / "data" / "td").exists():
            make = "generate towerdefence --episodes 50 --seed 1 --out".split()
            subprocess.run([program(), *make, self.folder / "data" / "td"], check=True, capture_output=True)

    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to build moonfarm")
    def test_commands(self):
        """The commands of the Python pages, made short by options behind them, which take the place of earlier ones."""
        for name in "env", "rollout":
            (self.folder / name).symlink_to(ROOT / name)
        ran = []
        for page in "README.md", "env/python/README.md", "env/python/TRAINING.md":
            for block in re.findall(r"^```sh\n(.*?)^```$", pages()[page], re.S | re.M):
                if not block.startswith("python3"):
                    continue  # a test in Go runs those of the program
                if re.search(r"ppo\.py|train", block) and importlib.util.find_spec("torch") is None:
                    continue
                for line in block.replace("\\\n", " ").splitlines():
                    words = shlex.split(line)
                    if words[0] == "export" or "build.py" in line or "unittest" in line:
                        continue  # the tests have built and set what these do, and are themselves the last one
                    with self.subTest(line):
                        self.run_command(words, line)
                        ran.append(line)
        self.assertGreaterEqual(len(ran), 2)

    @unittest.skipIf(importlib.util.find_spec("torch") is None, "left out: there is no torch")
    def test_options_of_train(self):
        """The loops have the options that pages give them."""
        from moonfarm.train import options

        found, known = 0, {}
        for loop in "ppo", "clone", "dagger", "iterate":
            with mock.patch.object(options, "parse", side_effect=lambda parser, given: known.setdefault(loop, parser) and sys.exit()):
                with self.assertRaises(SystemExit):
                    importlib.import_module(f"moonfarm.train.{loop}").arguments([])
        for path, text in pages().items():
            for loop, rest in re.findall(r"moonfarm train (\w+)([^`\n]*(?:\\\n[^`\n]*)*)", text):
                for option in re.findall(r"--[a-z0-9-]+", rest):
                    with self.subTest(f"{path}: {loop} {option}"):
                        self.assertIn(option, known[loop]._option_string_actions)
                        found += 1
        self.assertGreater(found, 20)

    def run_command(self, words, line):
        short = [more for what, more in SHORT.items() if what in line]
        if words[:2] == ["moonfarm", "train"]:
            words = ["python3", "-m", *words]
        words = [{"python3": sys.executable, "moonfarm": str(program())}.get(words[0], words[0]), *words[1:], *" ".join(short).split()]
        path = {"PYTHONPATH": str(ROOT / "env" / "python"), "MOONFARM_PROGRAM": str(program())}
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, **path}, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)

    def run_block(self, block):
        for needed in ("gymnasium", "numpy", "pyarrow", "stable_baselines3", "torch", "d3rlpy", "h5py", "minari", "torchrl"):
            if re.search(rf"(import|from) {needed}\b", block) and importlib.util.find_spec(needed) is None:
                self.skipTest(f"left out: there is no {needed}")
        if "data/td" in block:
            self.dataset()
        path = os.pathsep.join([str(ROOT / "env" / "python"), os.environ.get("PYTHONPATH", "")])
        named = {"MOONFARM_PROGRAM": str(program())} if "moonfarm.generate(" in block else {}
        done = subprocess.run(
            [sys.executable, "-c", block],
            cwd=self.folder, env={**os.environ, **named, "PYTHONPATH": path}, capture_output=True, text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout)


if __name__ == "__main__":
    unittest.main()
