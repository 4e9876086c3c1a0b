"""Datasets, made by the command moonfarm and read through the library."""

import ctypes
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

import moonfarm
from moonfarm import library

from . import program, test_library

try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None
try:
    import pyarrow
except ImportError:
    pyarrow = None

made = {}


def setUpModule():
    """Makes a folder for the datasets of all tests."""
    if shutil.which("go") is None:
        raise unittest.SkipTest("left out: Go is not here to make datasets")
    made["folder"] = tempfile.TemporaryDirectory()


def tearDownModule():
    made["folder"].cleanup()


def generate(game, *flags):
    """Makes a dataset of the game with these flags."""
    folder = Path(made["folder"].name) / "-".join([game, *flags]).replace("/", "_")
    if not folder.exists():
        subprocess.run(
            [program(), "generate", game, "--seed", "3", "--out", folder, *flags],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    return moonfarm.dataset(folder)


def small(*flags):
    return generate("tron", "--episodes", "60", "--shard-episodes", "9", *flags)


def ids(batches):
    return [row for b in batches for row in zip(b["episode"].tolist(), b["turn"].tolist(), b["seat"].tolist())]


def rows(batches):
    """Returns all values of every row, by its number."""
    out = {}
    for b in batches:
        names = sorted(b)
        for i, id in enumerate(ids([b])):
            assert id not in out
            out[id] = [(n, b[n][i].tobytes()) for n in names]
    return out


class Reading(unittest.TestCase):
    def test_what_it_is(self):
        ds = small()
        self.assertEqual((ds.game, ds.players, ds.num_episodes, ds.heads), ("tron", 2, 60, [3]))
        self.assertEqual(len(ds), ds.metadata["totals"]["rows"])
        self.assertIn("60 episodes", repr(ds))
        self.assertEqual(len(pickle.loads(pickle.dumps(ds))), len(ds))
        batch = next(ds.batches(32))
        self.assertEqual(sorted(batch), sorted(c for c in ds.columns if c != "orders"))
        self.assertEqual((batch["planes"].shape, batch["planes"].dtype), ((32, 6, 8, 8), np.uint8))
        self.assertEqual((batch["action"].shape, batch["action"].dtype), ((32,), np.int32))
        self.assertEqual(batch["terminated"].dtype, np.bool_)
        self.assertEqual(ds.masks(batch["mask"]).shape, (32, 3))
        self.assertTrue(ds.masks(batch["mask"]).all())

    def test_played_is_read(self):
        for game in moonfarm.games():
            for obs in ("planes", "packed"):
                with self.subTest(game["name"], obs=obs):
                    flags = ["--episodes", "3", "--max-turns", "15"]
                    bare = generate(game["name"], *flags, "--obs", "none")
                    full = generate(game["name"], *flags, "--obs", obs, "--discount", "0.5")
                    want = rows(full.batches(100))
                    self.assertEqual(len(want), len(full))
                    for options in ({}, {"workers": 3}, {"shuffle": 50}, {"copy": False, "size": 7}):
                        got = rows(bare.batches(**{"size": 64, "obs": obs, "discount": 0.5, **options}))
                        self.assertEqual(want, got)

    def test_orders(self):
        ds = small()
        for options in ({}, {"play": True}, {"shuffle": 40, "play": True}):
            n = 0
            for b in ds.batches(50, columns=["episode", "orders", "action"], **options):
                self.assertEqual(len(b["order_ends"]), len(b["episode"]) + 1)
                self.assertEqual(b["order_ends"][-1], len(b["orders"]))
                n += len(b["episode"])
                for i, a in enumerate(b["action"]):
                    self.assertEqual([o or 0 for o in b["orders"][b["order_ends"][i] : b["order_ends"][i + 1]]], [a])
            self.assertEqual(n, len(ds))

    def test_searches(self):
        """Results of searches: shares over all choices, from files and played again."""
        flags = ["--episodes", "4", "--max-turns", "20", "--policy", "mcts(sims=6),mix(1*mcts(sims=3),1*econ)"]
        ds = generate("towerdefence", *flags)
        searched, n = {0: 0, 1: 0}, 0
        for b in ds.batches(50):
            self.assertNotIn("search_choices", b)
            shares, value, which = b["search_policy"], b["search_value"], np.arange(len(b["seat"]))
            self.assertEqual((shares.dtype, shares.shape), (np.float32, (len(which), ds.heads[0])))
            found = ~np.isnan(value)
            np.testing.assert_allclose(shares.sum(1), found, atol=1e-6)
            self.assertTrue((np.abs(value[found]) <= 1).all())
            self.assertTrue((ds.masks(b["mask"]) | (shares == 0)).all())
            self.assertIs(ds.shares(b), shares)
            np.testing.assert_array_equal(shares[which, b["action"]][found], shares.max(1)[found])
            for seat in searched:
                searched[seat] += int(found[b["seat"] == seat].sum())
            n += len(which)
        self.assertEqual(searched[0], n // 2)
        self.assertTrue(0 < searched[1] < n // 2, searched)
        want, bare = rows(ds.batches()), generate("towerdefence", *flags, "--obs", "none")
        for options in ({}, {"workers": 2}, {"shuffle": 50}, {"copy": False, "size": 7}):
            self.assertEqual(want, rows(bare.batches(**{"size": 64, "obs": "planes", **options})))
            if "workers" not in options:
                self.assertEqual(want, rows(ds.batches(**options)))
        (alone,) = ds.batches(len(ds), columns=["search_policy"])
        self.assertEqual(list(alone), ["search_policy"])
        turns = 0
        for e in ds.episodes(columns=["search_policy", "search_value"]):
            part = alone["search_policy"][2 * turns :][: 2 * len(e["search_value"])]
            np.testing.assert_array_equal(e["search_policy"], part.reshape(-1, 2, ds.heads[0]))
            turns += len(e["search_value"])
        self.assertEqual(2 * turns, len(ds))
        file = Path(made["folder"].name) / "searched.npz"
        ds.export(file)
        with np.load(file) as arrays:
            np.testing.assert_array_equal(arrays["search_policy"], alone["search_policy"])

    def test_searches_of_several_heads(self):
        """Moves are lists of choices, the played move has the largest share, and shares() sums them up."""
        row = {  # the second row of FORMAT.md's table
            "search_policy": np.float32([0.5, 0.3, 0.2]), "search_counts": np.int32([0, 2, 1]),
            "search_choices": np.int32([2, 5, -2]), "search_ends": np.int32([0, 3]),
        }  # fmt: skip
        shares = moonfarm.Dataset.shares(mock.Mock(heads=[4, 3]), row)
        np.testing.assert_allclose(shares, [[0.7, 0, 0.3, 0, 0.5, 0.3, 0]], atol=1e-6)
        flags = ["--episodes", "2", "--max-turns", "12", "--policy", "mcts(sims=8),mix(1*mcts(sims=8),1*random)"]
        ds = generate("terminal", *flags)
        first = np.concatenate([[0], np.cumsum(ds.heads)])
        searched = 0
        for b in [*ds.batches(7), *ds.batches(20, shuffle=30, obs="packed")]:
            ends, moves, want = b["search_ends"], np.cumsum([0, *b["search_counts"]]), np.zeros((0, first[-1]))
            self.assertEqual((ends[-1], moves[-1]), (len(b["search_policy"]), len(b["search_choices"])))
            np.testing.assert_array_equal(moves[ends], b["search_choice_ends"])
            for i, action in enumerate(b["action"]):
                shares, best = np.zeros((1, first[-1])), []
                most = b["search_policy"][ends[i] : ends[i + 1]].max(initial=0)
                for k in range(ends[i], ends[i + 1]):
                    said = np.zeros(len(ds.heads), np.int32)
                    for number in b["search_choices"][moves[k] : moves[k + 1]]:
                        head = -1 - number if number < 0 else np.searchsorted(first, number, "right") - 1
                        said[head] = max(-1, number - first[head])
                    best += [said.tolist()] if b["search_policy"][k] == most else []
                    shares[0, (first[:-1] + said)[said >= 0]] += b["search_policy"][k]
                self.assertEqual(np.isnan(b["search_value"][i]), not best)
                if best:
                    self.assertIn(action.tolist(), best)
                    searched += 1
                want = np.concatenate([want, shares])
            np.testing.assert_allclose(ds.shares(b), want, atol=1e-6)
        self.assertGreater(searched, len(ds))
        made_up = {
            "search_policy": np.float32([0.75, 0.25]), "search_ends": np.int32([0, 2, 2]),
            "search_counts": np.int32([1, 2]), "search_choices": np.int32([-1 - 3, 5, first[3] + 2]),
        }  # fmt: skip
        got = ds.shares(made_up)
        self.assertEqual((got[0, 0], got[0, 5], got[0, first[1]], got[0, first[3] + 2]), (0.75, 0.25, 1, 0.25))
        self.assertEqual((got[0, first[3] : first[4]].sum(), got[1].any()), (0.25, False))
        e = next(ds.episodes(columns=["search_policy", "search_value"]))
        self.assertEqual(e["search_ends"][-1], len(e["search_policy"]))
        self.assertEqual(e["search_value"].shape[1], 2)
        with self.assertRaisesRegex(ValueError, "search_policy are lists"):
            ds.export(Path(made["folder"].name) / "lists.npz", columns=["search_policy"])

    def test_epochs(self):
        ds = small("--obs", "none")
        everything = ids(ds.batches())
        self.assertEqual(len(set(everything)), len(ds))
        for play in (False, True):
            orders = [ids(ds.batches(16, shuffle=100, seed=4, epoch=e, play=play)) for e in (0, 0, 1)]
            for order in orders:
                self.assertEqual(sorted(order), sorted(everything))
            self.assertEqual(orders[0], orders[1])
            self.assertNotEqual(orders[0], orders[2])
            self.assertNotEqual(orders[0], everything)

    def test_splits(self):
        ds = small("--obs", "none")
        parts = {s: ids(ds.batches(split=s, validation=0.3, test=0.2)) for s in ("train", "validation", "test")}
        self.assertEqual(sorted(sum(parts.values(), [])), sorted(ids(ds.batches())))
        episodes = [{row[0] for row in part} for part in parts.values()]
        self.assertEqual(sum(map(len, episodes)), 60)
        self.assertTrue(all(episodes))

    def test_episodes(self):
        ds = small("--obs", "none")
        seen = []
        for e in ds.episodes(
            obs="planes", steps=2, discount=0.5,
            columns=["episode", "turn", "seat", "planes", "reward", "nstep", "action", "opponent", "terminated"],
        ):  # fmt: skip
            turns = len(e["turn"])
            self.assertEqual(e["planes"].shape, (turns, 2, 6, 8, 8))
            self.assertEqual(e["final_planes"].shape, (2, 6, 8, 8))
            self.assertEqual(e["turn"].tolist(), [[t, t] for t in range(turns)])
            self.assertEqual(e["seat"].tolist(), [[0, 1]] * turns)
            self.assertEqual(e["terminated"][:, 0].tolist(), [False] * (turns - 1) + [True])
            after = np.concatenate([e["reward"][1:], np.zeros((1, 2), np.float32)])
            np.testing.assert_array_equal(e["nstep"], e["reward"] + after / 2)
            np.testing.assert_array_equal(e["opponent"].reshape(turns, 2), e["action"][:, ::-1])
            seen.append(int(e["episode"][0, 0]))
        self.assertEqual(seen, list(range(60)))
        shuffled = [int(e["episode"][0, 0]) for e in ds.episodes(columns=["episode"], shuffle=True, workers=2)]
        self.assertNotEqual(shuffled, seen)
        self.assertEqual(sorted(shuffled), seen)

    def test_rows_by_number(self):
        """ds[i] is row i of batches(), and a slice a batch, also if rows have lists."""
        for ds, columns in (
            (small(), None), (generate("terminal", "--episodes", "3", "--max-turns", "5", "--policy", "maze"), None),
        ):  # fmt: skip
            whole = next(ds.batches(len(ds)))
            for i in (0, 7, len(ds) - 1, -1, -len(ds)):
                row = ds[i]
                self.assertEqual(set(row), set(whole))
                for name, array in whole.items():
                    np.testing.assert_array_equal(row[name], array[i])
            for first, end in ((0, 5), (3, 90), (len(ds) - 4, len(ds) + 9)):
                got = ds[first:end]
                for name, array in whole.items():
                    np.testing.assert_array_equal(got[name], array[first:end])
            for wrong in (len(ds), -len(ds) - 1, slice(5, 5)):
                with self.assertRaisesRegex(IndexError, "^row: "):
                    ds[wrong]
            for wrong, kind in ((1.0, TypeError), ("a", TypeError), (slice(0, 4, 2), ValueError)):
                with self.assertRaisesRegex(kind, "^row: "):
                    ds[wrong]

    def test_rows_with_lists(self):
        ds = generate("towerdefence", "--episodes", "2", "--max-turns", "4", "--policy", "mcts(sims=4)")
        whole = next(ds.batches(len(ds)))
        np.testing.assert_array_equal(ds[5]["search_policy"], whole["search_policy"][5])
        several = generate("terminal", "--episodes", "2", "--max-turns", "4", "--policy", "mcts(sims=4)")
        whole = next(several.batches(len(several)))
        ends = whole["search_ends"]
        for i in range(len(several)):
            np.testing.assert_array_equal(several[i]["search_policy"], whole["search_policy"][ends[i] : ends[i + 1]])
        every = several[0 : len(several)]
        for name, array in whole.items():
            np.testing.assert_array_equal(every[name], array)

    def test_memory_that_overlaps(self):
        shared = np.zeros(64, np.float32)
        reader = small().batches(16, columns=["reward", "return"])
        with mock.patch.object(type(reader), "_array", lambda *_: shared[:16]):
            with self.assertRaisesRegex(moonfarm.ArgumentError, "reward and returns overlap"):
                next(reader)
        at, call = shared.ctypes.data, library.library().call
        for out, fine in ((at, True), (at + 64, True), (at + 8, False), (at + 192, False)):
            given = (at, at + 64, at + 192, 16, 1, 0.9, 0.9, out)  # reward, value, last
            if fine:
                call("mf_advantages", *given)
            else:
                with self.assertRaisesRegex(moonfarm.ArgumentError, "overlap"):
                    call("mf_advantages", *given)

    @unittest.skipUnless(sys.platform == "linux", "needs limits on addresses and /proc")
    def test_too_little_memory(self):
        found = test_library.run(test_library.Memory.LIMIT + f"""
ds = moonfarm.dataset({str(small("--obs", "none").path)!r})
limit(4)
attempt(lambda: next(ds.batches(64, shuffle=2**30)))
attempt(lambda: next(ds.batches(64, obs="planes", shuffle=2**30, workers=2)))
attempt(lambda: next(ds.batches(2**30, obs="planes")))
attempt(lambda: next(ds.batches(64, obs="planes", shuffle=2**18)))
""")
        self.assertEqual([line.split()[0] for line in found.splitlines()], ["MemoryError"] * 3 + ["made"], found)

    def test_number_of_episodes(self):
        ds = small("--obs", "none")
        for options in ({}, {"split": "train"}, {"split": "validation", "validation": 0.3}, {"part": 1, "parts": 7}, {"shuffle": True}):
            found = ds.episodes(**options)
            self.assertEqual(len(found), len(list(found)))
        self.assertEqual(len(ds.episodes()), 60)

    def test_columns_and_splits_are_named(self):
        ds = small()
        for read in (ds.batches, ds.episodes):
            for columns in ([], [""], ["turn", ""], ["turn\nseat"]):
                with self.assertRaisesRegex(ValueError, "^columns: "):
                    read(columns=columns)
            for split in ("", "tests", None):
                with self.assertRaisesRegex(ValueError, "^split: "):
                    read(split=split)
        for wrong in ("", "a\0b"):
            with self.assertRaisesRegex(ValueError, "^file: "):
                ds.export(wrong)

    def test_advantages(self):
        rng = np.random.default_rng(1)
        reward, value = rng.random((7, 2), np.float32), rng.random((7, 2), np.float32)
        last = rng.random(2, np.float32)
        got = moonfarm.advantages(reward, value, last, discount=0.9, decay=0.8)
        values = np.concatenate([value, last[None]])
        errors = reward + 0.9 * values[1:] - values[:-1]
        for t in range(7):
            want = sum(0.72**k * errors[t + k] for k in range(7 - t))
            np.testing.assert_allclose(got[t], want, rtol=1e-5)
        with self.assertRaisesRegex(ValueError, "last: expected shape"):
            moonfarm.advantages(reward, value, last[:1])
        self.assertEqual(moonfarm.advantages(reward[:0], value[:0]).shape, (0, 2))
        alone = moonfarm.advantages(reward[:, 0], value[:, 0], last[0], discount=0.9, decay=0.8)
        np.testing.assert_array_equal(alone, got[:, 0])

    def test_misuse_of_advantages(self):
        """Invalid sizes and memory are errors."""
        lib, a = library.library(), np.zeros(6, np.float32)
        good = [a.ctypes.data, a.ctypes.data, None, 3, 2, 1.0, 1.0, a.ctypes.data]
        lib.call("mf_advantages", *good)
        for place, wrong in (
            (0, None), (1, None), (7, None), (0, 16), (1, a.ctypes.data + 1), (2, 16), (7, 1 << 46),
            (3, -1), (4, 0), (3, 2**62), (4, 2**31),
        ):  # fmt: skip
            with self.subTest(place=place, wrong=wrong), self.assertRaises(moonfarm.ArgumentError):
                lib.call("mf_advantages", *good[:place], wrong, *good[place + 1 :])

    def test_export(self):
        ds = small("--obs", "none")
        file = Path(made["folder"].name) / "rows.npz"
        ds.export(file, obs="packed", columns=["packed", "return"])
        with np.load(file) as arrays:
            self.assertEqual(set(arrays), {"packed", "return", "metadata"})
            self.assertEqual(arrays["packed"].shape, (len(ds), 6))
            self.assertEqual(json.loads(str(arrays["metadata"])), ds.metadata)

    @unittest.skipIf(pyarrow is None, "left out: pyarrow is not installed")
    def test_arrow(self):
        ds = small()
        table = ds.arrow(columns=["turn", "reward"])
        self.assertEqual((table.num_rows, table.column_names), (len(ds), ["turn", "reward"]))

    def test_no_arrow(self):
        """Without pyarrow, arrow() says what is missing, and what works without."""
        with mock.patch.dict(sys.modules, {"pyarrow": None}):
            with self.assertRaisesRegex(ImportError, r"needs pyarrow, which is not installed; batches\(\) needs noth"):
                small().arrow()

    def test_left_early(self):
        ds = small("--obs", "none")
        for workers in (1, 2):
            reader = ds.batches(8, obs="planes", workers=workers)
            next(reader)
            reader.close()
            self.assertEqual(list(reader), [])
            next(ds.batches(8, obs="planes", shuffle=64, workers=workers))  # the reader is dropped

    def test_refused(self):
        ds = small("--obs", "none")
        for text, kind, options in (
            ("columns: expected names in a list", TypeError, {"columns": "planes"}),
            ('no column "planes"', ValueError, {"columns": ["planes"]}),
            ("columns: there is no name", ValueError, {"columns": []}),
            ("columns: expected a text, got 3", TypeError, {"columns": [3]}),
            ("size: expected a number from 1", ValueError, {"size": 0}),
            ("size: expected a whole number, got 1.5", TypeError, {"size": 1.5}),
            ("split: 'half' is not one of 'all', 'train'", ValueError, {"split": "half"}),
            ("part 2 of 2", ValueError, {"part": 2, "parts": 2}),
            ("validation: expected a number, got str", TypeError, {"validation": "many"}),
            ("validation share 2", ValueError, {"validation": 2}),
            ("obs: 'pixels' is not one of", ValueError, {"obs": "pixels"}),
            ('no reward "gold"', ValueError, {"reward": "gold"}),
            ("discount: 2 is not above 0", ValueError, {"discount": 2}),
            ("play: False is for the rows in the files", ValueError, {"play": False, "obs": "planes"}),
            ("workers: expected a number from 1", ValueError, {"workers": 0}),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                ds.batches(**options)
        with self.assertRaisesRegex(ValueError, "no dataset there"):
            moonfarm.dataset(Path(made["folder"].name) / "nothing")

    def test_urls(self):
        """A URL works like a folder, also in a copy."""
        ds = small("--obs", "none")
        url = Path(ds.path).resolve().as_uri()
        again = pickle.loads(pickle.dumps(moonfarm.dataset(url)))
        self.assertEqual(again.path, url)
        self.assertEqual(ids(again.batches()), ids(ds.batches()))
        with self.assertRaisesRegex(moonfarm.ArgumentError, "no store of the scheme"):
            moonfarm.dataset("ftp://host/data")

    def test_misuse_of_the_library(self):
        """Handles of another kind and invalid memory are errors."""
        ds = small("--obs", "none")
        reader, lib = ds.batches(8, obs="planes"), library.library()
        handles = (ds._open.handle, reader._open.handle, 0, 12345)
        batch = library.CBatch(size=ctypes.sizeof(library.CBatch), capacity=8)
        for handle in handles:
            with self.assertRaises(moonfarm.HandleError):
                lib.call("mf_step", handle)
            if handle != reader._open.handle:
                with self.assertRaises(moonfarm.HandleError):
                    lib.call("mf_reader_next", handle, batch)
            if handle != ds._open.handle:
                with self.assertRaises(moonfarm.HandleError):
                    lib.text("mf_dataset_describe", handle)
        for change in (
            {"size": 8}, {"reserved": 1}, {"capacity": -1}, {"planes": 16}, {"planes": 1 << 46},
            {"turn": batch.planes or 4097},
        ):  # fmt: skip
            with self.subTest(change), self.assertRaises(moonfarm.ArgumentError):
                wrong = {"size": batch.size, "capacity": 8, **change}
                lib.call("mf_reader_next", reader._open.handle, library.CBatch(**wrong))
        few = library.CBatch(size=batch.size, capacity=7, planes=16)  # too few rows: nothing is written
        lib.call("mf_reader_next", reader._open.handle, few)
        self.assertEqual(few.rows, 8)
        self.assertEqual(len(ids(reader)), len(ds))  # no row was lost

    def test_damaged(self):
        folder = Path(made["folder"].name) / "damaged"
        shutil.copytree(small("--obs", "none").path, folder)
        file = folder / "episodes" / "00002.arrow"
        text = bytearray(file.read_bytes())
        text[len(text) // 3] ^= 0x55
        file.write_bytes(text[: len(text) // 2])
        ds = moonfarm.dataset(folder)
        reader = ds.batches(obs="planes")
        with self.assertRaisesRegex(moonfarm.DataError, "episodes/00002.arrow"):
            list(reader)
        self.assertEqual(list(reader), [])
        (folder / "manifest.json").write_text("{}")
        with self.assertRaises(moonfarm.DataError):
            moonfarm.dataset(folder)


class Filters(unittest.TestCase):
    def test_rows(self):
        """Filters select the rows that match, from files and played again."""
        mix = "mix(0.5*random,0.5*safe)"
        ds = small("--policy", f"{mix},safe", "--opening", "random:2", "--obs", "planes")
        columns = ["episode", "turn", "seat", "outcome", "chosen", "action", "reward"]
        every = {k: np.concatenate([b[k] for b in ds.batches(columns=columns)]) for k in columns}
        late, mixed = every["turn"] >= 2, every["seat"] == 0
        for options, want in (
            ({"outcome": "win"}, every["outcome"] > 0),
            ({"outcome": ["draw", "loss"], "seat": 1}, (every["outcome"] <= 0) & ~mixed),
            ({"policy": "safe"}, late & (~mixed | (every["chosen"] == 1))),
            ({"policy": [mix]}, late & mixed),
            ({"chosen": 0, "outcome": "win"}, late & mixed & (every["chosen"] == 0) & (every["outcome"] > 0)),
            ({"opening": False}, late),
        ):
            self.assertTrue(want.any(), options)
            for play in (False, True):
                with self.subTest(f"{options}, play {play}"):
                    got = list(ds.batches(100, columns=columns, play=play, **options))
                    self.assertTrue(all(len(b["turn"]) == 100 for b in got[:-1]))
                    for k in columns:
                        np.testing.assert_array_equal(np.concatenate([b[k] for b in got]), every[k][want])
        options = {"outcome": "win", "columns": ["episode", "turn", "seat"]}
        shuffled = ids(ds.batches(32, shuffle=200, **options))
        self.assertEqual(sorted(shuffled), sorted(ids(ds.batches(**options))))
        self.assertEqual(len(ids(ds.batches(play=True, steps=2, policy="safe", columns=["episode", "turn", "seat", "nstep"]))),
                         int((late & (~mixed | (every["chosen"] == 1))).sum()))  # fmt: skip

    def test_refused(self):
        ds = small("--obs", "none")
        for options, kind, text in (
            ({"policy": "nobody"}, ValueError, "nobody"), ({"seat": 2}, ValueError, "seat 2"), ({"chosen": 0}, ValueError, "chosen 0"),
            ({"outcome": "won"}, ValueError, "outcome: 'won'"), ({"seat": "a"}, TypeError, "seat"), ({"policy": []}, ValueError, "policy"),
        ):
            with self.assertRaisesRegex(kind, text):
                ds.batches(**options)

    def test_split(self):
        """Games that repeat are all in one split."""
        ds = generate("terminal", "--policy", "planner", "--episodes", "60", "--max-turns", "6", "--obs", "none")
        self.assertLess(ds.metadata["totals"]["distinct"], 60)
        games, column = {}, ["episode", "turn", "seat", "orders"]
        for split in ("train", "validation"):
            turns = {}
            for b in ds.batches(columns=column, split=split, validation=0.4):
                for i, (episode, turn, seat) in enumerate(ids([b])):
                    given = b["orders"][b["order_ends"][i] : b["order_ends"][i + 1]].tobytes()
                    turns.setdefault(episode, []).append((turn, seat, given))
            games[split] = {tuple(sorted(t)) for t in turns.values()}
        self.assertTrue(games["train"] and games["validation"])
        self.assertFalse(games["train"] & games["validation"])


@unittest.skipIf(torch is None, "left out: torch is not installed")
class Torch(unittest.TestCase):
    def test_ranks_and_workers(self):
        """Two ranks × three workers read every row once."""
        ds = small("--obs", "none")
        seen = []
        for rank in range(2):
            data = ds.torch(16, rank=rank, world=2, columns=["episode", "turn", "seat"], shuffle=64, seed=1)
            data.set_epoch(3)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # more workers than cores
                loader = torch.utils.data.DataLoader(
                    data, batch_size=None, num_workers=3, multiprocessing_context="spawn", timeout=300,
                )
            seen += ids({k: v.numpy() for k, v in b.items()} for b in loader)
        self.assertEqual(len(seen), len(ds))
        self.assertEqual(sorted(seen), sorted(ids(ds.batches())))

    def load(self, data, workers=0, **options):
        """Returns the numbers of the rows of each batch, through a DataLoader."""
        if workers:
            options.update(num_workers=workers, multiprocessing_context="spawn", timeout=300)
        return torch.utils.data.DataLoader(data, batch_size=None, **options)

    def test_equal_steps(self):
        """All ranks have the same number of batches, that of len, with any number of workers."""
        ds = small("--obs", "none")
        every = sorted(ids(ds.batches(columns=["episode", "turn", "seat"])))
        for world, workers, kind in ((1, 0, {}), (4, 0, {}), (4, 0, {"drop_last": True}), (3, 0, {"outcome": "win"}), (2, 2, {})):
            with self.subTest(world=world, workers=workers, **kind):
                seen, steps, sizes = [], set(), set()
                for rank in range(world):
                    data = ds.torch(16, rank=rank, world=world, columns=["episode", "turn", "seat"], shuffle=64, seed=1, **kind)
                    batches = [*self.load(data, workers)]
                    steps |= {len(data), len(batches)}
                    sizes |= {len(b["turn"]) for b in batches}
                    seen += ids(batches)
                self.assertEqual(len(steps), 1, steps)
                self.assertEqual(len(set(seen)), len(seen))
                if not kind:
                    self.assertEqual(sorted(seen), every)
                if "drop_last" in kind:
                    self.assertEqual(sizes, {16})
                if not workers:
                    self.assertLessEqual(max(sizes), 16)
        with self.assertRaisesRegex(ValueError, "no rows for rank"):
            len(ds.torch(16, rank=0, world=1000))

    def test_going_on(self):
        """A state leads on within an epoch, and set_epoch reaches workers that persist."""
        ds = small("--obs", "none")

        def data():
            return ds.torch(16, rank=1, world=2, columns=["episode", "turn", "seat"], shuffle=64, seed=1)

        for workers in (0, 2):
            with self.subTest(workers=workers), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # more workers than cores
                first = data()
                loader = self.load(first, workers, persistent_workers=workers > 0)
                epochs = {}
                for epoch in (3, 4):
                    first.set_epoch(epoch)
                    epochs[epoch] = [ids([b]) for b in loader]
                self.assertNotEqual(epochs[3], epochs[4])
                first.load_state_dict({"epoch": 3, "batches": 7, "workers": 0})
                self.assertEqual([ids([b]) for b in loader], epochs[3][7:])
                self.assertEqual([ids([b]) for b in loader], epochs[3], "the next time the whole epoch")
        one = data()
        one.set_epoch(3)
        batches = iter(one)
        before = [ids([next(batches)]) for _ in range(5)]
        other = data()
        other.load_state_dict(pickle.loads(pickle.dumps(one.state_dict())))
        self.assertEqual(before + [ids([b]) for b in other], [ids([b]) for b in pickle.loads(pickle.dumps(one))])

    def test_rows_of_a_loader(self):
        """A DataLoader that draws rows asks for a batch of them at once, and each episode is read once."""
        ds = small()
        loader = torch.utils.data.DataLoader(ds, batch_size=64, shuffle=True, collate_fn=list)
        with mock.patch.object(ds, "batches", wraps=ds.batches) as reads:
            batch = next(iter(loader))
            self.assertLessEqual(reads.call_count, 1 + ds.num_episodes)
        self.assertEqual(len(batch), 64)
        numbers = [5, -1, 5, 0]
        for i, row in zip(numbers, ds.__getitems__(numbers)):
            for name, value in ds[i].items():
                np.testing.assert_array_equal(row[name], value)
        with self.assertRaises(IndexError):
            ds.__getitems__([0, len(ds)])

    def test_tensors(self):
        ds = small("--obs", "none")
        batch = next(iter(ds.torch(8, obs="packed")))
        self.assertEqual((batch["packed"].dtype, batch["packed"].shape), (torch.int64, (8, 6)))
        np.testing.assert_array_equal(
            batch["packed"].numpy().view(np.uint64), next(ds.batches(8, obs="packed"))["packed"],
        )
        with self.assertRaisesRegex(ValueError, "rank: 2 is not one of 2"):
            ds.torch(rank=2, world=2)
        with self.assertRaisesRegex(ValueError, "obs: "):
            ds.torch(obs="pixels")
        with self.assertRaisesRegex(TypeError, "no argument 'part'"):
            ds.torch(part=1)

    @unittest.skipIf(not hasattr(os, "fork"), "left out: there is no fork here")
    def test_forked_workers_do_not_hang(self):
        ds = small("--obs", "none")
        loader = torch.utils.data.DataLoader(
            ds.torch(16), batch_size=None, num_workers=2, multiprocessing_context="fork", timeout=300,
        )
        with self.assertRaisesRegex(RuntimeError, "spawn"):
            list(loader)


if __name__ == "__main__":
    unittest.main()
