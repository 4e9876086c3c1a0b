"""The symmetries of the games: mirrored rows are those of the mirrored game."""

from __future__ import annotations

import itertools
import json
import unittest

import numpy as np

import moonfarm
from moonfarm.train.symmetry import symmetry

GAMES = [("towerdefence", "cells"), ("tron", "cells"), ("terminal", "cells"), ("codecraft", "entities"), ("codecraft", "cells")]
TYPES = "Wall House BuilderBase BuilderUnit MeleeBase MeleeUnit RangedBase RangedUnit Resource Turret".split()
BASES = {2, 4, 6}  # have 300 health, shown in 255 steps


def seen(obs, infos):
    """Returns what rows can mirror of a step's results."""
    return {**obs, "mask": infos["mask"], "action_mask": infos["action_mask"]}


def heads_of(envs, array):
    """Returns the parts of an array [rows, choices] that belong to each head, padded with 0: [rows, heads, …]."""
    first = np.cumsum([0, *envs.heads])
    out = np.zeros((len(array), len(envs.heads), max(envs.heads)), array.dtype)
    for h, size in enumerate(envs.heads):
        out[:, h, :size] = array[:, first[h] : first[h + 1]]
    return out


def drawn(envs, legal, draw):
    """Returns a legal choice of each head, as an action."""
    legal = heads_of(envs, legal)
    choice = (legal * draw.random(legal.shape, np.float32)).argmax(2).astype(np.int32)
    return choice[:, 0] if len(envs.heads) == 1 else choice


def differ(ours, theirs):
    """Returns the rows in which any array differs."""
    return np.any([(a != theirs[name]).reshape(len(a), -1).any(1) for name, a in ours.items()], axis=0)


