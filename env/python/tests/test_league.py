"""A league: opponents drawn by weights that change while games are played, functions beside texts."""

import copy
import pickle
import unittest

import numpy as np

import moonfarm


def left(obs, infos):
    return np.full(len(infos["mask"]), 0)


def ahead(obs, infos):
    return np.full(len(infos["mask"]), 1)


def right(obs, infos):
    return np.full(len(infos["mask"]), 2)


LISTS = (["safe", "empty", "random"], [left, ahead, right], [left, "safe", right])


def drawn(env):
    """Returns the number of the opponent in each game, and the caller's seat."""
    seat = env.seats
    return env.arrays["opponent"][np.arange(env.num_games), 1 - seat].copy(), seat


def play(env, steps, weights=None):
    """Returns opponents, seats and observations of some steps; half of the steps are played with the weights."""
    out = []
    for step in range(steps):
        if step == steps // 2 and weights is not None:
            env.opponent_weights = weights
        obs, rewards, terminated, truncated, infos = env.step(np.arange(env.num_envs) % env.heads[0])
        if env._mode == 2 and (ended := terminated | truncated).any():
            infos = env.reset(options={"reset_mask": ended})[1]
        out.append((*drawn(env), obs["planes"].copy(), rewards.copy(), infos["opponent"].tolist()))
    return out


def equal(a, b):
    return len(a) == len(b) and all(np.array_equal(x, y) for one, other in zip(a, b) for x, y in zip(one, other))


class Weights(unittest.TestCase):
    def test_proportions(self):
        for opponent in LISTS:
            with moonfarm.make_vec("tron", 900, opponent=opponent, opponent_weights=[1, 0, 8], seat="random") as env:
                env.reset(seed=1)
                counts = np.bincount(drawn(env)[0], minlength=3)
                self.assertTrue(60 < counts[0] < 140 and counts[1] == 0, counts)
                np.testing.assert_array_equal(env.opponent_weights, [1, 0, 8])

    def test_same_draws(self):
        """Texts and functions are drawn alike, and equal weights draw as none."""
        found = []
        for opponent in LISTS:
            for weights in (None, [7.5, 7.5, 7.5]):
                env = moonfarm.make_vec("tron", 50, opponent=opponent, seat="random", opponent_weights=weights)
                env.reset(seed=3)
                found.append(drawn(env))
                env.opponent_weights = [1, 2, 3]
                env.reset(seed=3)
                found.append(drawn(env))
        for k, one in enumerate(found):
            np.testing.assert_array_equal(one, found[k % 2])
        self.assertFalse(np.array_equal(found[0][0], found[1][0]))

    def test_new_weights(self):
        """They hold for episodes that begin later, the same in each run, and in copies and clones."""
        for opponent in LISTS:
            for mode in ("next_step", "same_step", "disabled"):
                with self.subTest(opponent=opponent, mode=mode):
                    env = moonfarm.make_vec("tron", 8, opponent=opponent, seat="random", autoreset=mode, max_turns=7)
                    env.reset(seed=5)
                    before = drawn(env)[0]
                    env.opponent_weights = [0, 0, 1]
                    np.testing.assert_array_equal(drawn(env)[0], before)
                    play(env, 4)
                    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env.clone()]
                    again = moonfarm.make_vec("tron", 8, opponent=opponent, seat="random", autoreset=mode, max_turns=7)
                    again.reset(seed=5)
                    again.opponent_weights = [0, 0, 1]
                    play(again, 4)
                    want = play(env, 24, [1, 0, 0])
                    self.assertTrue((want[11][0] == 2).all() and (want[-1][0] == 0).all())
                    for k, other in enumerate([*others, again]):
                        self.assertTrue(equal(play(other, 24, [1, 0, 0]), want), k)

    def test_longer_list(self):
        """The games go on in a vector with one more opponent."""
        for opponent in LISTS:
            env = moonfarm.make_vec("tron", 8, opponent=opponent, seat="random")
            env.reset(seed=5)
            play(env, 3)
            longer = moonfarm.make_vec("tron", 8, opponent=[*opponent, ahead], seat="random", opponent_weights=[1, 1, 1, 0])
            longer.set_state(env.get_state())
            self.assertTrue(equal(play(longer, 3), play(env, 3)))

    def test_one_game(self):
        env = moonfarm.make_env("tron", opponent=["safe", left], opponent_weights=[0, 1])
        self.assertEqual(env.reset(seed=1)[1]["opponent"], "left")
        env.opponent_weights = [1, 0]
        self.assertEqual(env.reset()[1]["opponent"], "safe")
        np.testing.assert_array_equal(env.opponent_weights, [1, 0])

    def test_wrong(self):
        for opponent in LISTS:
            env = moonfarm.make_vec("tron", 2, opponent=opponent)
            for wrong, error in (
                ([1, 2], "expected 3 numbers"), ([[1, 2, 3]], "expected 3 numbers"), ([1, -1, 0], "weight -1 of opponent 1: expected"),
                ([1, float("nan"), 0], "weight NaN of opponent 1"), ([1, 0, float("inf")], r"weight \+Inf of opponent 2"),
                ([0, 0, 0], "all weights are 0"), ("abc", "expected a list of numbers"), ({}, "expected a list of numbers"),
            ):  # fmt: skip
                with self.assertRaisesRegex((ValueError, TypeError), f"^opponent_weights: {error}"):
                    env.opponent_weights = wrong
                with self.assertRaisesRegex((ValueError, TypeError), f"^opponent_weights: {error}"):
                    moonfarm.make_vec("tron", 2, opponent=opponent, opponent_weights=wrong)
            np.testing.assert_array_equal(env.opponent_weights, [1, 1, 1])
        with self.assertRaisesRegex(ValueError, "^opponent_weights: there is no opponent"):
            moonfarm.make_vec("tron", 2, opponent_weights=[1])


