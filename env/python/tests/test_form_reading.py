"""Datasets that are read in another form."""

import pickle
import unittest

import numpy as np

import moonfarm

from . import test_dataset


def setUpModule():
    test_dataset.setUpModule()


def tearDownModule():
    test_dataset.tearDownModule()


class FormReadingTest(unittest.TestCase):
    def test_sequential(self):
        """The actions of a turn, said one after the other in an environment, play the turn of the dataset."""
        flags = "--episodes", "4", "--max-turns", "8", "--policy", "maze,turtle"
        plain = test_dataset.generate("terminal", *flags)
        ds = moonfarm.dataset(plain.path, form="orders")
        self.assertEqual((ds.form, plain.form, len(ds.heads)), ("orders", "cells", 1))
        self.assertIn("form orders", repr(ds))
        self.assertIn("step", ds.columns)
        self.assertNotIn("step", plain.columns)
        with self.assertRaisesRegex(TypeError, "no numbers"):
            len(ds)
        same = pickle.loads(pickle.dumps(ds))
        self.assertEqual(same.form, "orders")
        reward = np.concatenate([b["reward"] for b in plain.batches(reward="health")]).sum()
        rows, several, turns, got = 0, 0, 0, 0.0
        for batch in same.batches(64, reward="health"):
            rows += len(batch["action"])
            several += int(np.count_nonzero(batch["action"] != ds.nothing))
            got += float(np.abs(batch["reward"]).sum())
            legal = ds.masks(batch["mask"])
            said = batch["action"] >= 0
            self.assertTrue(legal[np.flatnonzero(said), batch["action"][said]].all())
            turns += int(np.count_nonzero(batch["step"] == 0))
        self.assertGreater(several, len(plain))
        self.assertEqual(turns, len(plain))
        self.assertAlmostEqual(float(reward), 0, 4)
        self.assertAlmostEqual(got, sum(float(np.abs(b["reward"]).sum()) for b in plain.batches(reward="health")), 3)
        self.assertGreater(rows, several)
        episode = next(iter(ds.episodes()))
        self.assertEqual(episode["action"].shape[1:], (2,))
        shuffled = sum(len(b["action"]) for b in ds.batches(50, shuffle=500, workers=2))
        self.assertEqual(shuffled, rows)

    def test_tensors(self):
        """A form without planes has an array for each tensor."""
        ds = moonfarm.dataset(
            test_dataset.generate("codecraft", "--episodes", "1", "--max-turns", "6", "--policy", "econ").path, form="entities"
        )
        batch = next(iter(ds.batches(5)))
        envs = moonfarm.make_vec("codecraft", 1, form="entities", opponent="econ")
        obs, _ = envs.reset(seed=1)
        for t in ds.tensors:
            self.assertEqual(batch[t["name"]].shape, (5, *t["dims"]))
            self.assertEqual(obs[t["name"]].shape[1:], tuple(t["dims"]))
        self.assertNotIn("planes", batch)
        self.assertGreater(int(batch["own"].max()), 0)
        self.assertGreater(int(batch["map"].max()), 0)
        packed = next(iter(ds.batches(5, obs="packed")))
        self.assertNotIn("own", packed)
        whole = next(iter(ds.episodes()))
        self.assertEqual(whole["final_own"].shape, (2, *ds.tensors[0]["dims"]))

    def test_mistakes(self):
        path = test_dataset.small().path
        with self.assertRaisesRegex(ValueError, "no form"):
            moonfarm.dataset(path, form="views")
        with self.assertRaises(TypeError):
            moonfarm.dataset(path).batches(form="cells")
