"""Runs every loop of moonfarm.train for a moment."""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

import numpy as np

import moonfarm
from tests import ROOT, program

try:
    from moonfarm.train import bodies, iterate, ppo
    from moonfarm.train import run as run_module
    from moonfarm.train import rows as reading_rows
    from moonfarm.train.learner import Learner
    from moonfarm.train.networks import make
except ModuleNotFoundError:  # without PyTorch all tests are left out
    pass

FOLDER = Path(__file__).resolve().parent.parent
NO_TORCH = None if importlib.util.find_spec("torch") else "left out: there is no torch"

LONG = bool(os.environ.get("MOONFARM_LONG"))
AGAIN = NO_TORCH or (None if LONG else "left out: another test runs the loop once; MOONFARM_LONG is not set")


def some(*cases):
    """Returns all cases with MOONFARM_LONG, else the first: a loop takes seconds to start."""
    return cases if LONG else cases[:1]


def run(loop: str, *arguments: object) -> list[str]:
    """Returns the lines that a loop prints."""
    paths = [str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "moonfarm", "train", loop, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MOONFARM_PROGRAM": str(program())},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(f"{loop} exits with {done.returncode}:\n{done.stderr}")
    return [line for line in done.stdout.splitlines() if " s … " not in line]  # a slow machine has lines that say how it goes


class Train(unittest.TestCase):
    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to build moonfarm")
    def test_ppo_selfplay(self):
        for game, form, turns in some(
            ("terminal", "orders", 2), ("terminal", "cells", 3), ("tron", "cells", 0), ("towerdefence", "cells", 9),
            ("codecraft", "entities", 4),
        ):  # fmt: skip
            with self.subTest(game=game, form=form), tempfile.TemporaryDirectory() as folder:
                out, again = Path(folder) / "out", Path(folder) / "again"
                reward = {"tron": "nearer", "towerdefence": "health", "terminal": "points", "codecraft": "wealth"}[game]
                small = (
                    game, "--form", form, "--opponent", "random", "--opponent", "empty", "--max-turns", turns, "--reward", reward,
                    "--envs", 6, "--steps", 8, "--batch", 16, "--width", 32, "--past", 1, "--league", 2, "--games", 2, "--threads", 1,
                )  # fmt: skip
                overlap = {"terminal": ["--overlap"], "tron": ["--overlap", "--mirror"]}.get(game, [])
                lines = run("ppo", *small, *overlap, "--measure", 0, "--updates", 2, "--out", out)
                self.assertEqual(lines[0], "before it learns, against 2 opponents:")
                self.assertRegex(lines[3], r"^\d+\.\d s of measuring, again every 0 s")
                self.assertRegex(lines[-5], r"^ +\d+\.\d % against random in 8 games, between \d+\.\d and \d+\.\d %")
                self.assertRegex(lines[-2], r"^[▁▂▃▄▅▆▇█]{3} empty$")
                self.assertRegex(lines[-1], r"^.*out: .* s measuring.*, \d+ s learning; \d+ CPU-s$")
                self.play(game, out / "network.onnx")
                first = self.curve(out)
                self.assertEqual([point["updates"] for point in first], ["0", "1", "2"])
                if form == "orders":  # the same numbers, whenever it is measured
                    run("ppo", *small, *overlap, "--updates", 2, "--out", again)
                    self.assertEqual((again / "network.onnx").read_bytes(), (out / "network.onnx").read_bytes())
                    second = self.curve(again)
                    self.assertEqual([point["scores/random"] != "" for point in second], [True, False, True])
                    for name in "steps", "entropy", "kl", "scores/random", "high/empty":
                        self.assertEqual(second[-1][name], first[-1][name], name)
                if form != "orders":
                    continue
                with self.assertRaisesRegex(AssertionError, "--rate was 0.001, is 0.1"):
                    run("ppo", *small, "--updates", 3, "--out", out, "--rate", 0.1)
                lines = run("ppo", *small, *overlap, "--updates", 3, "--out", out)
                self.assertRegex(lines[0], r"^continues after \d+ s, 2 updates$")
                third = self.curve(out)
                self.assertEqual(third[:3], first)
                self.assertEqual([point["updates"] for point in third[3:]], ["3"])
                for name in "steps", "cpu":
                    self.assertGreater(float(third[3][name]), float(third[2][name]), name)
                self.assertGreaterEqual(float(third[3]["seconds"]), float(third[2]["seconds"]))  # an update may take no tenth

    def curve(self, folder: Path) -> list[dict[str, str]]:
        """Returns the points of a run's curve."""
        with open(folder / "curve.csv", newline="") as f:
            return [*csv.DictReader(f)]

    @unittest.skipIf(AGAIN, AGAIN)
    def test_ppo_begins_with_a_network(self):
        """It begins with the weights of another run; far from its teacher it stays nearer to it."""
        import torch

        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            small = (
                "tron", "--opponent", "random", "--envs", 32, "--steps", 16, "--batch", 64, "--width", 32, "--league", 0, "--games", 0,
                "--threads", 1,
            )  # fmt: skip
            run("ppo", *small, "--updates", 1, "--out", folder / "first")
            moved = []
            for weight in 0, 100:
                more = ("--begin", folder / "first", "--teacher-weight", weight, "--passes", 8, "--updates", 4, "--seed", 2)
                run("ppo", *small, *more, "--out", folder / str(weight))
                old, new = (torch.load(folder / name / "checkpoint.pt")["body"] for name in ("first", str(weight)))
                moved.append(self.divergence(old, new))
            self.assertGreater(moved[0], 2 * moved[1])
            self.assertGreater(moved[1], 0)
            with self.assertRaisesRegex(AssertionError, "--begin .*: there is no checkpoint.pt or run.pt"):
                run("ppo", *small, "--updates", 1, "--begin", folder, "--out", folder / "no")

    def divergence(self, old, new) -> float:
        """Returns the mean divergence of two networks for tron, in the first turns."""
        import torch

        envs = moonfarm.make_vec("tron", 64, opponent="random")
        learners = [Learner(envs, make(envs, 32), "cpu") for _ in range(2)]
        for learner, weights in zip(learners, (old, new)):
            learner.body.load_state_dict(weights)
        obs, infos = envs.reset(seed=1)
        for _ in range(3):
            obs, *_, infos = envs.step(learners[0](obs, infos))
        batch = {**obs, "mask": infos["mask"]}
        with torch.no_grad():
            logs = [torch.log_softmax(next(a.body.say(a.see(batch))).logits, 1) for a in learners]
        envs.close()
        return float((logs[0].exp() * (logs[0] - logs[1])).sum(1).mean())

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(os.name == "nt", "left out: Windows has other signals")
    def test_ppo_interrupted(self):
        """Ctrl-C keeps what was learned, and the same command goes on; an opponent that there is not leaves no folder."""
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(AssertionError, 'no policy "ecno"'):
                run("ppo", "tron", "--opponent", "ecno", "--out", Path(folder) / "run")
            self.assertEqual([*Path(folder).iterdir()], [])
            small = (
                "tron", "--opponent", "random", "--league", "1", "--past", "1", "--envs", "4", "--steps", "8", "--width", "16", "--games", "2",
                "--measure", "1000", "--threads", "1", "--out", f"{folder}/run",
            )  # fmt: skip
            path = {"PYTHONPATH": str(FOLDER), "MOONFARM_PROGRAM": str(program())}
            with subprocess.Popen(
                [sys.executable, "-m", "moonfarm", "train", "ppo", *small, "--seconds", "200"], env={**os.environ, **path}, stdout=subprocess.PIPE
            ) as child:
                until = time.monotonic() + 100
                while not Path(folder, "run", "pool", "3.pt").exists() and time.monotonic() < until:
                    time.sleep(0.05)
                child.send_signal(signal.SIGINT)
                child.communicate(timeout=100)
                self.assertEqual(child.returncode, 130)
            done = len(self.curve(Path(folder, "run"))) - 1
            self.assertGreater(done, 1)
            lines = run("ppo", *small, "--updates", done + 2)
            updates = re.fullmatch(r"continues after \d+ s, (\d+) updates", lines[0])
            self.assertTrue(updates and done <= int(updates[1]) <= done + 1, lines)  # it may have been interrupted before its point

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_ppo_turns(self):
        """Discount and smoothing count turns, and what comes while a row waits belongs to its last action. What follows a game
        that was cut has the value of its last observation."""
        played = {  # an order, the end of a turn, a wait, an order that ends the turn, the end of the game
            "reward": [0, 0, 1, 0.25, 2], "value": [0.5, 0.2, 0.2, 0.7, 0.1],
            "turned": [False, False, True, True, True], "ended": [False, False, False, False, True],
        }  # fmt: skip
        for over, end in (True, 2 - 0.1), (False, 2 + 0.9 * 5 - 0.1):
            played["over"] = [False, False, False, False, over]
            grid = {name: np.array(a, np.float32 if name in ("reward", "value") else bool)[:, None] for name, a in played.items()}
            got = ppo.advantages(grid, np.array([5], np.float32), 0.9, 0.5)[:, 0]
            self.advantages_of_turns(got, end)

    def advantages_of_turns(self, got: np.ndarray, end: float):
        third = 0.25 + 0.9 * (0.1 + 0.5 * end) - 0.7
        wait = 1 + 0.9 * (0.7 + 0.5 * third) - 0.2
        np.testing.assert_allclose(got, [0.2 + wait - 0.5, wait, wait, third, end], rtol=1e-5)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_ppo_leaves_out_rows_that_wait(self):
        """Rows against past selves wait; the learner has only those that choose, with the probabilities of their choices."""
        import torch

        torch.manual_seed(1)
        envs = moonfarm.make_vec("terminal", 1, form="orders", opponent="empty")
        names = [s["name"] for s in envs.description["scalars"]]
        me = Learner(envs, make(envs, 16), "cpu")
        with tempfile.TemporaryDirectory() as folder:
            args = ppo.arguments([
                "terminal", "--opponent", "empty", "--max-turns", "2", "--envs", "8", "--steps", "40", "--past-share", "0.75", "--out", folder,
            ])  # fmt: skip
            data = ppo.Games(args, me.body.inputs, ppo.League(args, [me]), 1).play(me)
        rows = len(data["gain"])
        self.assertTrue(2 * 40 < rows < 8 * 40, rows)
        self.assertEqual({len(a) for a in data.values()}, {rows})
        self.assertFalse(data["scalars"][:, names.index("own_ended")].any())
        self.assertGreater((data["action"] == 1554).sum(), 10)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to build moonfarm")
    def test_ppo_memory(self):
        """Windows of a game say what was said while it was played; the network plays as ONNX with its state."""
        import torch

        for game, form in some(("tron", "cells"), ("codecraft", "entities"), ("towerdefence", "cells")):
            with self.subTest(game=game), tempfile.TemporaryDirectory() as folder:
                small = (
                    game, "--form", form, "--opponent", "random", "--envs", "6", "--steps", "16", "--window", "4", "--memory", "5", "--league", "0",
                    "--batch", "24", "--width", "32", "--max-turns", "7", "--games", "2", "--threads", "1", "--updates", "2", "--out", folder,
                )  # fmt: skip
                args = ppo.arguments(small)
                training = ppo.Training(args)
                training.run.close()
                rows, learner = [], training.learner
                torch.nn.init.normal_(learner.body.cell.weight_ih, std=0.5)
                for _ in range(2):  # the second one begins within games
                    data = training.games.play(learner)
                    for batch in ppo.batches(data, np.random.default_rng(1), args):
                        rows.append(len(batch["gain"]))
                        moved = ppo.loss(learner, None, batch, args)[1][3]
                        self.assertLess(abs(float(moved)), 1e-5)
                        forgot = ppo.loss(learner, None, {**batch, "begins": ~batch["begins"]}, args)[1][3]
                        self.assertGreater(float(forgot), abs(float(moved)))
                self.assertEqual(sum(rows), 2 * 6 * 16)
                self.assertTrue(data["learned"].sum() < 6 * 16)
                lines = run("ppo", *small)
                self.assertRegex(lines[-1], r"CPU-s$")
                self.play(game, Path(folder) / "network.onnx")

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_probabilities_of_actions(self):
        """The heads with a choice have the probabilities with which an action was drawn, all other heads 1."""
        import torch

        for game, form in (
            ("tron", "cells"), ("towerdefence", "cells"), ("terminal", "cells"), ("terminal", "orders"), ("codecraft", "cells"),
            ("codecraft", "entities"),
        ):  # fmt: skip
            with self.subTest(game=game, form=form), moonfarm.make_vec(game, 3, opponent="random", form=form) as envs:
                torch.manual_seed(1)
                learner = Learner(envs, make(envs, 32), "cpu")
                obs, infos = envs.reset(seed=1)
                for _ in range(12):
                    obs, *_, infos = envs.step(learner(obs, infos))
                with torch.no_grad():
                    seen = learner.see({**obs, "mask": infos["mask"]})
                    actions, logs = learner.choose(seen)
                    self.assertLess(float(logs.sum()), -1)
                    for said in learner.body.say(seen, actions):
                        chosen = actions[said.rows, said.heads][:, None]
                        log = torch.log_softmax(said.logits, 1).gather(1, chosen)[:, 0]
                        torch.testing.assert_close(logs[said.rows, said.heads], log, rtol=1e-4, atol=1e-5)
                        logs[said.rows, said.heads] = 0
                    torch.testing.assert_close(logs, torch.zeros_like(logs))

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to build moonfarm")
    def test_expert_iteration(self):
        with tempfile.TemporaryDirectory() as folder:
            for game, learnt, kind in some(
                ("towerdefence", "shares", ("mcts(sims=10)", "mcts(sims=4,model={model},trust=0.5,noise=0.25)", "--mean", 0.9, "--surprise", 0.5, "--anchor", "random")),
                ("terminal", "played", ("mcts(sims=4)", "mcts(sims=4,model={model})", "--rated", "mcts(sims=2,model={model})")),
                ("codecraft", "asked", ("mix(0.9*pgs(sims=2),0.1*random)", "pgs(sims=2)")),
                ("tron", "asked", ("mix(0.8*territory,0.2*random)", "territory")),
            ):  # fmt: skip
                with self.subTest(game=game):
                    self.iterate(game, learnt, Path(folder) / game, *kind)

    def iterate(self, game: str, learnt: str, out: Path, teacher: str, search: str, *kind: str):
        """Two generations, in Tower Defence by two calls, and a network that plays."""
        small = (
            game, "--teacher", teacher, "--search", search, *kind, "--episodes", 4, "--later", 4,
            "--shard-episodes", 2, "--rows", 64, "--later-rows", 64, "--batch", 32, "--width", 32,
            "--games", 2, "--max-turns", 6, "--threads", 1, "--opponent", "random", "--judge", "empty",
        )  # fmt: skip
        first, calls = list[str](), (1, 2) if game == "towerdefence" else (2,)
        for generations in calls:
            lines = run("iterate", *small, "--generations", generations, "--out", out)
            first = first or lines
        said = [line.split(":")[0] for line in lines if line.startswith("generation")]
        self.assertEqual(said, [f"generation {n}" for n in (1, 2)[len(calls) - 1 :]])
        # No network was there before; too few games for an error.
        self.assertRegex(first[0], r"^generation 1: [1-9]\d* rows of 4 games, [1-4] of them different; loss \d+\.\d{3}; rating -?\d+ ± \?; ")
        self.assertRegex(lines[-4], r"^generation 2: .*; \d+\.\d% against the best before, (not )?kept; rating ")
        self.assertRegex(first[2], r"^ +\d+\.\d % against empty in 2 games, [12] of them different, between \d+\.\d and \d+\.\d %$")
        points = [json.loads((out / f"{n}" / "point.json").read_text()) for n in (1, 2)]
        self.assertEqual([(point["generation"], point["learn"]) for point in points], [(1, learnt), (2, learnt)])
        self.assertEqual(sorted(path.name for path in (out / "2").glob("games*")), ["games0", "games1"])
        for point, line in zip(points, self.curve(out)):
            self.assertIsNone(point["error"])
            self.assertAlmostEqual(float(line["scores/random"]), point["scores"]["random"]["score"], places=4)
            self.assertGreater(float(line["cpu"]), 0)
        kept = 2 if points[1]["kept"] else 1
        self.assertEqual((out / "best.onnx").read_bytes(), (out / str(kept) / "network.onnx").read_bytes())
        self.play(game, out / "2" / "network.onnx")

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to make a dataset")
    def test_behaviour_cloning(self):
        for game, form, policy, episodes, kind in some(
            ("codecraft", "entities", "econ", 20, ("--outcome", "win", "--outcome", "draw")),
            ("codecraft", "cells", "econ", 20, ()),
            ("terminal", "orders", "mix(0.9*turtle,0.1*scatter),maze", 8, ("--imitate", "turtle", "--imitate", "maze")),
            ("terminal", "cells", "turtle", 10, ("--seat", 1)),
            ("tron", "cells", "territory", 400, ()),
        ):
            with self.subTest(game=game, form=form), tempfile.TemporaryDirectory() as folder:
                data, out = Path(folder) / "data", Path(folder) / "clone"
                self.generate(game, policy, episodes, data)
                small = (
                    "--seconds", 1, "--width", 32, "--rows", 64, "--games", 2, "--max-turns", 3, "--validation", 0.3,
                    "--form", form, "--opponent", "random", "--opponent", "empty", "--matches", 1, *kind,
                )  # fmt: skip
                lines = run("clone", game, data, "--out", out, *small)
                self.assertRegex(lines[0], rf"data: {episodes} games, [1-9]\d* of them different")
                self.assertRegex("\n".join(lines), r"held out: \d+\.\d% of [1-9]\d* choices")
                self.assertRegex(lines[-4], r"\d+\.\d % against random in 2 games, between \d+\.\d and \d+\.\d %")
                self.assertRegex(lines[-3], r"\d+\.\d % against empty in 2 games")
                self.assertRegex(lines[-1], r"clone: \d+ s reading, \d+ s learning, \d+ s measuring, \d+ s writing; \d+ CPU-s$")
                self.play(game, out / "network.onnx")

    @unittest.skipIf(AGAIN, AGAIN)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to make a dataset")
    def test_behaviour_cloning_goes_on(self):
        """It learns what a policy was asked, and continues a run from its folder."""
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            self.generate("towerdefence", "random", 20, folder / "data", "--ask", "econ")
            small = ("--width", 128, "--rows", 64, "--validation", 0.3, "--games", 0, "--out", folder / "clone")
            first = run("clone", "towerdefence", folder / "data", "--seconds", 1, *small)
            before = self.curve(folder / "clone")
            more = float(before[-1]["time/learning"]) + 1  # more than a second on a busy machine
            again = run("clone", "towerdefence", folder / "data", "--seconds", more, *small)
            self.assertRegex(again[1], r"^continues after \d+ s")
            rows = [int(point["rows"]) for point in self.curve(folder / "clone")]
            self.assertGreater(len(rows), len(before))
            self.assertGreater(rows[1], rows[0])
            self.assertGreater(len(first[-2]), len("agreement  "))
            self.play("towerdefence", folder / "clone" / "network.onnx")
            self.assertEqual(sorted(p.name for p in (folder / "clone").glob("*.*") if "tfevents" not in p.name), [
                "checkpoint.pt", "curve.csv", "network.onnx", "run.json", "spent.json",
            ])  # fmt: skip
            self.damaged(folder / "clone" / "checkpoint.pt", "clone", "towerdefence", folder / "data", "--seconds", 99, *small)
            self.damaged(
                folder / "clone" / "checkpoint.pt", "ppo", "towerdefence", "--opponent", "random", "--width", 32, "--begin",
                folder / "clone", "--out", folder / "ppo",
            )  # fmt: skip

    def damaged(self, file: Path, *arguments: object) -> None:
        """A file that was cut, or is another program's, is named in one line."""
        import torch

        whole = file.read_bytes()
        for contents in some(whole[: len(whole) // 2], b"", None):
            if contents is None:
                torch.save({"weights": 1}, file)
            else:
                file.write_bytes(contents)
            with self.assertRaisesRegex(AssertionError, rf"exits with 1:\n[^\n]*{file.name}: it is damaged, .* remove it to begin anew$"):
                run(*arguments)
        file.write_bytes(whole)

    @unittest.skipIf(AGAIN, AGAIN)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to make a dataset")
    def test_value(self):
        """--learn value changes the value of a network, and leaves its choices; in a sequential form it learns from the first rows of turns."""
        import torch

        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            self.generate("terminal", "mcts(sims=4)", 12, folder / "data", "--max-turns", "12")
            small = ("--width", 64, "--rows", 64, "--validation", 0.3, "--games", 0)
            run("clone", "terminal", folder / "data", "--seconds", 1, *small, "--out", folder / "clone")
            more = (*small, "--seconds", 1, "--learn", "value", "--begin", folder / "clone", "--out", folder / "judge")
            said = run("clone", "terminal", folder / "data", *more)
            self.assertRegex("\n".join(said), r"\n  value off by \d\.\d+ from the outcome")
            before, after = (torch.load(folder / name / "checkpoint.pt")["body"] for name in ("clone", "judge"))
            changed = {name for name in before if not torch.equal(before[name], after[name])}
            self.assertEqual(changed, {name for name in before if name.startswith("value.")})
            self.play("terminal", folder / "judge" / "network.onnx")
            with self.assertRaisesRegex(AssertionError, "expected --begin"):
                run("clone", "terminal", folder / "data", *small, "--learn", "value", "--out", folder / "no")

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to build moonfarm")
    def test_dagger(self):
        with tempfile.TemporaryDirectory() as folder:
            for game, teacher in some(("terminal", "turtle"), ("tron", "territory"), ("towerdefence", "econ"), ("codecraft", "econ")):
                with self.subTest(game=game):
                    out = Path(folder) / game
                    small = (
                        "--teacher", teacher, "--opponent", "random", "--judge", "empty", "--episodes", 4, "--seconds", 1,
                        "--games", 2, "--max-turns", 5, "--width", 32, "--batch", 16, "--threads", 1,
                    )  # fmt: skip
                    if game in ("codecraft", "tron"):  # fewer rows than a round has, or more
                        small = (*small, "--memory", 30 if game == "tron" else 300)
                    if game == "terminal":  # another call continues a run
                        first = run("dagger", game, "--rounds", 1, *small, "--out", out)
                        self.assertRegex(first[0], r"^round 1: [1-9]\d* rows, loss \d+\.\d{3}, after ")
                        self.assertNotIn("round 2", "\n".join(first))
                    again = run("dagger", game, "--rounds", 2, *small, "--out", out)
                    said = [line.split(":")[0] for line in again if line.startswith("round")]
                    self.assertEqual(sorted(said), ["round 2"] if game == "terminal" else ["round 1", "round 2"])
                    self.assertRegex(again[-2], r"^ +\d+\.\d % against empty in 2 games, between ")
                    self.assertEqual([point["round"] for point in self.curve(out)], ["1", "2"])
                    self.assertTrue(all(point["scores/empty"] for point in self.curve(out)))
                    self.assertGreater((out / "2" / "network.onnx").stat().st_size, 1000)

    def generate(self, game: str, policy: str, episodes: int, out: Path, *more: str):
        make = [
            program(), "generate", game, "--policy", policy, "--obs", "none", "--out", out, *more,
            "--episodes", str(episodes), "--max-turns", "40",
        ]  # fmt: skip
        subprocess.run(make, check=True, capture_output=True)

    def play(self, game: str, model: Path):
        """The network fits the game, and moonfarm plays by it."""
        for command, said in (
            (["model", "inspect", "--strict", "--game", game, model], f"The model goes with {game}"),
            (["eval", game, "--strict", "--player", model, "--player", "random", "--games", 2, "--max-turns", 3], "2 games on 1 seed"),
        ):  # fmt: skip
            done = subprocess.run([program(), *map(str, command)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stdout)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_devices(self):
        """What learners compute with is made on their device, so that no tensor of a GPU meets one of the CPU."""
        import torch
        from torch.overrides import TorchFunctionMode

        makers = {torch.tensor, torch.as_tensor, torch.zeros, torch.ones, torch.full, torch.empty, torch.arange, torch.eye, torch.rand}

        class OnDevice(TorchFunctionMode):
            def __torch_function__(self, made, types, args=(), kwargs=None):
                if made in makers and "device" not in (kwargs or {}):
                    raise AssertionError(f"torch.{made.__name__} without a device")
                return made(*args, **(kwargs or {}))

        with self.assertRaisesRegex(AssertionError, "arange without"), OnDevice():
            torch.arange(3)
        for game, form in (
            ("tron", "cells"), ("towerdefence", "cells"), ("terminal", "cells"), ("terminal", "orders"), ("codecraft", "cells"),
            ("codecraft", "entities"),
        ):  # fmt: skip
            with self.subTest(game=game, form=form), moonfarm.make_vec(game, 3, opponent="random", form=form) as envs:
                learner = Learner(envs, make(envs, 32), "cpu")
                obs, infos = envs.reset(seed=1)
                for _ in range(8):
                    obs, *_, infos = envs.step(learner(obs, infos))
                batch, zeros = {**obs, "mask": infos["mask"]}, np.zeros(3, np.float32)
                args = argparse.Namespace(clip=0.2, entropy=0.1, teacher_weight=1.0, span=1)
                with OnDevice():
                    action, log = learner.choose(learner.see(batch))
                    batch |= {"action": action.numpy(), "log": log.numpy(), "outcome": zeros, "gain": zeros, "return": zeros, "learned": zeros == 0}
                    learner.loss(batch)
                    ppo.loss(learner, learner, batch, args)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_begin_with_a_network_that_ships(self):
        """The weights of an ONNX file make the same choices as the policy."""
        for game, form, width in ("towerdefence", "cells", 512), ("terminal", "orders", 512), ("codecraft", "entities", 384):
            with self.subTest(game=game), moonfarm.make_vec(game, 4, opponent="random", form=form) as envs:
                body = make(envs, width)
                run_module.begin(body, ROOT / "rollout" / "policy" / "models" / f"{game}.onnx", "cpu")
                learner = Learner(envs, body, "cpu")
                obs, infos = envs.reset(seed=1)
                for _ in range(10):
                    action = learner(obs, infos, greedy=True)
                    np.testing.assert_array_equal(action, envs.ask("net(greedy)"))
                    obs, *_, infos = envs.step(action)
                with self.assertRaisesRegex(SystemExit, f"{game}.onnx: it is damaged, or not of this network: .*--width"):
                    run_module.begin(make(envs, 64), ROOT / "rollout" / "policy" / "models" / f"{game}.onnx", "cpu")

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_lines(self):
        """A run prints a line when nothing else has been printed for a while."""
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(run_module, "EVERY", 0.2), contextlib.redirect_stdout(said):
            run = run_module.Run(argparse.Namespace(out=Path(folder), device="cpu"))
            run.now("waits")
            with run.timed("waiting"):
                time.sleep(1.5)
            run.close()
            lines = said.getvalue().splitlines()
            time.sleep(1)
        self.assertRegex(lines[0], r"^ +0 s … waits$")
        self.assertRegex(lines[-1], r": \d+ s waiting; \d+ CPU-s$")
        self.assertEqual(said.getvalue().splitlines(), lines)  # none after its end

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_exported_form(self):
        """The exported network computes the same heads as the one that learns."""
        import torch

        for game, form, rules in (
            ("tron", "cells", None), ("towerdefence", "cells", None), ("terminal", "cells", None), ("terminal", "orders", None),
            ("codecraft", "cells", "round1"), ("codecraft", "entities", "round1"),
        ):  # fmt: skip
            with self.subTest(game=game, form=form):
                torch.manual_seed(1)
                envs = moonfarm.make_vec(game, 3, rules=rules, opponent="random", form=form)
                learner = Learner(envs, make(envs, 32, players=2), "cpu")
                for p in learner.body.parameters():
                    torch.nn.init.normal_(p, std=0.1)
                obs, infos = envs.reset(seed=1)
                for _ in range(12):
                    obs, *_, infos = envs.step(learner(obs, infos, greedy=False))
                learner.body.imitate(1)
                batch, heads = {**obs, "mask": infos["mask"], "player": np.ones(3, np.int64)}, 0
                seen = learner.see(batch)
                tensors = (seen.mask if name == "mask" else learner.tensor(batch, name) for name in learner.body.inputs)
                with torch.no_grad():
                    with mock.patch("torch.onnx.is_in_onnx_export", return_value=True):
                        logits, value = learner.body(*tensors)
                    torch.testing.assert_close(value, seen.value)
                    for said in learner.body.say(seen):
                        legal = said.logits > -1e9
                        exported = logits[said.rows[:, None], said.choices][legal]
                        torch.testing.assert_close(exported, said.logits[legal], rtol=1e-4, atol=1e-4)
                        heads += len(said.rows)
                self.assertGreaterEqual(heads, 3 if len(envs.heads) == 1 else 3 * 5)
                envs.close()

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_thinned_cells(self):
        """Of the cells with the same label some are drawn, which stand for all: few labels are as good as alone."""
        import torch

        torch.manual_seed(1)
        for game, form in ("codecraft", "entities"), ("terminal", "cells"):
            with self.subTest(game=game):
                envs = moonfarm.make_vec(game, 2, opponent="random", form=form)
                body = make(envs, 16)
                obs, infos = envs.reset(seed=1)
                seen = Learner(envs, body, "cpu").see({**obs, "mask": infos["mask"]})
                place = body.places[-1]
                body.places, body.out = [place], body.out[-1:]
                there = torch.rand(2, place.count) < 0.8
                labels = torch.zeros(2, len(envs.heads), dtype=torch.long)
                heads, _ = body.heads(place.kinds[0], torch.arange(place.count))
                labels[:, heads] = (torch.rand(2, place.count) < 0.02).long() * 2
                rare, common = (there & (labels[:, heads] == label) for label in (2, 0))
                groups, even = torch.zeros(there.shape, dtype=torch.long), torch.ones(there.shape)
                chances = body.chances(place, there, groups, labels, 40, even)
                alone = body.chances(place, there, (labels[:, heads] > 0).long(), labels, 40, even)
                self.assertGreaterEqual(float(alone[rare].min()), 1)
                self.assertTrue((chances[rare] >= 1).all() and (chances[~there] == 0).all())
                self.assertAlmostEqual(float(chances[common].sum()), 40, places=3)
                twice = body.chances(place, there, groups, labels, 40, even * torch.tensor([[0.5], [1.5]]))
                self.assertAlmostEqual(float(twice[1][common[1]][0] / twice[0][common[0]][0]), 3, places=4)
                with mock.patch.object(body, "there", return_value=there), mock.patch.object(body, "groups", return_value=groups), mock.patch.object(
                    body, "worth", return_value=even
                ):
                    with mock.patch("moonfarm.train.bodies.counted", lambda label, legal: label >= 0):
                        drawn = [said for _ in range(100) for said in body.say(seen, labels, 40)]
                weights = sum(float(s.weights.sum()) for s in drawn) / 100
                self.assertAlmostEqual(weights / float(there.sum()), 1, delta=0.03)
                envs.close()

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_rare_places(self):
        """Played at its temperature, a network of entities chooses a place as often as the labels, and is sharper in all else."""
        import torch

        envs = moonfarm.make_vec("codecraft", 1, form="entities")
        body = make(envs, 16)
        envs.close()
        labels = torch.tensor([0] * 60 + [3] * 38 + [50, 60])
        logits = torch.zeros(1, 128, requires_grad=True)
        optimiser = torch.optim.Adam([logits], 0.1)
        rows = torch.arange(len(labels))
        for _ in range(800):
            said = bodies.Said(rows, rows, rows, logits.expand(len(labels), -1), torch.ones(len(labels)))
            optimiser.zero_grad()
            body.cross_entropy(said, labels).mean().backward()
            optimiser.step()
        played = torch.softmax(logits[0].detach() / body.temperature, 0)
        self.assertAlmostEqual(float(played[body.PLACES :].sum()), 0.02, delta=0.002)
        self.assertAlmostEqual(float(played[0] / played[3]), (60 / 38) ** 2, delta=0.1)
        self.assertAlmostEqual(float(played[50] / played[60]), 1, delta=0.05)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_cells(self):
        """The cells of the heads are found by the plane that shows them, in the order of the board."""
        import torch

        envs = moonfarm.make_vec("codecraft", 1, form="cells")
        network = make(envs, 16)
        (place,) = network.places
        parts = (0, 1e-4, 0.02, 0.04, 0.5, 1)
        planes = torch.zeros(len(parts) + 1, *network.shape)
        generator = torch.Generator().manual_seed(1)
        for board, part in zip(planes, parts):
            board[place.plane] = (torch.rand(network.shape[1:], generator=generator) < part).float()
        planes[-1, place.plane, [0, 0, -1], [0, -1, -1]] = 0.25  # the corners
        for board, cells in zip(planes, network.cells(place, planes)):
            there = board[place.plane].flatten().nonzero()[: place.count, 0]
            self.assertEqual(cells[: len(there)].tolist(), there.tolist())
            self.assertEqual(cells[len(there) :].unique().tolist(), [-1] * (len(there) < place.count))
        envs.close()

    @unittest.skipIf(AGAIN, AGAIN)
    @unittest.skipIf(shutil.which("go") is None, "left out: there is no go to make a dataset")
    def test_behaviour_cloning_of_searches(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for game, policy, episodes in some(
                ("towerdefence", "mcts(sims=20),econ", 60), ("terminal", "mcts(sims=10),turtle", 8),
            ):  # fmt: skip
                make = [
                    program(), "generate", game, "--policy", policy, "--obs", "none", "--out", folder / game,
                    "--episodes", str(episodes), "--max-turns", "30",
                ]  # fmt: skip
                subprocess.run(make, check=True, capture_output=True)
                for learn in some("shares", "played"):
                    with self.subTest(game=game, learn=learn):
                        self.learn_searches(folder / game, learn)
            done = [*make, "--policy", "random"]
            done[done.index("--out") + 1] = folder / "unsearched"
            subprocess.run(done, check=True, capture_output=True)
            with self.assertRaisesRegex(AssertionError, "--learn shares: no policy of .*unsearched searches"):
                run("clone", game, folder / "unsearched", "--learn", "shares", "--out", folder / "no")

    def learn_searches(self, data: Path, learn: str):
        out = data.parent / f"{data.name}-{learn}"
        lines = run(
            "clone", data.name, data, "--learn", learn, "--out", out, "--seconds", 1, "--width", 16, "--rows", 64,
            "--validation", 0.3, "--opponent", "random", "--games", 2, "--max-turns", 3, "--form", "cells", "--matches", 1,
        )  # fmt: skip
        self.assertRegex(lines[-3], r"\d+\.\d % against random in 2 games")
        self.assertRegex(lines[1], r"held out: \d+\.\d% of [1-9]\d* choices")
        self.assertRegex(lines[2], r"^ +\d+\.\d{3} cross-entropy \(least \d+\.\d{3}\)  value off by \d\.\d{3} ")
        with open(out / "curve.csv", newline="") as f:
            last = {k: float(x) for k, x in [*csv.DictReader(f)][-1].items()}
        self.assertGreater(last["cross_entropy"], last["entropy"])
        self.assertGreater(last["entropy"], 0)
        for name in ("value_outcome", "search_outcome", "value_search"):
            self.assertTrue(0 < last[name] < 2, name)
        self.play(data.name, out / "network.onnx")

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_expert_iteration_learns(self):
        """The mean of weights, and rows in proportion to the divergence of the search from the network before."""
        import torch

        mean, body = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
        for weight, expected in (4.0, 4.0), (8.0, 5.0):
            torch.nn.init.constant_(body.weight, weight)
            iterate.follow(mean, body, 0.75 if weight == 8 else 0)
            self.assertEqual(mean.weight.item(), expected)

        rows = 64
        envs = moonfarm.make_vec("towerdefence", rows, opponent="random")
        torch.manual_seed(1)
        learner = Learner(envs, make(envs, 32), "cpu", "shares")
        obs, infos = envs.reset(seed=1)
        for _ in range(5):
            obs, *_, infos = envs.step(envs.ask("econ"))
        legal = envs.action_masks(infos["mask"])
        with torch.no_grad():
            (said,) = learner.body.say(learner.see({**obs, "mask": infos["mask"]}))
            likely = torch.softmax(said.logits, 1).numpy()
        shares = np.where(np.arange(rows)[:, None] % 2, likely, legal / legal.sum(1, keepdims=True)).astype(np.float32)
        batch = {**obs, "mask": infos["mask"], "shares": shares, "best": shares.argmax(1)[:, None], "row": np.arange(rows)}
        far = iterate.divergences(learner, batch)
        ratio = np.log(np.maximum(shares, 1e-30) / np.maximum(likely, 1e-30))
        np.testing.assert_allclose(far, (shares * ratio * legal).sum(1), atol=1e-4)
        self.assertGreater(far[::2].min(), 10 * far[1::2].max())  # every second row says what the network says

        times, batches = np.zeros(rows), 400
        for drawn, _ in zip(iterate.surprising(iter([batch] * batches), learner, 0.5, 1), range(batches)):
            self.assertEqual(len(drawn["row"]), rows)
            np.testing.assert_array_equal(drawn["shares"], shares[drawn["row"]])
            times += np.bincount(drawn["row"], minlength=rows)
        np.testing.assert_allclose(times / batches, 0.5 + 0.5 * rows * far / far.sum(), atol=0.05)

    @unittest.skipIf(NO_TORCH, NO_TORCH)
    def test_cross_entropy(self):
        """Against shares the loss is the sum over moves of share times the move's loss, as in datasets/FORMAT.md."""
        import torch

        shares = torch.tensor([[0.7, 0, 0.3, 0, 0.5, 0.3, 0]])  # the second row of FORMAT.md's table
        logits = torch.tensor([[0.3, -1.0, 2.0, -1e9, 0.5, -0.25, 1.5]])
        for first, size, moves in ((0, 4, ((0.5, 0), (0.3, 2), (0.2, 0))), (4, 3, ((0.5, 0), (0.3, 1)))):
            choices = torch.arange(first, first + size)[None]
            of = bodies.Said(torch.tensor([0]), None, choices, logits[:, first : first + size], None)
            got = reading_rows.cross_entropy(of, shares)
            logs = torch.log_softmax(of.logits[0], 0)
            self.assertAlmostEqual(float(got[0]), -sum(share * float(logs[c]) for share, c in moves), places=5)
            self.assertLess(float(got[1]), float(got[0]))
            sums = {c: sum(s for s, d in moves if d == c) for _, c in moves}
            whole = sum(sums.values())
            self.assertAlmostEqual(float(got[1]), -sum(s * np.log(s / whole) for s in sums.values()), places=5)


if __name__ == "__main__":
    unittest.main()
