"""Runs every example as a program for a moment."""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import moonfarm
from tests import program

FOLDER = Path(__file__).resolve().parent.parent
NO_TORCH = None if importlib.util.find_spec("torch") else "left out: there is no torch"

LONG = bool(os.environ.get("MOONFARM_LONG"))


def some(*cases):
    """Returns all cases with MOONFARM_LONG, else the first: an example takes seconds to start."""
    return cases if LONG else cases[:1]


def run(example: str, *arguments: object) -> list[str]:
    """Returns the lines that an example prints."""
    paths = [str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, FOLDER / "examples" / example, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"{example} exits with {done.returncode}:\n{done.stderr}")
    return done.stdout.splitlines()


class Examples(unittest.TestCase):
    def test_random_rollout(self):
        for game in some(*moonfarm.games()):
            for opponent in ("random", "self"):
                with self.subTest(game=game["name"], opponent=opponent):
                    for seconds in 0.1, 2, 20:  # a busy machine may need a longer time for an episode
                        lines = run(
                            "random_rollout.py", game["name"], "--seconds", seconds, "--envs", 4, "--max-turns", 3,
                            "--opponent", opponent,
                        )  # fmt: skip
                        if "mean result none" not in lines[-1]:
                            break
                    self.assertRegex(lines[-1], r"[1-9]\d* agent-steps .* [1-9]\d* episodes  mean result [+-]\d\.\d")

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to build moonfarm")
    def test_ppo(self):
        """It learns, measures, writes a curve, and a network that plays."""
        for game, turns in some(("tron", 0), ("towerdefence", 9), ("terminal", 3), ("codecraft", 4)):
            with self.subTest(game=game), tempfile.TemporaryDirectory() as folder:
                small = ("--envs", 8, "--horizon", 16, "--batch", 32, "--width", 16, "--measure", 1, "--games", 2, "--threads", 1)
                lines = run("ppo.py", game, "--steps", 200, "--opponent", "random", "--max-turns", turns, *small, "--out", folder)
                self.assertRegex(lines[-2], r"^\d+\.\d % against random \[\d+\.\d, \d+\.\d\] in 8 games$")
                with open(Path(folder) / "curve.csv", newline="") as f:
                    points = [{name: float(x) for name, x in point.items()} for point in csv.DictReader(f)]
                self.assertEqual(len(points), 2)
                self.assertTrue(200 <= points[-1]["steps"] <= 256, points[-1])
                for name in "entropy", "kl", "value_loss", "play_steps_per_second", "learn_steps_per_second":
                    self.assertGreater(points[-1][name], 0, name)
                self.play(game, Path(folder) / "network.onnx")

    def play(self, game: str, model: Path):
        """The network fits the game, and moonfarm plays by it."""
        for command in (
            ["model", "inspect", "--strict", "--game", game, model],
            ["eval", game, "--strict", "--player", model, "--player", "random", "--games", 2, "--max-turns", 3],
        ):
            done = subprocess.run([program(), *map(str, command)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_ppo_without_the_package(self):
        """A forgotten PYTHONPATH is named."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(FOLDER / "examples" / "ppo.py", folder)
            done = subprocess.run([sys.executable, "-S", Path(folder) / "ppo.py", "tron"], env={}, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertTrue(re.search("pip install|PYTHONPATH", done.stderr), done.stderr)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to build moonfarm")
    def test_offline(self):
        for game, form, reward in some(("terminal", "orders", "health"), ("towerdefence", "cells", "result")):
            with self.subTest(game=game, form=form), tempfile.TemporaryDirectory() as folder:
                data, out = Path(folder) / "data", Path(folder) / "out"
                make = [program(), "generate", game, "--episodes", "4", "--max-turns", "9", "--obs", "none", "--out", data]
                subprocess.run(make, check=True, capture_output=True)
                lines = run(
                    "offline.py", data, "--form", form, "--reward", reward, "--updates", 4, "--batch", 32, "--width", 16,
                    "--opponent", "random", "--games", 2, "--out", out,
                )  # fmt: skip
                self.assertRegex(lines[-2], r"^ +\d+ s  4 updates  loss of Q \d\.\d+, V \d\.\d+, policy \d\.\d+$")
                self.assertRegex(lines[-1], r"^\d+\.\d % against random in 2 games, between \d+\.\d and \d+\.\d %$")
                self.play(game, out / "network.onnx")


if __name__ == "__main__":
    unittest.main()