class RowsTest(unittest.TestCase):
    def test_twice(self):
        """Rows mirrored twice are the same, of the same dtype; masks, shares and choices agree."""
        draw = np.random.default_rng(1)
        for game, form in GAMES:
            with self.subTest(f"{game} {form}"), moonfarm.make_vec(game, 8, form=form, seed=1) as envs:
                obs, infos = envs.reset(seed=1)
                for _ in range(12):
                    obs, _, _, _, infos = envs.step(drawn(envs, infos["action_mask"], draw))
                legal = infos["action_mask"]
                action = drawn(envs, legal, draw)
                rows = {**seen(obs, infos), "action": action, "best": np.where(draw.random(action.shape) < 0.5, -1, action)}
                rows |= {"shares": legal * draw.random(legal.shape, np.float32), "return": draw.random(len(legal))}
                rows["log"] = np.log(rows["action"].reshape(len(legal), -1) + 1.5)  # tells the choice
                before = {name: a.copy() for name, a in rows.items()}
                mirror = symmetry(envs)
                there = mirror.rows(rows)
                later = {"next_" + name: a[::-1] for name, a in seen(obs, infos).items()}  # those of a transition
                for name, a in mirror.rows({**rows, **later, "next_discount": draw.random(len(legal))}).items():
                    if name in later:
                        np.testing.assert_array_equal(a, there[name[5:]][::-1], name)
                for name, a in mirror.rows(there).items():
                    np.testing.assert_array_equal(a, before[name], name)
                    np.testing.assert_array_equal(rows[name], before[name], f"{name} was changed")
                    self.assertEqual((a.dtype, there[name].dtype), (rows[name].dtype,) * 2, name)
                self.assertTrue(differ({"action": rows["action"]}, there).any())
                np.testing.assert_array_equal(there["action_mask"], envs.action_masks(there["mask"]))
                np.testing.assert_array_equal(there["shares"] > 0, there["action_mask"])
                action = there["action"].reshape(len(legal), -1)
                self.assertTrue(np.take_along_axis(heads_of(envs, there["action_mask"]), action[:, :, None], 2).all())
                chosen = there["best"].reshape(action.shape)
                np.testing.assert_array_equal(chosen[chosen >= 0], action[chosen >= 0])
                self.assertEqual((chosen < 0).sum(), (rows["best"] < 0).sum())
                if len(envs.heads) > 1 and game != "codecraft":  # there the choices of a head change
                    np.testing.assert_array_equal(there["log"], np.log(action + 1.5))

    def test_wrong(self):
        with moonfarm.make_vec("terminal", 1, form="orders") as envs:
            self.assertIsNone(symmetry(envs))
        with moonfarm.make_vec("codecraft", 1) as envs:
            obs, infos = envs.reset(seed=1)
            mirror = symmetry(envs)
        with self.assertRaisesRegex(ValueError, "rows: packed cannot be mirrored"):
            mirror.rows({**obs, "packed": infos["mask"]})
        with self.assertRaisesRegex(ValueError, "expected own or planes, .* got mask"):
            mirror.rows({"mask": infos["mask"]})
        full = obs["own"].copy()
        full[0, :, :3] = [(4, 1 + i // 16, i % 16) for i in range(256)]
        rows = mirror.rows({"own": full, "scalars": obs["scalars"], "map": obs["map"]})
        np.testing.assert_array_equal(rows["own"][0], full[0])  # such rows stay
        np.testing.assert_array_equal(rows["map"], [obs["map"][0], obs["map"][1].swapaxes(1, 2)])


class MirroredGamesTest(unittest.TestCase):
    """Two vectors play the same games, one of them mirrored."""

    def play(self, game, turns, choose, seeds=(1, 1), games=64, **options):
        """Returns the turns played, those after which the games differ for the first time, and the first observations of
        the latter turns. A game is followed until then, or to its end."""
        ours, theirs = (moonfarm.make_vec(game, games, seed=1, **options) for _ in range(2))
        mirror = symmetry(ours)
        with ours, theirs:
            a, b = (seen(*envs.reset(seed=s)) for envs, s in zip((ours, theirs), seeds))
            self.assertFalse(differ(mirror.rows(a), b).any(), "the starts differ")
            same, played, before = np.ones(games, np.bool_), 0, []
            for _ in range(turns):
                action = choose(ours, a)
                left, right = ours.step(action), theirs.step(mirror.rows({"action": action})["action"])
                last, a, b = a, seen(left[0], left[4]), seen(right[0], right[4])
                rows = differ(mirror.rows(a), b) | (left[1] != right[1]) | (left[2] != right[2])
                new = same & rows.reshape(games, -1).any(1)
                played, same = played + same.sum(), same & ~new & ~(left[2] | left[3])[:: len(rows) // games]
                before += [{name: x.reshape(games, -1, *x.shape[1:])[i] for name, x in {**last, "action": action}.items()} for i in np.flatnonzero(new)]
            return played, before

    def test_tron(self):
        draw = np.random.default_rng(2)
        with moonfarm.make_vec("tron", 512) as envs:
            boards = envs.reset(seed=0)[0]["planes"][::2]
        where = {boards[i].tobytes(): i for i in range(512)}
        seeds = [where[np.flip(board, 1).tobytes()] for board in boards[:64]]  # of the mirrored starts
        played, found = self.play("tron", 60, lambda envs, rows: drawn(envs, rows["action_mask"], draw), (range(64), seeds))
        self.assertGreater(played, 200)
        self.assertEqual(len(found), 0)

    def test_tower_defence(self):
        """Only lightning may differ (rule 3.10)."""
        draw = np.random.default_rng(3)

        def choose(envs, rows):
            return drawn(envs, rows["action_mask"] & allowed, draw)

        allowed = np.ones(322, np.bool_)
        played, found = self.play("towerdefence", 100, choose, games=256)
        self.assertGreater(played, 10_000)
        self.assertLess(len(found), 0.01 * played)
        for rows in found:
            self.assertTrue(rows["planes"][:, 3].any(), "without a tesla tower")
        allowed[192:256] = False
        played, found = self.play("towerdefence", 100, choose)
        self.assertGreater(played, 4000)
        self.assertEqual(len(found), 0)

    def test_terminal(self):
        """Only turns with mobile units may differ, by ids and ways (rules 3.5, 3.11 and 3.12)."""
        draw = np.random.default_rng(4)

        def few(envs, rows):
            """Returns a choice for one or more cells, as far as the purse reaches for sure, and for one stack of units."""
            legal = heads_of(envs, rows["action_mask"])
            action = np.zeros(legal.shape[:2], np.int32)
            legal[:, :, 0] = False
            for row, cores in enumerate(rows["scalars"][:, 1]):
                for heads, n in ((slice(0, 84), draw.integers(2)), (slice(84, None), max(1, cores // 8))):
                    head, choice = np.nonzero(legal[row, heads])
                    for i in draw.integers(len(head), size=int(n)) if len(head) else ():
                        action[row, heads.start + head[i]] = choice[i]
            return action

        played, found = self.play("terminal", 40, few, games=32)
        self.assertGreater(played, 1000)
        self.assertLess(len(found), 0.005 * played)
        for rows in found:
            self.assertTrue(rows["action"][:, :84].any(), "without units")


def views(obs, row, tick, players, fog, active=None):
    """Returns what player 1 of a row sees, and sees in the transposed world, as messages of the original. active: of all
    entities, instead of their own flags."""
    own, others, code, scalars = (obs[name][row] for name in ("own", "others", "map", "scalars"))
    units = [(*e[:5], 1) for e in own.tolist() if e[0]] + [(*e[:5], 1 + e[5]) for e in others.tolist() if e[0]]
    veins = [(9, x, y, 1 + (7 * x + y) % 30, 1, 0) for y, x in np.argwhere(code[0] == 2).tolist()]
    for turned in (False, True):
        there = [(t, y, x, h, a, {3: 4, 4: 3}.get(p, p)) if turned else (t, x, y, h, a, p) for t, x, y, h, a, p in units + veins]
        there[len(units) :] = sorted(there[len(units) :], key=lambda e: e[1:3])  # ids of resources rise along the columns
        entities = [
            {"id": 10 + i, "player": p or None, "type": TYPES[t - 1], "x": x, "y": y, "active": bool(a if active is None or not p else active),
             "health": max(1, h * 300 // 255) if t - 1 in BASES else h}
            for i, (t, x, y, h, a, p) in enumerate(there)
        ]  # fmt: skip
        resource = scalars[[1, 14, 18, 16] if turned else [1, 14, 16, 18]]
        yield json.dumps({
            "kind": "view", "my_id": 1, "map_size": 80, "fog_of_war": fog, "max_tick_count": 1000, "max_pathfind_nodes": 1000, "tick": tick,
            "players": [{"id": 1 + i, "score": 0, "resource": int(resource[i])} for i in range(players)], "entities": entities,
        })  # fmt: skip


class TransposedTest(unittest.TestCase):
    """CodeCraft. Maps are not symmetric, so states are made of messages and of messages with x and y exchanged."""

    @classmethod
    def setUpClass(cls):
        cls.games = {}
        for rules, ticks in (("finals", 300), ("round1", 150)):
            with moonfarm.make_vec("codecraft", 3, rules=rules, opponent="squads", seed=1) as envs:
                obs, _ = envs.reset(seed=1)
                for _ in range(ticks):
                    obs = envs.step(np.maximum(envs.ask("squads"), 0))[0]
                cls.games[rules] = obs, ticks, envs.players, rules == "finals"

    def both(self, rules, form, active=None):
        """Returns vectors with both states of each game, their observations, and their symmetry. The players who start
        at the lower right and at the upper left change seats, so the rows of the second vector are in another order."""
        given = self.games[rules]
        pairs = zip(*([moonfarm.state_from("codecraft", v, rules=rules) for v in views(given[0], row, *given[1:], active)] for row in range(3)))
        out = []
        for states in pairs:
            envs = moonfarm.make_vec("codecraft", 3, rules=rules, form=form)
            self.addCleanup(envs.close)
            envs.reset(seed=1)
            out.append((envs, states))
        seats = np.array([0, 1, 3, 2][: given[2]])
        return out, (given[2] * np.arange(3)[:, None] + seats).ravel(), symmetry(out[0][0])

    def turn(self, both, choose=None):
        """Compares the positions of both vectors, and those after a turn with the action that choose returns for
        observations and the legal choices of each head."""
        vectors, order, mirror = both
        (ours, a), (theirs, b) = ((envs, seen(*envs.set_state(list(states)))) for envs, states in vectors)
        log = {"log": a["own"][:, :, 1:4].sum(2)} if "own" in a else {}  # x + y + health
        there = mirror.rows({**a, **log})
        if log:
            np.testing.assert_array_equal(there.pop("log"), there["own"][:, :, 1:4].sum(2))
        self.assertFalse(differ({name: x[order] for name, x in there.items()}, b).any(), "positions differ")
        for name, x in mirror.rows(there).items():
            np.testing.assert_array_equal(x, a[name], name)
        if choose:
            action = choose(a, heads_of(ours, a["action_mask"]))
            left, right = ours.step(action), theirs.step(mirror.rows({**a, "action": action})["action"][order])
            there = mirror.rows(seen(left[0], left[4]))
            self.assertFalse(differ({name: x[order] for name, x in there.items()}, seen(right[0], right[4])).any(), "the next positions differ")

    def test_positions(self):
        for rules, form in (("finals", "entities"), ("finals", "cells"), ("round1", "entities"), ("round1", "cells")):
            with self.subTest(f"{rules} {form}"):
                self.turn(self.both(rules, form))

    def test_goals(self):
        """Entities that are not active store their actions, and nothing is drawn: all of them get orders."""
        draw = np.random.default_rng(5)
        given = np.zeros(128, np.int64)

        def choose(rows, legal):
            action = (legal * draw.random(legal.shape, np.float32)).argmax(2).astype(np.int32)
            given[:] += np.bincount(action.ravel(), minlength=128)
            return action

        for form in ("entities", "cells"):
            with self.subTest(form):
                both = self.both("round1", form, active=False)
                for _ in range(3):
                    self.turn(both, choose)
        self.assertEqual(np.count_nonzero(given[14:44]), 28, given)  # all but focus and mend

    def test_choices(self):
        """One entity of each seat gets an order that needs no draw."""
        draw = np.random.default_rng(6)
        kinds = itertools.cycle([[1], range(2, 6), range(6, 10), range(10, 14), [22], range(44, 128), range(44, 128)])
        given = np.zeros(128, np.int64)

        def choose(rows, legal):
            action = np.zeros(legal.shape[:2], np.int32)
            choices = np.array(next(kinds))
            for row in range(len(legal)):
                slot, k = np.nonzero(legal[row][:, choices])
                if len(slot):
                    i = draw.integers(len(slot))
                    action[row, slot[i]] = choices[k[i]]
            given[:] += np.bincount(action.ravel(), minlength=128)
            return action

        for rules, form in (("finals", "cells"), ("round1", "entities")):
            with self.subTest(f"{rules} {form}"):
                both = self.both(rules, form)
                for _ in range(40):
                    self.turn(both, choose)
        self.assertTrue(given[1:14].all(), given)
        self.assertGreater(np.count_nonzero(given[44:]), 20)


if __name__ == "__main__":
    unittest.main()
