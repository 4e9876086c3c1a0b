"""generate and evaluate, which run the program; a program of the tests says what it is told, and when."""

import contextlib
import io
import json
import os
import pickle
import signal
import stat
import sys
import tempfile
import threading
import time
import types
import unittest
from pathlib import Path
from unittest import mock

import moonfarm
import moonfarm_command
from moonfarm import commands
from tests import program

# It prints its arguments as its result, and before that what is in the environment variable SAYS.
SCRIPT = f"""#!{sys.executable}
import json, os, sys
print(os.environ.get("SAYS", ""), file=sys.stderr)
print(json.dumps(sys.argv[1:]))
sys.exit(int(os.environ.get("ENDS", "0")))
"""


def says(*lines):
    return mock.patch.dict(os.environ, {"SAYS": "\n".join(json.dumps(x) if isinstance(x, dict) else x for x in lines)})


class Bar:
    """tqdm, as far as it is used."""

    made: list = []

    def __init__(self, desc, initial, total):
        self.n, self.total, self.first, self.closed = initial, total, initial, False
        self.made.append(self)

    def update(self, more):
        self.n += more

    def close(self):
        self.closed = True

    @staticmethod
    def write(line, file):
        print("beside the bar:", line, file=file)


@unittest.skipIf(sys.platform == "win32", "Windows starts no scripts")
class Running(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = Path(folder.name) / "moonfarm"
        script.write_text(SCRIPT)
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        patch = mock.patch.object(moonfarm_command, "PROGRAM", script)
        patch.start()
        self.addCleanup(patch.stop)

    def test_flags(self):
        ran = mock.Mock(wraps=commands.run)
        with mock.patch.object(commands, "run", ran), mock.patch.object(commands, "dataset"):
            moonfarm.generate("TowerDefence-v0", Path("a b"), policy=["econ", "rush"], max_turns=3, memory=True, ask=None, progress=False)
        self.assertEqual(ran.call_args.args[0], ["generate", "towerdefence", "--out=a b", "--policy=econ,rush", "--max-turns=3", "--memory=true"])
        self.assertEqual(commands.run(["x", "--y=z"]), ["x", "--y=z", "--json"])
        with self.assertRaisesRegex(TypeError, "^part: "):
            moonfarm.generate("tron", "x", part="0/2")

    def test_progress(self):
        """With tqdm there is a bar, which does not count what an earlier run has done; texts are written to stderr."""
        told = says({"progress": "episodes", "done": 5, "all": 9}, "moonfarm: games repeat", {"progress": "episodes", "done": 7, "all": 9})
        tqdm = types.ModuleType("tqdm.auto")
        tqdm.tqdm = Bar
        for modules, want in (({"tqdm": tqdm, "tqdm.auto": tqdm}, "beside the bar: moonfarm: games repeat"), ({"tqdm": None, "tqdm.auto": None}, "moonfarm: games repeat")):
            said = io.StringIO()
            with told, mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(said):
                commands.run(["x"])
            self.assertEqual(said.getvalue(), want + "\n")
        (bar,) = Bar.made
        self.assertEqual((bar.first, bar.n, bar.total, bar.closed), (5, 9, 9, True))

    def test_failures(self):
        for usage, error in ((True, moonfarm.ArgumentError), (False, moonfarm.Error)):
            with says({"error": "no such thing", "usage": usage, "exit_status": 2}), mock.patch.dict(os.environ, {"ENDS": "2"}):
                with self.assertRaisesRegex(error, "^no such thing$") as raised:
                    commands.run(["x"])
                self.assertEqual(type(raised.exception), error)
        with mock.patch.dict(os.environ, {"ENDS": "3"}), self.assertRaisesRegex(moonfarm.Error, "^moonfarm x: it ended with the status 3$"):
            commands.run(["x"])
        moonfarm_command.PROGRAM.unlink()
        with self.assertRaisesRegex(ImportError, "build.py builds it$"):
            commands.run(["x"])


class Program(unittest.TestCase):
    """With the program itself."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "td"
        patch = mock.patch.object(moonfarm_command, "PROGRAM", program())
        patch.start()
        self.addCleanup(patch.stop)

    def test_a_dataset(self):
        ds = moonfarm.generate("towerdefence", self.out, episodes=3, policy="econ,random", seed=4, obs="none", max_turns=9, progress=False)
        self.assertEqual((ds.num_episodes, len(ds), ds.metadata["job"]["seed"]), (3, 54, "4"))
        with self.assertRaisesRegex(moonfarm.ArgumentError, "^unknown flag: --turns "):
            moonfarm.generate("towerdefence", self.out, turns=9)

    def test_ratings(self):
        table = moonfarm.evaluate("towerdefence", ["random", "econ"], games=10, seed=2, progress=False)
        self.assertEqual([(p["player"], p["wins"]) for p in table], [("econ", 10), ("random", 0)])
        lines = repr(table).splitlines()
        self.assertEqual([line.split()[:6] for line in lines], [
            ["player", "games", "wins", "draws", "losses", "score"], ["econ", "10", "10", "0", "0", "1.000"], ["random", "10", "0", "0", "10", "0.000"],
        ])  # fmt: skip
        self.assertEqual(len({len(line) for line in lines}), 1)
        self.assertIn("<tr><td>econ</td><td>10</td>", table._repr_html_())
        again = pickle.loads(pickle.dumps(table))
        self.assertEqual((list(again), again.report), (list(table), table.report))
        self.assertEqual(table.report["seeds"], 5)

    @unittest.skipIf(sys.platform == "win32", "Windows has no SIGINT for one process")
    def test_interrupted(self):
        """Ctrl-C ends the program, and the same call continues with the shards that are finished."""
        job = {"episodes": 3000, "policy": "planner", "opening": "random:3", "shard_episodes": 100, "obs": "none", "workers": 1, "progress": False}
        steps = self.out / "steps"

        def interrupt():
            until = time.monotonic() + 60
            while not (steps.is_dir() and any(steps.glob("*.arrow"))) and time.monotonic() < until:
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        children = []
        popen = commands.subprocess.Popen
        with mock.patch.object(commands.subprocess, "Popen", side_effect=lambda *a, **k: children.append(popen(*a, **k)) or children[-1]):
            threading.Thread(target=interrupt).start()
            said = io.StringIO()
            with self.assertRaises(KeyboardInterrupt), contextlib.redirect_stderr(said):
                moonfarm.generate("towerdefence", self.out, **job)
        self.assertRegex(said.getvalue(), "^moonfarm: interrupted: finished shards are kept in .*; the same command continues\n$")
        self.assertEqual(children[0].returncode, 130)  # it was not killed
        finished = {p.name: p.stat().st_mtime_ns for p in steps.glob("*.arrow")}
        self.assertTrue(0 < len(finished) < 30, finished)
        ds = moonfarm.generate("towerdefence", self.out, **job)
        self.assertEqual(ds.num_episodes, 3000)
        self.assertEqual({name: (steps / name).stat().st_mtime_ns for name in finished}, finished)


if __name__ == "__main__":
    unittest.main()
