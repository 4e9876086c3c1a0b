"""Transitions for offline reinforcement learning: the columns next_… of Dataset.batches."""

import unittest

import numpy as np

import moonfarm

from . import test_dataset

try:
    import torch
    import torch.utils.data
except ImportError:
    torch = None

DISCOUNT = 0.9
HOW = {"reward": None, "discount": DISCOUNT}
FORMS = ("tron", "cells"), ("towerdefence", "cells"), ("terminal", "cells"), ("terminal", "orders"), ("codecraft", "entities"), ("codecraft", "cells")


def setUpModule():
    test_dataset.setUpModule()


def tearDownModule():
    test_dataset.tearDownModule()


def opened(game, form):
    """Opens a dataset of which the rules end some episodes, and a limit others."""
    turns, episodes = {"tron": (20, 40), "towerdefence": (60, 12), "terminal": (100, 2), "codecraft": (5, 2)}[game]
    flags = ["--episodes", str(episodes), "--max-turns", str(turns), "--obs", "none", "--reward", {"codecraft": "score", "terminal": "health"}.get(game, "result")]
    return moonfarm.dataset(test_dataset.generate(game, *flags).path, form=form)


def expected(ds, obs, n):
    """Returns the columns of the transition of each row by episode, seat, turn and step, computed from whole episodes."""
    out, nothing = {}, ds.nothing
    for e in ds.episodes(obs=obs, **HOW):
        seen = [name.removeprefix("final_") for name in e if name.startswith("final_")]
        steps = e.get("step", np.zeros_like(e["turn"]))
        for seat in range(ds.players):
            alone = {name: e[name][:, seat] for name in [*seen, "mask", "turn", "reward", "terminated", "truncated"]}
            # The mask of a seat that waits for others has one choice, and its turn goes on.
            acts, ended = np.ones(len(steps), bool), False
            if "step" in e:
                for t, action in enumerate(e["action"][:, seat]):
                    ended = ended and steps[t, seat] > 0
                    acts[t] = not ended
                    ended = ended or action in (-1, nothing)
            rows = np.flatnonzero(acts)
            over = alone["terminated"][rows[-1]]
            assert over != alone["truncated"][rows[-1]]
            for i, t in enumerate(rows):
                later = min(i + n, len(rows))
                power = DISCOUNT ** (later - i)
                reward = sum(DISCOUNT**k * float(r) for k, r in enumerate(alone["reward"][rows[i:later]]))
                last = later == len(rows)
                there = {name: e[f"final_{name}"][seat] if last else alone[name][rows[later]] for name in seen}
                mask = None if last else alone["mask"][rows[later]]
                key = int(e["episode"][0, seat]), seat, int(alone["turn"][t]), int(steps[t, seat])
                out[key] = there, mask, reward, 0 if last and over else power
    return out