class FunctionsBesideTexts(unittest.TestCase):
    def test_texts_play_the_same(self):
        """A text beside a function plays what it plays alone, also orders that no choice says."""
        for game, text, form in (("tron", "safe", None), ("towerdefence", "rush", None), ("terminal", "maze", None), ("terminal", "maze", "orders")):
            given = {"num_envs": 4, "seat": 1, "max_turns": 6, "form": form}
            alone = moonfarm.make_vec(game, opponent=text, **given)
            beside = moonfarm.make_vec(game, opponent=[left, text], opponent_weights=[0, 1], **given)
            alone.reset(seed=2)
            beside.reset(seed=2)
            for _ in range(12):
                actions = alone.ask("random")
                want, got = alone.step(actions), beside.step(actions)
                for part in want[0]:
                    np.testing.assert_array_equal(got[0][part], want[0][part], game)
                np.testing.assert_array_equal(got[1], want[1])
                for name in ("mask", "score"):
                    np.testing.assert_array_equal(got[4][name], want[4][name])

    def test_blocks(self):
        """Blocks are sent while others are under way, and play what step plays."""
        for opponent in ([left, ahead], [left, "safe", ahead, "territory"]):
            given = {"opponent": opponent, "seat": "random", "autoreset": "same_step"}
            whole, blocks = (moonfarm.make_vec("tron", 12, batch_size=size, workers=1, **given) for size in (0, 4))
            whole.reset(seed=4)
            blocks.reset(seed=4)
            for turn in range(12):
                actions = np.arange(12) % 3
                for block in (turn % 3, (turn + 1) % 3, (turn + 2) % 3):
                    blocks.send(actions[4 * block : 4 * block + 4], block)
                obs, rewards, _, _, infos = whole.step(actions)
                for _ in range(3):
                    got = blocks.recv()
                    rows = got[4]["env_id"]
                    np.testing.assert_array_equal(got[0]["planes"], obs["planes"][rows])
                    np.testing.assert_array_equal(got[1], rewards[rows])
                    np.testing.assert_array_equal(got[4]["opponent"], infos["opponent"][rows])


if __name__ == "__main__":
    unittest.main()
