"""Recordings of the original engines: verified, and imported."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import moonfarm

SIM = Path(__file__).resolve().parents[3] / "sim"
GAME = SIM / "towerdefence/wire/testdata/game.jsonl"
BATTLE = SIM / "codecraft/wire/testdata/battle.replay.gz"


@unittest.skipUnless(GAME.exists(), "the package is not in a clone")
class Recordings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_verify(self):
        report = moonfarm.verify_recording(GAME)
        self.assertEqual(report["game"], "towerdefence")
        self.assertEqual(report["counts"], {"games": 1, "rounds": 48, "renders": 0})
        self.assertEqual((report["different"], report["first"], report["error"]), (0, None, ""))
        report = moonfarm.verify_recording(str(BATTLE))
        self.assertEqual((report["game"], report["counts"]["ticks"], report["error"]), ("codecraft", 20, ""))

    def test_difference(self):
        lines = GAME.read_text().splitlines(keepends=True)
        lines[20] = lines[20].replace('"p":[[1077,', '"p":[[1078,')
        changed = self.folder / "changed.jsonl"
        changed.write_text("".join(lines))
        report = moonfarm.verify_recording(changed)
        self.assertEqual((report["different"], report["error"]), (1, ""))
        self.assertEqual((report["first"]["line"], report["first"]["game"]), (21, "golden"))
        self.assertNotEqual(report["first"]["expected"], report["first"]["found"])

    def test_unreadable(self):
        half = self.folder / "half.jsonl"
        half.write_bytes(GAME.read_bytes()[:3000])
        report = moonfarm.verify_recording(half)
        self.assertIn("half.jsonl", report["error"])
        self.assertEqual(report["game"], "towerdefence")
        self.assertIn("no such file", moonfarm.verify_recording(self.folder / "missing")["error"])
        with self.assertRaisesRegex(moonfarm.ArgumentError, "^rules: "):
            moonfarm.verify_recording(GAME, rules="nothing = known")
        with self.assertRaisesRegex(ValueError, "path: the path is empty"):
            moonfarm.verify_recording("")

    def test_import(self):
        out = self.folder / "dataset"
        done = moonfarm.import_recordings("towerdefence", [GAME, BATTLE], out, workers=1, discount=0.5)
        self.assertEqual((done["episodes"], done["turns"], done["rows"], done["shards_made"]), (1, 48, 96, 1))
        self.assertEqual([x["file"] for x in done["skipped"]], [str(BATTLE)])
        self.assertIn("a recording of codecraft, not of towerdefence", done["skipped"][0]["why"])
        dataset = moonfarm.dataset(out)
        self.assertEqual(sum(len(batch["turn"]) for batch in dataset.batches(32)), 96)
        again = moonfarm.import_recordings("towerdefence", [GAME, BATTLE], out, workers=1, discount=0.5)
        self.assertEqual((again["episodes"], again["shards_made"], again["shards_found"]), (1, 0, 1))

    def test_import_errors(self):
        out = self.folder / "dataset"
        done = moonfarm.import_recordings("terminal", GAME, out)
        self.assertEqual((done["episodes"], len(done["skipped"])), (0, 1))
        self.assertFalse(out.exists())
        for error, text, given in (
            (moonfarm.ArgumentError, 'game: no game "chess"', {"game": "chess"}),
            (moonfarm.ArgumentError, "game: tron has no original engine", {"game": "tron"}),
            (moonfarm.ArgumentError, "rules: recordings of terminal contain their own rules", {"game": "terminal", "rules": "2022"}),
            (moonfarm.ArgumentError, "rules: ", {"rules": "nothing = known"}),
            (moonfarm.ArgumentError, "reward: ", {"reward": "luck"}),
            (ValueError, "paths: the list is empty", {"paths": []}),
            (ValueError, "paths: a path with a line end", {"paths": ["a\nb"]}),
            (ValueError, "obs: 'all' is not one of", {"obs": "all"}),
            (ValueError, "discount: expected", {"discount": 0}),
            (ValueError, "workers: expected", {"workers": 0}),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                moonfarm.import_recordings(**{"game": "towerdefence", "paths": GAME, "out": out, **given})

    @unittest.skipIf(sys.platform == "win32", "Windows has no SIGINT for one process")
    def test_ctrl_c(self):
        """An interrupt ends the verification of a long recording."""
        long = self.folder / "long.jsonl"
        with long.open("wb") as file:
            text = GAME.read_bytes()
            file.write(text * 400)
        code = (
            "import signal, sys, moonfarm\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "try:\n"
            "    print('begun', flush=True)\n"
            "    while True:\n"
            "        moonfarm.verify_recording(sys.argv[1])\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', flush=True)\n"
        )
        package = str(Path(moonfarm.__file__).parent.parent)
        child = subprocess.Popen(
            [sys.executable, "-c", code, long], env={**os.environ, "PYTHONPATH": package}, text=True, stdout=subprocess.PIPE,
        )  # fmt: skip
        with child:
            self.assertEqual(child.stdout.readline(), "begun\n")
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.stdout.readline(), "interrupted\n")


if __name__ == "__main__":
    unittest.main()