class NextTest(unittest.TestCase):
    def check(self, ds, batches, want):
        """Compares batches with the expected columns; returns the rows that were compared."""
        done, ends = set(), [0, 0]
        for b in batches:
            steps = b.get("step", np.zeros_like(b["turn"]))
            for i, key in enumerate(zip(b["episode"].tolist(), b["seat"].tolist(), b["turn"].tolist(), steps.tolist())):
                there, mask, reward, discount = want[key]
                for name, array in there.items():
                    np.testing.assert_array_equal(b[f"next_{name}"][i], array, f"{key} {name}")
                legal = ds.masks(b["next_mask"][i])
                if mask is not None:
                    np.testing.assert_array_equal(b["next_mask"][i], mask)
                elif discount:  # a limit cut the episode
                    ends[0] = max(ends[0], int(legal.sum()) - len(ds.heads))
                else:
                    self.assertEqual(int(legal.sum()), len(ds.heads))
                    ends[1] += 1
                self.assertAlmostEqual(float(b["nstep"][i]), reward, 4)
                self.assertAlmostEqual(float(b["next_discount"][i]), discount, 6)
                self.assertNotIn(key, done)
                done.add(key)
        return done, ends

    def test_episodes(self):
        """The transitions of each game and form are those of its whole episodes."""
        cut = over = 0
        for game, form in FORMS:
            ds = opened(game, form)
            for obs in ("planes", "packed") if game != "codecraft" else ("planes",):
                for n in (1, 3):
                    want = expected(ds, obs, n)
                    for order in ({}, {"shuffle": 100, "seed": 4, "workers": 2}):
                        with self.subTest(game=game, form=form, obs=obs, n=n, **order):
                            done, ends = self.check(ds, ds.batches(33, obs=obs, next=True, steps=n, **HOW, **order), want)
                            self.assertEqual(done, set(want))
                            cut, over = cut + ends[0], over + ends[1]
        self.assertGreater(cut, 0)
        self.assertGreater(over, 0)

    def test_which_rows(self):
        """Splits, filters and chosen columns change nothing in a row."""
        ds = opened("tron", "cells")
        want = expected(ds, "planes", 3)
        how = {"obs": "planes", "next": True, "steps": 3, "shuffle": 50, **HOW}
        seat1, _ = self.check(ds, ds.batches(8, seat=1, **how), want)
        self.assertEqual(seat1, {key for key in want if key[1] == 1})
        parts = [self.check(ds, ds.batches(8, split=split, test=0.3, **how), want)[0] for split in ("train", "validation", "test")]
        self.assertEqual([set.union(*parts), sum(map(len, parts))], [set(want), len(want)])
        losers, _ = self.check(ds, ds.batches(8, outcome="loss", **how), want)
        self.assertTrue(losers and losers < set(want))
        few = next(ds.batches(8, columns=["next_planes", "next_discount"], **how))
        self.assertEqual(list(few), ["next_planes", "next_discount"])
        np.testing.assert_array_equal(few["next_planes"], next(ds.batches(8, **how))["next_planes"])
        more = set(next(ds.batches(8, **how))) - set(next(ds.batches(8, obs="planes")))
        self.assertEqual(more, {"nstep", "next_discount", "next_mask", *(f"next_{name}" for name in next(iter(want.values()))[0])})

    def test_returns(self):
        """A value is bootstrapped from that of the next row: a return is nstep and the discounted return of the row after."""
        ds = opened("terminal", "orders")
        rows = {}
        for b in ds.batches(100, next=True, steps=3, columns=["episode", "seat", "return", "nstep", "next_discount"], **HOW):
            for key, *row in zip(zip(b["episode"].tolist(), b["seat"].tolist()), b["return"], b["nstep"], b["next_discount"]):
                rows.setdefault(key, []).append(row)
        for seat in rows.values():
            for (value, reward, discount), later in zip(seat, [r[0] for r in seat[3:]] + [0] * 3):
                self.assertAlmostEqual(float(value), float(reward + discount * later), 4)

    @unittest.skipIf(torch is None, "left out: there is no torch")
    def test_torch(self):
        ds = opened("tron", "cells")
        want = expected(ds, "planes", 1)
        loader = torch.utils.data.DataLoader(
            ds.torch(16, obs="planes", next=True, shuffle=50, **HOW), batch_size=None, num_workers=2, multiprocessing_context="spawn"
        )
        done, _ = self.check(ds, ({n: a.numpy().view(np.uint64) if "mask" in n or n == "episode" else a.numpy() for n, a in b.items()} for b in loader), want)
        self.assertEqual(done, set(want))

    def test_mistakes(self):
        ds = opened("tron", "cells")
        with self.assertRaisesRegex(ValueError, "next cannot be chosen"):
            ds.batches(play=False, next=True)
        with self.assertRaisesRegex(ValueError, 'no column "next_planes"'):
            ds.batches(columns=["next_planes"], obs="planes")
        with self.assertRaisesRegex(TypeError, "next"):
            ds.episodes(next=True)
